CREATE OR REPLACE VIEW msgx.r_outbox_schd AS
SELECT
    NULL::bigint AS event_id,
    NULL::bigint AS flid,
    NULL::bigint AS state_version,
    NULL::bigint AS msg_id,
    NULL::jsonb AS document
WHERE false;
ALTER VIEW msgx.r_outbox_schd OWNER TO msgx_owner;
COMMENT ON VIEW msgx.r_outbox_schd IS 'Row type of outbox_next_schd.';
COMMENT ON COLUMN msgx.r_outbox_schd.event_id IS 'The event.';
COMMENT ON COLUMN msgx.r_outbox_schd.flid IS 'FLID: the key of the record.';
COMMENT ON COLUMN msgx.r_outbox_schd.state_version IS 'Version of the flight.';
COMMENT ON COLUMN msgx.r_outbox_schd.msg_id IS 'The last message merged into it.';
COMMENT ON COLUMN msgx.r_outbox_schd.document IS 'The whole flight; null is a tombstone.';

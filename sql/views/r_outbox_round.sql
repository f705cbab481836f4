CREATE OR REPLACE VIEW msgx.r_outbox_round AS
SELECT
    NULL::text AS target,
    NULL::integer AS sent,
    NULL::integer AS still_pending,
    NULL::bigint AS sent_up_to
WHERE false;
ALTER VIEW msgx.r_outbox_round OWNER TO msgx_owner;
COMMENT ON VIEW msgx.r_outbox_round IS 'Row type of outbox_sent.';
COMMENT ON COLUMN msgx.r_outbox_round.target IS 'The target.';
COMMENT ON COLUMN msgx.r_outbox_round.sent IS 'Events that are SENT now.';
COMMENT ON COLUMN msgx.r_outbox_round.still_pending IS 'Events whose flight changed while their record was on its way.';
COMMENT ON COLUMN msgx.r_outbox_round.sent_up_to IS 'Every event of the target up to it is settled.';

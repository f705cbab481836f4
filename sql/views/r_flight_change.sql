CREATE OR REPLACE VIEW msgx.r_flight_change AS
SELECT
    NULL::bigint AS flid,
    NULL::bigint AS msg_id,
    NULL::jsonb AS before,
    NULL::jsonb AS after,
    NULL::text[] AS keys,
    NULL::bigint AS version,
    NULL::boolean AS last
WHERE false;
ALTER VIEW msgx.r_flight_change OWNER TO msgx_owner;
COMMENT ON VIEW msgx.r_flight_change IS 'Row type inside flight_apply: what one message changed of one flight.';
COMMENT ON COLUMN msgx.r_flight_change.flid IS 'FLID.';
COMMENT ON COLUMN msgx.r_flight_change.msg_id IS 'The message.';
COMMENT ON COLUMN msgx.r_flight_change.before IS 'State before it.';
COMMENT ON COLUMN msgx.r_flight_change.after IS 'State after it.';
COMMENT ON COLUMN msgx.r_flight_change.keys IS 'Scalars it may have changed; null for all.';
COMMENT ON COLUMN msgx.r_flight_change.version IS 'Version it made.';
COMMENT ON COLUMN msgx.r_flight_change.last IS 'The last change of the flight in this call.';

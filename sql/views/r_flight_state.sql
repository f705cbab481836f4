CREATE OR REPLACE VIEW msgx.r_flight_state AS
SELECT
    NULL::bigint AS flid,
    NULL::jsonb AS state
WHERE false;
ALTER VIEW msgx.r_flight_state OWNER TO msgx_owner;
COMMENT ON VIEW msgx.r_flight_state IS 'Row type of flight_state and flight_log_state.';
COMMENT ON COLUMN msgx.r_flight_state.flid IS 'FLID.';
COMMENT ON COLUMN msgx.r_flight_state.state IS 'State as flight_fold makes it.';

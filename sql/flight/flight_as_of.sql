CREATE OR REPLACE FUNCTION msgx.flight_as_of(p_flid bigint, p_msg_id bigint)
RETURNS SETOF msgx.r_flight_state
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $body$
-- One flight as it was after a message.
--   Caller   operators and auditors
--   Arguments p_flid  the flight; p_msg_id  the message, inclusive
--   Reads    flight_write
--   Returns  the fold of its writes up to the message; nothing if it had none
SELECT * FROM msgx.flight_log_state(ARRAY[p_flid], p_msg_id + 1);
$body$;
ALTER FUNCTION msgx.flight_as_of(bigint, bigint) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.flight_as_of(bigint, bigint) IS 'One flight as it was after a message.';
REVOKE ALL ON FUNCTION msgx.flight_as_of(bigint, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION msgx.flight_as_of(bigint, bigint) TO msgx_app, msgx_operator, msgx_auditor;

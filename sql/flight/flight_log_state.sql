CREATE OR REPLACE FUNCTION msgx.flight_log_state(p_flids bigint[], p_below bigint)
RETURNS SETOF msgx.r_flight_state
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $body$
-- The fold of the log: flights as of a message.
--   Caller   flight_apply (slow path), pump_judge, flight_verify
--   Arguments p_flids  flights
--             p_below  only writes of messages with a lower id; null for all
--   Reads    flight_write
--   Returns  one row for each flight with a write
SELECT w.flid, msgx.flight_fold(w.op, w.patch, w.msg_id ORDER BY w.msg_id, w.seq)
  FROM msgx.flight_write AS w
 WHERE w.flid = ANY (p_flids) AND (p_below IS NULL OR w.msg_id < p_below)
 GROUP BY w.flid;
$body$;
ALTER FUNCTION msgx.flight_log_state(bigint[], bigint) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.flight_log_state(bigint[], bigint) IS 'The fold of the log: flights as of a message.';
REVOKE ALL ON FUNCTION msgx.flight_log_state(bigint[], bigint) FROM PUBLIC;

CREATE OR REPLACE FUNCTION msgx.pump_next(p_epoch bigint, p_now timestamptz)
RETURNS SETOF msgx.r_pump_round
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $body$
-- The first run, and the next one after a wait.
--   Caller   pump loop
--   Arguments p_epoch  fencing epoch; p_now  time
--   Reads    proc_state, inbox_cursor, loop_state
--   Writes   pipeline_lock (place, run in flight, suspects); proc_state.crashes
--            when a process died on a message
--   Locks    instance_lease FOR KEY SHARE, pipeline_lock FOR UPDATE
--   Returns  one row: ids to decode and pass to pump_apply, or the reason why
--            there are none
--   Raises   MX001 fenced
BEGIN
    PERFORM msgx.lease_check(p_epoch);
    PERFORM FROM msgx.pipeline_lock FOR UPDATE;
    PERFORM msgx.pump_take_over(p_epoch, p_now);
    RETURN QUERY SELECT * FROM msgx.pump_run(p_epoch, p_now, NULL);
END;
$body$;
ALTER FUNCTION msgx.pump_next(bigint, timestamptz) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.pump_next(bigint, timestamptz) IS 'The first run, and the next one after a wait.';
REVOKE ALL ON FUNCTION msgx.pump_next(bigint, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION msgx.pump_next(bigint, timestamptz) TO msgx_app;

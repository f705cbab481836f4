CREATE OR REPLACE FUNCTION msgx.pump_put_back(p_epoch bigint, p_run_epoch bigint)
RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $body$
-- Put a run back: the process that had it lives and has given it up, so no
-- message is to blame.
--   Caller   pump loop, after an error of the environment on a stamped message;
--            msgx run, with the epoch that it lost and a new one
--   Arguments p_epoch      fencing epoch of the caller
--             p_run_epoch  epoch under which it took the run: p_epoch or an
--                          earlier one of its own
--   Writes   pipeline_lock: no run in flight, no stamp; a run that somebody else
--            has by now is left alone
--   Locks    instance_lease FOR KEY SHARE, pipeline_lock
--   Raises   MX001 fenced
BEGIN
    PERFORM msgx.lease_check(p_epoch);
    UPDATE msgx.pipeline_lock AS p
       SET run_epoch = NULL, run_from = NULL, run_to = NULL, run_stamped = false
     WHERE p.run_epoch = p_run_epoch;
END;
$body$;
ALTER FUNCTION msgx.pump_put_back(bigint, bigint) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.pump_put_back(bigint, bigint) IS 'Put a run back that a living process has given up.';
REVOKE ALL ON FUNCTION msgx.pump_put_back(bigint, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION msgx.pump_put_back(bigint, bigint) TO msgx_app;

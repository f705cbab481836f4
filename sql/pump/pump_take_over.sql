CREATE OR REPLACE FUNCTION msgx.pump_take_over(p_epoch bigint, p_now timestamptz)
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
SET plan_cache_mode = force_generic_plan
AS $body$
-- Take over the run that a process left behind when it died.
--   Caller   pump_next
--   Arguments p_epoch  epoch of the caller; p_now  time
--   Reads    proc_state, inbox_cursor, setting pipeline.apply-batch
--   Writes   pipeline_lock (suspects; no run in flight), proc_state.crashes of
--            the message that was being tried alone
--   Locks    the caller holds the pipeline lock
--   Rules    only a run of another epoch counts. A stamped one names the message
--            the process died on. Any other makes suspects of its messages and
--            of as many behind them as may have been decoded ahead.
DECLARE
    v_place msgx.pipeline_lock;
    v_ahead bigint;
BEGIN
    SELECT p.* INTO STRICT v_place FROM msgx.pipeline_lock AS p;
    IF v_place.run_epoch IS NULL OR v_place.run_epoch = p_epoch THEN
        RETURN;
    END IF;
    IF v_place.run_stamped THEN
        UPDATE msgx.proc_state AS p
           SET crashes = p.crashes + 1, updated_at = p_now
         WHERE p.msg_id = v_place.run_from AND p.state IN ('PENDING', 'FAILED');
    ELSE
        SELECT max(a.msg_id) INTO v_ahead
          FROM (SELECT s.msg_id FROM msgx.proc_state AS s
                 WHERE s.msg_id > greatest(v_place.run_to, v_place.done_up_to)
                   AND s.msg_id <= (SELECT c.committed_up_to FROM msgx.inbox_cursor AS c)
                   AND s.state IN ('PENDING', 'FAILED')
                 ORDER BY s.msg_id LIMIT 2 * msgx.setting_int('pipeline.apply-batch')) AS a;
    END IF;
    UPDATE msgx.pipeline_lock AS p
       SET suspect_to = greatest(p.suspect_to, v_place.run_to, v_ahead),
           run_epoch = NULL, run_from = NULL, run_to = NULL, run_stamped = false;
END;
$body$;
ALTER FUNCTION msgx.pump_take_over(bigint, timestamptz) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.pump_take_over(bigint, timestamptz) IS 'Take over the run that a process left behind when it died.';
REVOKE ALL ON FUNCTION msgx.pump_take_over(bigint, timestamptz) FROM PUBLIC;

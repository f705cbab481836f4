CREATE OR REPLACE FUNCTION msgx.pump_try(p_epoch bigint, p_now timestamptz, p_msg_id bigint)
RETURNS SETOF msgx.r_pump_round
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $body$
-- Stamp the one message of a run just before it is decoded, so that it is known
-- by name if the process dies on it; or fail it, if that happened too often.
--   Caller   pump loop, for a run with ahead = 0, its text fetched
--   Arguments p_epoch  fencing epoch; p_now  time; p_msg_id  the message
--   Reads    proc_state, setting pipeline.crash-limit
--   Writes   pipeline_lock (the stamp); past the limit what pump_apply writes
--   Locks    instance_lease FOR KEY SHARE, pipeline_lock FOR UPDATE
--   Returns  as pump_apply. No outcome and the same run: go on and decode it
--   Raises   MX001 fenced
--   Rules    any outcome clears the stamp, and pump_put_back does
DECLARE
    v_crashes integer;
BEGIN
    PERFORM msgx.lease_check(p_epoch);
    PERFORM FROM msgx.pipeline_lock FOR UPDATE;
    SELECT p.crashes INTO v_crashes
      FROM msgx.pipeline_lock AS l
      JOIN msgx.proc_state AS p ON p.msg_id = l.run_from
     WHERE l.run_epoch = p_epoch AND l.run_from = p_msg_id AND l.run_to = p_msg_id AND p.state IN ('PENDING', 'FAILED')
       AND NOT EXISTS (SELECT FROM msgx.loop_state AS s WHERE s.loop = 'pump' AND s.wanted = 'off');
    IF v_crashes IS NULL THEN
        RETURN QUERY SELECT * FROM msgx.pump_run(p_epoch, p_now, NULL);
        RETURN;
    END IF;
    IF v_crashes > msgx.setting_int('pipeline.crash-limit') THEN
        RETURN QUERY
        SELECT * FROM msgx.pump_apply(p_epoch, p_now, jsonb_build_array(jsonb_build_object(
            'msg_id', p_msg_id, 'error_class', 'INFRA', 'error', 'the process ended while it was tried alone, nothing else at hand')));
        RETURN;
    END IF;
    UPDATE msgx.pipeline_lock AS p SET run_stamped = true;
    RETURN QUERY
    SELECT '[]'::jsonb, ARRAY[p_msg_id], NULL::text, NULL::timestamptz, c.committed_up_to, p.done_up_to, msgx.clock(), 0
      FROM msgx.inbox_cursor AS c
     CROSS JOIN msgx.pipeline_lock AS p;
END;
$body$;
ALTER FUNCTION msgx.pump_try(bigint, timestamptz, bigint) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.pump_try(bigint, timestamptz, bigint) IS 'Stamp the one message of a run just before it is decoded; past the crash limit, fail it.';
REVOKE ALL ON FUNCTION msgx.pump_try(bigint, timestamptz, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION msgx.pump_try(bigint, timestamptz, bigint) TO msgx_app;

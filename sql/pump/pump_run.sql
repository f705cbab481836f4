CREATE OR REPLACE FUNCTION msgx.pump_run(p_epoch bigint, p_now timestamptz, p_outcomes jsonb)
RETURNS SETOF msgx.r_pump_round
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
SET plan_cache_mode = force_generic_plan
SET enable_bitmapscan = off
AS $body$
-- Move the pump's place and give the next run.
--   Caller   pump_next, pump_apply, at their end
--   Arguments p_epoch     epoch of the caller; p_now  time
--             p_outcomes  handed through
--   Reads    proc_state, inbox_cursor, loop_state
--   Writes   pipeline_lock
--   Locks    the caller holds the pipeline lock
--   Returns  one row: the next run, or the reason why there is none
--   Rules    a message that was in flight when a process died (suspect_to), or
--            that one died on, is a run of its own with nothing decoded ahead
DECLARE
    v_place     msgx.pipeline_lock;
    v_done      bigint;
    v_watermark bigint;
    v_ids       bigint[];
    v_head      msgx.proc_state;
    v_reason    text;
    v_until     timestamptz;
    v_batch     integer := msgx.setting_int('pipeline.apply-batch');
    v_alone     boolean := false;
    v_suspect   bigint;  -- suspects that are left
BEGIN
    SELECT c.committed_up_to INTO STRICT v_watermark FROM msgx.inbox_cursor AS c;
    SELECT p.* INTO STRICT v_place FROM msgx.pipeline_lock AS p;
    -- Just below the smallest unfinished message, else the watermark.
    v_done := greatest(v_place.done_up_to, coalesce(
        (SELECT s.msg_id - 1 FROM msgx.proc_state AS s
          WHERE s.msg_id > v_place.done_up_to AND s.msg_id <= v_watermark AND s.state IN ('PENDING', 'FAILED')
          ORDER BY s.msg_id LIMIT 1), v_watermark));

    IF EXISTS (SELECT FROM msgx.loop_state AS l WHERE l.loop = 'pump' AND l.wanted = 'off') THEN
        v_reason := 'braked';
    ELSE
        SELECT array_agg(o.msg_id ORDER BY o.msg_id), (array_agg(o.crashes ORDER BY o.msg_id))[1] > 0 INTO v_ids, v_alone
          FROM msgx.pump_open(v_done, p_now, v_batch) AS o;
        IF v_ids IS NULL THEN
            SELECT h.* INTO v_head
              FROM msgx.pump_open(v_done, 'infinity', 1) AS h;
            IF v_head.next_attempt_at > p_now THEN
                v_reason := 'backing-off';
                v_until := v_head.next_attempt_at;
            ELSIF v_head.msg_id IS NOT NULL THEN
                -- Enqueued between the two looks.
                v_ids := ARRAY[v_head.msg_id];
                v_alone := v_head.crashes > 0;
            ELSIF EXISTS (SELECT FROM msgx.proc_state AS s WHERE s.msg_id > v_watermark) THEN
                v_reason := 'beyond-watermark';
            ELSE
                v_reason := 'empty';
            END IF;
        END IF;
    END IF;

    IF v_alone OR v_ids[1] <= v_place.suspect_to THEN
        v_alone := true;
        v_ids := v_ids[1:1];
    END IF;
    IF v_reason = 'braked' OR coalesce(v_ids[1], v_head.msg_id) <= v_place.suspect_to OR v_done < v_place.suspect_to THEN
        v_suspect := v_place.suspect_to;
    END IF;
    UPDATE msgx.pipeline_lock AS p
       SET done_up_to = v_done,
           run_epoch = CASE WHEN v_ids IS NOT NULL THEN p_epoch END,
           run_from = v_ids[1],
           run_to = v_ids[cardinality(v_ids)],
           run_stamped = false,
           suspect_to = v_suspect
     WHERE (p.done_up_to, p.run_epoch, p.run_from, p.run_to, p.run_stamped, p.suspect_to) IS DISTINCT FROM
           (v_done, CASE WHEN v_ids IS NOT NULL THEN p_epoch END, v_ids[1], v_ids[cardinality(v_ids)], false, v_suspect);
    RETURN QUERY
    SELECT coalesce(p_outcomes, '[]'), coalesce(v_ids, '{}'), v_reason, v_until, v_watermark, v_done, msgx.clock(),
           CASE WHEN v_alone THEN 0 ELSE 2 * v_batch END;
END;
$body$;
ALTER FUNCTION msgx.pump_run(bigint, timestamptz, jsonb) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.pump_run(bigint, timestamptz, jsonb) IS 'Move the pump''s place and give the next run.';
REVOKE ALL ON FUNCTION msgx.pump_run(bigint, timestamptz, jsonb) FROM PUBLIC;

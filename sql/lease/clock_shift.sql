CREATE OR REPLACE FUNCTION msgx.clock_shift(p_epoch bigint, p_by interval)
RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
SET plan_cache_mode = force_generic_plan
AS $body$
-- Move every wait in progress along with a clock that jumped, so that the jump
-- decides nothing: each wait keeps the length it had.
--   Caller   msgx run, after it saw the clock jump and took a new epoch, so that
--            no call with the old time is under way
--   Arguments p_epoch  fencing epoch; p_by  the jump, above zero: forward
--   Writes   inbox_cursor, inbox_hole (open, and released ones above the
--            watermark), proc_state (backoff of the head and of marks),
--            msg_event (backoff)
--   Locks    instance_lease FOR KEY SHARE, inbox_cursor, pipeline_lock, rows
--   Raises   MX001 fenced
DECLARE
    v_watermark bigint;
    v_done      bigint;
BEGIN
    PERFORM msgx.lease_check(p_epoch);
    UPDATE msgx.inbox_cursor AS c
       SET hole_since = c.hole_since + p_by, readable_since = c.readable_since + p_by
    RETURNING c.committed_up_to INTO STRICT v_watermark;
    SELECT p.done_up_to INTO STRICT v_done FROM msgx.pipeline_lock AS p FOR UPDATE;
    UPDATE msgx.inbox_hole AS h
       SET first_seen_at = h.first_seen_at + p_by, released_at = h.released_at + p_by
     WHERE h.lo > v_watermark;
    -- Only the head of each kind can be FAILED: it holds the place.
    UPDATE msgx.proc_state AS p
       SET next_attempt_at = p.next_attempt_at + p_by
     WHERE p.msg_id = ANY (ARRAY(
               SELECT r.msg_id FROM msgx.proc_state AS r
                WHERE r.reopened AND r.state IN ('PENDING', 'FAILED'))
           || ARRAY(
               SELECT s.msg_id FROM msgx.proc_state AS s
                WHERE s.msg_id > v_done AND s.msg_id <= v_watermark AND s.state IN ('PENDING', 'FAILED')
                ORDER BY s.msg_id LIMIT 1))
       AND p.state = 'FAILED';
    UPDATE msgx.proc_state AS p
       SET backfill_next_at = p.backfill_next_at + p_by
     WHERE p.backfill_next_at IS NOT NULL AND (p.backfill_attempts > 0 OR p.reopened);
    UPDATE msgx.msg_event AS e
       SET next_attempt_at = e.next_attempt_at + p_by
     WHERE e.event_id > (SELECT min(c.sent_up_to) FROM msgx.outbox_cursor AS c)
       AND e.state = 'PENDING' AND e.next_attempt_at IS NOT NULL;
END;
$body$;
ALTER FUNCTION msgx.clock_shift(bigint, interval) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.clock_shift(bigint, interval) IS 'Move every wait in progress along with a clock that jumped.';
REVOKE ALL ON FUNCTION msgx.clock_shift(bigint, interval) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION msgx.clock_shift(bigint, interval) TO msgx_app;

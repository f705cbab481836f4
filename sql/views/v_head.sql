CREATE OR REPLACE VIEW msgx.v_head AS
SELECT h.msg_id, h.state, h.type, h.styp, h.attempts, h.error_class, h.last_error, h.received_at, h.next_attempt_at,
       CASE WHEN l.wanted = 'off' THEN 'braked: ' || coalesce(l.paused_reason, 'by an operator')
            WHEN h.msg_id > c.committed_up_to THEN 'beyond-watermark: ' || c.committed_up_to
            WHEN h.next_attempt_at > now() THEN 'backing-off until ' || h.next_attempt_at
            WHEN l.paused_reason IS NOT NULL THEN 'paused: ' || l.paused_reason
            ELSE 'due' END AS why
  FROM msgx.inbox_cursor AS c
 CROSS JOIN msgx.pipeline_lock AS p
  JOIN msgx.loop_state AS l ON l.loop = 'pump'
 CROSS JOIN LATERAL (
           SELECT u.* FROM (
               (SELECT r.* FROM msgx.proc_state AS r
                 WHERE r.reopened AND r.state IN ('PENDING', 'FAILED') AND r.msg_id <= p.done_up_to
                 ORDER BY r.msg_id LIMIT 1)
               UNION ALL
               (SELECT s.* FROM msgx.proc_state AS s
                 WHERE s.msg_id > p.done_up_to AND s.state IN ('PENDING', 'FAILED')
                 ORDER BY s.msg_id LIMIT 1)) AS u
            ORDER BY u.msg_id LIMIT 1) AS h;
ALTER VIEW msgx.v_head OWNER TO msgx_owner;
COMMENT ON VIEW msgx.v_head IS 'The message that is next, and why it waits; no row when the queue is empty.';
COMMENT ON COLUMN msgx.v_head.msg_id IS 'Mailbox id.';
COMMENT ON COLUMN msgx.v_head.state IS 'PENDING or FAILED.';
COMMENT ON COLUMN msgx.v_head.type IS 'META/TYPE, once it was decoded.';
COMMENT ON COLUMN msgx.v_head.styp IS 'META/STYP, once it was decoded.';
COMMENT ON COLUMN msgx.v_head.attempts IS 'Failed attempts.';
COMMENT ON COLUMN msgx.v_head.error_class IS 'Class of the last failure.';
COMMENT ON COLUMN msgx.v_head.last_error IS 'The last failure in words.';
COMMENT ON COLUMN msgx.v_head.received_at IS 'When the mailbox got it.';
COMMENT ON COLUMN msgx.v_head.next_attempt_at IS 'When it is tried again.';
COMMENT ON COLUMN msgx.v_head.why IS 'due, or why it waits.';

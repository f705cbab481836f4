CREATE OR REPLACE VIEW msgx.v_backlog AS
SELECT p.msg_id, p.state, p.source, p.received_at, date_trunc('second', now() - p.received_at) AS age, p.attempts, p.next_attempt_at
  FROM msgx.pipeline_lock AS l
  JOIN msgx.proc_state AS p ON p.msg_id > l.done_up_to
 WHERE p.state IN ('PENDING', 'FAILED')
 UNION ALL
SELECT r.msg_id, r.state, r.source, r.received_at, date_trunc('second', now() - r.received_at), r.attempts, r.next_attempt_at
  FROM msgx.proc_state AS r
 WHERE r.reopened AND r.state IN ('PENDING', 'FAILED') AND r.msg_id <= (SELECT l.done_up_to FROM msgx.pipeline_lock AS l);
ALTER VIEW msgx.v_backlog OWNER TO msgx_owner;
COMMENT ON VIEW msgx.v_backlog IS 'Enqueued messages that are not finished.';
COMMENT ON COLUMN msgx.v_backlog.msg_id IS 'Mailbox id.';
COMMENT ON COLUMN msgx.v_backlog.state IS 'PENDING or FAILED.';
COMMENT ON COLUMN msgx.v_backlog.source IS 'poll, compat or late.';
COMMENT ON COLUMN msgx.v_backlog.received_at IS 'When the mailbox got it.';
COMMENT ON COLUMN msgx.v_backlog.age IS 'Time since then.';
COMMENT ON COLUMN msgx.v_backlog.attempts IS 'Failed attempts.';
COMMENT ON COLUMN msgx.v_backlog.next_attempt_at IS 'When it is tried again.';

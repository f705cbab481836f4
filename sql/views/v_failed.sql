CREATE OR REPLACE VIEW msgx.v_failed AS
SELECT b.msg_id, b.attempts, p.error_class, p.last_error, p.type, p.styp, p.processing_started_at, b.next_attempt_at
  FROM msgx.v_backlog AS b
  JOIN msgx.proc_state AS p USING (msg_id)
 WHERE b.state = 'FAILED';
ALTER VIEW msgx.v_failed OWNER TO msgx_owner;
COMMENT ON VIEW msgx.v_failed IS 'Messages that failed and will be tried again.';
COMMENT ON COLUMN msgx.v_failed.msg_id IS 'Mailbox id.';
COMMENT ON COLUMN msgx.v_failed.attempts IS 'Failed attempts.';
COMMENT ON COLUMN msgx.v_failed.error_class IS 'Class of the last failure.';
COMMENT ON COLUMN msgx.v_failed.last_error IS 'The last failure in words.';
COMMENT ON COLUMN msgx.v_failed.type IS 'META/TYPE.';
COMMENT ON COLUMN msgx.v_failed.styp IS 'META/STYP.';
COMMENT ON COLUMN msgx.v_failed.processing_started_at IS 'When it was first tried.';
COMMENT ON COLUMN msgx.v_failed.next_attempt_at IS 'When it is tried again.';

CREATE OR REPLACE VIEW msgx.v_backfill AS
SELECT p.msg_id, CASE WHEN p.backfill_abandoned_at IS NOT NULL THEN 'abandoned' ELSE 'owed' END AS what, p.received_at, p.finished_at,
       p.backfill_attempts AS attempts, p.backfill_next_at AS next_at, p.backfill_error AS error,
       p.backfill_claimed_until AS claimed_until, p.backfill_abandoned_reason AS abandoned_reason
  FROM msgx.proc_state AS p
 WHERE p.msg_id > (SELECT b.settled_up_to FROM msgx.backfill_cursor AS b) AND p.backfill_next_at IS NOT NULL
 UNION ALL
SELECT r.msg_id, 'owed', r.received_at, r.finished_at, r.backfill_attempts, r.backfill_next_at, r.backfill_error, r.backfill_claimed_until, NULL
  FROM msgx.proc_state AS r
 WHERE r.backfill_next_at IS NOT NULL AND (r.backfill_attempts > 0 OR r.reopened)
   AND r.msg_id <= (SELECT b.settled_up_to FROM msgx.backfill_cursor AS b)
 UNION ALL
SELECT a.msg_id, 'abandoned', a.received_at, a.finished_at, a.backfill_attempts, NULL, a.backfill_error, a.backfill_claimed_until, a.backfill_abandoned_reason
  FROM msgx.proc_state AS a
 WHERE a.backfill_abandoned_at IS NOT NULL;
ALTER VIEW msgx.v_backfill OWNER TO msgx_owner;
COMMENT ON VIEW msgx.v_backfill IS 'Marks that finished messages still owe to the mailbox, and marks that were given up.';
COMMENT ON COLUMN msgx.v_backfill.msg_id IS 'Mailbox id.';
COMMENT ON COLUMN msgx.v_backfill.what IS 'owed or abandoned.';
COMMENT ON COLUMN msgx.v_backfill.received_at IS 'When the mailbox got it.';
COMMENT ON COLUMN msgx.v_backfill.finished_at IS 'When it was finished.';
COMMENT ON COLUMN msgx.v_backfill.attempts IS 'Failed attempts to mark.';
COMMENT ON COLUMN msgx.v_backfill.next_at IS 'When it is due.';
COMMENT ON COLUMN msgx.v_backfill.error IS 'Why the last attempt failed.';
COMMENT ON COLUMN msgx.v_backfill.claimed_until IS 'Until when a try may be under way in the mailbox: the message is not to be taken up again before.';
COMMENT ON COLUMN msgx.v_backfill.abandoned_reason IS 'Why it was given up.';

CREATE OR REPLACE VIEW msgx.v_status AS
SELECT i.holder, i.epoch, i.expires_at, i.holder IS NOT NULL AND i.expires_at > now() AS active,
       c.committed_up_to AS watermark, c.seen_to, c.hole_since, h.open_holes, c.last_poll_at,
       p.done_up_to, b.unfinished, b.oldest_received_at,
       v.msg_id AS head, v.state AS head_state, coalesce(v.why, 'empty') AS head_why,
       (SELECT count(*) FROM msgx.proc_state AS d WHERE d.state = 'DEAD') AS dead_messages,
       (SELECT count(*) FROM msgx.msg_event AS e WHERE e.state = 'DEAD' AND coalesce(e.last_error, '') NOT LIKE 'superseded%') AS dead_events,
       p.conflict_run,
       m.pending AS msg_pending, m.oldest_age AS msg_oldest_age, s.pending AS schd_pending, s.oldest_age AS schd_oldest_age,
       k.owed AS marks_owed, (SELECT count(*) FROM msgx.proc_state AS a WHERE a.backfill_abandoned_at IS NOT NULL) AS marks_abandoned,
       (SELECT string_agg(o.loop || ': ' || coalesce(o.paused_reason, o.stands), '; ' ORDER BY o.loop)
          FROM msgx.v_loops AS o WHERE o.stands IN ('paused', 'braked', 'silent')) AS standing_still,
       (SELECT min(o.paused_since) FROM msgx.v_loops AS o WHERE o.stands IN ('paused', 'braked')) AS standing_since,
       i.acquired_at, i.host_skew
  FROM msgx.instance_lease AS i
 CROSS JOIN msgx.inbox_cursor AS c
 CROSS JOIN msgx.pipeline_lock AS p
 CROSS JOIN LATERAL (SELECT count(*) AS open_holes FROM msgx.inbox_hole AS o WHERE o.state = 'OPEN' AND o.lo > c.committed_up_to) AS h
 CROSS JOIN LATERAL (SELECT count(*) AS unfinished, min(u.received_at) AS oldest_received_at FROM msgx.v_backlog AS u) AS b
 CROSS JOIN LATERAL (SELECT count(*) AS owed FROM msgx.v_backfill AS f WHERE f.what = 'owed') AS k
  LEFT JOIN msgx.v_head AS v ON true
  JOIN msgx.v_outbox AS m ON m.target = 'KAFKA:msg'
  JOIN msgx.v_outbox AS s ON s.target = 'KAFKA:schd';
ALTER VIEW msgx.v_status OWNER TO msgx_owner;
COMMENT ON VIEW msgx.v_status IS 'One row: everything an operator asks first.';
COMMENT ON COLUMN msgx.v_status.holder IS 'The active instance.';
COMMENT ON COLUMN msgx.v_status.epoch IS 'Its fencing epoch.';
COMMENT ON COLUMN msgx.v_status.expires_at IS 'When its lease ends unless renewed.';
COMMENT ON COLUMN msgx.v_status.active IS 'The lease is held and has not ended.';
COMMENT ON COLUMN msgx.v_status.watermark IS 'Every mailbox id up to it is enqueued or was released.';
COMMENT ON COLUMN msgx.v_status.seen_to IS 'How far ids have been looked at.';
COMMENT ON COLUMN msgx.v_status.hole_since IS 'First sighting of the hole that holds the watermark.';
COMMENT ON COLUMN msgx.v_status.open_holes IS 'Open ranges above the watermark.';
COMMENT ON COLUMN msgx.v_status.last_poll_at IS 'When the mailbox was last read.';
COMMENT ON COLUMN msgx.v_status.done_up_to IS 'Every enqueued message up to it was finished once.';
COMMENT ON COLUMN msgx.v_status.unfinished IS 'Enqueued messages that are not finished.';
COMMENT ON COLUMN msgx.v_status.oldest_received_at IS 'When the mailbox got the oldest of them.';
COMMENT ON COLUMN msgx.v_status.head IS 'The message that is next.';
COMMENT ON COLUMN msgx.v_status.head_state IS 'PENDING or FAILED.';
COMMENT ON COLUMN msgx.v_status.head_why IS 'due, or why it waits; empty when there is none.';
COMMENT ON COLUMN msgx.v_status.dead_messages IS 'Dead messages.';
COMMENT ON COLUMN msgx.v_status.dead_events IS 'Dead events.';
COMMENT ON COLUMN msgx.v_status.conflict_run IS 'Identity conflicts in a row.';
COMMENT ON COLUMN msgx.v_status.msg_pending IS 'Events of KAFKA:msg to be delivered.';
COMMENT ON COLUMN msgx.v_status.msg_oldest_age IS 'Age of the oldest of them.';
COMMENT ON COLUMN msgx.v_status.schd_pending IS 'Events of KAFKA:schd to be delivered.';
COMMENT ON COLUMN msgx.v_status.schd_oldest_age IS 'Age of the oldest of them.';
COMMENT ON COLUMN msgx.v_status.marks_owed IS 'Marks owed to the mailbox.';
COMMENT ON COLUMN msgx.v_status.marks_abandoned IS 'Marks that were given up.';
COMMENT ON COLUMN msgx.v_status.standing_still IS 'Loops that do not work, and why.';
COMMENT ON COLUMN msgx.v_status.standing_since IS 'Since when the first of them pauses.';
COMMENT ON COLUMN msgx.v_status.acquired_at IS 'When the active instance took over.';
COMMENT ON COLUMN msgx.v_status.host_skew IS 'Clock of its host minus clock of this server.';

CREATE OR REPLACE VIEW msgx.v_outbox AS
SELECT c.target, c.sent_up_to, e.pending, e.oldest_pending_at,
       date_trunc('second', now() - e.oldest_pending_at) AS oldest_age, e.backing_off, e.merged, d.dead, e.requeued, s.last_sent_at
  FROM msgx.outbox_cursor AS c
 CROSS JOIN LATERAL (
           SELECT count(*) AS pending, min(m.created_at) AS oldest_pending_at,
                  count(*) FILTER (WHERE m.next_attempt_at > now()) AS backing_off, coalesce(sum(m.merged_count), 0)::bigint AS merged,
                  count(*) FILTER (WHERE m.requeues > 0) AS requeued
             FROM msgx.msg_event AS m
            WHERE (m.event_id > c.sent_up_to OR m.target = 'KAFKA:msg' AND m.requeues > 0) AND m.target = c.target AND m.state = 'PENDING') AS e
 CROSS JOIN LATERAL (
           SELECT count(*) AS dead FROM msgx.msg_event AS x
            WHERE x.target = c.target AND x.state = 'DEAD' AND coalesce(x.last_error, '') NOT LIKE 'superseded%') AS d
  LEFT JOIN LATERAL (
           SELECT y.sent_at AS last_sent_at FROM msgx.msg_event AS y
            WHERE y.target = c.target AND y.state = 'SENT' AND y.event_id <= c.sent_up_to
            ORDER BY y.event_id DESC LIMIT 1) AS s ON true;
ALTER VIEW msgx.v_outbox OWNER TO msgx_owner;
COMMENT ON VIEW msgx.v_outbox IS 'What Kafka is still to be told, by target.';
COMMENT ON COLUMN msgx.v_outbox.target IS 'KAFKA:msg or KAFKA:schd.';
COMMENT ON COLUMN msgx.v_outbox.sent_up_to IS 'Every event of the target up to it is settled.';
COMMENT ON COLUMN msgx.v_outbox.pending IS 'Events to be delivered.';
COMMENT ON COLUMN msgx.v_outbox.oldest_pending_at IS 'Since when the oldest waits.';
COMMENT ON COLUMN msgx.v_outbox.oldest_age IS 'Its age.';
COMMENT ON COLUMN msgx.v_outbox.backing_off IS 'Events that wait out a backoff.';
COMMENT ON COLUMN msgx.v_outbox.merged IS 'Further changes that the pending rows stand for.';
COMMENT ON COLUMN msgx.v_outbox.dead IS 'Dead events that wait for a person.';
COMMENT ON COLUMN msgx.v_outbox.requeued IS 'Pending events that an operator took out of the dead letters.';
COMMENT ON COLUMN msgx.v_outbox.last_sent_at IS 'When the newest settled event was acknowledged.';

CREATE OR REPLACE VIEW msgx.v_outbox AS
SELECT c.target, c.sent_up_to, e.pending, e.oldest_pending_at,
       date_trunc('second', now() - e.oldest_pending_at) AS oldest_age, e.backing_off, e.merged
  FROM msgx.outbox_cursor AS c
 CROSS JOIN LATERAL (
           SELECT count(*) AS pending, min(m.created_at) AS oldest_pending_at,
                  count(*) FILTER (WHERE m.next_attempt_at > now()) AS backing_off, coalesce(sum(m.merged_count), 0)::bigint AS merged
             FROM msgx.msg_event AS m
            WHERE m.event_id > c.sent_up_to AND m.target = c.target AND m.state = 'PENDING') AS e;
ALTER VIEW msgx.v_outbox OWNER TO msgx_owner;
COMMENT ON VIEW msgx.v_outbox IS 'What Kafka is still to be told, by target.';
COMMENT ON COLUMN msgx.v_outbox.target IS 'KAFKA:msg or KAFKA:schd.';
COMMENT ON COLUMN msgx.v_outbox.sent_up_to IS 'Every event of the target up to it is settled.';
COMMENT ON COLUMN msgx.v_outbox.pending IS 'Events to be delivered.';
COMMENT ON COLUMN msgx.v_outbox.oldest_pending_at IS 'Since when the oldest waits.';
COMMENT ON COLUMN msgx.v_outbox.oldest_age IS 'Its age.';
COMMENT ON COLUMN msgx.v_outbox.backing_off IS 'Events that wait out a backoff.';
COMMENT ON COLUMN msgx.v_outbox.merged IS 'Further changes that the pending rows stand for.';

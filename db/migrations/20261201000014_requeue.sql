-- migrate:up
ALTER TABLE msgx.msg_event ADD COLUMN requeues integer NOT NULL DEFAULT 0;
COMMENT ON COLUMN msgx.msg_event.requeues IS 'How often an operator took it out of the dead letters; its record says so, as it comes behind newer ones.';
-- Behind the cursor of delivery, and nothing else: small whatever the history.
CREATE INDEX msg_event_requeued ON msgx.msg_event (event_id)
    WHERE target = 'KAFKA:msg' AND state = 'PENDING' AND requeues > 0;
COMMENT ON INDEX msgx.msg_event_requeued IS 'Changes taken out of the dead letters that Kafka has not had yet.';

-- migrate:down
DROP INDEX msgx.msg_event_requeued;
ALTER TABLE msgx.msg_event DROP COLUMN requeues;

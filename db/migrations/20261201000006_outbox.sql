-- migrate:up
CREATE TABLE msgx.msg_event (
    event_id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    target          text NOT NULL CHECK (target IN ('KAFKA:msg', 'KAFKA:schd')),
    partition_key   bigint NOT NULL,
    event_type      text NOT NULL CHECK (event_type IN ('UPSERT', 'TOMBSTONE')),
    msg_id          bigint NOT NULL,
    state_version   bigint NOT NULL,
    payload         jsonb,
    state           text NOT NULL DEFAULT 'PENDING' CHECK (state IN ('PENDING', 'SENT', 'DEAD')),
    attempts        integer NOT NULL DEFAULT 0,
    next_attempt_at timestamptz,
    created_at      timestamptz NOT NULL,
    sent_at         timestamptz,
    topic           text,
    partition       integer,
    "offset"        bigint,
    last_error      text,
    merged_count    integer NOT NULL DEFAULT 0,
    CHECK ((state = 'SENT') = (sent_at IS NOT NULL))
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000,
        autovacuum_analyze_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.05,
        autovacuum_vacuum_cost_delay = 0);
COMMENT ON TABLE msgx.msg_event IS 'The outbox: what Kafka is still to be told, and what it was told.';
COMMENT ON SEQUENCE msgx.msg_event_event_id_seq IS 'Event ids: allocated under the pipeline lock, so their order is the order of commits.';
COMMENT ON COLUMN msgx.msg_event.event_id IS 'Order of delivery within a target.';
COMMENT ON COLUMN msgx.msg_event.target IS 'KAFKA:msg, every change; KAFKA:schd, the newest state.';
COMMENT ON COLUMN msgx.msg_event.partition_key IS 'FLID: the key of the record.';
COMMENT ON COLUMN msgx.msg_event.event_type IS 'UPSERT, or TOMBSTONE for a deleted flight.';
COMMENT ON COLUMN msgx.msg_event.msg_id IS 'The message that caused it; for KAFKA:schd the last one merged into it.';
COMMENT ON COLUMN msgx.msg_event.state_version IS 'Version of the flight it tells of.';
COMMENT ON COLUMN msgx.msg_event.payload IS 'Value of the record for KAFKA:msg; null for KAFKA:schd, whose document is built when it is sent.';
COMMENT ON COLUMN msgx.msg_event.state IS 'PENDING, SENT (acknowledged by Kafka), or DEAD (given up).';
COMMENT ON COLUMN msgx.msg_event.attempts IS 'Failed attempts that counted against it.';
COMMENT ON COLUMN msgx.msg_event.next_attempt_at IS 'When it may be tried again.';
COMMENT ON COLUMN msgx.msg_event.created_at IS 'When it was written.';
COMMENT ON COLUMN msgx.msg_event.sent_at IS 'When Kafka had acknowledged it.';
COMMENT ON COLUMN msgx.msg_event.topic IS 'Topic it went to.';
COMMENT ON COLUMN msgx.msg_event.partition IS 'Partition it went to.';
COMMENT ON COLUMN msgx.msg_event."offset" IS 'Offset it got.';
COMMENT ON COLUMN msgx.msg_event.last_error IS 'Why the last attempt failed.';
COMMENT ON COLUMN msgx.msg_event.merged_count IS 'Further changes of the flight that this pending row stands for (KAFKA:schd).';

-- A flight has at most one pending schd row; the pump finds it here.
CREATE UNIQUE INDEX msg_event_schd_pending ON msgx.msg_event (partition_key)
    WHERE target = 'KAFKA:schd' AND state = 'PENDING';
COMMENT ON INDEX msgx.msg_event_schd_pending IS 'The one pending schd row of a flight.';
CREATE INDEX msg_event_dead ON msgx.msg_event (event_id) WHERE state = 'DEAD';
COMMENT ON INDEX msgx.msg_event_dead IS 'Dead events, for the views and for requeue.';

CREATE TABLE msgx.outbox_cursor (
    target     text PRIMARY KEY CHECK (target IN ('KAFKA:msg', 'KAFKA:schd')),
    sent_up_to bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
COMMENT ON TABLE msgx.outbox_cursor IS 'How far each target was delivered. Apart from pipeline_lock, so that delivery never waits for the pump.';
COMMENT ON COLUMN msgx.outbox_cursor.target IS 'The target.';
COMMENT ON COLUMN msgx.outbox_cursor.sent_up_to IS 'Every event of the target up to it is SENT or DEAD.';
INSERT INTO msgx.outbox_cursor (target) VALUES ('KAFKA:msg'), ('KAFKA:schd');

CREATE TABLE msgx.backfill_cursor (
    singleton     boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    settled_up_to bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
COMMENT ON TABLE msgx.backfill_cursor IS 'How far the first tries to mark the mailbox have come.';
COMMENT ON COLUMN msgx.backfill_cursor.singleton IS 'Makes the table one row.';
COMMENT ON COLUMN msgx.backfill_cursor.settled_up_to IS 'Each message up to it is marked, or found by proc_state_backfill_retry, or owes nothing.';
INSERT INTO msgx.backfill_cursor DEFAULT VALUES;

ALTER TABLE msgx.msg_event OWNER TO msgx_owner;
ALTER TABLE msgx.outbox_cursor OWNER TO msgx_owner;
ALTER TABLE msgx.backfill_cursor OWNER TO msgx_owner;

-- migrate:down
DROP TABLE msgx.backfill_cursor, msgx.outbox_cursor, msgx.msg_event;

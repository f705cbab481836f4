-- migrate:up
CREATE TABLE msgx.sql_file (
    path       text PRIMARY KEY,
    sha256     text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE msgx.sql_file IS 'Functions, views and grants as last applied by msgx migrate: file and checksum.';
COMMENT ON COLUMN msgx.sql_file.path IS 'Path below sql/.';
COMMENT ON COLUMN msgx.sql_file.sha256 IS 'SHA-256 of the file as applied, hexadecimal.';
COMMENT ON COLUMN msgx.sql_file.applied_at IS 'When the set of files was applied.';

CREATE TABLE msgx.setting (
    key        text PRIMARY KEY,
    value      text NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE msgx.setting IS 'Parameters of the rules, copied from the configuration when an instance acquires the lease. Functions read them here.';
COMMENT ON COLUMN msgx.setting.key IS 'Name of the configuration key.';
COMMENT ON COLUMN msgx.setting.value IS 'Value as text; durations are written in seconds, as in 300s.';
COMMENT ON COLUMN msgx.setting.updated_at IS 'When the value last changed.';

INSERT INTO msgx.setting (key, value) VALUES
    ('pipeline.apply-batch', '50'),
    ('pipeline.max-attempts', '5'),
    ('pipeline.class-attempts', '{}'),
    ('pipeline.backoff', '1s,2s,4s,8s,16s'),
    ('pipeline.backoff-cap', '60s'),
    ('pipeline.max-commit-delay', '300s'),
    ('pipeline.overdue-backfill', '2592000s'),
    ('pipeline.backfill-max-attempts', '20'),
    ('pipeline.late-policy', 'detect'),
    ('identity.wrap-after', '86400s'),
    ('identity.include-day-boundary', 'false'),
    ('operation-day.zone', 'Asia/Shanghai'),
    ('operation-day.cutoff-hour', '0'),
    ('sis.recs-mismatch-schd', 'refuse'),
    ('kafka.delivery-max-attempts', '5'),
    ('shadow', 'false');

CREATE TABLE msgx.instance_lease (
    singleton   boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    holder      text,
    epoch       bigint NOT NULL,
    acquired_at timestamptz,
    expires_at  timestamptz
);
COMMENT ON TABLE msgx.instance_lease IS 'The one active instance. Its epoch fences every call of a former holder.';
COMMENT ON COLUMN msgx.instance_lease.singleton IS 'Makes the table one row.';
COMMENT ON COLUMN msgx.instance_lease.holder IS 'Name of the instance that holds the lease; null after a release.';
COMMENT ON COLUMN msgx.instance_lease.epoch IS 'Fencing epoch: raised by every acquire, never lowered.';
COMMENT ON COLUMN msgx.instance_lease.acquired_at IS 'When the present holder acquired it, by the clock of this server.';
COMMENT ON COLUMN msgx.instance_lease.expires_at IS 'When it may be taken over unless renewed.';
INSERT INTO msgx.instance_lease (epoch) VALUES (0);

CREATE TABLE msgx.loop_state (
    loop          text PRIMARY KEY CHECK (loop IN ('poller', 'pump', 'dispatcher', 'flusher', 'backfill', 'jobs')),
    wanted        text NOT NULL DEFAULT 'on' CHECK (wanted IN ('on', 'off')),
    paused_reason text,
    paused_since  timestamptz,
    last_round_at timestamptz,
    working_time  interval NOT NULL DEFAULT '0'
) WITH (fillfactor = 50);
COMMENT ON TABLE msgx.loop_state IS 'One row for each loop of the driver: the brake, why it pauses, when it last worked.';
COMMENT ON COLUMN msgx.loop_state.loop IS 'Name of the loop.';
COMMENT ON COLUMN msgx.loop_state.wanted IS 'The operator''s brake: off stops the loop at the end of its round.';
COMMENT ON COLUMN msgx.loop_state.paused_reason IS 'Why the loop does not work now; null while it works.';
COMMENT ON COLUMN msgx.loop_state.paused_since IS 'Since when it pauses.';
COMMENT ON COLUMN msgx.loop_state.last_round_at IS 'When its last round ended.';
COMMENT ON COLUMN msgx.loop_state.working_time IS 'Working time so far: grows only while the loop can work.';
INSERT INTO msgx.loop_state (loop) VALUES ('poller'), ('pump'), ('dispatcher'), ('flusher'), ('backfill'), ('jobs');

CREATE TABLE msgx.operator_audit (
    audit_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at       timestamptz NOT NULL,
    operator text NOT NULL,
    action   text NOT NULL,
    subject  text NOT NULL,
    reason   text NOT NULL,
    detail   jsonb
);
COMMENT ON TABLE msgx.operator_audit IS 'Who did what by hand, and why; also each change of a setting.';
COMMENT ON SEQUENCE msgx.operator_audit_audit_id_seq IS 'Numbers the lines of operator_audit.';
COMMENT ON COLUMN msgx.operator_audit.audit_id IS 'Number of the line.';
COMMENT ON COLUMN msgx.operator_audit.at IS 'When it was done.';
COMMENT ON COLUMN msgx.operator_audit.operator IS 'The person or instance, as named by the caller.';
COMMENT ON COLUMN msgx.operator_audit.action IS 'The function that was called.';
COMMENT ON COLUMN msgx.operator_audit.subject IS 'What it was done to.';
COMMENT ON COLUMN msgx.operator_audit.reason IS 'Why, in the caller''s words.';
COMMENT ON COLUMN msgx.operator_audit.detail IS 'Arguments and what changed.';

ALTER TABLE msgx.sql_file OWNER TO msgx_owner;
ALTER TABLE msgx.setting OWNER TO msgx_owner;
ALTER TABLE msgx.instance_lease OWNER TO msgx_owner;
ALTER TABLE msgx.loop_state OWNER TO msgx_owner;
ALTER TABLE msgx.operator_audit OWNER TO msgx_owner;

-- migrate:down
DROP TABLE msgx.operator_audit, msgx.loop_state, msgx.instance_lease, msgx.setting, msgx.sql_file;

-- migrate:up
CREATE TABLE msgx.proc_state (
    msg_id                    bigint PRIMARY KEY,
    state                     text NOT NULL DEFAULT 'PENDING'
                              CHECK (state IN ('PENDING', 'FAILED', 'SUCCEEDED', 'SKIPPED', 'DEAD')),
    source                    text NOT NULL DEFAULT 'poll' CHECK (source IN ('poll', 'compat', 'late')),
    received_at               timestamptz,
    identity_key              text,
    identity_forced           boolean NOT NULL DEFAULT false,
    guard_waived              boolean NOT NULL DEFAULT false,
    sndr                      text,
    type                      text,
    styp                      text,
    seqn                      bigint,
    dttm                      timestamptz,
    attempts                  integer NOT NULL DEFAULT 0,
    crashes                   integer NOT NULL DEFAULT 0,
    reopened                  boolean NOT NULL DEFAULT false,
    next_attempt_at           timestamptz,
    processing_started_at     timestamptz,
    processing_started_work   interval,
    error_class               text CHECK (error_class IN ('MALFORMED', 'PROTOCOL', 'CODEC_ERROR', 'UNSUPPORTED', 'INFRA', 'EXHAUSTED')),
    first_error_class         text,
    last_error                text,
    outcome                   text,
    finished_at               timestamptz,
    updated_at                timestamptz NOT NULL,
    backfill_next_at          timestamptz,
    backfill_at               timestamptz,
    backfill_attempts         integer NOT NULL DEFAULT 0,
    backfill_error            text,
    backfill_token            uuid,
    backfill_claimed_until    timestamptz,
    backfill_abandoned_at     timestamptz,
    backfill_abandoned_reason text,
    CHECK ((finished_at IS NOT NULL) = (state IN ('SUCCEEDED', 'SKIPPED', 'DEAD'))),
    CHECK (backfill_next_at IS NULL OR state IN ('SUCCEEDED', 'SKIPPED', 'DEAD'))
) WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000,
        autovacuum_analyze_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.05,
        autovacuum_vacuum_cost_delay = 0);
COMMENT ON TABLE msgx.proc_state IS 'One row for each message taken from the mailbox: its state, its failures, its outcome, and the mark still owed.';
COMMENT ON COLUMN msgx.proc_state.msg_id IS 'Mailbox id (CMINMSGS_ID).';
COMMENT ON COLUMN msgx.proc_state.state IS 'PENDING and FAILED hold the head of the queue; SUCCEEDED, SKIPPED and DEAD are final.';
COMMENT ON COLUMN msgx.proc_state.source IS 'How it came in: poll, compat (HTTP), late (behind the watermark).';
COMMENT ON COLUMN msgx.proc_state.received_at IS 'CMINMSGS_DATE_RECEIVED; may be null.';
COMMENT ON COLUMN msgx.proc_state.identity_key IS 'Business identity SNDR|TYPE|STYP|SEQN as bound; null before the first decoding.';
COMMENT ON COLUMN msgx.proc_state.identity_forced IS 'An operator accepted the message although its identity belongs to another text.';
COMMENT ON COLUMN msgx.proc_state.guard_waived IS 'An operator waived the answer guard.';
COMMENT ON COLUMN msgx.proc_state.sndr IS 'META/SNDR.';
COMMENT ON COLUMN msgx.proc_state.type IS 'META/TYPE.';
COMMENT ON COLUMN msgx.proc_state.styp IS 'META/STYP.';
COMMENT ON COLUMN msgx.proc_state.seqn IS 'META/SEQN.';
COMMENT ON COLUMN msgx.proc_state.dttm IS 'META/DTTM; orders nothing.';
COMMENT ON COLUMN msgx.proc_state.attempts IS 'Failed attempts that counted against the message.';
COMMENT ON COLUMN msgx.proc_state.crashes IS 'Times the process died on it.';
COMMENT ON COLUMN msgx.proc_state.reopened IS 'Taken up again behind the place of the pump, by replay or as a late arrival.';
COMMENT ON COLUMN msgx.proc_state.next_attempt_at IS 'When a FAILED message may be tried again.';
COMMENT ON COLUMN msgx.proc_state.processing_started_at IS 'When it was first tried.';
COMMENT ON COLUMN msgx.proc_state.processing_started_work IS 'Working time of the pump at its first try; the head-deadline counts from here.';
COMMENT ON COLUMN msgx.proc_state.error_class IS 'Class of the last failure.';
COMMENT ON COLUMN msgx.proc_state.first_error_class IS 'Class before it was exhausted.';
COMMENT ON COLUMN msgx.proc_state.last_error IS 'The last failure in words: what, where, what is expected.';
COMMENT ON COLUMN msgx.proc_state.outcome IS 'applied, no-change, duplicate-of:<id>, identity-conflict:<id>, no-flight:<flid>, adopted-by:<id>, ignored …';
COMMENT ON COLUMN msgx.proc_state.finished_at IS 'When it reached its final state.';
COMMENT ON COLUMN msgx.proc_state.updated_at IS 'Last change of the row.';
COMMENT ON COLUMN msgx.proc_state.backfill_next_at IS 'Not null: a mark in the mailbox is owed, due at this time.';
COMMENT ON COLUMN msgx.proc_state.backfill_at IS 'When the mark was confirmed.';
COMMENT ON COLUMN msgx.proc_state.backfill_attempts IS 'Failed attempts to mark.';
COMMENT ON COLUMN msgx.proc_state.backfill_error IS 'Why the last attempt to mark failed.';
COMMENT ON COLUMN msgx.proc_state.backfill_token IS 'Claim under which it is being marked; settling needs the same.';
COMMENT ON COLUMN msgx.proc_state.backfill_claimed_until IS 'When that claim ends by itself.';
COMMENT ON COLUMN msgx.proc_state.backfill_abandoned_at IS 'When marking was given up; it is not marked.';
COMMENT ON COLUMN msgx.proc_state.backfill_abandoned_reason IS 'Why it was given up.';

-- The head behind the pump's place, and nothing else: small whatever the history.
CREATE INDEX proc_state_reopened ON msgx.proc_state (msg_id)
    WHERE reopened AND state IN ('PENDING', 'FAILED');
COMMENT ON INDEX msgx.proc_state_reopened IS 'Messages taken up again that are not finished.';
-- First tries go by cursor; only the rest needs an index.
CREATE INDEX proc_state_backfill_retry ON msgx.proc_state (backfill_attempts, msg_id)
    WHERE backfill_next_at IS NOT NULL AND (backfill_attempts > 0 OR reopened);
COMMENT ON INDEX msgx.proc_state_backfill_retry IS 'Marks owed that the first sweep did not settle, fairest first.';
CREATE INDEX proc_state_open_dead ON msgx.proc_state (msg_id)
    WHERE state = 'DEAD' OR backfill_abandoned_at IS NOT NULL;
COMMENT ON INDEX msgx.proc_state_open_dead IS 'Dead letters and abandoned marks, for the views.';

CREATE TABLE msgx.proc_identity (
    identity_key text NOT NULL,
    text_hash    bytea NOT NULL,
    msg_id       bigint NOT NULL,
    dttm         timestamptz,
    bound_at     timestamptz NOT NULL,
    PRIMARY KEY (identity_key, text_hash)
) WITH (autovacuum_vacuum_insert_scale_factor = 0.05);
COMMENT ON TABLE msgx.proc_identity IS 'Business identities that have been used, with the text they were used for.';
COMMENT ON COLUMN msgx.proc_identity.identity_key IS 'SNDR|TYPE|STYP|SEQN, with the day of DTTM if so configured.';
COMMENT ON COLUMN msgx.proc_identity.text_hash IS 'SHA-256 of the text: the same pair again is a duplicate, the key with another text is a conflict.';
COMMENT ON COLUMN msgx.proc_identity.msg_id IS 'The message that owns the pair.';
COMMENT ON COLUMN msgx.proc_identity.dttm IS 'DTTM of the owner; a much later message takes the identity over (SEQN wrapped).';
COMMENT ON COLUMN msgx.proc_identity.bound_at IS 'When it was bound.';

CREATE TABLE msgx.pipeline_lock (
    singleton    boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    done_up_to   bigint NOT NULL DEFAULT 0,
    run_epoch    bigint,
    run_from     bigint,
    run_to       bigint,
    conflict_run integer NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
COMMENT ON TABLE msgx.pipeline_lock IS 'The row that every writer of flights and events locks, so that event order is commit order; and the place of the pump.';
COMMENT ON COLUMN msgx.pipeline_lock.singleton IS 'Makes the table one row.';
COMMENT ON COLUMN msgx.pipeline_lock.done_up_to IS 'Every enqueued message up to it was finished once; never moves back.';
COMMENT ON COLUMN msgx.pipeline_lock.run_epoch IS 'Epoch of the instance that has the run in flight.';
COMMENT ON COLUMN msgx.pipeline_lock.run_from IS 'First message of the run in flight.';
COMMENT ON COLUMN msgx.pipeline_lock.run_to IS 'Last message of the run in flight.';
COMMENT ON COLUMN msgx.pipeline_lock.conflict_run IS 'Identity conflicts in a row; ten pause the pump.';
INSERT INTO msgx.pipeline_lock DEFAULT VALUES;

CREATE TABLE msgx.ignore_rule (
    type   text NOT NULL,
    styp   text NOT NULL DEFAULT '*',
    reason text NOT NULL,
    PRIMARY KEY (type, styp)
);
COMMENT ON TABLE msgx.ignore_rule IS 'Message types that are skipped on purpose.';
COMMENT ON COLUMN msgx.ignore_rule.type IS 'META/TYPE.';
COMMENT ON COLUMN msgx.ignore_rule.styp IS 'META/STYP, or * for every one.';
COMMENT ON COLUMN msgx.ignore_rule.reason IS 'Why they are skipped.';
INSERT INTO msgx.ignore_rule (type, reason) VALUES
    ('LDM', 'load messages are not used'),
    ('REGN', 'registrations are kept elsewhere'),
    ('RSTA', 'resource states are not used'),
    ('EROR', 'error reports of the sender are not used');

ALTER TABLE msgx.proc_state OWNER TO msgx_owner;
ALTER TABLE msgx.proc_identity OWNER TO msgx_owner;
ALTER TABLE msgx.pipeline_lock OWNER TO msgx_owner;
ALTER TABLE msgx.ignore_rule OWNER TO msgx_owner;

-- migrate:down
DROP TABLE msgx.ignore_rule, msgx.pipeline_lock, msgx.proc_identity, msgx.proc_state;

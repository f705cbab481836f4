-- migrate:up
ALTER TABLE msgx.instance_lease ADD COLUMN ttl interval, ADD COLUMN host_skew interval;
COMMENT ON COLUMN msgx.instance_lease.ttl IS 'How long the lease lasts after a renewal; an end more than twice as far away is the work of a clock that was set back.';
COMMENT ON COLUMN msgx.instance_lease.host_skew IS 'Clock of the holder''s host minus clock of this server at the last renewal; for people, it decides nothing.';

ALTER TABLE msgx.pipeline_lock ADD COLUMN run_stamped boolean NOT NULL DEFAULT false, ADD COLUMN suspect_to bigint;
COMMENT ON COLUMN msgx.pipeline_lock.run_stamped IS 'The run is one message that is being tried alone, its text at hand; found with the run of a dead epoch, the process died on that message.';
COMMENT ON COLUMN msgx.pipeline_lock.suspect_to IS 'Messages up to it are tried alone: a process died with them in flight.';

COMMENT ON COLUMN msgx.proc_state.processing_started_work IS 'Working time of the pump at its first failure; the head-deadline counts from here.';

INSERT INTO msgx.setting (key, value) VALUES
    ('pipeline.head-deadline', '600s'),
    ('pipeline.crash-limit', '3');

-- Functions that got another signature.
DROP FUNCTION IF EXISTS msgx.lease_acquire(text, interval, jsonb, boolean);
DROP FUNCTION IF EXISTS msgx.lease_renew(bigint, interval);

-- migrate:down
DROP FUNCTION IF EXISTS msgx.lease_acquire(text, interval, jsonb, boolean, bigint);
DROP FUNCTION IF EXISTS msgx.lease_renew(bigint, interval, timestamptz);
DELETE FROM msgx.setting WHERE key IN ('pipeline.head-deadline', 'pipeline.crash-limit');
COMMENT ON COLUMN msgx.proc_state.processing_started_work IS 'Working time of the pump at its first try; the head-deadline counts from here.';
ALTER TABLE msgx.pipeline_lock DROP COLUMN run_stamped, DROP COLUMN suspect_to;
ALTER TABLE msgx.instance_lease DROP COLUMN ttl, DROP COLUMN host_skew;

-- migrate:up
ALTER TABLE msgx.proc_state ADD COLUMN backfill_epoch bigint;
COMMENT ON COLUMN msgx.proc_state.backfill_epoch IS 'Epoch under which it is claimed to be marked; a claim of a dead epoch keeps nobody waiting.';

-- migrate:down
ALTER TABLE msgx.proc_state DROP COLUMN backfill_epoch;

-- migrate:up
ALTER TABLE msgx.proc_state ADD COLUMN backfill_epoch bigint;
COMMENT ON COLUMN msgx.proc_state.backfill_epoch IS 'Epoch under which it is claimed to be marked; a claim of a dead epoch keeps nobody waiting.';
COMMENT ON COLUMN msgx.proc_state.backfill_claimed_until IS 'When the claim ends by itself; stays after a try whose end is not known, and until then the message is not to be taken up again.';

-- migrate:down
COMMENT ON COLUMN msgx.proc_state.backfill_claimed_until IS 'When that claim ends by itself.';
ALTER TABLE msgx.proc_state DROP COLUMN backfill_epoch;

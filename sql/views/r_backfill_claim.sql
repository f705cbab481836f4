CREATE OR REPLACE VIEW msgx.r_backfill_claim AS
SELECT
    NULL::bigint AS msg_id,
    NULL::timestamptz AS received_at,
    NULL::integer AS backfill_attempts
WHERE false;
ALTER VIEW msgx.r_backfill_claim OWNER TO msgx_owner;
COMMENT ON VIEW msgx.r_backfill_claim IS 'Row type of backfill_claim.';
COMMENT ON COLUMN msgx.r_backfill_claim.msg_id IS 'The message to mark.';
COMMENT ON COLUMN msgx.r_backfill_claim.received_at IS 'When the mailbox got it.';
COMMENT ON COLUMN msgx.r_backfill_claim.backfill_attempts IS 'Failed attempts before.';

CREATE OR REPLACE VIEW msgx.r_backfill_round AS
SELECT
    NULL::integer AS marked,
    NULL::integer AS already,
    NULL::integer AS abandoned,
    NULL::integer AS retried,
    NULL::integer AS refused,
    NULL::boolean AS refusing
WHERE false;
ALTER VIEW msgx.r_backfill_round OWNER TO msgx_owner;
COMMENT ON VIEW msgx.r_backfill_round IS 'Row type of backfill_settle.';
COMMENT ON COLUMN msgx.r_backfill_round.marked IS 'Marks written.';
COMMENT ON COLUMN msgx.r_backfill_round.already IS 'Rows that were marked before; kept.';
COMMENT ON COLUMN msgx.r_backfill_round.abandoned IS 'Marks given up.';
COMMENT ON COLUMN msgx.r_backfill_round.retried IS 'Marks to be tried again.';
COMMENT ON COLUMN msgx.r_backfill_round.refused IS 'Rows whose claim was lost; unchanged.';
COMMENT ON COLUMN msgx.r_backfill_round.refusing IS 'Every row of a large round was refused: the mailbox is at fault, not a row.';

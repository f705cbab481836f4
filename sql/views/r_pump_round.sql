CREATE OR REPLACE VIEW msgx.r_pump_round AS
SELECT
    NULL::jsonb AS outcomes,
    NULL::bigint[] AS next_ids,
    NULL::text AS reason,
    NULL::timestamptz AS until,
    NULL::bigint AS watermark,
    NULL::bigint AS done_up_to,
    NULL::timestamptz AS clock,
    NULL::integer AS ahead
WHERE false;
ALTER VIEW msgx.r_pump_round OWNER TO msgx_owner;
COMMENT ON VIEW msgx.r_pump_round IS 'Row type of pump_next, pump_try, pump_apply and pump_fail.';
COMMENT ON COLUMN msgx.r_pump_round.outcomes IS 'One object for each message handled, in order.';
COMMENT ON COLUMN msgx.r_pump_round.next_ids IS 'The next run: ids to decode and to pass to pump_apply.';
COMMENT ON COLUMN msgx.r_pump_round.reason IS 'Why there is no next run: empty, beyond-watermark, backing-off, braked; null when there is one.';
COMMENT ON COLUMN msgx.r_pump_round.until IS 'End of the backing off.';
COMMENT ON COLUMN msgx.r_pump_round.watermark IS 'Watermark.';
COMMENT ON COLUMN msgx.r_pump_round.done_up_to IS 'Every enqueued message up to it was finished once.';
COMMENT ON COLUMN msgx.r_pump_round.clock IS 'The time of this server.';
COMMENT ON COLUMN msgx.r_pump_round.ahead IS 'How many messages beyond the run may be decoded ahead; 0: none, and the one message of the run goes through pump_try.';

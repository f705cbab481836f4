CREATE OR REPLACE VIEW msgx.r_flight_step AS
SELECT
    NULL::bigint AS flid,
    NULL::bigint AS msg_id,
    NULL::integer AS seq,
    NULL::jsonb AS before,
    NULL::jsonb AS after
WHERE false;
ALTER VIEW msgx.r_flight_step OWNER TO msgx_owner;
COMMENT ON VIEW msgx.r_flight_step IS 'Row type inside flight_apply: one step of the fold.';
COMMENT ON COLUMN msgx.r_flight_step.flid IS 'FLID.';
COMMENT ON COLUMN msgx.r_flight_step.msg_id IS 'The message.';
COMMENT ON COLUMN msgx.r_flight_step.seq IS 'Place of the record in it.';
COMMENT ON COLUMN msgx.r_flight_step.before IS 'State before; null for none.';
COMMENT ON COLUMN msgx.r_flight_step.after IS 'State after.';

CREATE OR REPLACE VIEW msgx.r_flight_effect AS
SELECT
    NULL::bigint AS msg_id,
    NULL::integer AS seq,
    NULL::bigint AS flid,
    NULL::boolean AS hit,
    NULL::boolean AS changed
WHERE false;
ALTER VIEW msgx.r_flight_effect OWNER TO msgx_owner;
COMMENT ON VIEW msgx.r_flight_effect IS 'Row type of flight_apply: what became of each write.';
COMMENT ON COLUMN msgx.r_flight_effect.msg_id IS 'The message.';
COMMENT ON COLUMN msgx.r_flight_effect.seq IS 'Place of the record in it.';
COMMENT ON COLUMN msgx.r_flight_effect.flid IS 'FLID.';
COMMENT ON COLUMN msgx.r_flight_effect.hit IS 'The write took effect.';
COMMENT ON COLUMN msgx.r_flight_effect.changed IS 'It changed something.';

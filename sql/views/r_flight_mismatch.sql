CREATE OR REPLACE VIEW msgx.r_flight_mismatch AS
SELECT
    NULL::bigint AS flid,
    NULL::text AS what,
    NULL::jsonb AS stored,
    NULL::jsonb AS folded
WHERE false;
ALTER VIEW msgx.r_flight_mismatch OWNER TO msgx_owner;
COMMENT ON VIEW msgx.r_flight_mismatch IS 'Row type of flight_verify.';
COMMENT ON COLUMN msgx.r_flight_mismatch.flid IS 'FLID.';
COMMENT ON COLUMN msgx.r_flight_mismatch.what IS 'Which part differs.';
COMMENT ON COLUMN msgx.r_flight_mismatch.stored IS 'As the tables have it.';
COMMENT ON COLUMN msgx.r_flight_mismatch.folded IS 'As the fold of the log has it.';

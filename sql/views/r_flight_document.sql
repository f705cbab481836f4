CREATE OR REPLACE VIEW msgx.r_flight_document AS
SELECT
    NULL::bigint AS flid,
    NULL::text AS state,
    NULL::bigint AS state_version,
    NULL::jsonb AS document
WHERE false;
ALTER VIEW msgx.r_flight_document OWNER TO msgx_owner;
COMMENT ON VIEW msgx.r_flight_document IS 'Row type of flight_document.';
COMMENT ON COLUMN msgx.r_flight_document.flid IS 'FLID.';
COMMENT ON COLUMN msgx.r_flight_document.state IS 'ACTIVE or DELETED.';
COMMENT ON COLUMN msgx.r_flight_document.state_version IS 'Version.';
COMMENT ON COLUMN msgx.r_flight_document.document IS 'The whole flight as JSON.';

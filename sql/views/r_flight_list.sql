CREATE OR REPLACE VIEW msgx.r_flight_list AS
SELECT
    NULL::bigint AS flid,
    NULL::text AS list,
    NULL::jsonb AS members
WHERE false;
ALTER VIEW msgx.r_flight_list OWNER TO msgx_owner;
COMMENT ON VIEW msgx.r_flight_list IS 'Row type inside flight_put: one list to be stored.';
COMMENT ON COLUMN msgx.r_flight_list.flid IS 'FLID.';
COMMENT ON COLUMN msgx.r_flight_list.list IS 'Name of the list.';
COMMENT ON COLUMN msgx.r_flight_list.members IS 'All members by key.';

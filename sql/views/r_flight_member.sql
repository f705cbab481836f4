CREATE OR REPLACE VIEW msgx.r_flight_member AS
SELECT
    NULL::bigint AS flid,
    NULL::text AS list,
    NULL::integer AS ord,
    NULL::text AS key,
    NULL::jsonb AS member
WHERE false;
ALTER VIEW msgx.r_flight_member OWNER TO msgx_owner;
COMMENT ON VIEW msgx.r_flight_member IS 'Row type of flight_members.';
COMMENT ON COLUMN msgx.r_flight_member.flid IS 'FLID.';
COMMENT ON COLUMN msgx.r_flight_member.list IS 'Name of the list.';
COMMENT ON COLUMN msgx.r_flight_member.ord IS 'Number of the member; 0 in lists keyed by a code.';
COMMENT ON COLUMN msgx.r_flight_member.key IS 'Number or code as text.';
COMMENT ON COLUMN msgx.r_flight_member.member IS 'Columns of the member without nulls.';

CREATE OR REPLACE FUNCTION msgx.flight_list_array(p_list text, p_members jsonb)
RETURNS jsonb
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $body$
-- A list by key as an array in its order.
--   Caller   flight_diff
--   Arguments p_list  name of the list; p_members  members by key
--   Returns  members by number, delays by code; null for none
SELECT jsonb_agg(e.value ORDER BY CASE WHEN p_list <> 'delay' THEN e.key::integer END, e.key COLLATE "C")
  FROM jsonb_each(p_members) AS e;
$body$;
ALTER FUNCTION msgx.flight_list_array(text, jsonb) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.flight_list_array(text, jsonb) IS 'A list by key as an array in its order.';
REVOKE ALL ON FUNCTION msgx.flight_list_array(text, jsonb) FROM PUBLIC;

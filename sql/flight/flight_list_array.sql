CREATE OR REPLACE FUNCTION msgx.flight_list_array(p_list text, p_members jsonb)
RETURNS jsonb
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $body$
-- A list by key as an array in its order.
--   Caller   flight_diff, flight_document
--   Arguments p_list  name of the list; p_members  members by key
--   Returns  members by number, or by code where the list has codes; a person's
--            services as an array too; null for none
SELECT jsonb_agg(CASE WHEN e.value ? 'services' THEN e.value || jsonb_build_object('services', msgx.flight_list_array('services', e.value -> 'services'))
                      ELSE e.value END
                 ORDER BY CASE WHEN p_list NOT IN ('delay', 'service', 'vip', 'push', 'tractor', 'services') THEN e.key::integer END, e.key COLLATE "C")
  FROM jsonb_each(p_members) AS e;
$body$;
ALTER FUNCTION msgx.flight_list_array(text, jsonb) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.flight_list_array(text, jsonb) IS 'A list by key as an array in its order.';
REVOKE ALL ON FUNCTION msgx.flight_list_array(text, jsonb) FROM PUBLIC;

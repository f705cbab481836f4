CREATE OR REPLACE FUNCTION msgx.flight_vip_merge(p_stored jsonb, p_members jsonb)
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $body$
-- Upsert VIP persons: each replaces the stored person, but not services that
-- are not sent again.
--   Caller   flight_fold_step
--   Arguments p_stored   persons by code so far; null for none
--             p_members  persons by code as sent; services {}: no more
--   Returns  persons by code
SELECT coalesce(p_stored, '{}') || coalesce(jsonb_object_agg(m.key,
           CASE WHEN m.value -> 'services' = '{}' THEN m.value - 'services'
                WHEN m.value ? 'services' OR p_stored -> m.key -> 'services' IS NULL THEN m.value
                ELSE m.value || jsonb_build_object('services', p_stored -> m.key -> 'services') END), '{}')
  FROM jsonb_each(p_members) AS m;
$body$;
ALTER FUNCTION msgx.flight_vip_merge(jsonb, jsonb) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.flight_vip_merge(jsonb, jsonb) IS 'Upsert VIP persons, keeping services that are not sent again.';
REVOKE ALL ON FUNCTION msgx.flight_vip_merge(jsonb, jsonb) FROM PUBLIC;

CREATE OR REPLACE FUNCTION msgx.flight_same(p_one jsonb, p_other jsonb)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $body$
-- Whether two states are the same flight: who changed it last aside.
--   Caller   flight_apply
--   Arguments p_one, p_other  states as flight_fold_step makes them, null for none
--   Returns  true when life, scalars, lists, extra and creation are equal
    SELECT (p_one -> 'live', p_one -> 's', p_one -> 'l', p_one -> 'x', p_one -> 'created')
           IS NOT DISTINCT FROM
           (p_other -> 'live', p_other -> 's', p_other -> 'l', p_other -> 'x', p_other -> 'created');
$body$;
ALTER FUNCTION msgx.flight_same(jsonb, jsonb) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.flight_same(jsonb, jsonb) IS 'Whether two states are the same flight: who changed it last aside.';
REVOKE ALL ON FUNCTION msgx.flight_same(jsonb, jsonb) FROM PUBLIC;

CREATE OR REPLACE FUNCTION msgx.flight_missing(p_set jsonb)
RETURNS text[]
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $body$
-- Which elements a new flight lacks.
--   Caller   flight_fold_step, pump_judge
--   Arguments p_set  the set of a patch; null counts as empty
--   Returns  names of the missing elements as on the wire; empty when complete
SELECT coalesce(array_agg(r.element ORDER BY r.n), '{}')
  FROM (VALUES (1, 'airline_code', 'ALCD'), (2, 'flight_number', 'FLNO'), (3, 'direction', 'MVIN'),
               (4, 'sodt', 'SODT'), (5, 'flight_type', 'FLTY'), (6, 'flight_indicator', 'FLIN'),
               (7, 'aircraft_type', 'ACFT')) AS r (n, col, element)
 WHERE p_set ->> r.col IS NULL;
$body$;
ALTER FUNCTION msgx.flight_missing(jsonb) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.flight_missing(jsonb) IS 'Which elements a new flight lacks, by their names on the wire.';
REVOKE ALL ON FUNCTION msgx.flight_missing(jsonb) FROM PUBLIC;

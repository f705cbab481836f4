CREATE OR REPLACE FUNCTION msgx.operation_day(p_sodt timestamptz, p_zone text, p_cutoff_hour integer)
RETURNS date
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $body$
-- The operating day of a scheduled time.
--   Caller   flight_put, pump_judge
--   Arguments p_sodt         scheduled time at the home airport
--             p_zone         zone of the airport
--             p_cutoff_hour  hour, 0 to 23, at which the operating day begins
--   Returns  the local date, shifted back by the cut-off hour
SELECT ((p_sodt AT TIME ZONE p_zone) - make_interval(hours => p_cutoff_hour))::date;
$body$;
ALTER FUNCTION msgx.operation_day(timestamptz, text, integer) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.operation_day(timestamptz, text, integer) IS 'The operating day of a scheduled time.';
REVOKE ALL ON FUNCTION msgx.operation_day(timestamptz, text, integer) FROM PUBLIC;

CREATE OR REPLACE FUNCTION msgx.setting_interval(p_key text)
RETURNS interval
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $body$
-- One parameter of the rules, as a duration.
--   Caller   functions of every room
--   Returns  the value, never null
--   Raises   MX004 no such setting; 22007 not a duration
SELECT msgx.setting_text(p_key)::interval;
$body$;
ALTER FUNCTION msgx.setting_interval(text) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.setting_interval(text) IS 'One parameter of the rules, as a duration.';
REVOKE ALL ON FUNCTION msgx.setting_interval(text) FROM PUBLIC;

CREATE OR REPLACE FUNCTION msgx.setting_int(p_key text)
RETURNS integer
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $body$
-- One parameter of the rules, as a number.
--   Caller   functions of every room
--   Returns  the value, never null
--   Raises   MX004 no such setting; 22P02 not a number
SELECT msgx.setting_text(p_key)::integer;
$body$;
ALTER FUNCTION msgx.setting_int(text) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.setting_int(text) IS 'One parameter of the rules, as a number.';
REVOKE ALL ON FUNCTION msgx.setting_int(text) FROM PUBLIC;

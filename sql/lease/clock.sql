CREATE OR REPLACE FUNCTION msgx.clock()
RETURNS timestamptz
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $body$
-- The clock that the driver passes on as p_now.
--   Caller   msgx run, every loop
--   Returns  the time of this server, now
SELECT clock_timestamp();
$body$;
ALTER FUNCTION msgx.clock() OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.clock() IS 'The clock that the driver passes on as p_now.';
REVOKE ALL ON FUNCTION msgx.clock() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION msgx.clock() TO msgx_app, msgx_operator, msgx_auditor;

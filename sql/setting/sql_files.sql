CREATE OR REPLACE FUNCTION msgx.sql_files()
RETURNS SETOF msgx.sql_file
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $body$
-- Which functions, views and grants are applied.
--   Caller   msgx run at start, to refuse a database it does not fit
--   Reads    sql_file
--   Returns  file and checksum, in order
SELECT f.* FROM msgx.sql_file AS f ORDER BY f.path;
$body$;
ALTER FUNCTION msgx.sql_files() OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.sql_files() IS 'Which functions, views and grants are applied.';
REVOKE ALL ON FUNCTION msgx.sql_files() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION msgx.sql_files() TO msgx_app, msgx_operator, msgx_auditor;

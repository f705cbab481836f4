CREATE OR REPLACE FUNCTION msgx.flight_ids(p_after bigint, p_limit integer)
RETURNS SETOF bigint
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $body$
-- The flights that have a write or a row, page by page.
--   Caller   flight_verify, msgx verify
--   Arguments p_after  start behind this FLID, 0 for the first; p_limit  at most
--   Reads    flight_write, flight_schd
--   Returns  FLIDs in order
SELECT a.flid
  FROM (SELECT DISTINCT w.flid FROM msgx.flight_write AS w WHERE w.flid > p_after
         UNION
        SELECT f.flid FROM msgx.flight_schd AS f WHERE f.flid > p_after) AS a
 ORDER BY a.flid
 LIMIT p_limit;
$body$;
ALTER FUNCTION msgx.flight_ids(bigint, integer) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.flight_ids(bigint, integer) IS 'The flights that have a write or a row, page by page.';
REVOKE ALL ON FUNCTION msgx.flight_ids(bigint, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION msgx.flight_ids(bigint, integer) TO msgx_app, msgx_operator, msgx_auditor;

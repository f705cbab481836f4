CREATE OR REPLACE FUNCTION msgx.flight_list_names()
RETURNS text[]
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $body$
-- The lists of a flight.
--   Caller   functions of this room
--   Returns  their names, as in patches and documents
SELECT ARRAY['stand', 'gate', 'checkin', 'carousel', 'chute', 'chock', 'airbridge', 'delay', 'service', 'vip', 'push', 'tractor', 'erut', 'rout'];
$body$;
ALTER FUNCTION msgx.flight_list_names() OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.flight_list_names() IS 'The lists of a flight, by the names of patches and documents.';
REVOKE ALL ON FUNCTION msgx.flight_list_names() FROM PUBLIC;

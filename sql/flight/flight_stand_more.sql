CREATE OR REPLACE FUNCTION msgx.flight_stand_more(p_flid bigint, p_stand_code text)
RETURNS jsonb
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $body$
-- What is known of a stand of a flight besides its allocation.
--   Caller   flight_document
--   Arguments p_flid  the flight; p_stand_code  the stand
--   Reads    flight_push, flight_tractor
--   Returns  push_time, push_indicator, tractor_time, as far as they are known
-- Times are rendered in the session's zone: the caller sets it.
SELECT jsonb_strip_nulls(jsonb_build_object(
           'push_time', (SELECT p.push_time FROM msgx.flight_push AS p WHERE p.flid = p_flid AND p.stand_code = p_stand_code),
           'push_indicator', (SELECT p.push_indicator FROM msgx.flight_push AS p WHERE p.flid = p_flid AND p.stand_code = p_stand_code),
           'tractor_time', (SELECT t.tractor_time FROM msgx.flight_tractor AS t WHERE t.flid = p_flid AND t.stand_code = p_stand_code)));
$body$;
ALTER FUNCTION msgx.flight_stand_more(bigint, text) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.flight_stand_more(bigint, text) IS 'What is known of a stand of a flight besides its allocation: push and tractor.';
REVOKE ALL ON FUNCTION msgx.flight_stand_more(bigint, text) FROM PUBLIC;

CREATE OR REPLACE FUNCTION msgx.flight_document(p_flids bigint[])
RETURNS SETOF msgx.r_flight_document
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
SET plan_cache_mode = force_generic_plan
SET timezone = 'UTC'
AS $body$
-- Whole flights as JSON: what Kafka gets as the newest state.
--   Caller   outbox_next_schd; operators and auditors by hand
--   Arguments p_flids  flights
--   Reads    flight_schd, list tables
--   Returns  one row for each stored flight: scalars that have a value, extra,
--            lists that have members; times in the airport's zone. Push and
--            tractor times are told with their stand, too
BEGIN
    PERFORM set_config('TimeZone', msgx.setting_text('operation-day.zone'), true);
    RETURN QUERY
    SELECT f.flid, f.state, f.state_version,
           jsonb_strip_nulls(to_jsonb(f)) - 'updated_at' || coalesce(l.lists, '{}')
      FROM msgx.flight_schd AS f
      LEFT JOIN (SELECT a.flid, jsonb_object_agg(a.list, msgx.flight_list_array(a.list, a.members)) AS lists
                   FROM (SELECT m.flid, m.list, jsonb_object_agg(m.key, m.member || coalesce(b.more, '{}')) AS members
                           FROM msgx.flight_members(p_flids, msgx.flight_list_names()) AS m
                           LEFT JOIN LATERAL (SELECT msgx.flight_stand_more(m.flid, m.member ->> 'stand_code') AS more) AS b ON m.list = 'stand'
                          GROUP BY m.flid, m.list) AS a
                  GROUP BY a.flid) AS l USING (flid)
     WHERE f.flid = ANY (p_flids);
END;
$body$;
ALTER FUNCTION msgx.flight_document(bigint[]) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.flight_document(bigint[]) IS 'Whole flights as JSON: what Kafka gets as the newest state.';
REVOKE ALL ON FUNCTION msgx.flight_document(bigint[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION msgx.flight_document(bigint[]) TO msgx_app, msgx_operator, msgx_auditor;

CREATE OR REPLACE FUNCTION msgx.flight_state(p_flids bigint[], p_lists text[])
RETURNS SETOF msgx.r_flight_state
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
SET plan_cache_mode = force_generic_plan
SET timezone = 'UTC'
AS $body$
-- The stored flights in the form the fold has them.
--   Caller   flight_apply, flight_verify
--   Arguments p_flids  flights; p_lists  lists to load, the others stay out
--   Reads    flight_schd, list tables
--   Returns  one row for each stored flight
BEGIN
    PERFORM set_config('TimeZone', msgx.setting_text('operation-day.zone'), true);
    RETURN QUERY
    SELECT f.flid,
           jsonb_build_object(
               'live', f.state = 'ACTIVE',
               's', jsonb_strip_nulls(to_jsonb(f))
                    - ARRAY['flid', 'operation_day', 'state', 'state_version', 'created_msg_id',
                            'last_msg_id', 'updated_at', 'extra'],
               'l', coalesce(l.lists, '{}'),
               'x', coalesce(f.extra, '{}'),
               'created', f.created_msg_id,
               'last', f.last_msg_id)
      FROM msgx.flight_schd AS f
      LEFT JOIN (SELECT m.flid, jsonb_object_agg(m.list, m.members) AS lists
                   FROM (SELECT fm.flid, fm.list, jsonb_object_agg(fm.key, fm.member) AS members
                           FROM msgx.flight_members(p_flids, p_lists) AS fm
                          WHERE p_lists <> '{}'
                          GROUP BY fm.flid, fm.list) AS m
                  GROUP BY m.flid) AS l USING (flid)
     WHERE f.flid = ANY (p_flids);
END;
$body$;
ALTER FUNCTION msgx.flight_state(bigint[], text[]) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.flight_state(bigint[], text[]) IS 'The stored flights in the form the fold has them.';
REVOKE ALL ON FUNCTION msgx.flight_state(bigint[], text[]) FROM PUBLIC;

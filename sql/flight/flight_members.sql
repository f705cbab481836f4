CREATE OR REPLACE FUNCTION msgx.flight_members(p_flids bigint[], p_lists text[])
RETURNS SETOF msgx.r_flight_member
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
SET plan_cache_mode = force_generic_plan
AS $body$
-- The members of the lists of flights: the one place that reads list tables.
--   Caller   flight_state, flight_document
--   Arguments p_flids  flights; p_lists  names of lists
--   Reads    the list tables
--   Returns  one row for each member, in no order
-- Times are rendered in the session's zone: the callers set it.
BEGIN
    RETURN QUERY
    SELECT t.flid, 'stand', t.stand_number, t.stand_number::text, jsonb_strip_nulls(to_jsonb(t) - 'flid')
      FROM msgx.flight_stand AS t
     WHERE t.flid = ANY (p_flids) AND 'stand' = ANY (p_lists)
    UNION ALL
    SELECT t.flid, 'gate', t.gate_number, t.gate_number::text, jsonb_strip_nulls(to_jsonb(t) - 'flid')
      FROM msgx.flight_gate AS t
     WHERE t.flid = ANY (p_flids) AND 'gate' = ANY (p_lists)
    UNION ALL
    SELECT t.flid, 'checkin', t.checkin_number, t.checkin_number::text, jsonb_strip_nulls(to_jsonb(t) - 'flid')
      FROM msgx.flight_checkin AS t
     WHERE t.flid = ANY (p_flids) AND 'checkin' = ANY (p_lists)
    UNION ALL
    SELECT t.flid, 'carousel', t.carousel_number, t.carousel_number::text, jsonb_strip_nulls(to_jsonb(t) - 'flid')
      FROM msgx.flight_carousel AS t
     WHERE t.flid = ANY (p_flids) AND 'carousel' = ANY (p_lists)
    UNION ALL
    SELECT t.flid, 'chute', t.chute_number, t.chute_number::text, jsonb_strip_nulls(to_jsonb(t) - 'flid')
      FROM msgx.flight_chute AS t
     WHERE t.flid = ANY (p_flids) AND 'chute' = ANY (p_lists)
    UNION ALL
    SELECT t.flid, 'chock', t.chock_number, t.chock_number::text, jsonb_strip_nulls(to_jsonb(t) - 'flid')
      FROM msgx.flight_chock AS t
     WHERE t.flid = ANY (p_flids) AND 'chock' = ANY (p_lists)
    UNION ALL
    SELECT t.flid, 'airbridge', t.airbridge_number, t.airbridge_number::text, jsonb_strip_nulls(to_jsonb(t) - 'flid')
      FROM msgx.flight_airbridge AS t
     WHERE t.flid = ANY (p_flids) AND 'airbridge' = ANY (p_lists)
    UNION ALL
    SELECT t.flid, 'delay', 0, t.delay_code, jsonb_strip_nulls(to_jsonb(t) - 'flid')
      FROM msgx.flight_delay AS t
     WHERE t.flid = ANY (p_flids) AND 'delay' = ANY (p_lists)
    UNION ALL
    SELECT t.flid, 'service', 0, t.service_code, jsonb_strip_nulls(to_jsonb(t) - 'flid')
      FROM msgx.flight_service AS t
     WHERE t.flid = ANY (p_flids) AND 'service' = ANY (p_lists)
    UNION ALL
    SELECT t.flid, 'vip', 0, t.vip_code, jsonb_strip_nulls(to_jsonb(t) - 'flid' || coalesce(s.services, '{}'))
      FROM msgx.flight_vip AS t
      LEFT JOIN LATERAL (SELECT jsonb_build_object('services', jsonb_object_agg(v.service_code, to_jsonb(v) - ARRAY['flid', 'vip_code'])) AS services
                           FROM msgx.flight_vip_service AS v
                          WHERE v.flid = t.flid AND v.vip_code = t.vip_code
                         HAVING count(*) > 0) AS s ON true
     WHERE t.flid = ANY (p_flids) AND 'vip' = ANY (p_lists)
    UNION ALL
    SELECT t.flid, 'push', 0, t.stand_code, jsonb_strip_nulls(to_jsonb(t) - 'flid')
      FROM msgx.flight_push AS t
     WHERE t.flid = ANY (p_flids) AND 'push' = ANY (p_lists)
    UNION ALL
    SELECT t.flid, 'tractor', 0, t.stand_code, jsonb_strip_nulls(to_jsonb(t) - 'flid')
      FROM msgx.flight_tractor AS t
     WHERE t.flid = ANY (p_flids) AND 'tractor' = ANY (p_lists)
    UNION ALL
    SELECT t.flid, 'erut', t.rtno, t.rtno::text, jsonb_strip_nulls(to_jsonb(t) - ARRAY['flid', 'kind'])
      FROM msgx.flight_route_point AS t
     WHERE t.flid = ANY (p_flids) AND t.kind = 'ERUT' AND 'erut' = ANY (p_lists)
    UNION ALL
    SELECT t.flid, 'rout', t.rtno, t.rtno::text, jsonb_strip_nulls(to_jsonb(t) - ARRAY['flid', 'kind'])
      FROM msgx.flight_route_point AS t
     WHERE t.flid = ANY (p_flids) AND t.kind = 'ROUT' AND 'rout' = ANY (p_lists);
END;
$body$;
ALTER FUNCTION msgx.flight_members(bigint[], text[]) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.flight_members(bigint[], text[]) IS 'The members of the lists of flights.';
REVOKE ALL ON FUNCTION msgx.flight_members(bigint[], text[]) FROM PUBLIC;

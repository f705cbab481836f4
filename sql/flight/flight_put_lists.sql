CREATE OR REPLACE FUNCTION msgx.flight_put_lists(p_lists msgx.r_flight_list[])
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
SET plan_cache_mode = force_generic_plan
SET enable_hashjoin = on
AS $body$
-- Store whole lists of flights: the one place that writes list tables.
--   Caller   flight_put
--   Arguments p_lists  lists, each with all its members by key; empty: none
--   Writes   the list tables of the lists that are there
--   Locks    the caller holds the pipeline lock
-- One block a list and no dynamic SQL, so that plans are kept and checked.
DECLARE
    v_names text[];
BEGIN
    SELECT array_agg(DISTINCT n.list) INTO v_names FROM unnest(p_lists) AS n;
    IF 'stand' = ANY (v_names) THEN
        DELETE FROM msgx.flight_stand AS t
         WHERE t.flid = ANY (ARRAY(SELECT n.flid FROM unnest(p_lists) AS n WHERE n.list = 'stand'));
        INSERT INTO msgx.flight_stand
        SELECT r.*
          FROM unnest(p_lists) AS n
         CROSS JOIN LATERAL jsonb_each(n.members) AS e
         CROSS JOIN LATERAL jsonb_populate_record(NULL::msgx.flight_stand, e.value || jsonb_build_object('flid', n.flid)) AS r
         WHERE n.list = 'stand';
    END IF;
    IF 'gate' = ANY (v_names) THEN
        DELETE FROM msgx.flight_gate AS t
         WHERE t.flid = ANY (ARRAY(SELECT n.flid FROM unnest(p_lists) AS n WHERE n.list = 'gate'));
        INSERT INTO msgx.flight_gate
        SELECT r.*
          FROM unnest(p_lists) AS n
         CROSS JOIN LATERAL jsonb_each(n.members) AS e
         CROSS JOIN LATERAL jsonb_populate_record(NULL::msgx.flight_gate, e.value || jsonb_build_object('flid', n.flid)) AS r
         WHERE n.list = 'gate';
    END IF;
    IF 'checkin' = ANY (v_names) THEN
        DELETE FROM msgx.flight_checkin AS t
         WHERE t.flid = ANY (ARRAY(SELECT n.flid FROM unnest(p_lists) AS n WHERE n.list = 'checkin'));
        INSERT INTO msgx.flight_checkin
        SELECT r.*
          FROM unnest(p_lists) AS n
         CROSS JOIN LATERAL jsonb_each(n.members) AS e
         CROSS JOIN LATERAL jsonb_populate_record(NULL::msgx.flight_checkin, e.value || jsonb_build_object('flid', n.flid)) AS r
         WHERE n.list = 'checkin';
    END IF;
    IF 'carousel' = ANY (v_names) THEN
        DELETE FROM msgx.flight_carousel AS t
         WHERE t.flid = ANY (ARRAY(SELECT n.flid FROM unnest(p_lists) AS n WHERE n.list = 'carousel'));
        INSERT INTO msgx.flight_carousel
        SELECT r.*
          FROM unnest(p_lists) AS n
         CROSS JOIN LATERAL jsonb_each(n.members) AS e
         CROSS JOIN LATERAL jsonb_populate_record(NULL::msgx.flight_carousel, e.value || jsonb_build_object('flid', n.flid)) AS r
         WHERE n.list = 'carousel';
    END IF;
    IF 'chute' = ANY (v_names) THEN
        DELETE FROM msgx.flight_chute AS t
         WHERE t.flid = ANY (ARRAY(SELECT n.flid FROM unnest(p_lists) AS n WHERE n.list = 'chute'));
        INSERT INTO msgx.flight_chute
        SELECT r.*
          FROM unnest(p_lists) AS n
         CROSS JOIN LATERAL jsonb_each(n.members) AS e
         CROSS JOIN LATERAL jsonb_populate_record(NULL::msgx.flight_chute, e.value || jsonb_build_object('flid', n.flid)) AS r
         WHERE n.list = 'chute';
    END IF;
    IF 'chock' = ANY (v_names) THEN
        DELETE FROM msgx.flight_chock AS t
         WHERE t.flid = ANY (ARRAY(SELECT n.flid FROM unnest(p_lists) AS n WHERE n.list = 'chock'));
        INSERT INTO msgx.flight_chock
        SELECT r.*
          FROM unnest(p_lists) AS n
         CROSS JOIN LATERAL jsonb_each(n.members) AS e
         CROSS JOIN LATERAL jsonb_populate_record(NULL::msgx.flight_chock, e.value || jsonb_build_object('flid', n.flid)) AS r
         WHERE n.list = 'chock';
    END IF;
    IF 'airbridge' = ANY (v_names) THEN
        DELETE FROM msgx.flight_airbridge AS t
         WHERE t.flid = ANY (ARRAY(SELECT n.flid FROM unnest(p_lists) AS n WHERE n.list = 'airbridge'));
        INSERT INTO msgx.flight_airbridge
        SELECT r.*
          FROM unnest(p_lists) AS n
         CROSS JOIN LATERAL jsonb_each(n.members) AS e
         CROSS JOIN LATERAL jsonb_populate_record(NULL::msgx.flight_airbridge, e.value || jsonb_build_object('flid', n.flid)) AS r
         WHERE n.list = 'airbridge';
    END IF;
    IF 'delay' = ANY (v_names) THEN
        DELETE FROM msgx.flight_delay AS t
         WHERE t.flid = ANY (ARRAY(SELECT n.flid FROM unnest(p_lists) AS n WHERE n.list = 'delay'));
        INSERT INTO msgx.flight_delay
        SELECT r.*
          FROM unnest(p_lists) AS n
         CROSS JOIN LATERAL jsonb_each(n.members) AS e
         CROSS JOIN LATERAL jsonb_populate_record(NULL::msgx.flight_delay, e.value || jsonb_build_object('flid', n.flid)) AS r
         WHERE n.list = 'delay';
    END IF;
    IF 'service' = ANY (v_names) THEN
        DELETE FROM msgx.flight_service AS t
         WHERE t.flid = ANY (ARRAY(SELECT n.flid FROM unnest(p_lists) AS n WHERE n.list = 'service'));
        INSERT INTO msgx.flight_service
        SELECT r.*
          FROM unnest(p_lists) AS n
         CROSS JOIN LATERAL jsonb_each(n.members) AS e
         CROSS JOIN LATERAL jsonb_populate_record(NULL::msgx.flight_service, e.value || jsonb_build_object('flid', n.flid)) AS r
         WHERE n.list = 'service';
    END IF;
    IF 'vip' = ANY (v_names) THEN
        DELETE FROM msgx.flight_vip AS t
         WHERE t.flid = ANY (ARRAY(SELECT n.flid FROM unnest(p_lists) AS n WHERE n.list = 'vip'));
        INSERT INTO msgx.flight_vip
        SELECT r.*
          FROM unnest(p_lists) AS n
         CROSS JOIN LATERAL jsonb_each(n.members) AS e
         CROSS JOIN LATERAL jsonb_populate_record(NULL::msgx.flight_vip, e.value || jsonb_build_object('flid', n.flid)) AS r
         WHERE n.list = 'vip';
        DELETE FROM msgx.flight_vip_service AS t
         WHERE t.flid = ANY (ARRAY(SELECT n.flid FROM unnest(p_lists) AS n WHERE n.list = 'vip'));
        INSERT INTO msgx.flight_vip_service
        SELECT r.*
          FROM unnest(p_lists) AS n
         CROSS JOIN LATERAL jsonb_each(n.members) AS e
         CROSS JOIN LATERAL jsonb_each(coalesce(e.value -> 'services', '{}')) AS i
         CROSS JOIN LATERAL jsonb_populate_record(NULL::msgx.flight_vip_service,
                                                  i.value || jsonb_build_object('flid', n.flid, 'vip_code', e.key)) AS r
         WHERE n.list = 'vip';
    END IF;
    IF 'push' = ANY (v_names) THEN
        DELETE FROM msgx.flight_push AS t
         WHERE t.flid = ANY (ARRAY(SELECT n.flid FROM unnest(p_lists) AS n WHERE n.list = 'push'));
        INSERT INTO msgx.flight_push
        SELECT r.*
          FROM unnest(p_lists) AS n
         CROSS JOIN LATERAL jsonb_each(n.members) AS e
         CROSS JOIN LATERAL jsonb_populate_record(NULL::msgx.flight_push, e.value || jsonb_build_object('flid', n.flid)) AS r
         WHERE n.list = 'push';
    END IF;
    IF 'tractor' = ANY (v_names) THEN
        DELETE FROM msgx.flight_tractor AS t
         WHERE t.flid = ANY (ARRAY(SELECT n.flid FROM unnest(p_lists) AS n WHERE n.list = 'tractor'));
        INSERT INTO msgx.flight_tractor
        SELECT r.*
          FROM unnest(p_lists) AS n
         CROSS JOIN LATERAL jsonb_each(n.members) AS e
         CROSS JOIN LATERAL jsonb_populate_record(NULL::msgx.flight_tractor, e.value || jsonb_build_object('flid', n.flid)) AS r
         WHERE n.list = 'tractor';
    END IF;
    IF 'erut' = ANY (v_names) THEN
        DELETE FROM msgx.flight_route_point AS t
         WHERE t.flid = ANY (ARRAY(SELECT n.flid FROM unnest(p_lists) AS n WHERE n.list = 'erut')) AND t.kind = 'ERUT';
        INSERT INTO msgx.flight_route_point
        SELECT r.*
          FROM unnest(p_lists) AS n
         CROSS JOIN LATERAL jsonb_each(n.members) AS e
         CROSS JOIN LATERAL jsonb_populate_record(NULL::msgx.flight_route_point, e.value || jsonb_build_object('flid', n.flid, 'kind', 'ERUT')) AS r
         WHERE n.list = 'erut';
    END IF;
    IF 'rout' = ANY (v_names) THEN
        DELETE FROM msgx.flight_route_point AS t
         WHERE t.flid = ANY (ARRAY(SELECT n.flid FROM unnest(p_lists) AS n WHERE n.list = 'rout')) AND t.kind = 'ROUT';
        INSERT INTO msgx.flight_route_point
        SELECT r.*
          FROM unnest(p_lists) AS n
         CROSS JOIN LATERAL jsonb_each(n.members) AS e
         CROSS JOIN LATERAL jsonb_populate_record(NULL::msgx.flight_route_point, e.value || jsonb_build_object('flid', n.flid, 'kind', 'ROUT')) AS r
         WHERE n.list = 'rout';
    END IF;
END;
$body$;
ALTER FUNCTION msgx.flight_put_lists(msgx.r_flight_list[]) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.flight_put_lists(msgx.r_flight_list[]) IS 'Store whole lists of flights.';
REVOKE ALL ON FUNCTION msgx.flight_put_lists(msgx.r_flight_list[]) FROM PUBLIC;

CREATE OR REPLACE FUNCTION msgx.flight_put(p_changes msgx.r_flight_change[], p_all boolean, p_now timestamptz)
RETURNS integer
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
SET plan_cache_mode = force_generic_plan
SET enable_hashjoin = on
AS $body$
-- Store the last state of each changed flight: the one place that writes
-- flight rows.
--   Caller   flight_apply
--   Arguments p_changes  changes; those marked last are stored
--             p_all      store every list, whatever it was before
--             p_now      time of the change
--   Writes   flight_schd, and by flight_put_lists the list tables
--   Locks    the caller holds the pipeline lock
--   Returns  how many flights were stored: the rows are wide, nobody reads them
-- A list is stored for a flight when its members differ from what they were
-- before the first change, or when the flight began or ended a life.
DECLARE
    v_zone   text := msgx.setting_text('operation-day.zone');
    v_cutoff integer := msgx.setting_int('operation-day.cutoff-hour');
    v_lists  msgx.r_flight_list[];
    v_stored integer;
BEGIN
    INSERT INTO msgx.flight_schd AS f
    SELECT r.*
      FROM unnest(p_changes) AS c
     CROSS JOIN LATERAL jsonb_populate_record(NULL::msgx.flight_schd,
               (c.after -> 's') || jsonb_build_object(
                   'flid', c.flid,
                   'operation_day', msgx.operation_day((c.after -> 's' ->> 'sodt')::timestamptz, v_zone, v_cutoff),
                   'state', CASE WHEN (c.after ->> 'live')::boolean THEN 'ACTIVE' ELSE 'DELETED' END,
                   'state_version', c.version,
                   'created_msg_id', c.after -> 'created',
                   'last_msg_id', c.after -> 'last',
                   'updated_at', p_now,
                   'extra', nullif(c.after -> 'x', '{}'))) AS r
     WHERE c.last
        -- operation_day is not among them: it never changes for a FLID.
        ON CONFLICT (flid) DO UPDATE
       SET state = EXCLUDED.state,
           state_version = EXCLUDED.state_version,
           created_msg_id = EXCLUDED.created_msg_id,
           last_msg_id = EXCLUDED.last_msg_id,
           updated_at = EXCLUDED.updated_at,
           sodt = EXCLUDED.sodt,
           airline_code = EXCLUDED.airline_code,
           airline_subcompany = EXCLUDED.airline_subcompany,
           flight_number = EXCLUDED.flight_number,
           direction = EXCLUDED.direction,
           flight_type = EXCLUDED.flight_type,
           flight_indicator = EXCLUDED.flight_indicator,
           aircraft_type = EXCLUDED.aircraft_type,
           registration = EXCLUDED.registration,
           linked_airline_code = EXCLUDED.linked_airline_code,
           linked_flight_number = EXCLUDED.linked_flight_number,
           linked_flid = EXCLUDED.linked_flid,
           terminal = EXCLUDED.terminal,
           max_pax = EXCLUDED.max_pax,
           master_airline_code = EXCLUDED.master_airline_code,
           master_flight_number = EXCLUDED.master_flight_number,
           master_flid = EXCLUDED.master_flid,
           estimated_time = EXCLUDED.estimated_time,
           actual_time = EXCLUDED.actual_time,
           current_stand = EXCLUDED.current_stand,
           pax_agent = EXCLUDED.pax_agent,
           field_agent = EXCLUDED.field_agent,
           maintenance_agent = EXCLUDED.maintenance_agent,
           cancelled_at = EXCLUDED.cancelled_at,
           remarks = EXCLUDED.remarks,
           boarding_open = EXCLUDED.boarding_open,
           last_call = EXCLUDED.last_call,
           final_time = EXCLUDED.final_time,
           approved_time = EXCLUDED.approved_time,
           engine_start_request = EXCLUDED.engine_start_request,
           engine_start = EXCLUDED.engine_start,
           vip_count = EXCLUDED.vip_count,
           vip_rank = EXCLUDED.vip_rank,
           local_bag_count = EXCLUDED.local_bag_count,
           local_bag_weight = EXCLUDED.local_bag_weight,
           passenger_count = EXCLUDED.passenger_count,
           external_status_code = EXCLUDED.external_status_code,
           external_status_comment = EXCLUDED.external_status_comment,
           status_code = EXCLUDED.status_code,
           previous_estimated_departure = EXCLUDED.previous_estimated_departure,
           previous_actual_departure = EXCLUDED.previous_actual_departure,
           next_estimated_arrival = EXCLUDED.next_estimated_arrival,
           next_actual_arrival = EXCLUDED.next_actual_arrival,
           estimated_offblock = EXCLUDED.estimated_offblock,
           calculated_offblock = EXCLUDED.calculated_offblock,
           target_offblock = EXCLUDED.target_offblock,
           calculated_takeoff = EXCLUDED.calculated_takeoff,
           internal_estimated = EXCLUDED.internal_estimated,
           runway = EXCLUDED.runway,
           diversion_airport = EXCLUDED.diversion_airport,
           diversion_direction = EXCLUDED.diversion_direction,
           diversion_reason = EXCLUDED.diversion_reason,
           return_type = EXCLUDED.return_type,
           return_reason = EXCLUDED.return_reason,
           landing_abort_indicator = EXCLUDED.landing_abort_indicator,
           landing_abort_reason = EXCLUDED.landing_abort_reason,
           door_open_time = EXCLUDED.door_open_time,
           door_close_time = EXCLUDED.door_close_time,
           extra = EXCLUDED.extra;
    GET DIAGNOSTICS v_stored = ROW_COUNT;

    -- Which lists of which flights are to be stored, with all their members.
    SELECT array_agg(ROW(d.flid, d.list, coalesce(d.members, '{}'))::msgx.r_flight_list)
      INTO v_lists
      FROM (SELECT c.flid, n.list, c.after -> 'l' -> n.list AS members,
                   b.before -> 'l' -> n.list AS before,
                   p_all OR NOT (c.after ->> 'live')::boolean
                         OR c.after -> 'created' IS DISTINCT FROM b.before -> 'created' AS whole,
                   b.before IS NULL AS fresh
              FROM unnest(p_changes) AS c
              JOIN (SELECT DISTINCT ON (o.flid) o.flid, o.before
                      FROM unnest(p_changes) AS o
                     ORDER BY o.flid, o.version) AS b USING (flid)
             CROSS JOIN unnest(msgx.flight_list_names()) AS n (list)
             WHERE c.last) AS d
     WHERE CASE WHEN d.fresh THEN d.members IS NOT NULL
                ELSE d.whole OR d.members IS DISTINCT FROM d.before END;

    PERFORM msgx.flight_put_lists(v_lists);
    RETURN v_stored;
END;
$body$;
ALTER FUNCTION msgx.flight_put(msgx.r_flight_change[], boolean, timestamptz) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.flight_put(msgx.r_flight_change[], boolean, timestamptz) IS 'Store the last state of each changed flight.';
REVOKE ALL ON FUNCTION msgx.flight_put(msgx.r_flight_change[], boolean, timestamptz) FROM PUBLIC;

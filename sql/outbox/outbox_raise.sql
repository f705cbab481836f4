CREATE OR REPLACE FUNCTION msgx.outbox_raise(
    p_changes  msgx.r_flight_change[],
    p_messages jsonb,
    p_now      timestamptz
)
RETURNS integer
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
SET plan_cache_mode = force_generic_plan
SET enable_hashjoin = off
SET enable_mergejoin = off
SET timezone = 'UTC'
AS $body$
-- Write the events of changed flights, for both targets.
--   Caller   flight_apply
--   Arguments p_changes   one for each message and flight, in order of version
--             p_messages  object: message id to what events say of the message
--             p_now       time of the change
--   Reads    flight_schd
--   Writes   msg_event
--   Locks    the caller holds the pipeline lock; pending schd rows in event_id
--            order, as outbox_sent locks them
--   Returns  how many msg events were written: they are large, nobody reads them
--   Plan     pinned to index lookups: the function is planned while the table
--            is small and called when it is large
--   Rules    msg: one event for each message and flight. schd: a flight has at
--            most one pending row; a further change raises its version and
--            makes it due at once
DECLARE
    v_written integer;
    v_flids  bigint[];
    v_events bigint[];
    v_locked bigint[];
BEGIN
    PERFORM set_config('TimeZone', msgx.setting_text('operation-day.zone'), true);

    INSERT INTO msgx.msg_event (target, partition_key, event_type, msg_id, state_version, payload, created_at)
    SELECT 'KAFKA:msg', c.flid,
           CASE WHEN c.kind = 'deleted' THEN 'TOMBSTONE' ELSE 'UPSERT' END,
           c.msg_id, c.version,
           jsonb_build_object(
               'message', p_messages -> c.msg_id::text,
               'flight', jsonb_build_object(
                   'flid', c.flid, 'flight_number', c.after -> 's' -> 'flight_number',
                   'direction', c.after -> 's' -> 'direction', 'sodt', c.after -> 's' -> 'sodt',
                   'operation_day', f.operation_day),
               'change', c.kind,
               'state_version', c.version)
           || CASE c.kind
                  WHEN 'changed' THEN msgx.flight_diff(c.before, c.after, c.keys)
                  WHEN 'created' THEN msgx.flight_diff(NULL, c.after, NULL)
                  ELSE '{}' END,
           p_now
      FROM (SELECT n.*,
                   CASE WHEN NOT (n.after ->> 'live')::boolean THEN 'deleted'
                        WHEN coalesce((n.before ->> 'live')::boolean, false)
                             AND n.before -> 'created' = n.after -> 'created' THEN 'changed'
                        ELSE 'created' END AS kind
              FROM unnest(p_changes) AS n) AS c
     CROSS JOIN LATERAL (SELECT h.operation_day FROM msgx.flight_schd AS h WHERE h.flid = c.flid LIMIT 1) AS f
     ORDER BY c.version;
    GET DIAGNOSTICS v_written = ROW_COUNT;

    SELECT array_agg(c.flid) INTO v_flids FROM unnest(p_changes) AS c WHERE c.last;
    -- A row sent meanwhile drops out here and gets a new one below.
    SELECT coalesce(array_agg(l.event_id), '{}'), coalesce(array_agg(l.partition_key), '{}') INTO v_events, v_locked
      FROM (SELECT e.event_id, e.partition_key
              FROM msgx.msg_event AS e
             WHERE e.target = 'KAFKA:schd' AND e.state = 'PENDING' AND e.partition_key = ANY (v_flids)
             ORDER BY e.event_id
               FOR UPDATE) AS l;
    UPDATE msgx.msg_event AS e
       SET state_version = c.version, msg_id = c.msg_id, attempts = 0, next_attempt_at = NULL, last_error = NULL,
           event_type = CASE WHEN (c.after ->> 'live')::boolean THEN 'UPSERT' ELSE 'TOMBSTONE' END,
           merged_count = e.merged_count + 1
      FROM unnest(v_events, v_locked) AS l (event_id, flid)
      JOIN unnest(p_changes) AS c USING (flid)
     WHERE c.last AND e.event_id = ANY (v_events) AND e.event_id = l.event_id;
    INSERT INTO msgx.msg_event (target, partition_key, event_type, msg_id, state_version, created_at)
    SELECT 'KAFKA:schd', c.flid,
           CASE WHEN (c.after ->> 'live')::boolean THEN 'UPSERT' ELSE 'TOMBSTONE' END,
           c.msg_id, c.version, p_now
      FROM unnest(p_changes) AS c
     WHERE c.last AND NOT c.flid = ANY (v_locked)
     ORDER BY c.version;
    RETURN v_written;
END;
$body$;
ALTER FUNCTION msgx.outbox_raise(msgx.r_flight_change[], jsonb, timestamptz) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.outbox_raise(msgx.r_flight_change[], jsonb, timestamptz) IS 'Write the events of changed flights, for both targets.';
REVOKE ALL ON FUNCTION msgx.outbox_raise(msgx.r_flight_change[], jsonb, timestamptz) FROM PUBLIC;

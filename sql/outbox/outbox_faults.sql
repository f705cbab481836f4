CREATE OR REPLACE FUNCTION msgx.outbox_faults(p_epoch bigint, p_now timestamptz, p_limit integer)
RETURNS SETOF msgx.r_outbox_fault
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
SET plan_cache_mode = force_generic_plan
AS $body$
-- Which flights' documents cannot be built, when outbox_next_schd failed.
--   Caller   flusher, after a failure that is not the environment's
--   Arguments as outbox_next_schd
--   Reads    msg_event by primary key above outbox_cursor, flights
--   Locks    instance_lease FOR KEY SHARE
--   Returns  one row for each event whose document raises an error, with that
--            error; the caller records them with outbox_failed
--   Raises   MX001 fenced
-- A subtransaction for each flight: only here, where something is broken.
DECLARE
    v_fault msgx.r_outbox_fault;
    v_flid  bigint;
BEGIN
    PERFORM msgx.lease_check(p_epoch);
    FOR v_fault.event_id, v_flid IN
        SELECT e.event_id, e.partition_key
          FROM msgx.msg_event AS e
         WHERE e.event_id > (SELECT c.sent_up_to FROM msgx.outbox_cursor AS c WHERE c.target = 'KAFKA:schd')
           AND e.target = 'KAFKA:schd' AND e.state = 'PENDING'
           AND (e.next_attempt_at IS NULL OR e.next_attempt_at <= p_now)
         ORDER BY e.event_id
         LIMIT p_limit
    LOOP
        BEGIN
            PERFORM FROM msgx.flight_document(ARRAY[v_flid]);
        EXCEPTION WHEN OTHERS THEN
            v_fault.error := format('the document of flight %s cannot be built: %s (SQLSTATE %s)', v_flid, SQLERRM, SQLSTATE);
            RETURN NEXT v_fault;
        END;
    END LOOP;
END;
$body$;
ALTER FUNCTION msgx.outbox_faults(bigint, timestamptz, integer) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.outbox_faults(bigint, timestamptz, integer) IS 'Which flights'' documents cannot be built.';
REVOKE ALL ON FUNCTION msgx.outbox_faults(bigint, timestamptz, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION msgx.outbox_faults(bigint, timestamptz, integer) TO msgx_app;

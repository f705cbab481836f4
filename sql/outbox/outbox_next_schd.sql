CREATE OR REPLACE FUNCTION msgx.outbox_next_schd(p_epoch bigint, p_now timestamptz, p_limit integer)
RETURNS SETOF msgx.r_outbox_schd
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
SET plan_cache_mode = force_generic_plan
SET enable_bitmapscan = off
AS $body$
-- The next flights whose newest state is to be delivered, with their documents.
--   Caller   flusher
--   Arguments p_epoch  fencing epoch; p_now  time; p_limit  at most so many
--   Reads    msg_event by primary key above outbox_cursor, flights
--   Locks    instance_lease FOR KEY SHARE
--   Returns  in event order; document null for a flight that is deleted or
--            gone; rows that are backing off are left out, as each row is the
--            only one of its flight
--   Raises   MX001 fenced
DECLARE
    v_events bigint[];
    v_flids  bigint[];
BEGIN
    PERFORM msgx.lease_check(p_epoch);
    SELECT array_agg(h.event_id), array_agg(h.partition_key) INTO v_events, v_flids
      FROM (SELECT e.event_id, e.partition_key
              FROM msgx.msg_event AS e
             WHERE e.event_id > (SELECT c.sent_up_to FROM msgx.outbox_cursor AS c WHERE c.target = 'KAFKA:schd')
               AND e.target = 'KAFKA:schd' AND e.state = 'PENDING'
               AND (e.next_attempt_at IS NULL OR e.next_attempt_at <= p_now)
             ORDER BY e.event_id
             LIMIT p_limit) AS h;
    -- One snapshot for version and document.
    RETURN QUERY
    SELECT e.event_id, e.partition_key, e.state_version, e.msg_id,
           CASE WHEN d.state = 'ACTIVE' THEN d.document END
      FROM msgx.msg_event AS e
      LEFT JOIN msgx.flight_document(v_flids) AS d ON d.flid = e.partition_key
     WHERE e.event_id = ANY (v_events)
     ORDER BY e.event_id;
END;
$body$;
ALTER FUNCTION msgx.outbox_next_schd(bigint, timestamptz, integer) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.outbox_next_schd(bigint, timestamptz, integer) IS 'The next flights whose newest state is to be delivered, with their documents.';
REVOKE ALL ON FUNCTION msgx.outbox_next_schd(bigint, timestamptz, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION msgx.outbox_next_schd(bigint, timestamptz, integer) TO msgx_app;

CREATE OR REPLACE FUNCTION msgx.outbox_next_msg(p_epoch bigint, p_now timestamptz, p_limit integer)
RETURNS SETOF msgx.msg_event
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
SET plan_cache_mode = force_generic_plan
SET enable_bitmapscan = off
AS $body$
-- The next changes to deliver.
--   Caller   dispatcher
--   Arguments p_epoch  fencing epoch; p_now  time; p_limit  at most so many
--   Reads    msg_event by primary key above outbox_cursor; behind it what was
--            requeued, by its small index
--   Locks    instance_lease FOR KEY SHARE
--   Returns  pending KAFKA:msg events in order, ending before the first that is
--            backing off: nothing of the target overtakes it. Requeued ones
--            behind the cursor come first and hold nobody up
--   Raises   MX001 fenced
BEGIN
    PERFORM msgx.lease_check(p_epoch);
    RETURN QUERY
    WITH again AS (
        SELECT r.* FROM msgx.msg_event AS r
         WHERE r.target = 'KAFKA:msg' AND r.state = 'PENDING' AND r.requeues > 0
           AND r.event_id <= (SELECT c.sent_up_to FROM msgx.outbox_cursor AS c WHERE c.target = 'KAFKA:msg')
           AND (r.next_attempt_at IS NULL OR r.next_attempt_at <= p_now)
         ORDER BY r.event_id
         LIMIT p_limit
    ), head AS (
        SELECT e.* FROM msgx.msg_event AS e
         WHERE e.event_id > (SELECT c.sent_up_to FROM msgx.outbox_cursor AS c WHERE c.target = 'KAFKA:msg')
           AND e.target = 'KAFKA:msg' AND e.state = 'PENDING'
         ORDER BY e.event_id
         LIMIT p_limit
    )
    SELECT a.* FROM again AS a
     UNION ALL
    SELECT h.* FROM head AS h
     WHERE h.event_id < coalesce((SELECT min(b.event_id) FROM head AS b WHERE b.next_attempt_at > p_now), 9223372036854775807)
     ORDER BY 1
     LIMIT p_limit;
END;
$body$;
ALTER FUNCTION msgx.outbox_next_msg(bigint, timestamptz, integer) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.outbox_next_msg(bigint, timestamptz, integer) IS 'The next changes to deliver.';
REVOKE ALL ON FUNCTION msgx.outbox_next_msg(bigint, timestamptz, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION msgx.outbox_next_msg(bigint, timestamptz, integer) TO msgx_app;

CREATE OR REPLACE FUNCTION msgx.outbox_requeue(p_event_ids bigint[], p_operator text, p_reason text, p_now timestamptz)
RETURNS SETOF msgx.msg_event
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $body$
-- Take events out of the dead letters.
--   Caller   operators
--   Arguments p_event_ids  events; others than dead ones are left alone
--             p_operator, p_reason  who and why; p_now  time
--   Writes   msg_event, operator_audit
--   Locks    pipeline_lock FOR UPDATE (event ids are given under it), then the
--            events in event_id order (no epoch: operators work beside the
--            daemon)
--   Returns  the events that are pending by now because of it; nothing for one
--            that is not dead, or whose flight is pending anyway
--   Raises   MX003 blank operator or reason
--   Rules    msg: the event is tried again under its id, and its record carries
--            how often, as it may come behind newer ones of its flight. schd:
--            the flight is made pending, under a new event and with its present
--            version, unless it is; a newer state is never overwritten. The dead
--            schd row says which event took its place
BEGIN
    PERFORM FROM msgx.operator_note(p_operator, 'outbox_requeue', format('events %s', array_to_string(p_event_ids, ', ')), p_reason, NULL, p_now);
    PERFORM FROM msgx.pipeline_lock FOR UPDATE;
    PERFORM FROM msgx.msg_event AS e WHERE e.event_id = ANY (p_event_ids) ORDER BY e.event_id FOR UPDATE;
    RETURN QUERY
    UPDATE msgx.msg_event AS e
       SET state = 'PENDING', attempts = 0, next_attempt_at = NULL, requeues = e.requeues + 1
     WHERE e.event_id = ANY (p_event_ids) AND e.target = 'KAFKA:msg' AND e.state = 'DEAD'
    RETURNING e.*;
    RETURN QUERY
    WITH dead AS (
        SELECT DISTINCT ON (d.partition_key) d.partition_key, d.msg_id, d.state_version
          FROM msgx.msg_event AS d
         WHERE d.event_id = ANY (p_event_ids) AND d.target = 'KAFKA:schd' AND d.state = 'DEAD' AND d.last_error NOT LIKE 'superseded%'
         ORDER BY d.partition_key, d.event_id DESC
    )
    INSERT INTO msgx.msg_event (target, partition_key, event_type, msg_id, state_version, created_at)
    SELECT 'KAFKA:schd', d.partition_key, CASE WHEN f.state = 'ACTIVE' THEN 'UPSERT' ELSE 'TOMBSTONE' END,
           coalesce(f.last_msg_id, d.msg_id), coalesce(f.state_version, d.state_version), p_now
      FROM dead AS d
      LEFT JOIN msgx.flight_schd AS f ON f.flid = d.partition_key
     ORDER BY d.partition_key
        ON CONFLICT (partition_key) WHERE target = 'KAFKA:schd' AND state = 'PENDING' DO NOTHING
    RETURNING *;
    UPDATE msgx.msg_event AS d
       SET last_error = 'superseded by event ' || p.event_id
      FROM msgx.msg_event AS p
     WHERE d.event_id = ANY (p_event_ids) AND d.target = 'KAFKA:schd' AND d.state = 'DEAD' AND d.last_error NOT LIKE 'superseded%'
       AND p.partition_key = d.partition_key AND p.target = 'KAFKA:schd' AND p.state = 'PENDING';
END;
$body$;
ALTER FUNCTION msgx.outbox_requeue(bigint[], text, text, timestamptz) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.outbox_requeue(bigint[], text, text, timestamptz) IS 'Take events out of the dead letters.';
REVOKE ALL ON FUNCTION msgx.outbox_requeue(bigint[], text, text, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION msgx.outbox_requeue(bigint[], text, text, timestamptz) TO msgx_operator;

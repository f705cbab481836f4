CREATE OR REPLACE FUNCTION msgx.outbox_sent(
    p_epoch      bigint,
    p_target     text,
    p_event_ids  bigint[],
    p_versions   bigint[],
    p_topic      text,
    p_partitions integer[],
    p_offsets    bigint[],
    p_now        timestamptz
)
RETURNS SETOF msgx.r_outbox_round
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
SET plan_cache_mode = force_generic_plan
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $body$
-- Record what Kafka acknowledged.
--   Caller   dispatcher, flusher
--   Arguments p_epoch  fencing epoch; p_target  the target
--             p_event_ids, p_versions  events and the versions that were sent
--             p_topic, p_partitions, p_offsets  where they went; p_now  time
--   Writes   msg_event, outbox_cursor
--   Locks    instance_lease FOR KEY SHARE; events in event_id order, then the
--            target's cursor
--   Returns  one row
--   Raises   MX001 fenced
--   Rules    an event whose version was raised meanwhile stays pending; a
--            second call with the same events changes nothing
DECLARE
    v_from bigint := (SELECT min(i) FROM unnest(p_event_ids) AS i);
    v_to   bigint := (SELECT max(i) FROM unnest(p_event_ids) AS i);
    v_sent integer;
BEGIN
    PERFORM msgx.lease_check(p_epoch);
    PERFORM FROM msgx.msg_event AS e
      WHERE e.event_id = ANY (p_event_ids) ORDER BY e.event_id FOR UPDATE;
    WITH sent AS (
        UPDATE msgx.msg_event AS e
           SET state = 'SENT', sent_at = p_now, topic = p_topic, partition = s.part, "offset" = s.pos, last_error = NULL
          FROM unnest(p_event_ids, p_versions, p_partitions, p_offsets) AS s (event_id, version, part, pos)
         WHERE e.event_id BETWEEN v_from AND v_to AND e.event_id = s.event_id AND e.target = p_target AND e.state = 'PENDING' AND e.state_version = s.version
        RETURNING e.event_id, e.partition_key
    ), superseded AS (
        -- A newer state of the flight has arrived: its dead rows are settled.
        UPDATE msgx.msg_event AS d
           SET last_error = 'superseded by event ' || s.event_id
          FROM sent AS s
         WHERE p_target = 'KAFKA:schd' AND d.state = 'DEAD' AND d.target = p_target AND d.partition_key = s.partition_key
           AND d.event_id < s.event_id AND d.last_error NOT LIKE 'superseded%'
    )
    SELECT count(*) INTO v_sent FROM sent;
    RETURN QUERY
    SELECT p_target, v_sent,
           (SELECT count(*)::integer FROM msgx.msg_event AS e WHERE e.event_id = ANY (p_event_ids) AND e.state = 'PENDING'),
           msgx.outbox_settle(p_target);
END;
$body$;
ALTER FUNCTION msgx.outbox_sent(bigint, text, bigint[], bigint[], text, integer[], bigint[], timestamptz) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.outbox_sent(bigint, text, bigint[], bigint[], text, integer[], bigint[], timestamptz) IS 'Record what Kafka acknowledged.';
REVOKE ALL ON FUNCTION msgx.outbox_sent(bigint, text, bigint[], bigint[], text, integer[], bigint[], timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION msgx.outbox_sent(bigint, text, bigint[], bigint[], text, integer[], bigint[], timestamptz) TO msgx_app;

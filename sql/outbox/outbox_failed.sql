CREATE OR REPLACE FUNCTION msgx.outbox_failed(
    p_epoch bigint, p_target text, p_event_ids bigint[], p_errors text[], p_final boolean[], p_now timestamptz
)
RETURNS SETOF msgx.msg_event
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
SET plan_cache_mode = force_generic_plan
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $body$
-- Record events that Kafka refused for their own sake.
--   Caller   dispatcher, flusher; never for trouble of the environment
--   Arguments p_epoch  fencing epoch; p_target  the target
--             p_event_ids, p_errors  events and why
--             p_final  true: dead at once (too large); p_now  time
--   Reads    settings pipeline.backoff, pipeline.backoff-cap,
--            kafka.delivery-max-attempts
--   Writes   msg_event, outbox_cursor
--   Locks    as outbox_sent
--   Returns  the events as they stand now: PENDING with a backoff, or DEAD
--   Raises   MX001 fenced
DECLARE
    v_from bigint := (SELECT min(i) FROM unnest(p_event_ids) AS i);
    v_to   bigint := (SELECT max(i) FROM unnest(p_event_ids) AS i);
    v_max     integer := msgx.setting_int('kafka.delivery-max-attempts');
    v_backoff text[] := string_to_array(msgx.setting_text('pipeline.backoff'), ',');
    v_cap     interval := msgx.setting_interval('pipeline.backoff-cap');
BEGIN
    PERFORM msgx.lease_check(p_epoch);
    PERFORM FROM msgx.msg_event AS e
      WHERE e.event_id = ANY (p_event_ids) ORDER BY e.event_id FOR UPDATE;
    RETURN QUERY
    UPDATE msgx.msg_event AS e
       SET attempts = e.attempts + 1,
           last_error = f.error,
           state = CASE WHEN f.final OR e.attempts + 1 >= v_max THEN 'DEAD' ELSE 'PENDING' END,
           next_attempt_at = CASE WHEN NOT f.final AND e.attempts + 1 < v_max
               THEN p_now + least(v_cap, v_backoff[least(e.attempts + 1, cardinality(v_backoff))]::interval) END
      FROM unnest(p_event_ids, p_errors, p_final) AS f (event_id, error, final)
     WHERE e.event_id BETWEEN v_from AND v_to AND e.event_id = f.event_id AND e.target = p_target AND e.state = 'PENDING'
    RETURNING e.*;
    PERFORM msgx.outbox_settle(p_target);
END;
$body$;
ALTER FUNCTION msgx.outbox_failed(bigint, text, bigint[], text[], boolean[], timestamptz) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.outbox_failed(bigint, text, bigint[], text[], boolean[], timestamptz) IS 'Record events that Kafka refused for their own sake.';
REVOKE ALL ON FUNCTION msgx.outbox_failed(bigint, text, bigint[], text[], boolean[], timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION msgx.outbox_failed(bigint, text, bigint[], text[], boolean[], timestamptz) TO msgx_app;

CREATE OR REPLACE FUNCTION msgx.flight_apply(
    p_writes   msgx.flight_write[],
    p_messages jsonb,
    p_slow     boolean,
    p_now      timestamptz
)
RETURNS SETOF msgx.r_flight_effect
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
SET plan_cache_mode = force_generic_plan
SET enable_hashjoin = on
AS $body$
-- Append writes to the log and bring flights, lists and events up to them.
--   Caller   pump_apply
--   Arguments p_writes    writes of validated messages
--             p_messages  object: message id to what events say of the message
--             p_slow      writes of one message behind the pump's place: the
--                         whole log of its flights is folded again
--             p_now       time of the change
--   Reads    flight_schd, list tables, flight_write
--   Writes   flight_write, flight_schd, list tables, msg_event; on the slow
--            path proc_state (orphans that now count)
--   Locks    the caller holds the pipeline lock
--   Returns  one row for each write of p_writes
--   Rules    fast path: the stored state is where the fold goes on; slow path:
--            the fold of the log is the flight, and the event says how it
--            differs from what was stored. No change, no version, no event;
--            writes of one message that cancel one another are no change.
DECLARE
    v_flids   bigint[];
    v_lists   text[];
    v_steps   msgx.r_flight_step[];
    v_changes msgx.r_flight_change[];
BEGIN
    INSERT INTO msgx.flight_write SELECT w.* FROM unnest(p_writes) AS w;

    SELECT array_agg(DISTINCT w.flid) INTO v_flids FROM unnest(p_writes) AS w;
    IF p_slow THEN
        v_lists := msgx.flight_list_names();
    ELSE
        SELECT coalesce(array_agg(DISTINCT k.key), '{}') INTO v_lists
          FROM unnest(p_writes) AS w
         CROSS JOIN LATERAL jsonb_object_keys(coalesce(w.patch -> 'lists', '{}') || coalesce(w.patch -> 'upsert', '{}')) AS k (key)
         WHERE w.patch ?| ARRAY['lists', 'upsert'];
    END IF;

    -- The same fold serves both paths: it starts from the stored state, or
    -- from nothing and runs over the whole log.
    SELECT array_agg(ROW(s.flid, s.msg_id, s.seq, s.before, s.after)::msgx.r_flight_step ORDER BY s.msg_id, s.seq)
      INTO v_steps
      FROM (SELECT c.flid, c.msg_id, c.seq, c.after,
                   lag(c.after) OVER (PARTITION BY c.flid ORDER BY c.msg_id, c.seq) AS before
              FROM (SELECT i.flid, i.msg_id, i.seq,
                           msgx.flight_fold(i.op, i.patch, i.msg_id) OVER (PARTITION BY i.flid ORDER BY i.msg_id, i.seq
                                                                            ROWS UNBOUNDED PRECEDING) AS after
                      FROM (SELECT b.flid, 0::bigint AS msg_id, 0 AS seq, 'base' AS op, b.state AS patch
                              FROM msgx.flight_state(v_flids, v_lists) AS b
                             WHERE NOT p_slow
                             UNION ALL
                            SELECT w.flid, w.msg_id, w.seq, w.op, w.patch
                              FROM unnest(p_writes) AS w
                             WHERE NOT p_slow
                             UNION ALL
                            SELECT w.flid, w.msg_id, w.seq, w.op, w.patch
                              FROM msgx.flight_write AS w
                             WHERE p_slow AND w.flid = ANY (v_flids)) AS i) AS c
           ) AS s
     WHERE s.msg_id > 0;

    IF p_slow THEN
        -- One change for each flight: from what is stored to what the log says.
        SELECT array_agg(ROW(d.flid, d.msg_id, d.before, d.after, NULL, d.version, true)::msgx.r_flight_change)
          INTO v_changes
          FROM (SELECT e.flid, e.msg_id, b.state AS before, e.after, nextval('msgx.flight_version_seq') AS version
                  FROM (SELECT DISTINCT ON (s.flid) s.flid, s.after, (SELECT max(w.msg_id) FROM unnest(p_writes) AS w) AS msg_id
                          FROM unnest(v_steps) AS s
                         ORDER BY s.flid, s.msg_id DESC, s.seq DESC) AS e
                  LEFT JOIN msgx.flight_state(v_flids, v_lists) AS b USING (flid)
                 WHERE e.after ? 'created' AND NOT msgx.flight_same(b.state, e.after)
                 ORDER BY e.flid) AS d;
        UPDATE msgx.proc_state AS p
           SET outcome = 'adopted-by:' || (SELECT max(w.msg_id) FROM unnest(p_writes) AS w), updated_at = p_now
         WHERE p.msg_id = ANY (ARRAY(SELECT s.msg_id FROM unnest(v_steps) AS s WHERE (s.after ->> 'hit')::boolean))
           AND p.state = 'SKIPPED' AND p.outcome LIKE 'no-flight:%';
    ELSE
        SELECT array_agg(ROW(d.flid, d.msg_id, d.before, d.after, d.keys, d.version, d.last)::msgx.r_flight_change ORDER BY d.version)
          INTO v_changes
          FROM (SELECT c.*, nextval('msgx.flight_version_seq') AS version
                  FROM (SELECT g.flid, g.msg_id, g.before, g.after, g.keys,
                               g.msg_id = max(g.msg_id) OVER (PARTITION BY g.flid) AS last
                          FROM (SELECT s.flid, s.msg_id, min(s.seq) AS seq,
                                       (array_agg(s.before ORDER BY s.seq))[1] AS before,
                                       (array_agg(s.after ORDER BY s.seq DESC))[1] AS after,
                                       CASE WHEN count(*) = 1 THEN min(k.keys) END AS keys
                                  FROM unnest(v_steps) AS s
                                  JOIN unnest(p_writes) AS w USING (flid, msg_id, seq)
                                 CROSS JOIN LATERAL (SELECT coalesce(array_agg(o.key), '{}') AS keys
                                                       FROM jsonb_object_keys(w.patch -> 'set') AS o (key)) AS k
                                 GROUP BY s.flid, s.msg_id
                                HAVING bool_or((s.after ->> 'changed')::boolean)) AS g
                         -- Writes of one message may cancel one another.
                         WHERE g.keys IS NOT NULL OR NOT msgx.flight_same(g.before, g.after)
                         ORDER BY g.msg_id, g.seq) AS c) AS d;
    END IF;

    IF v_changes IS NOT NULL THEN
        PERFORM msgx.flight_put(v_changes, p_slow, p_now);
        PERFORM msgx.outbox_raise(v_changes, p_messages, p_now);
    END IF;

    RETURN QUERY
    SELECT s.msg_id, s.seq, s.flid, (s.after ->> 'hit')::boolean,
           bool_or((s.after ->> 'changed')::boolean) OVER m
           AND (count(*) OVER m = 1 OR NOT msgx.flight_same(first_value(s.before) OVER m, last_value(s.after) OVER m))
      FROM unnest(v_steps) AS s
      JOIN unnest(p_writes) AS w USING (flid, msg_id, seq)
    WINDOW m AS (PARTITION BY s.msg_id, s.flid ORDER BY s.seq ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING);
END;
$body$;
ALTER FUNCTION msgx.flight_apply(msgx.flight_write[], jsonb, boolean, timestamptz) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.flight_apply(msgx.flight_write[], jsonb, boolean, timestamptz) IS 'Append writes to the log and bring flights, lists and events up to them.';
REVOKE ALL ON FUNCTION msgx.flight_apply(msgx.flight_write[], jsonb, boolean, timestamptz) FROM PUBLIC;

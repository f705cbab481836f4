CREATE OR REPLACE FUNCTION msgx.pump_apply(p_epoch bigint, p_now timestamptz, p_batch jsonb)
RETURNS SETOF msgx.r_pump_round
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
SET plan_cache_mode = force_generic_plan
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $body$
-- Apply a run of decoded messages: one round trip, one commit.
--   Caller   pump loop
--   Arguments p_epoch  fencing epoch; p_now  time
--             p_batch  array of decoded messages in id order, a prefix of the
--                      run given last: msg_id, text_hash, sndr, type, styp,
--                      seqn, dttm, declared, records, or error_class and error
--   Reads    proc_state, inbox_cursor, proc_identity, ignore_rule, setting,
--            loop_state (brake, working time), flights
--   Writes   flight_write, flight_schd, list tables, msg_event, proc_state,
--            proc_identity, schd_snap_log, pipeline_lock; loop_state after ten
--            identity conflicts in a row
--   Locks    instance_lease FOR KEY SHARE, pipeline_lock FOR UPDATE, then rows
--   Returns  one row: an outcome for each message handled (a prefix of the
--            batch), and the next run or the reason why there is none
--   Raises   MX001 fenced; any other error belongs to a message: nothing was
--            changed, try them one by one
--   Plan     pinned to index lookups: planned while tables are small, called when
--            they are large; so each table is reached by = ANY of an array or
--            within a range too
--   Rules    the batch counts only as far as it is, id by id, the list of
--            unfinished messages; finished ones are answered as done. It ends
--            before a message that must see what an earlier one of the batch
--            left (same identity, a flight created or deleted before), before
--            and after a message behind the place, after the first FAILED one,
--            and after the tenth identity conflict in a row.
--            A failure is the last when the attempts are used up, the head-deadline
--            (working time of the pump since the first failure) or the crashes.
DECLARE
    v_limit    constant integer := 10;
    v_place    msgx.pipeline_lock;
    v_wanted   text;
    v_ids      bigint[];
    v_done     jsonb;
    v_items    msgx.r_pump_item[];
    v_cut      bigint;
    v_slow     boolean;
    v_writes   msgx.flight_write[];
    v_effects  msgx.r_flight_effect[];
    v_run      integer;
    v_outcomes jsonb;
    v_max      integer := msgx.setting_int('pipeline.max-attempts');
    v_class    jsonb := msgx.setting_text('pipeline.class-attempts')::jsonb;
    v_backoff  text[] := string_to_array(msgx.setting_text('pipeline.backoff'), ',');
    v_cap      interval := msgx.setting_interval('pipeline.backoff-cap');
    v_deadline interval := msgx.setting_interval('pipeline.head-deadline');
    v_crashes  integer := msgx.setting_int('pipeline.crash-limit');
    v_work     interval;  -- working time of the pump so far
    v_zone     text := msgx.setting_text('operation-day.zone');
    v_day      boolean := msgx.setting_text('identity.include-day-boundary')::boolean;
    v_shadow   boolean := msgx.setting_text('shadow')::boolean;
BEGIN
    PERFORM msgx.lease_check(p_epoch);
    SELECT p.* INTO STRICT v_place FROM msgx.pipeline_lock AS p FOR UPDATE;
    SELECT l.wanted, l.working_time INTO STRICT v_wanted, v_work FROM msgx.loop_state AS l WHERE l.loop = 'pump';
    IF v_wanted = 'off' THEN
        RETURN QUERY SELECT * FROM msgx.pump_run(p_epoch, p_now, NULL);
        RETURN;
    END IF;

    v_ids := ARRAY(SELECT (b.value ->> 'msg_id')::bigint FROM jsonb_array_elements(p_batch) AS b ORDER BY 1);
    -- What is finished already was committed by an earlier call whose answer
    -- got lost.
    SELECT jsonb_agg(jsonb_build_object('msg_id', p.msg_id, 'state', p.state, 'error_class', p.error_class,
                                        'outcome', p.outcome, 'attempts', p.attempts, 'again', true) ORDER BY p.msg_id)
      INTO v_done
      FROM msgx.proc_state AS p
     WHERE p.msg_id = ANY (v_ids) AND p.state IN ('SUCCEEDED', 'SKIPPED', 'DEAD');

    SELECT array_agg(ROW(m.msg_id, m.text_hash, m.sndr, m.type, m.styp, m.seqn, m.dttm, m.declared, m.records,
                         msgx.identity_key(m.sndr, m.type, m.styp, m.seqn, m.dttm, v_zone, v_day),
                         m.bound, m.forced, m.attempts, m.first_error_class,
                         NULL, m.error_class, m.error, m.outcome, false, m.last)::msgx.r_pump_item ORDER BY m.msg_id)
      INTO v_items
      FROM (SELECT o.msg_id, decode(b.value ->> 'text_hash', 'hex') AS text_hash,
                   b.value ->> 'sndr' AS sndr, b.value ->> 'type' AS type, b.value ->> 'styp' AS styp,
                   (b.value ->> 'seqn')::bigint AS seqn, (b.value ->> 'dttm')::timestamptz AS dttm,
                   (b.value ->> 'declared')::bigint AS declared,
                   CASE WHEN jsonb_typeof(b.value -> 'records') = 'array' THEN b.value -> 'records' ELSE '[]' END AS records,
                   o.identity_key IS NOT NULL AS bound, o.identity_forced AS forced, o.attempts, o.first_error_class,
                   CASE WHEN o.crashes > v_crashes THEN format('the process ended %s times on it', o.crashes)
                        WHEN v_work - o.processing_started_work >= v_deadline
                        THEN format('tried for %s of working time', date_trunc('second', v_work - o.processing_started_work)) END AS last,
                   b.value ->> 'error_class' AS error_class, b.value ->> 'error' AS error, b.value ->> 'outcome' AS outcome,
                   bool_and(o.msg_id = (b.value ->> 'msg_id')::bigint) OVER (ORDER BY o.n) AS equal
              FROM (SELECT p.*, row_number() OVER (ORDER BY p.msg_id) AS n
                      FROM msgx.pump_open(v_place.done_up_to, p_now, jsonb_array_length(p_batch)) AS p) AS o
              JOIN (SELECT e.value, row_number() OVER (ORDER BY e.ordinality) AS n
                      FROM jsonb_array_elements(p_batch) WITH ORDINALITY AS e
                     WHERE NOT coalesce(v_done, '[]') @> jsonb_build_array(jsonb_build_object('msg_id', e.value -> 'msg_id'))
                   ) AS b USING (n)) AS m
     WHERE m.equal;

    -- End the batch before the first message that must see an earlier one.
    v_slow := v_items[1].msg_id <= v_place.done_up_to;
    SELECT min(c.msg_id) INTO v_cut
      FROM (SELECT i.msg_id FROM unnest(v_items) AS i WHERE v_slow AND i.msg_id > v_items[1].msg_id
             UNION ALL
            SELECT k.msg_id
              FROM (SELECT i.msg_id, row_number() OVER (PARTITION BY i.identity_key ORDER BY i.msg_id) AS nth
                      FROM unnest(v_items) AS i WHERE i.identity_key IS NOT NULL) AS k
             WHERE k.nth > 1
             UNION ALL
            SELECT r.msg_id
              FROM (SELECT i.msg_id, e.value ->> 'op' AS op,
                           min(i.msg_id) OVER (PARTITION BY e.value -> 'flid') AS first
                      FROM unnest(v_items) AS i
                     CROSS JOIN LATERAL jsonb_array_elements(i.records) AS e
                     WHERE e.value ->> 'op' <> 'change') AS r
             WHERE r.op = 'create' AND r.msg_id > r.first) AS c;
    SELECT array_agg(i ORDER BY i.msg_id) INTO v_items
      FROM unnest(v_items) AS i WHERE v_cut IS NULL OR i.msg_id < v_cut;
    IF v_items IS NULL THEN
        RETURN QUERY SELECT * FROM msgx.pump_run(p_epoch, p_now, v_done);
        RETURN;
    END IF;

    v_items := msgx.pump_judge(v_items, v_slow);

    -- A failure that may be tried again holds the place; so it ends the batch.
    SELECT array_agg(ROW(i.msg_id, i.text_hash, i.sndr, i.type, i.styp, i.seqn, i.dttm, i.declared, i.records, i.identity_key,
                         i.bound, i.forced,
                         CASE WHEN i.state = 'FAILED' THEN i.attempts + 1 ELSE i.attempts END,
                         coalesce(i.first_error_class, i.error_class),
                         CASE WHEN x.spent THEN 'DEAD' ELSE i.state END,
                         CASE WHEN x.spent THEN 'EXHAUSTED' ELSE i.error_class END,
                         CASE WHEN x.spent THEN i.error || coalesce(' (given up: ' || i.last || ')', '') ELSE i.error END,
                         i.outcome, i.bind, i.last)::msgx.r_pump_item ORDER BY i.msg_id),
           min(i.msg_id) FILTER (WHERE i.state = 'FAILED' AND NOT x.spent)
      INTO v_items, v_cut
      FROM unnest(v_items) AS i
     CROSS JOIN LATERAL (SELECT i.state = 'FAILED'
                                AND (i.attempts + 1 >= coalesce((v_class ->> i.error_class)::integer, v_max)
                                     OR i.last IS NOT NULL) AS spent) AS x;
    SELECT least(v_cut, min(r.msg_id)) INTO v_cut
      FROM (SELECT k.msg_id,
                   k.n - coalesce(max(k.n) FILTER (WHERE NOT k.conflict) OVER (ORDER BY k.n), -v_place.conflict_run) AS run
              FROM (SELECT i.msg_id, coalesce(i.outcome LIKE 'identity-conflict:%', false) AS conflict,
                           row_number() OVER (ORDER BY i.msg_id) AS n
                      FROM unnest(v_items) AS i) AS k) AS r
     WHERE r.run >= v_limit;
    SELECT array_agg(i ORDER BY i.msg_id) INTO v_items
      FROM unnest(v_items) AS i WHERE v_cut IS NULL OR i.msg_id <= v_cut;
    SELECT count(*) FILTER (WHERE n.back) + CASE WHEN bool_and(n.back) THEN v_place.conflict_run ELSE 0 END INTO v_run
      FROM (SELECT bool_and(coalesce(i.outcome LIKE 'identity-conflict:%', false)) OVER (ORDER BY i.msg_id DESC) AS back
              FROM unnest(v_items) AS i) AS n;

    -- The flights.
    SELECT array_agg(ROW((r.value ->> 'flid')::bigint, i.msg_id, r.ordinality, r.value ->> 'op',
                         coalesce(r.value -> 'patch', '{}'), p_now)::msgx.flight_write ORDER BY i.msg_id, r.ordinality)
      INTO v_writes
      FROM unnest(v_items) AS i
     CROSS JOIN LATERAL jsonb_array_elements(i.records) WITH ORDINALITY AS r
     WHERE i.state IS NULL;
    IF v_writes IS NOT NULL THEN
        SELECT array_agg(e) INTO v_effects
          FROM msgx.flight_apply(
                   v_writes,
                   (SELECT jsonb_object_agg(i.msg_id, jsonb_build_object(
                               'msg_id', i.msg_id, 'sender', i.sndr, 'type', i.type, 'subtype', i.styp, 'seqn', i.seqn))
                      FROM unnest(v_items) AS i WHERE i.state IS NULL),
                   v_slow, p_now) AS e;
    END IF;

    -- Outcomes, identities, the mark owed.
    WITH verdict AS (
        SELECT i.msg_id, i.type, i.styp, i.declared, i.records, i.state IS NULL AS applied,
               coalesce(i.state, CASE WHEN e.hit IS FALSE THEN 'SKIPPED' ELSE 'SUCCEEDED' END) AS state,
               CASE WHEN i.state IS NOT NULL THEN i.outcome
                    WHEN e.changed THEN 'applied'
                    WHEN e.hit IS FALSE THEN 'no-flight:' || e.first_flid
                    ELSE 'no-change' END AS outcome,
               CASE WHEN i.state IS NOT NULL THEN i.error_class END AS error_class,
               i.error, i.attempts, i.first_error_class, i.identity_key, i.sndr, i.seqn, i.dttm,
               CASE WHEN i.state = 'FAILED'
                    THEN p_now + least(v_cap, v_backoff[least(i.attempts, cardinality(v_backoff))]::interval) END AS next_attempt_at
          FROM unnest(v_items) AS i
          LEFT JOIN (SELECT f.msg_id, bool_or(f.hit) AS hit, bool_or(f.changed) AS changed,
                            (array_agg(f.flid ORDER BY f.seq))[1] AS first_flid
                       FROM unnest(v_effects) AS f
                      GROUP BY f.msg_id) AS e USING (msg_id)
    ), bound AS (
        INSERT INTO msgx.proc_identity (identity_key, text_hash, msg_id, dttm, bound_at)
        SELECT i.identity_key, i.text_hash, i.msg_id, i.dttm, p_now
          FROM unnest(v_items) AS i
         WHERE i.bind
    ), snap AS (
        INSERT INTO msgx.schd_snap_log (msg_id, recv_at, styp, scope_start, scope_end, declared, records, outcome)
        SELECT v.msg_id, p_now, v.styp, s.scope_start, s.scope_end, v.declared, jsonb_array_length(v.records),
               v.state || coalesce(' ' || v.outcome, ' ' || v.error_class, '')
          FROM verdict AS v
          LEFT JOIN LATERAL (SELECT min((r.value -> 'patch' -> 'set' ->> 'sodt')::timestamptz) AS scope_start,
                                    max((r.value -> 'patch' -> 'set' ->> 'sodt')::timestamptz) AS scope_end
                               FROM jsonb_array_elements(v.records) AS r) AS s ON true
         WHERE v.type IN ('SCHD', 'ADFT') AND v.state <> 'FAILED'
    ), told AS (
        UPDATE msgx.proc_state AS p
           SET state = v.state, outcome = v.outcome, error_class = v.error_class,
               first_error_class = v.first_error_class, last_error = coalesce(v.error, p.last_error),
               attempts = v.attempts, next_attempt_at = v.next_attempt_at,
               identity_key = CASE WHEN v.error_class IS DISTINCT FROM 'MALFORMED' THEN coalesce(p.identity_key, v.identity_key) END,
               sndr = v.sndr, type = v.type, styp = v.styp, seqn = v.seqn, dttm = v.dttm,
               processing_started_at = coalesce(p.processing_started_at, p_now),
               processing_started_work = CASE WHEN v.state = 'FAILED' THEN coalesce(p.processing_started_work, v_work)
                                              ELSE p.processing_started_work END,
               finished_at = CASE WHEN v.state <> 'FAILED' THEN p_now END,
               backfill_next_at = CASE WHEN v.state <> 'FAILED' AND NOT v_shadow AND p.backfill_at IS NULL THEN p_now END,
               updated_at = p_now
          FROM verdict AS v
         -- The range bounds the look-up whichever side the planner begins with.
         WHERE p.msg_id BETWEEN v_ids[1] AND v_ids[cardinality(v_ids)]
           AND p.msg_id = v.msg_id AND p.state IN ('PENDING', 'FAILED')
        RETURNING p.msg_id, p.state, p.error_class, p.outcome, p.attempts, p.next_attempt_at, p.last_error
    )
    SELECT jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
               'msg_id', t.msg_id, 'state', t.state, 'error_class', t.error_class, 'outcome', t.outcome,
               'attempts', t.attempts, 'next_attempt_at', t.next_attempt_at,
               'error', CASE WHEN t.error_class IS NOT NULL THEN t.last_error END)) ORDER BY t.msg_id)
      INTO v_outcomes
      FROM told AS t;

    IF v_run >= v_limit THEN
        UPDATE msgx.loop_state AS l
           SET wanted = 'off', paused_since = p_now,
               paused_reason = format('%s identity conflicts in a row, the last at message %s', v_run, v_items[cardinality(v_items)].msg_id)
         WHERE l.loop = 'pump';
        v_run := 0;
    END IF;
    UPDATE msgx.pipeline_lock AS p SET conflict_run = v_run WHERE p.conflict_run <> v_run;
    RETURN QUERY SELECT * FROM msgx.pump_run(p_epoch, p_now, coalesce(v_done, '[]') || v_outcomes);
END;
$body$;
ALTER FUNCTION msgx.pump_apply(bigint, timestamptz, jsonb) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.pump_apply(bigint, timestamptz, jsonb) IS 'Apply a run of decoded messages: one round trip, one commit.';
REVOKE ALL ON FUNCTION msgx.pump_apply(bigint, timestamptz, jsonb) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION msgx.pump_apply(bigint, timestamptz, jsonb) TO msgx_app;

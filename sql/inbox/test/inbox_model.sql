-- Random mailboxes: every call is also made to a naive model that keeps one row
-- for each missing id and walks id by id; both must agree after each step.
BEGIN;
\ir ../../fixture.psql
-- Without statistics the comparison looks dear enough to be compiled each time.
SET LOCAL jit = off;
SELECT plan(18);

-- The mailbox: ids as given, from when to when each is there.
CREATE TEMP TABLE box (id bigint PRIMARY KEY, there_from timestamptz NOT NULL, there_until timestamptz NOT NULL DEFAULT 'infinity');
CREATE FUNCTION pg_temp.read(p_after bigint, p_limit integer, p_at timestamptz) RETURNS bigint[] LANGUAGE sql AS $$
    SELECT coalesce(array_agg(b.id ORDER BY b.id), '{}')
      FROM (SELECT id FROM box WHERE id > p_after AND there_from <= p_at AND there_until > p_at ORDER BY id LIMIT p_limit) AS b $$;

-- The model. A missing id: released_at is null while it is open.
CREATE TEMP TABLE missing (id bigint PRIMARY KEY, first_seen_at timestamptz NOT NULL, released_at timestamptz, why text);
CREATE TEMP TABLE taken (id bigint PRIMARY KEY);
CREATE TEMP TABLE place (w bigint, seen bigint, seq bigint, since timestamptz, readable timestamptz);
-- How often what happened, so that the test cannot pass by meeting nothing.
CREATE TEMP TABLE met (what text NOT NULL, times bigint NOT NULL);
CREATE FUNCTION pg_temp.meet(p_what text, p_times bigint DEFAULT 1) RETURNS void LANGUAGE sql AS $$
    INSERT INTO met VALUES (p_what, p_times) $$;

CREATE FUNCTION pg_temp.model_look(p_from bigint, p_to bigint, p_ids bigint[], p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_released timestamptz;
BEGIN
    FOR v_id IN p_from + 1 .. p_to LOOP
        IF v_id = ANY (p_ids) THEN
            DELETE FROM missing WHERE id = v_id RETURNING released_at INTO v_released;
            IF FOUND THEN
                PERFORM pg_temp.meet('a hole filled');
                IF v_released IS NOT NULL THEN PERFORM pg_temp.meet('a released id that is present'); END IF;
            END IF;
        ELSE
            INSERT INTO missing VALUES (v_id, p_now) ON CONFLICT DO NOTHING;
        END IF;
    END LOOP;
END $$;

CREATE FUNCTION pg_temp.model_advance(p_ids bigint[], p_read timestamptz, p_now timestamptz) RETURNS TABLE (enqueued bigint, released bigint) LANGUAGE plpgsql AS $$
DECLARE
    v_place place;
    v_last  bigint := (SELECT max(i) FROM unnest(p_ids) AS i);
    v_id    bigint;
    v_hole  missing;
BEGIN
    SELECT * INTO v_place FROM place;
    enqueued := 0;
    released := 0;
    UPDATE place SET seq = seq + 1;
    IF v_last IS NULL THEN
        RETURN NEXT;
        RETURN;
    END IF;
    PERFORM pg_temp.model_look(v_place.w, v_last, p_ids, p_now);
    v_id := v_place.w + 1;
    WHILE v_id <= v_last LOOP
        IF v_id = ANY (p_ids) THEN
            INSERT INTO taken VALUES (v_id);
            enqueued := enqueued + 1;
        ELSE
            SELECT * INTO v_hole FROM missing WHERE id = v_id;
            IF v_hole.released_at IS NOT NULL THEN
                EXIT WHEN v_hole.released_at > p_read;
            ELSE
                EXIT WHEN greatest(v_hole.first_seen_at, v_place.readable) + interval '300 seconds' > p_read;
                UPDATE missing SET released_at = p_now, why = 'aged' WHERE id = v_id;
                released := released + 1;
            END IF;
        END IF;
        v_id := v_id + 1;
    END LOOP;
    UPDATE place SET w = v_id - 1, seen = greatest(seen, v_last),
                     since = (SELECT first_seen_at FROM missing WHERE id = v_id AND (released_at IS NULL OR released_at > p_read));
    RETURN NEXT;
END $$;

-- The ledger, id by id.
CREATE TEMP VIEW flat AS
SELECT generate_series(lo, hi) AS id, first_seen_at, released_at, released_why AS why FROM msgx.inbox_hole;

-- Where the two differ; empty when nowhere.
CREATE FUNCTION pg_temp.difference() RETURNS text LANGUAGE sql AS $$
    SELECT concat_ws('; ',
        (SELECT format('cursor %s, model %s', c, p) FROM (SELECT ROW(committed_up_to, seen_to, poll_seq, hole_since, readable_since)::text AS c FROM msgx.inbox_cursor) AS r,
                                                          (SELECT ROW(w, seen, seq, since, readable)::text AS p FROM place) AS m WHERE c <> p),
        (SELECT format('ledger without %s', min(id)) FROM (TABLE missing EXCEPT SELECT * FROM flat) AS d HAVING count(*) > 0),
        (SELECT format('ledger has %s', min(id)) FROM (SELECT * FROM flat EXCEPT TABLE missing) AS d HAVING count(*) > 0),
        (SELECT 'ranges overlap' FROM flat HAVING count(*) > count(DISTINCT id)),
        (SELECT 'a range crosses the watermark or the frontier' FROM msgx.inbox_hole AS h, msgx.inbox_cursor AS c
          WHERE h.lo <= c.committed_up_to AND h.hi > c.committed_up_to OR h.lo <= c.seen_to AND h.hi > c.seen_to LIMIT 1),
        (SELECT 'a hole is open below the watermark' FROM msgx.inbox_hole AS h, msgx.inbox_cursor AS c WHERE h.state = 'OPEN' AND h.lo <= c.committed_up_to LIMIT 1),
        (SELECT format('not enqueued: %s', min(id)) FROM (TABLE taken EXCEPT SELECT msg_id FROM msgx.proc_state) AS d HAVING count(*) > 0),
        (SELECT format('enqueued: %s', min(msg_id)) FROM (SELECT msg_id FROM msgx.proc_state EXCEPT TABLE taken) AS d HAVING count(*) > 0),
        -- The promise itself, without the model: nothing below W is lost.
        (SELECT format('%s is neither enqueued nor released', min(id)) FROM (
             SELECT generate_series(1, committed_up_to) AS id FROM msgx.inbox_cursor
             EXCEPT SELECT msg_id FROM msgx.proc_state EXCEPT SELECT id FROM flat WHERE released_at IS NOT NULL) AS d HAVING count(*) > 0)) $$;

CREATE FUNCTION pg_temp.simulate(p_seed double precision, p_steps integer) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    v_at    timestamptz := pg_temp.at();
    v_read  timestamptz;
    v_next  bigint := 0;
    v_place place;
    v_ids   bigint[];
    v_ahead bigint[];
    v_lo    bigint;
    v_hi    bigint;
    v_round msgx.r_inbox_round;
    v_model record;
    v_bad   text;
BEGIN
    PERFORM setseed(p_seed);
    DELETE FROM box; DELETE FROM missing; DELETE FROM taken; DELETE FROM place;
    DELETE FROM msgx.inbox_hole; DELETE FROM msgx.proc_state;
    INSERT INTO place VALUES (0, 0, 0, NULL, NULL);
    UPDATE msgx.inbox_cursor SET committed_up_to = 0, seen_to = 0, poll_seq = 0, hole_since = NULL, readable_since = NULL;
    FOR v_step IN 1 .. p_steps LOOP
        -- Whole tens of seconds, so that windows end at a read to the second.
        v_at := v_at + make_interval(secs => 10 * floor(15 * random() * random()));
        -- Senders: most commit at once, some late, some never, some ids are jumped over.
        FOR v_n IN 1 .. floor(6 * random())::integer LOOP
            v_next := v_next + 1;
            IF random() < 0.02 THEN
                v_next := v_next + 100 + floor(200 * random())::integer;
                INSERT INTO box VALUES (v_next - 50, v_at + make_interval(secs => 10 * floor(60 * random())));
            END IF;
            IF random() < 0.9 THEN
                INSERT INTO box VALUES (v_next, CASE WHEN random() < 0.8 THEN v_at ELSE v_at + make_interval(secs => 10 * floor(50 * random())) END);
            END IF;
        END LOOP;
        IF random() < 0.05 THEN
            UPDATE box SET there_until = v_at WHERE id = (SELECT id FROM box WHERE id > (SELECT w FROM place) AND there_from <= v_at ORDER BY random() LIMIT 1);
        END IF;

        -- A page is read; until it is handed over, other things happen.
        SELECT * INTO v_place FROM place;
        v_read := v_at;
        v_ids := pg_temp.read(v_place.w, 1 + floor(CASE WHEN random() < 0.2 THEN 100 ELSE 8 END * random())::integer, v_read);
        IF random() < 0.3 THEN
            v_at := v_at + interval '10 seconds';
        END IF;
        IF random() < 0.3 THEN
            v_ahead := pg_temp.read(v_place.seen, 1 + floor(30 * random())::integer, v_at);
            PERFORM FROM msgx.inbox_frontier(pg_temp.epoch(), v_place.seen, v_ahead, v_at, v_at);
            IF cardinality(v_ahead) > 0 THEN
                PERFORM pg_temp.model_look(v_place.seen, v_ahead[cardinality(v_ahead)], v_ahead, v_at);
                UPDATE place SET seen = v_ahead[cardinality(v_ahead)];
                PERFORM pg_temp.meet('the frontier moved');
            END IF;
        END IF;
        IF random() < 0.1 THEN
            PERFORM FROM msgx.inbox_frontier(pg_temp.epoch(), v_place.seen + 1000, ARRAY[v_place.seen + 1005], v_at, v_at);
        END IF;
        IF random() < 0.1 THEN
            SELECT id INTO v_lo FROM missing WHERE released_at IS NULL ORDER BY random() LIMIT 1;
            IF FOUND THEN
                v_hi := v_lo;
                WHILE random() < 0.8 AND EXISTS (SELECT FROM missing WHERE id = v_hi + 1 AND released_at IS NULL) LOOP
                    v_hi := v_hi + 1;
                END LOOP;
                PERFORM FROM msgx.inbox_release_hole(v_lo, v_hi, 'li', 'chance', v_at);
                UPDATE missing SET released_at = v_at, why = 'operator' WHERE id BETWEEN v_lo AND v_hi;
                PERFORM pg_temp.meet('released by an operator');
            END IF;
        END IF;
        IF random() < 0.02 THEN
            PERFORM FROM msgx.inbox_readable(pg_temp.epoch(), v_at);
            UPDATE place SET readable = v_at;
        END IF;
        IF random() < 0.1 THEN
            PERFORM FROM msgx.inbox_advance(pg_temp.epoch(), v_place.seq + 1, v_ids, array_fill(''::text, ARRAY[cardinality(v_ids)]), v_read, v_at);
        END IF;

        SELECT * INTO STRICT v_round FROM msgx.inbox_advance(pg_temp.epoch(), v_place.seq, v_ids, array_fill(''::text, ARRAY[cardinality(v_ids)]), v_read, v_at);
        SELECT * INTO STRICT v_model FROM pg_temp.model_advance(v_ids, v_read, v_at);
        v_bad := nullif(pg_temp.difference(), '');
        IF v_bad IS NULL THEN
            SELECT format('it said %s', v_round) INTO v_bad FROM place AS p
             WHERE (v_round.accepted, v_round.watermark_before, v_round.watermark, v_round.enqueued, v_round.released_ids, v_round.hole_since, v_round.poll_seq, v_round.seen_to)
                   IS DISTINCT FROM (true, v_place.w, p.w, v_model.enqueued, v_model.released, p.since, p.seq, p.seen)
                OR (v_round.released_holes = 0) <> (v_round.released_ids = 0) OR v_round.released_holes > v_round.released_ids;
        END IF;
        IF v_bad IS NOT NULL THEN
            RETURN format('step %s, page %s after %s: %s', v_step, v_ids, v_place.w, v_bad);
        END IF;
        PERFORM pg_temp.meet('ids enqueued', v_model.enqueued);
        PERFORM pg_temp.meet('ids aged out', v_model.released);
        IF v_round.released_holes > 1 THEN PERFORM pg_temp.meet('several ranges crossed in one call'); END IF;
        IF cardinality(v_ids) > 0 AND v_round.watermark < v_ids[cardinality(v_ids)] THEN PERFORM pg_temp.meet('a hole stood'); END IF;
    END LOOP;
    PERFORM pg_temp.meet('rows that came below the watermark', count(*))
       FROM box JOIN missing USING (id) WHERE there_from <= v_at AND there_until > v_at AND id <= (SELECT w FROM place);
    RETURN NULL;
END $$;

SELECT is(pg_temp.simulate(s / 10.0, 120), NULL, format('random mailbox %s: watermark, ledger and queue are the model''s after every step', s))
  FROM generate_series(1, 9) AS s;
SELECT ok((SELECT sum(times) FROM met WHERE what = w) >= 5, format('it met %s often enough', w))
  FROM unnest('{ids enqueued,ids aged out,a hole filled,a hole stood,several ranges crossed in one call,the frontier moved,released by an operator,a released id that is present,rows that came below the watermark}'::text[]) AS w;
SELECT * FROM finish();
ROLLBACK;

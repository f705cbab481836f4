CREATE OR REPLACE FUNCTION msgx.inbox_advance(
    p_epoch        bigint,
    p_poll_seq     bigint,
    p_ids          bigint[],
    p_received     text[],
    p_read_started timestamptz,
    p_now          timestamptz,
    p_server       text DEFAULT NULL,
    p_max          bigint DEFAULT NULL,
    p_next         bigint DEFAULT NULL,
    p_below_ids    bigint[] DEFAULT NULL,
    p_below_received text[] DEFAULT NULL
)
RETURNS SETOF msgx.r_inbox_round
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
SET plan_cache_mode = force_generic_plan
AS $body$
-- Enqueue what a poll found and move the watermark over it.
--   Caller   poller, each page
--   Arguments p_epoch         fencing epoch
--             p_poll_seq      number of the poll; another than the expected one
--                             changes nothing and tells how the cursor stands
--             p_ids           ids above the watermark in order, from one result
--                             set that began right above it
--             p_received      their received times as text; '' for null
--             p_read_started  when that read started, p_now  time
--             p_server        which server was read; null: nothing is known of
--                             the mailbox, and it is not judged
--             p_max, p_next, p_below_ids, p_below_received  see inbox_suspect
--   Reads    setting pipeline.max-commit-delay
--   Writes   proc_state, inbox_hole, inbox_cursor
--   Locks    instance_lease FOR KEY SHARE, inbox_cursor FOR UPDATE
--   Returns  one row
--   Raises   MX001 fenced; MX003 ids not ascending above the watermark, not each
--            with its received time, or a time is null
--   Rules    walk up from the watermark: what is present is enqueued; a missing
--            range is crossed only when it was first seen at least
--            max-commit-delay before the read started (not counting from before
--            the mailbox was readable again), or its release was recorded
--            before the read started. Rows above a standing hole wait.
--            A read that ended before it started (a clock went back) counts as
--            started when it ended. A page without a hole writes no hole.
--            A mailbox that gives ids out again is refused, with its reason,
--            until an operator accepts it: nothing is taken from it. On another
--            server, and when its highest id went back, transactions that
--            nobody timed may be open: hole windows count from now.
DECLARE
    v_cursor   msgx.inbox_cursor;
    v_read     timestamptz := least(p_read_started, p_now);
    v_last     bigint;
    v_missing  boolean;  -- of the ids above the watermark up to the last one
    v_block    bigint;   -- first id of the lowest hole that stands
    v_to       bigint;
    v_enqueued integer := 0;
    v_holes    integer := 0;
    v_ids      bigint := 0;
    v_delay    interval := msgx.setting_interval('pipeline.max-commit-delay');
    v_anew     text;     -- why hole windows count from now
BEGIN
    PERFORM msgx.lease_check(p_epoch);
    SELECT c.* INTO STRICT v_cursor FROM msgx.inbox_cursor AS c FOR UPDATE;
    IF p_poll_seq IS DISTINCT FROM v_cursor.poll_seq THEN
        RETURN QUERY SELECT false, v_cursor.committed_up_to, v_cursor.committed_up_to, 0, 0, 0::bigint,
                            v_cursor.hole_since, v_cursor.poll_seq, v_cursor.seen_to, v_cursor.refused_why, NULL::text;
        RETURN;
    END IF;
    IF p_read_started IS NULL OR p_now IS NULL OR cardinality(p_ids) IS DISTINCT FROM cardinality(p_received) THEN
        RAISE EXCEPTION USING
            ERRCODE = 'MX003',
            MESSAGE = 'a page needs a received time for each id, the time its read started, and the time now',
            HINT = 'Give an empty text where a received time is null.';
    END IF;
    v_last := msgx.inbox_last_id(v_cursor.committed_up_to, p_ids);
    IF p_server IS NOT NULL THEN
        IF v_cursor.refused_why IS NULL THEN
            UPDATE msgx.inbox_cursor AS c
               SET refused_why = s.why, refused_since = p_now
              FROM msgx.inbox_suspect(p_max, p_next, p_below_ids, p_below_received) AS s (why)
             WHERE s.why IS NOT NULL
            RETURNING c.refused_why INTO v_cursor.refused_why;
        END IF;
        v_anew := CASE WHEN p_server <> v_cursor.mailbox_server THEN format('the mailbox was on server %s and is on %s', v_cursor.mailbox_server, p_server)
                       WHEN p_max < v_cursor.mailbox_max THEN format('the highest id of the mailbox was %s and is %s', v_cursor.mailbox_max, p_max) END;
        IF v_anew IS NOT NULL THEN
            v_cursor.readable_since := p_now;
        END IF;
    END IF;
    IF v_cursor.refused_why IS NOT NULL THEN
        RETURN QUERY SELECT false, v_cursor.committed_up_to, v_cursor.committed_up_to, 0, 0, 0::bigint,
                            v_cursor.hole_since, v_cursor.poll_seq, v_cursor.seen_to, v_cursor.refused_why, NULL::text;
        RETURN;
    END IF;

    v_to := coalesce(v_last, v_cursor.committed_up_to);
    IF v_last IS NOT NULL THEN
        v_missing := v_last - v_cursor.committed_up_to > cardinality(p_ids);
        SELECT h.lo INTO v_block
          FROM msgx.inbox_reconcile(v_cursor.committed_up_to, v_last, p_ids, p_now) AS h
         WHERE CASE h.state
                   WHEN 'OPEN' THEN greatest(h.first_seen_at, v_cursor.readable_since) + v_delay > v_read
                   ELSE h.released_at > v_read END
         ORDER BY h.lo
         LIMIT 1;
        IF FOUND THEN
            v_to := v_block - 1;
        END IF;

        IF v_missing THEN
            WITH aged AS (
                UPDATE msgx.inbox_hole AS h
                   SET state = 'RELEASED', released_at = p_now, released_why = 'aged'
                 WHERE h.state = 'OPEN' AND h.lo > v_cursor.committed_up_to AND h.lo <= v_to
                RETURNING h.hi - h.lo + 1 AS ids
            )
            SELECT count(*), coalesce(sum(a.ids), 0) INTO v_holes, v_ids FROM aged AS a;
        END IF;
        INSERT INTO msgx.proc_state (msg_id, received_at, updated_at)
        SELECT i.id, nullif(i.received, '')::timestamptz, p_now
          FROM unnest(p_ids, p_received) AS i (id, received)
         WHERE i.id <= v_to
         ORDER BY i.id
            ON CONFLICT (msg_id) DO NOTHING;
        GET DIAGNOSTICS v_enqueued = ROW_COUNT;
    END IF;

    RETURN QUERY
    UPDATE msgx.inbox_cursor AS c
       SET committed_up_to = v_to,
           seen_to = greatest(c.seen_to, v_last),
           -- A hole right above may also lie beyond the page: the frontier saw it.
           hole_since = CASE WHEN v_last IS NULL THEN c.hole_since
                             WHEN v_to < greatest(c.seen_to, v_last) THEN
                                  (SELECT h.first_seen_at FROM msgx.inbox_hole AS h
                                    WHERE h.lo = v_to + 1 AND (h.state = 'OPEN' OR h.released_at > v_read)) END,
           poll_seq = c.poll_seq + 1,
           last_poll_at = p_now,
           mailbox_server = coalesce(p_server, c.mailbox_server),
           mailbox_max = coalesce(p_max, c.mailbox_max),
           readable_since = v_cursor.readable_since
    RETURNING true, v_cursor.committed_up_to, c.committed_up_to, v_enqueued, v_holes, v_ids, c.hole_since, c.poll_seq, c.seen_to, NULL::text, v_anew;
END;
$body$;
ALTER FUNCTION msgx.inbox_advance(bigint, bigint, bigint[], text[], timestamptz, timestamptz, text, bigint, bigint, bigint[], text[]) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.inbox_advance(bigint, bigint, bigint[], text[], timestamptz, timestamptz, text, bigint, bigint, bigint[], text[]) IS 'Enqueue what a poll found and move the watermark over it.';
REVOKE ALL ON FUNCTION msgx.inbox_advance(bigint, bigint, bigint[], text[], timestamptz, timestamptz, text, bigint, bigint, bigint[], text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION msgx.inbox_advance(bigint, bigint, bigint[], text[], timestamptz, timestamptz, text, bigint, bigint, bigint[], text[]) TO msgx_app;

CREATE OR REPLACE FUNCTION msgx.inbox_seed(
    p_epoch      bigint,
    p_mode       text,
    p_min        bigint,
    p_max        bigint,
    p_recent_from bigint,
    p_recent_ids bigint[],
    p_now        timestamptz
)
RETURNS SETOF msgx.inbox_cursor
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $body$
-- Set the watermark of an instance that never ran: the cut-over.
--   Caller   msgx seed; msgx run with pipeline.cutover-watermark
--   Arguments p_epoch  fencing epoch
--             p_mode   min (all rows present), zero (from id 0, holes by rule),
--                      max (none of the rows present), or an id
--             p_min, p_max  bounds of the mailbox; 0 when it is empty
--             p_recent_from, p_recent_ids  ids present above p_recent_from:
--                      rows so young that a missing id may still be committed
--             p_now    time
--   Writes   inbox_cursor; inbox_hole: missing ids between p_recent_from and
--            the watermark, as ranges watched since the seed; what polls saw
--            missing before the seed stays only above the watermark
--   Locks    instance_lease FOR KEY SHARE, inbox_cursor FOR UPDATE
--   Returns  the cursor
--   Raises   MX001 fenced; MX002 the instance was used before; MX003 bad mode
DECLARE
    v_cursor msgx.inbox_cursor;
    v_to     bigint;
BEGIN
    PERFORM msgx.lease_check(p_epoch);
    SELECT c.* INTO STRICT v_cursor FROM msgx.inbox_cursor AS c FOR UPDATE;
    IF v_cursor.seeded_at IS NOT NULL OR v_cursor.committed_up_to > 0 OR EXISTS (SELECT FROM msgx.proc_state) THEN
        RAISE EXCEPTION USING
            ERRCODE = 'MX002',
            MESSAGE = format('this instance was used before: its watermark is %s', v_cursor.committed_up_to),
            HINT = 'Remove pipeline.cutover-watermark; a used instance goes on where it stood.';
    END IF;
    IF p_mode IS NULL OR p_mode !~ '^(min|zero|max|[0-9]{1,18})$' THEN
        RAISE EXCEPTION USING
            ERRCODE = 'MX003',
            MESSAGE = format('%L is no way to seed', p_mode),
            HINT = 'Give min, zero, max or an id.';
    END IF;
    IF p_min IS NULL OR p_max IS NULL OR p_recent_from IS NULL THEN
        RAISE EXCEPTION USING
            ERRCODE = 'MX003',
            MESSAGE = 'the bounds of the mailbox are needed to seed',
            HINT = 'Give 0 for an empty mailbox: p_min => 0, p_max => 0, p_recent_from => 0.';
    END IF;
    v_to := CASE p_mode WHEN 'min' THEN greatest(p_min - 1, 0) WHEN 'zero' THEN 0 WHEN 'max' THEN p_max ELSE NULL END;
    IF v_to IS NULL THEN
        v_to := p_mode::bigint;
    END IF;
    WITH below AS (
        DELETE FROM msgx.inbox_hole AS h WHERE h.lo <= v_to RETURNING h.*
    )
    INSERT INTO msgx.inbox_hole (lo, hi, first_seen_at, first_seen_mailbox_at, state, released_at, released_why, late_at)
    SELECT v_to + 1, b.hi, b.first_seen_at, b.first_seen_mailbox_at, b.state, b.released_at, b.released_why, b.late_at
      FROM below AS b WHERE b.hi > v_to;
    INSERT INTO msgx.inbox_hole (lo, hi, first_seen_at, state, released_at, released_why)
    SELECT lower(piece), upper(piece) - 1, p_now, 'RELEASED', p_now, 'seeded'
      FROM unnest(int8multirange(int8range(p_recent_from, greatest(v_to, p_recent_from), '(]'))
                  - coalesce((SELECT range_agg(int8range(i, i, '[]')) FROM unnest(p_recent_ids) AS i), '{}')) AS piece;
    RETURN QUERY
    UPDATE msgx.inbox_cursor AS c
       SET committed_up_to = v_to, seen_to = greatest(c.seen_to, v_to),
           hole_since = (SELECT h.first_seen_at FROM msgx.inbox_hole AS h WHERE h.lo = v_to + 1 AND h.state = 'OPEN'),
           seeded_at = p_now, seeded_mode = p_mode, seed_floor = v_to
    RETURNING c.*;
END;
$body$;
ALTER FUNCTION msgx.inbox_seed(bigint, text, bigint, bigint, bigint, bigint[], timestamptz) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.inbox_seed(bigint, text, bigint, bigint, bigint, bigint[], timestamptz) IS 'Set the watermark of an instance that never ran: the cut-over.';
REVOKE ALL ON FUNCTION msgx.inbox_seed(bigint, text, bigint, bigint, bigint, bigint[], timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION msgx.inbox_seed(bigint, text, bigint, bigint, bigint, bigint[], timestamptz) TO msgx_app;

CREATE OR REPLACE FUNCTION msgx.inbox_reconcile(p_from bigint, p_to bigint, p_ids bigint[], p_now timestamptz)
RETURNS SETOF msgx.inbox_hole
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $body$
-- Bring the ledger of holes up to what a read saw.
--   Caller   inbox_advance, inbox_frontier
--   Arguments p_from, p_to  the read saw every id above p_from up to p_to
--             p_ids         the ids it found there, ascending
--             p_now         time: first sighting of what is newly missing
--   Writes   inbox_hole
--   Locks    the caller holds the cursor
--   Returns  the ledger inside (p_from, p_to], in order
--   Rules    what is present leaves the ledger whatever its state; pieces keep
--            the first sighting of their range. No range reaches over p_from:
--            watermark and frontier stand on an id that was there, right below
--            a hole, or where the seed cut the ledger. So lo alone finds a
--            range, however many were released long ago.
DECLARE
    v_span    int8multirange := int8multirange(int8range(p_from, p_to, '(]'));
    v_present int8multirange;
    v_known   int8multirange;
BEGIN
    IF cardinality(p_ids) = p_to - p_from
       AND NOT EXISTS (SELECT FROM msgx.inbox_hole AS h WHERE h.lo > p_from AND h.lo <= p_to) THEN
        RETURN;
    END IF;
    SELECT coalesce(range_agg(int8range(i, i, '[]')), '{}') INTO v_present FROM unnest(p_ids) AS i;

    WITH touched AS (
        DELETE FROM msgx.inbox_hole AS h
         WHERE h.lo > p_from AND h.lo <= p_to
           AND int8range(h.lo, h.hi, '[]') && v_present
        RETURNING h.*
    )
    INSERT INTO msgx.inbox_hole (lo, hi, first_seen_at, first_seen_mailbox_at, state, released_at, released_why, late_at)
    SELECT lower(piece), upper(piece) - 1, t.first_seen_at, t.first_seen_mailbox_at, t.state, t.released_at, t.released_why, t.late_at
      FROM touched AS t
     CROSS JOIN LATERAL unnest(int8multirange(int8range(t.lo, t.hi, '[]')) - v_present) AS piece;

    SELECT coalesce(range_agg(int8range(h.lo, h.hi, '[]')), '{}') INTO v_known
      FROM msgx.inbox_hole AS h WHERE h.lo > p_from AND h.lo <= p_to;
    INSERT INTO msgx.inbox_hole (lo, hi, first_seen_at)
    SELECT lower(piece), upper(piece) - 1, p_now
      FROM unnest(v_span - v_present - v_known) AS piece;

    RETURN QUERY
    SELECT h.* FROM msgx.inbox_hole AS h WHERE h.lo > p_from AND h.lo <= p_to ORDER BY h.lo;
END;
$body$;
ALTER FUNCTION msgx.inbox_reconcile(bigint, bigint, bigint[], timestamptz) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.inbox_reconcile(bigint, bigint, bigint[], timestamptz) IS 'Bring the ledger of holes up to what a read saw.';
REVOKE ALL ON FUNCTION msgx.inbox_reconcile(bigint, bigint, bigint[], timestamptz) FROM PUBLIC;

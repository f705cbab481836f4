CREATE OR REPLACE FUNCTION msgx.inbox_release_hole(p_lo bigint, p_hi bigint, p_operator text, p_reason text, p_now timestamptz)
RETURNS SETOF msgx.inbox_hole
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $body$
-- Release missing ids by hand, when their owner says that they will not come.
--   Caller   operators: msgx release-hole, psql
--   Arguments p_lo, p_hi  first and last id; all must be missing and OPEN
--             p_operator, p_reason  who and why; p_now  time
--   Writes   inbox_hole, operator_audit
--   Locks    inbox_cursor FOR UPDATE (no epoch: operators work beside the daemon)
--   Returns  the released ranges; the next poll crosses them
--   Raises   MX003 blank operator or reason, or no range; MX005 an id of it is
--            not an open hole
DECLARE
    v_range int8range;
    v_open  int8multirange;
BEGIN
    PERFORM FROM msgx.operator_note(p_operator, 'inbox_release_hole', format('ids %s to %s', p_lo, p_hi), p_reason, NULL, p_now);
    IF (p_lo <= p_hi) IS NOT TRUE THEN
        RAISE EXCEPTION USING
            ERRCODE = 'MX003',
            MESSAGE = format('from %s to %s is no range of ids', p_lo, p_hi),
            HINT = 'Give the first and the last id; the same one twice for a single id.';
    END IF;
    v_range := int8range(p_lo, p_hi, '[]');
    PERFORM FROM msgx.inbox_cursor FOR UPDATE;
    SELECT coalesce(range_agg(int8range(h.lo, h.hi, '[]')), '{}') INTO v_open
      FROM msgx.inbox_hole AS h WHERE h.state = 'OPEN' AND h.hi >= p_lo AND h.lo <= p_hi;
    IF NOT v_open @> v_range THEN
        RAISE EXCEPTION USING
            ERRCODE = 'MX005',
            MESSAGE = format('not every id from %s to %s is an open hole', p_lo, p_hi),
            HINT = 'List them with: SELECT * FROM msgx.v_holes;';
    END IF;
    WITH touched AS (
        DELETE FROM msgx.inbox_hole AS h WHERE h.state = 'OPEN' AND h.hi >= p_lo AND h.lo <= p_hi RETURNING h.*
    )
    INSERT INTO msgx.inbox_hole (lo, hi, first_seen_at, first_seen_mailbox_at, state, released_at, released_why)
    SELECT lower(r.piece), upper(r.piece) - 1, t.first_seen_at, t.first_seen_mailbox_at, r.state,
           CASE WHEN r.state = 'RELEASED' THEN p_now END, CASE WHEN r.state = 'RELEASED' THEN 'operator' END
      FROM touched AS t
     CROSS JOIN LATERAL (
               SELECT int8range(t.lo, t.hi, '[]') * v_range AS piece, 'RELEASED' AS state
                UNION ALL
               SELECT p.piece, 'OPEN' FROM unnest(int8multirange(int8range(t.lo, t.hi, '[]')) - int8multirange(v_range)) AS p (piece)) AS r;
    RETURN QUERY
    SELECT h.* FROM msgx.inbox_hole AS h WHERE h.lo >= p_lo AND h.hi <= p_hi ORDER BY h.lo;
END;
$body$;
ALTER FUNCTION msgx.inbox_release_hole(bigint, bigint, text, text, timestamptz) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.inbox_release_hole(bigint, bigint, text, text, timestamptz) IS 'Release missing ids by hand.';
REVOKE ALL ON FUNCTION msgx.inbox_release_hole(bigint, bigint, text, text, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION msgx.inbox_release_hole(bigint, bigint, text, text, timestamptz) TO msgx_operator;

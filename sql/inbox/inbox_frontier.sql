CREATE OR REPLACE FUNCTION msgx.inbox_frontier(
    p_epoch bigint, p_from bigint, p_ids bigint[], p_read_started timestamptz, p_now timestamptz
)
RETURNS SETOF msgx.inbox_cursor
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
SET plan_cache_mode = force_generic_plan
AS $body$
-- Record holes far above the watermark as early as they are visible.
--   Caller   poller, after a page that did not end the backlog
--   Arguments p_epoch         fencing epoch
--             p_from          the frontier the read began above
--             p_ids           ids it found, in order, from one result set
--             p_read_started  when it started, p_now  time
--   Writes   inbox_hole, inbox_cursor.seen_to
--   Locks    instance_lease FOR KEY SHARE, inbox_cursor FOR UPDATE
--   Returns  the cursor; unchanged when p_from is not its frontier
--   Raises   MX001 fenced; MX003 ids not ascending above the frontier
DECLARE
    v_cursor msgx.inbox_cursor;
    v_last   bigint;
BEGIN
    PERFORM msgx.lease_check(p_epoch);
    SELECT c.* INTO STRICT v_cursor FROM msgx.inbox_cursor AS c FOR UPDATE;
    -- A read that ended before it started: the clock went back, decide nothing.
    IF p_from = v_cursor.seen_to AND p_read_started <= p_now THEN
        v_last := msgx.inbox_last_id(p_from, p_ids);
        IF v_last IS NOT NULL THEN
            PERFORM FROM msgx.inbox_reconcile(p_from, v_last, p_ids, p_now);
            UPDATE msgx.inbox_cursor AS c SET seen_to = v_last;
        END IF;
    END IF;
    RETURN QUERY SELECT c.* FROM msgx.inbox_cursor AS c;
END;
$body$;
ALTER FUNCTION msgx.inbox_frontier(bigint, bigint, bigint[], timestamptz, timestamptz) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.inbox_frontier(bigint, bigint, bigint[], timestamptz, timestamptz) IS 'Record holes far above the watermark as early as they are visible.';
REVOKE ALL ON FUNCTION msgx.inbox_frontier(bigint, bigint, bigint[], timestamptz, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION msgx.inbox_frontier(bigint, bigint, bigint[], timestamptz, timestamptz) TO msgx_app;

CREATE OR REPLACE FUNCTION msgx.pump_open(p_done_up_to bigint, p_now timestamptz, p_limit integer)
RETURNS SETOF msgx.proc_state
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
SET plan_cache_mode = force_generic_plan
SET enable_bitmapscan = off
AS $body$
-- The messages that may be tried now, from the head on.
--   Caller   pump_run, pump_apply
--   Arguments p_done_up_to  place of the pump; p_now  time; p_limit  at most
--   Reads    proc_state: reopened rows by their small index, the rest by
--            primary key above the place; inbox_cursor
--   Returns  in id order, up to the watermark, ending before the first that is
--            backing off
BEGIN
    RETURN QUERY
    WITH unfinished AS (
        (SELECT p.* FROM msgx.proc_state AS p
          WHERE p.reopened AND p.state IN ('PENDING', 'FAILED') AND p.msg_id <= p_done_up_to
          ORDER BY p.msg_id LIMIT p_limit)
        UNION ALL
        (SELECT p.* FROM msgx.proc_state AS p
          WHERE p.msg_id > p_done_up_to
            AND p.msg_id <= (SELECT c.committed_up_to FROM msgx.inbox_cursor AS c)
            AND p.state IN ('PENDING', 'FAILED')
          ORDER BY p.msg_id LIMIT p_limit)
    ), head AS (
        SELECT u.* FROM unfinished AS u ORDER BY u.msg_id LIMIT p_limit
    )
    SELECT h.* FROM head AS h
     WHERE h.msg_id < coalesce((SELECT min(b.msg_id) FROM head AS b WHERE b.next_attempt_at > p_now),
                               9223372036854775807)
     ORDER BY h.msg_id;
END;
$body$;
ALTER FUNCTION msgx.pump_open(bigint, timestamptz, integer) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.pump_open(bigint, timestamptz, integer) IS 'The messages that may be tried now, from the head on.';
REVOKE ALL ON FUNCTION msgx.pump_open(bigint, timestamptz, integer) FROM PUBLIC;

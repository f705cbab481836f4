CREATE OR REPLACE FUNCTION msgx.backfill_settle(
    p_epoch bigint, p_token uuid, p_ids bigint[], p_results text[], p_errors text[], p_now timestamptz
)
RETURNS SETOF msgx.r_backfill_round
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
SET plan_cache_mode = force_generic_plan
SET enable_bitmapscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $body$
-- Record what became of claimed marks.
--   Caller   backfill loop
--   Arguments p_epoch    fencing epoch; p_token  the claim
--             p_ids      messages
--             p_results  marked, already (marked before, kept), missing (row
--                        gone), trouble (of this row), released (the mailbox
--                        could not be asked); p_errors  in words; p_now  time
--   Reads    setting pipeline.backfill-max-attempts
--   Writes   proc_state, backfill_cursor
--   Locks    instance_lease FOR KEY SHARE; rows in id order, backfill_cursor
--   Returns  one row of counts
--   Raises   MX001 fenced
--   Rules    settling needs the token; missing is given up at once; trouble
--            waits 30 s, 1 min … up to 15 min, and is given up at the limit;
--            released is no attempt: the mark is due as it was. When ten or
--            more were tried and every one was refused, the mailbox refuses, not
--            a row: they wait and rotate, but none is given up. After trouble
--            and released the mark may still be under way in the mailbox: the
--            end of the claim stays, and until then nobody may take the message
--            up again.
DECLARE
    -- All of so many, and not one row of its own, is at fault.
    v_all  boolean := cardinality(p_ids) >= 10 AND 'trouble' = ALL (p_results);
    v_max  integer := CASE WHEN v_all THEN 2147483647 ELSE msgx.setting_int('pipeline.backfill-max-attempts') END;
    v_row  msgx.r_backfill_round;
    v_from bigint;
    v_done bigint;
BEGIN
    PERFORM msgx.lease_check(p_epoch);
    PERFORM FROM msgx.proc_state AS p WHERE p.msg_id = ANY (p_ids) ORDER BY p.msg_id FOR NO KEY UPDATE;
    WITH settled AS (
        UPDATE msgx.proc_state AS p
           SET backfill_at = CASE WHEN s.result IN ('marked', 'already') THEN p_now END,
               backfill_attempts = p.backfill_attempts + CASE WHEN s.result = 'trouble' THEN 1 ELSE 0 END,
               backfill_error = nullif(s.error, ''),
               backfill_next_at = CASE WHEN s.result = 'trouble' AND p.backfill_attempts + 1 < v_max
                   THEN p_now + least(interval '30 seconds' * 2 ^ least(p.backfill_attempts, 10), interval '15 minutes')
                   WHEN s.result = 'released' THEN p.backfill_next_at END,
               backfill_abandoned_at = CASE WHEN a.abandon THEN p_now END,
               backfill_abandoned_reason = CASE WHEN a.abandon THEN s.result || coalesce(': ' || nullif(s.error, ''), '') END,
               backfill_token = NULL, backfill_epoch = NULL, updated_at = p_now,
               backfill_claimed_until = CASE WHEN s.result IN ('trouble', 'released') THEN p.backfill_claimed_until END
          FROM unnest(p_ids, p_results, p_errors) AS s (msg_id, result, error)
         CROSS JOIN LATERAL (SELECT s.result = 'missing'
                                    OR (s.result = 'trouble' AND (SELECT o.backfill_attempts + 1 >= v_max FROM msgx.proc_state AS o
                                                                   WHERE o.msg_id = s.msg_id)) AS abandon) AS a
         WHERE p.msg_id = ANY (p_ids) AND p.msg_id = s.msg_id AND p.backfill_token = p_token AND p.finished_at IS NOT NULL
        RETURNING s.result, a.abandon
    )
    SELECT count(*) FILTER (WHERE s.result = 'marked'), count(*) FILTER (WHERE s.result = 'already'),
           count(*) FILTER (WHERE s.abandon), count(*) FILTER (WHERE s.result IN ('trouble', 'released') AND NOT s.abandon),
           cardinality(p_ids) - count(*), v_all
      INTO v_row FROM settled AS s;

    SELECT b.settled_up_to INTO STRICT v_from FROM msgx.backfill_cursor AS b FOR UPDATE;
    SELECT l.done_up_to INTO STRICT v_done FROM msgx.pipeline_lock AS l;
    -- The first row whose first try is still to come holds the cursor.
    UPDATE msgx.backfill_cursor AS b
       SET settled_up_to = greatest(v_from, coalesce(
               (SELECT p.msg_id - 1 FROM msgx.proc_state AS p
                 WHERE p.msg_id > v_from AND p.msg_id <= v_done
                   AND p.backfill_next_at IS NOT NULL AND p.backfill_attempts = 0 AND NOT p.reopened
                 ORDER BY p.msg_id LIMIT 1), v_done));
    RETURN NEXT v_row;
END;
$body$;
ALTER FUNCTION msgx.backfill_settle(bigint, uuid, bigint[], text[], text[], timestamptz) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.backfill_settle(bigint, uuid, bigint[], text[], text[], timestamptz) IS 'Record what became of claimed marks.';
REVOKE ALL ON FUNCTION msgx.backfill_settle(bigint, uuid, bigint[], text[], text[], timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION msgx.backfill_settle(bigint, uuid, bigint[], text[], text[], timestamptz) TO msgx_app;

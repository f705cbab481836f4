CREATE OR REPLACE FUNCTION msgx.backfill_claim(p_epoch bigint, p_now timestamptz, p_limit integer, p_token uuid, p_claim_for interval)
RETURNS SETOF msgx.r_backfill_claim
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
SET plan_cache_mode = force_generic_plan
SET enable_bitmapscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $body$
-- Claim marks that are due.
--   Caller   backfill loop
--   Arguments p_epoch  fencing epoch; p_now  time; p_limit  at most so many
--             p_token  names this claim; p_claim_for  how long it lasts
--   Reads    backfill_cursor, pipeline_lock.done_up_to (not locked), setting
--            shadow, pipeline.overdue-backfill
--   Writes   proc_state (token, epoch and end of the claim)
--   Locks    instance_lease FOR KEY SHARE; rows in id order
--   Returns  the claimed messages in id order
--   Raises   MX001 fenced
--   Rules    first tries by cursor; due retries by fewest attempts, then id;
--            each kind has half of the limit, and what the other leaves over.
--            A message older than R is due in spite of its backoff, but not
--            within 30 s of its last try: a round that drains a backlog would
--            try it again and again. Only
--            finished messages; none under a live claim of this epoch (a former holder
--            is fenced and settles nothing); none of a shadow, and none while the
--            mailbox is refused: its ids may name other rows.
DECLARE
    v_from    bigint;
    v_done    bigint;
    v_first   bigint[];
    v_retry   bigint[];
    v_pause   CONSTANT interval := interval '30 seconds';  -- the shortest backoff
    v_overdue timestamptz := p_now - msgx.setting_interval('pipeline.overdue-backfill');
BEGIN
    PERFORM msgx.lease_check(p_epoch);
    IF msgx.setting_text('shadow')::boolean OR EXISTS (SELECT FROM msgx.inbox_cursor AS c WHERE c.refused_why IS NOT NULL) THEN
        RETURN;
    END IF;
    SELECT b.settled_up_to INTO STRICT v_from FROM msgx.backfill_cursor AS b;
    SELECT l.done_up_to INTO STRICT v_done FROM msgx.pipeline_lock AS l;
    SELECT coalesce(array_agg(f.msg_id), '{}') INTO v_first
      FROM (SELECT p.msg_id FROM msgx.proc_state AS p
             WHERE p.msg_id > v_from AND p.msg_id <= v_done
               AND p.backfill_next_at IS NOT NULL AND p.backfill_attempts = 0 AND NOT p.reopened
               AND (p.backfill_token IS NULL OR p.backfill_claimed_until <= p_now OR p.backfill_epoch <> p_epoch)
             ORDER BY p.msg_id LIMIT p_limit) AS f;
    SELECT coalesce(array_agg(r.msg_id), '{}') INTO v_retry
      FROM (SELECT p.msg_id FROM msgx.proc_state AS p
             WHERE p.backfill_next_at IS NOT NULL AND (p.backfill_attempts > 0 OR p.reopened)
               AND (p.backfill_next_at <= p_now OR p.received_at <= v_overdue)
               AND (p.backfill_next_at <= p_now OR p.updated_at <= p_now - v_pause)
               AND (p.backfill_token IS NULL OR p.backfill_claimed_until <= p_now OR p.backfill_epoch <> p_epoch)
             ORDER BY p.backfill_attempts, p.msg_id
             LIMIT greatest(p_limit - cardinality(v_first), p_limit / 2)) AS r;
    RETURN QUERY
    WITH due AS (
        SELECT p.msg_id FROM msgx.proc_state AS p
         WHERE p.msg_id = ANY (v_first[:p_limit - cardinality(v_retry)] || v_retry)
           AND p.backfill_next_at IS NOT NULL
         ORDER BY p.msg_id
           FOR NO KEY UPDATE SKIP LOCKED
    ), claimed AS (
        UPDATE msgx.proc_state AS p
           SET backfill_token = p_token, backfill_claimed_until = p_now + p_claim_for, backfill_epoch = p_epoch
         WHERE p.msg_id = ANY (ARRAY(SELECT d.msg_id FROM due AS d))
        RETURNING p.msg_id, p.received_at, p.backfill_attempts
    )
    SELECT c.msg_id, c.received_at, c.backfill_attempts FROM claimed AS c ORDER BY c.msg_id;
END;
$body$;
ALTER FUNCTION msgx.backfill_claim(bigint, timestamptz, integer, uuid, interval) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.backfill_claim(bigint, timestamptz, integer, uuid, interval) IS 'Claim marks that are due.';
REVOKE ALL ON FUNCTION msgx.backfill_claim(bigint, timestamptz, integer, uuid, interval) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION msgx.backfill_claim(bigint, timestamptz, integer, uuid, interval) TO msgx_app;

CREATE OR REPLACE FUNCTION msgx.backfill_resume(p_ids bigint[], p_operator text, p_reason text, p_now timestamptz)
RETURNS SETOF msgx.proc_state
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $body$
-- Try abandoned marks again.
--   Caller   operators
--   Arguments p_ids  messages; those not abandoned, or not finished, are left alone
--             p_operator, p_reason  who and why; p_now  time
--   Writes   proc_state, operator_audit
--   Locks    rows in id order (no epoch: operators work beside the daemon)
--   Returns  the messages that owe their mark again
--   Raises   MX003 blank operator or reason
-- They lie behind the cursor of first tries: one attempt is counted so that the
-- retry index finds them.
BEGIN
    PERFORM FROM msgx.operator_note(p_operator, 'backfill_resume', format('messages %s', array_to_string(p_ids, ', ')), p_reason, NULL, p_now);
    RETURN QUERY
    WITH abandoned AS (
        SELECT p.msg_id FROM msgx.proc_state AS p
         WHERE p.msg_id = ANY (p_ids) AND p.backfill_abandoned_at IS NOT NULL AND p.finished_at IS NOT NULL
         ORDER BY p.msg_id FOR UPDATE
    )
    UPDATE msgx.proc_state AS p
       SET backfill_next_at = p_now, backfill_attempts = 1, backfill_abandoned_at = NULL, backfill_abandoned_reason = NULL,
           updated_at = p_now
      FROM abandoned AS a
     WHERE p.msg_id = a.msg_id
    RETURNING p.*;
END;
$body$;
ALTER FUNCTION msgx.backfill_resume(bigint[], text, text, timestamptz) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.backfill_resume(bigint[], text, text, timestamptz) IS 'Try abandoned marks again.';
REVOKE ALL ON FUNCTION msgx.backfill_resume(bigint[], text, text, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION msgx.backfill_resume(bigint[], text, text, timestamptz) TO msgx_operator;

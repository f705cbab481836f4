CREATE OR REPLACE FUNCTION msgx.inbox_accept_mailbox(p_operator text, p_reason text, p_now timestamptz)
RETURNS SETOF msgx.inbox_cursor
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $body$
-- Go on with a mailbox that was refused: its owner has put its ids right.
--   Caller   operators
--   Arguments p_operator, p_reason  who and why; p_now  time
--   Writes   inbox_cursor: rows up to the watermark count as known, hole
--            windows count from now; operator_audit
--   Locks    inbox_cursor FOR UPDATE (no epoch: operators work beside the daemon)
--   Returns  the cursor
--   Raises   MX003 blank operator or reason; MX005 nothing is refused
--   Rules    the next poll judges anew: while the mailbox's next id is not above
--            the watermark it is refused again
DECLARE
    v_cursor msgx.inbox_cursor;
BEGIN
    SELECT c.* INTO STRICT v_cursor FROM msgx.inbox_cursor AS c FOR UPDATE;
    PERFORM FROM msgx.operator_note(p_operator, 'inbox_accept_mailbox', format('watermark %s', v_cursor.committed_up_to), p_reason,
                                    jsonb_build_object('refused_why', v_cursor.refused_why, 'refused_since', v_cursor.refused_since), p_now);
    IF v_cursor.refused_why IS NULL THEN
        RAISE EXCEPTION USING
            ERRCODE = 'MX005',
            MESSAGE = 'the mailbox is not refused: there is nothing to accept',
            HINT = 'Why the poller stands still: SELECT * FROM msgx.v_loops;';
    END IF;
    RETURN QUERY
    UPDATE msgx.inbox_cursor AS c
       SET refused_since = NULL, refused_why = NULL, trusted_to = c.committed_up_to,
           mailbox_server = NULL, mailbox_max = NULL, readable_since = p_now
    RETURNING c.*;
END;
$body$;
ALTER FUNCTION msgx.inbox_accept_mailbox(text, text, timestamptz) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.inbox_accept_mailbox(text, text, timestamptz) IS 'Go on with a mailbox that was refused: its owner has put its ids right.';
REVOKE ALL ON FUNCTION msgx.inbox_accept_mailbox(text, text, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION msgx.inbox_accept_mailbox(text, text, timestamptz) TO msgx_operator;

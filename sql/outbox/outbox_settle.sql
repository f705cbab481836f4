CREATE OR REPLACE FUNCTION msgx.outbox_settle(p_target text)
RETURNS bigint
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $body$
-- Move a target's cursor over what is settled.
--   Caller   outbox_sent, outbox_failed
--   Arguments p_target  the target
--   Reads    msg_event by primary key above the cursor
--   Writes   outbox_cursor
--   Returns  the cursor: just below the first pending event of the target, or
--            its last event when none is pending
DECLARE
    v_cursor bigint;
    v_next   bigint;
BEGIN
    SELECT c.sent_up_to INTO STRICT v_cursor FROM msgx.outbox_cursor AS c WHERE c.target = p_target FOR UPDATE;
    -- One statement, one snapshot: between two of them new events commit, and
    -- the cursor would pass them.
    SELECT coalesce(
               (SELECT p.event_id - 1 FROM msgx.msg_event AS p
                 WHERE p.event_id > v_cursor AND p.target = p_target AND p.state = 'PENDING'
                 ORDER BY p.event_id LIMIT 1),
               (SELECT l.event_id FROM msgx.msg_event AS l
                 WHERE l.event_id > v_cursor AND l.target = p_target
                 ORDER BY l.event_id DESC LIMIT 1)) INTO v_next;
    IF v_next > v_cursor THEN
        UPDATE msgx.outbox_cursor AS c SET sent_up_to = v_next WHERE c.target = p_target;
        RETURN v_next;
    END IF;
    RETURN v_cursor;
END;
$body$;
ALTER FUNCTION msgx.outbox_settle(text) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.outbox_settle(text) IS 'Move the cursor of a target over what is settled.';
REVOKE ALL ON FUNCTION msgx.outbox_settle(text) FROM PUBLIC;

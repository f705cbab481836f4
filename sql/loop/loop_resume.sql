CREATE OR REPLACE FUNCTION msgx.loop_resume(p_loop text, p_operator text, p_reason text, p_now timestamptz)
RETURNS SETOF msgx.loop_state
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $body$
-- Take the brake off a loop.
--   Caller   operators
--   Arguments p_loop  name of the loop
--             p_operator, p_reason  who and why; p_now  time
--   Writes   loop_state, operator_audit
--   Locks    the loop's row (no epoch: operators work beside the daemon)
--   Returns  the loop's row
--   Raises   MX003 blank operator or reason; MX004 no such loop
BEGIN
    PERFORM FROM msgx.operator_note(p_operator, 'loop_resume', p_loop, p_reason, NULL, p_now);
    RETURN QUERY
    UPDATE msgx.loop_state AS l
       SET wanted = 'on', paused_reason = NULL, paused_since = NULL
     WHERE l.loop = p_loop
    RETURNING l.*;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING
            ERRCODE = 'MX004',
            MESSAGE = format('loop %L does not exist', p_loop),
            HINT = 'List them with: SELECT * FROM msgx.v_loops;';
    END IF;
END;
$body$;
ALTER FUNCTION msgx.loop_resume(text, text, text, timestamptz) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.loop_resume(text, text, text, timestamptz) IS 'Take the brake off a loop.';
REVOKE ALL ON FUNCTION msgx.loop_resume(text, text, text, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION msgx.loop_resume(text, text, text, timestamptz) TO msgx_operator;

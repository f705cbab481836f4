CREATE OR REPLACE FUNCTION msgx.loop_round(p_epoch bigint, p_loop text, p_reason text, p_worked interval, p_now timestamptz)
RETURNS SETOF msgx.loop_state
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $body$
-- Say how a loop stands, and read its brake.
--   Caller   every loop, about once a second
--   Arguments p_epoch   fencing epoch
--             p_loop    name of the loop
--             p_reason  why it pauses; blank while it works
--             p_worked  working time since the last call; p_now  time
--   Writes   loop_state
--   Locks    instance_lease FOR KEY SHARE, the loop's row
--   Returns  the loop's row; wanted is the brake
--   Raises   MX001 fenced; MX004 no such loop
BEGIN
    PERFORM msgx.lease_check(p_epoch);
    RETURN QUERY
    UPDATE msgx.loop_state AS l
       SET last_round_at = p_now,
           working_time = l.working_time + p_worked,
           -- The reason of a brake is the operator's.
           paused_reason = CASE WHEN l.wanted = 'off' THEN l.paused_reason ELSE nullif(p_reason, '') END,
           paused_since = CASE WHEN l.wanted = 'off' THEN l.paused_since
                               WHEN coalesce(p_reason, '') <> '' THEN coalesce(l.paused_since, p_now) END
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
ALTER FUNCTION msgx.loop_round(bigint, text, text, interval, timestamptz) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.loop_round(bigint, text, text, interval, timestamptz) IS 'Say how a loop stands, and read its brake.';
REVOKE ALL ON FUNCTION msgx.loop_round(bigint, text, text, interval, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION msgx.loop_round(bigint, text, text, interval, timestamptz) TO msgx_app;

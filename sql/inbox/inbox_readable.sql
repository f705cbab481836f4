CREATE OR REPLACE FUNCTION msgx.inbox_readable(p_epoch bigint, p_now timestamptz)
RETURNS SETOF msgx.inbox_cursor
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $body$
-- Say that the mailbox can be read again after more than 30 s.
--   Caller   poller
--   Arguments p_epoch  fencing epoch; p_now  time
--   Writes   inbox_cursor.readable_since: hole windows count from here at the
--            earliest
--   Locks    instance_lease FOR KEY SHARE, inbox_cursor
--   Returns  the cursor
--   Raises   MX001 fenced
BEGIN
    PERFORM msgx.lease_check(p_epoch);
    RETURN QUERY UPDATE msgx.inbox_cursor AS c SET readable_since = p_now RETURNING c.*;
END;
$body$;
ALTER FUNCTION msgx.inbox_readable(bigint, timestamptz) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.inbox_readable(bigint, timestamptz) IS 'Say that the mailbox can be read again after more than 30 s.';
REVOKE ALL ON FUNCTION msgx.inbox_readable(bigint, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION msgx.inbox_readable(bigint, timestamptz) TO msgx_app;

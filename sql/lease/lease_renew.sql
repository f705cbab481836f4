CREATE OR REPLACE FUNCTION msgx.lease_renew(p_epoch bigint, p_ttl interval, p_host_clock timestamptz)
RETURNS SETOF msgx.instance_lease
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $body$
-- Prolong the lease.
--   Caller   msgx run, on a connection of its own
--   Arguments p_epoch       epoch of the holder; p_ttl  from now
--             p_host_clock  clock of the holder's host: its skew is shown, and
--                           decides nothing
--   Writes   instance_lease: a plain UPDATE, which passes running calls
--   Returns  the lease as renewed; nothing when it was lost
DECLARE
    v_now timestamptz := clock_timestamp();
BEGIN
    RETURN QUERY
    UPDATE msgx.instance_lease AS l
       SET expires_at = v_now + p_ttl, ttl = p_ttl, host_skew = p_host_clock - v_now
     WHERE l.epoch = p_epoch AND l.holder IS NOT NULL
    RETURNING l.*;
END;
$body$;
ALTER FUNCTION msgx.lease_renew(bigint, interval, timestamptz) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.lease_renew(bigint, interval, timestamptz) IS 'Prolong the lease; returns nothing when it was lost.';
REVOKE ALL ON FUNCTION msgx.lease_renew(bigint, interval, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION msgx.lease_renew(bigint, interval, timestamptz) TO msgx_app;

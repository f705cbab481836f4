CREATE OR REPLACE FUNCTION msgx.lease_check(p_epoch bigint)
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $body$
-- Refuse a caller that no longer holds the lease.
--   Caller   every function of the daemon, first of all
--   Arguments p_epoch  fencing epoch the caller got from lease_acquire
--   Locks    instance_lease FOR KEY SHARE: a take-over waits for this
--            transaction, a renewal does not
--   Raises   MX001 the epoch is not the present one
-- VOLATILE on purpose: it must see the row as it is now, not as the calling
-- statement's snapshot had it.
BEGIN
    PERFORM FROM msgx.instance_lease AS l
      WHERE l.epoch = p_epoch AND l.holder IS NOT NULL
        FOR KEY SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING
            ERRCODE = 'MX001',
            MESSAGE = format('epoch %s does not hold the lease', p_epoch),
            HINT = 'Another instance is active: SELECT holder, epoch, expires_at FROM msgx.v_status;';
    END IF;
END;
$body$;
ALTER FUNCTION msgx.lease_check(bigint) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.lease_check(bigint) IS 'Refuse a caller that no longer holds the lease.';
REVOKE ALL ON FUNCTION msgx.lease_check(bigint) FROM PUBLIC;

CREATE OR REPLACE FUNCTION msgx.lease_release(p_epoch bigint)
RETURNS SETOF msgx.instance_lease
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $body$
-- Give the lease up, so that a successor need not wait for its end.
--   Caller   msgx run at a clean stop, after its loops ended
--   Writes   instance_lease; pipeline_lock: no run is in flight any more
--   Locks    instance_lease, pipeline_lock
--   Returns  the lease without a holder; nothing when it was lost before
BEGIN
    PERFORM FROM msgx.instance_lease AS l
      WHERE l.epoch = p_epoch AND l.holder IS NOT NULL FOR UPDATE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    UPDATE msgx.pipeline_lock AS p
       SET run_epoch = NULL, run_from = NULL, run_to = NULL, run_stamped = false
     WHERE p.run_epoch = p_epoch;
    RETURN QUERY
    UPDATE msgx.instance_lease AS l
       SET holder = NULL, expires_at = NULL
    RETURNING l.*;
END;
$body$;
ALTER FUNCTION msgx.lease_release(bigint) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.lease_release(bigint) IS 'Give the lease up at a clean stop.';
REVOKE ALL ON FUNCTION msgx.lease_release(bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION msgx.lease_release(bigint) TO msgx_app;

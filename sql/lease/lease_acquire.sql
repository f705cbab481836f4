CREATE OR REPLACE FUNCTION msgx.lease_acquire(p_holder text, p_ttl interval, p_settings jsonb, p_autostart boolean)
RETURNS SETOF msgx.instance_lease
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $body$
-- Become the active instance, if nobody else is, and load the settings.
--   Caller   msgx run at start; msgx seed
--   Arguments p_holder    name of the instance
--             p_ttl       how long the lease lasts without a renewal
--             p_settings  object of setting keys and values to load
--             p_autostart false: the very first acquire of a database puts the
--                         brake on every loop; after that only the brake counts
--   Writes   instance_lease, setting, operator_audit (each changed setting),
--            loop_state
--   Locks    instance_lease FOR UPDATE: waits for every running call of the
--            former epoch
--   Returns  the lease with the raised epoch; nothing while another holds it
--   Raises   MX003 blank holder or ttl not above zero; MX004 unknown setting
-- The clock is the server's own: a lease is about real time.
DECLARE
    v_now   timestamptz;
    v_lease msgx.instance_lease;
    v_key   text;
BEGIN
    IF coalesce(trim(p_holder), '') = '' OR p_ttl <= interval '0' THEN
        RAISE EXCEPTION USING
            ERRCODE = 'MX003',
            MESSAGE = 'a lease needs a holder and a time above zero',
            HINT = 'Set instance and lease.ttl in the configuration.';
    END IF;
    SELECT l.* INTO STRICT v_lease FROM msgx.instance_lease AS l FOR UPDATE;
    v_now := clock_timestamp();
    IF v_lease.holder IS DISTINCT FROM p_holder AND v_lease.expires_at > v_now THEN
        RETURN;
    END IF;

    SELECT k INTO v_key
      FROM jsonb_object_keys(p_settings) AS k
     WHERE NOT EXISTS (SELECT FROM msgx.setting AS s WHERE s.key = k)
     LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION USING
            ERRCODE = 'MX004',
            MESSAGE = format('setting %L does not exist', v_key),
            HINT = 'The binary is newer than the database: run msgx migrate.';
    END IF;
    WITH changed AS (
        UPDATE msgx.setting AS s
           SET value = n.value, updated_at = v_now
          FROM msgx.setting AS o, jsonb_each_text(p_settings) AS n
         WHERE o.key = s.key AND n.key = s.key AND n.value IS DISTINCT FROM s.value
        RETURNING s.key, o.value AS old, s.value AS new
    )
    INSERT INTO msgx.operator_audit (at, operator, action, subject, reason, detail)
    SELECT v_now, p_holder, 'setting', c.key, 'configuration at start',
           jsonb_build_object('old', c.old, 'new', c.new)
      FROM changed AS c;

    IF v_lease.epoch = 0 AND NOT p_autostart THEN
        UPDATE msgx.loop_state SET wanted = 'off', paused_since = v_now, paused_reason = 'pipeline.autostart is off';
    END IF;
    RETURN QUERY
    UPDATE msgx.instance_lease AS l
       SET holder = p_holder, epoch = l.epoch + 1, acquired_at = v_now, expires_at = v_now + p_ttl
    RETURNING l.*;
END;
$body$;
ALTER FUNCTION msgx.lease_acquire(text, interval, jsonb, boolean) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.lease_acquire(text, interval, jsonb, boolean) IS 'Become the active instance, if nobody else is, and load the settings.';
REVOKE ALL ON FUNCTION msgx.lease_acquire(text, interval, jsonb, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION msgx.lease_acquire(text, interval, jsonb, boolean) TO msgx_app;

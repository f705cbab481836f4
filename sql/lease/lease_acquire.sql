CREATE OR REPLACE FUNCTION msgx.lease_acquire(
    p_holder text, p_ttl interval, p_settings jsonb, p_autostart boolean, p_former bigint DEFAULT NULL
)
RETURNS SETOF msgx.instance_lease
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET lock_timeout = '1s'
AS $body$
-- Become the active instance, if nobody else is, and load the settings.
--   Caller   msgx run, at start and as standby; msgx seed
--   Arguments p_holder    name of the instance
--             p_ttl       how long the lease lasts without a renewal
--             p_settings  object of setting keys and values to load
--             p_autostart false: the very first acquire of a database puts the
--                         brake on every loop; after that only the brake counts
--             p_former    the epoch this process held before; null: it never
--                         held one
--   Writes   instance_lease, setting, operator_audit (each changed setting, a
--            take-over from an instance that had not released), loop_state
--   Locks    instance_lease FOR UPDATE: waits for every running call of the
--            former epoch, at most 1 s
--   Returns  the lease with the raised epoch; nothing while another holds it
--   Raises   MX003 blank holder or ttl not above zero; MX004 unknown setting;
--            55P03 a session of the dead epoch still holds the row: call
--            lease_evict and try again
--   Rules    a fresh process takes over at once from its own name: its
--            predecessor is dead, or is fenced now. One that lost the lease to a
--            process of the same name waits like any standby. An end further
--            away than twice its ttl is the work of a clock that was set back.
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
    -- A standby looks without a lock; what it sees is looked at again under one.
    FOR v_look IN 1 .. 2 LOOP
        IF v_look = 1 THEN
            SELECT l.* INTO STRICT v_lease FROM msgx.instance_lease AS l;
        ELSE
            SELECT l.* INTO STRICT v_lease FROM msgx.instance_lease AS l FOR UPDATE;
        END IF;
        v_now := clock_timestamp();
        IF v_lease.expires_at > v_now AND v_lease.expires_at <= v_now + 2 * coalesce(v_lease.ttl, p_ttl)
           AND (v_lease.holder <> p_holder OR v_lease.epoch <> p_former) THEN
            RETURN;
        END IF;
    END LOOP;

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
    IF v_lease.holder IS NOT NULL THEN
        INSERT INTO msgx.operator_audit (at, operator, action, subject, reason, detail)
        VALUES (v_now, p_holder, 'take-over', 'lease',
                CASE WHEN v_lease.expires_at <= v_now THEN 'its lease had ended'
                     WHEN v_lease.holder = p_holder THEN 'a new process of the same name'
                     ELSE 'its end lay too far away: the clock was set back' END,
                jsonb_build_object('from', v_lease.holder, 'epoch', v_lease.epoch, 'acquired_at', v_lease.acquired_at,
                                   'expires_at', v_lease.expires_at));
    END IF;

    IF v_lease.epoch = 0 AND NOT p_autostart THEN
        UPDATE msgx.loop_state SET wanted = 'off', paused_since = v_now, paused_reason = 'pipeline.autostart is off';
    END IF;
    RETURN QUERY
    UPDATE msgx.instance_lease AS l
       SET holder = p_holder, epoch = l.epoch + 1, acquired_at = v_now, expires_at = v_now + p_ttl, ttl = p_ttl, host_skew = NULL
    RETURNING l.*;
END;
$body$;
ALTER FUNCTION msgx.lease_acquire(text, interval, jsonb, boolean, bigint) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.lease_acquire(text, interval, jsonb, boolean, bigint) IS 'Become the active instance, if nobody else is, and load the settings.';
REVOKE ALL ON FUNCTION msgx.lease_acquire(text, interval, jsonb, boolean, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION msgx.lease_acquire(text, interval, jsonb, boolean, bigint) TO msgx_app;

-- migrate:up
-- Roles are cluster-wide, so another database of this cluster may own them already.
DO $roles$
DECLARE
    v_role text;
BEGIN
    FOREACH v_role IN ARRAY ARRAY['msgx_owner', 'msgx_app', 'msgx_operator', 'msgx_auditor'] LOOP
        IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles AS r WHERE r.rolname = v_role) THEN
            BEGIN
                EXECUTE format('CREATE ROLE %I NOLOGIN', v_role);
            EXCEPTION WHEN duplicate_object OR unique_violation THEN
                RAISE NOTICE 'role % was made meanwhile', v_role;
            END;
        END IF;
    END LOOP;
    -- Whoever is no superuser must belong to the owner to make its objects.
    IF NOT pg_has_role(current_user, 'msgx_owner', 'MEMBER') THEN
        EXECUTE format('GRANT msgx_owner TO %I', current_user);
    END IF;
END;
$roles$;

CREATE SCHEMA msgx AUTHORIZATION msgx_owner;
COMMENT ON SCHEMA msgx IS 'msgexchange: inbox, flight state and outbox of the airport message engine.';

-- migrate:down
DROP SCHEMA msgx CASCADE;

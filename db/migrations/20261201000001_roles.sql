-- migrate:up
-- Roles are cluster-wide, so another database of this cluster may own them already.
DO $roles$
DECLARE
    v_role text;
BEGIN
    FOREACH v_role IN ARRAY ARRAY['msgx_owner', 'msgx_app', 'msgx_operator', 'msgx_auditor'] LOOP
        BEGIN
            EXECUTE format('CREATE ROLE %I NOLOGIN', v_role);
        EXCEPTION WHEN duplicate_object OR unique_violation THEN
            RAISE NOTICE 'role % exists', v_role;
        END;
    END LOOP;
END;
$roles$;

CREATE SCHEMA msgx AUTHORIZATION msgx_owner;
COMMENT ON SCHEMA msgx IS 'msgexchange: inbox, flight state and outbox of the airport message engine.';

-- migrate:down
DROP SCHEMA msgx CASCADE;

CREATE OR REPLACE FUNCTION msgx.lease_evict()
RETURNS SETOF text
LANGUAGE plpgsql VOLATILE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $body$
-- End sessions of a dead epoch that keep a take-over waiting.
--   Caller   msgx run, when lease_acquire could not lock the row (55P03): by
--            then the lease has ended, so whoever is in a call is fenced anyway
--   Returns  one line for each session that was told to end
--   Rules    sessions of the daemon (application_name msgx …) of the caller's
--            own login in this database, in a transaction for over a second
-- Runs with the caller's rights: one may always end sessions of one's own login.
BEGIN
    RETURN QUERY
    -- Materialized: the sessions are chosen before any is ended.
    WITH dead AS MATERIALIZED (
        SELECT a.pid, a.application_name, a.state, a.xact_start
          FROM pg_stat_activity AS a
         WHERE a.datname = current_database() AND a.usename = session_user AND a.pid <> pg_backend_pid()
           AND a.application_name LIKE 'msgx %' AND a.xact_start < clock_timestamp() - interval '1 second'
    )
    SELECT format('pid %s (%s), %s since %s', d.pid, d.application_name, d.state, d.xact_start)
      FROM dead AS d
     WHERE pg_terminate_backend(d.pid);
END;
$body$;
ALTER FUNCTION msgx.lease_evict() OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.lease_evict() IS 'End sessions of a dead epoch that keep a take-over waiting.';
REVOKE ALL ON FUNCTION msgx.lease_evict() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION msgx.lease_evict() TO msgx_app;

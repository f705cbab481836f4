CREATE OR REPLACE FUNCTION msgx.flight_verify(p_after bigint, p_limit integer)
RETURNS SETOF msgx.r_flight_mismatch
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $body$
-- Compare stored flights with the fold of the log.
--   Caller   msgx verify, auditors
--   Arguments p_after  start behind this FLID, 0 for the first
--             p_limit  flights to look at
--   Reads    flight_write, flight_schd, list tables: one snapshot
--   Returns  one row for each part of a flight that differs; nothing when all
--            is well
DECLARE
    v_flids bigint[];
BEGIN
    SELECT array_agg(w.flid) INTO v_flids FROM msgx.flight_ids(p_after, p_limit) AS w (flid);
    RETURN QUERY
    SELECT p.flid, p.part, p.stored, p.folded
      FROM (SELECT flid, k.part,
                   s.state -> k.part AS stored,
                   l.state -> k.part AS folded
              FROM msgx.flight_log_state(v_flids, NULL) AS l
              FULL JOIN msgx.flight_state(v_flids, msgx.flight_list_names()) AS s USING (flid)
             CROSS JOIN unnest(ARRAY['live', 's', 'l', 'x', 'created']) AS k (part)
             -- A flight that was never created has writes and no row.
             WHERE s.state IS NOT NULL OR l.state ? 'created') AS p
     WHERE p.stored IS DISTINCT FROM p.folded;
END;
$body$;
ALTER FUNCTION msgx.flight_verify(bigint, integer) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.flight_verify(bigint, integer) IS 'Compare stored flights with the fold of the log.';
REVOKE ALL ON FUNCTION msgx.flight_verify(bigint, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION msgx.flight_verify(bigint, integer) TO msgx_app, msgx_operator, msgx_auditor;

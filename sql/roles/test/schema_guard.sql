BEGIN;
SET client_min_messages = warning;
SELECT plan(22);
CREATE TEMP VIEW fn AS
SELECT p.oid, p.proname, p.prokind, p.prosecdef, p.proconfig, p.proacl, p.proowner, l.lanname
  FROM pg_proc AS p JOIN pg_language AS l ON l.oid = p.prolang
 WHERE p.pronamespace = 'msgx'::regnamespace;
CREATE TEMP VIEW rel AS
SELECT c.oid, c.relname, c.relkind, c.relacl, c.relowner FROM pg_class AS c
 WHERE c.relnamespace = 'msgx'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'S');

SELECT is((SELECT array_agg(proname) FROM fn WHERE obj_description(oid, 'pg_proc') IS NULL), NULL, 'every function has a comment');
SELECT is((SELECT array_agg(proname) FROM fn WHERE prokind = 'f' AND NOT coalesce('search_path=pg_catalog, pg_temp' = ANY (proconfig), false)), NULL, 'every function pins its search_path');
SELECT is((SELECT array_agg(proname) FROM fn WHERE proowner <> 'msgx_owner'::regrole), NULL, 'every function belongs to msgx_owner');
SELECT is((SELECT array_agg(proname) FROM fn WHERE proacl IS NULL OR EXISTS (SELECT FROM aclexplode(proacl) AS a WHERE a.grantee = 0)), NULL, 'PUBLIC may call none');
SELECT is((SELECT array_agg(proname) FROM (SELECT proname FROM fn GROUP BY proname HAVING count(*) > 1) AS d), NULL, 'each name is one function');
SELECT is((SELECT array_agg(proname) FROM fn WHERE prosecdef AND NOT EXISTS (SELECT FROM aclexplode(proacl) AS a WHERE a.grantee <> proowner)), NULL, 'a function that runs with its owner''s rights is there for somebody');
SELECT is((SELECT array_agg(proname) FROM fn WHERE NOT prosecdef AND EXISTS (SELECT FROM aclexplode(proacl) AS a WHERE a.grantee <> proowner) AND proname NOT IN ('clock', 'lease_evict')), NULL, '… and none else is granted');
SELECT is((SELECT array_agg(proname) FROM fn WHERE prokind = 'f' AND pg_get_functiondef(oid) !~ '--   Caller '), NULL, 'every body says who calls it');
SELECT is((SELECT array_agg(DISTINCT f.proname) FROM fn AS f CROSS JOIN LATERAL plpgsql_check_function(f.oid) AS c WHERE f.lanname = 'plpgsql'), NULL, 'plpgsql_check finds nothing');
SELECT is((SELECT array_agg(relname) FROM rel WHERE obj_description(oid, 'pg_class') IS NULL), NULL, 'every table, view and sequence has a comment');
SELECT is((SELECT array_agg(r.relname || '.' || a.attname) FROM rel AS r JOIN pg_attribute AS a ON a.attrelid = r.oid AND a.attnum > 0 AND NOT a.attisdropped
            WHERE r.relkind IN ('r', 'p', 'v') AND col_description(r.oid, a.attnum) IS NULL), NULL, 'every column has a comment');
SELECT is((SELECT array_agg(relname) FROM rel WHERE relowner <> 'msgx_owner'::regrole), NULL, 'everything belongs to msgx_owner');
SELECT is((SELECT array_agg(relname) FROM rel WHERE relkind <> 'v' AND EXISTS (SELECT FROM aclexplode(relacl) AS a WHERE a.grantee <> relowner)), NULL, 'nobody but the owner has a right to a table');
SELECT is((SELECT array_agg(relname) FROM rel WHERE relkind = 'v' AND relname LIKE 'v\_%' AND NOT (has_table_privilege('msgx_auditor', oid, 'SELECT') AND has_table_privilege('msgx_operator', oid, 'SELECT') AND has_table_privilege('msgx_app', oid, 'SELECT'))), NULL, 'all roles read all views');

-- What a role cannot do, it cannot do. pgTAP itself needs no rights of ours.
CREATE FUNCTION pg_temp.refused(p_role text, p_statement text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('SET LOCAL ROLE %I', p_role);
    EXECUTE p_statement;
    RESET ROLE;
    RETURN false;
EXCEPTION WHEN insufficient_privilege THEN
    RESET ROLE;
    RETURN true;
END $$;
SELECT ok(pg_temp.refused('msgx_auditor', 'SELECT * FROM msgx.proc_state'), 'an auditor reads no table');
SELECT ok(NOT pg_temp.refused('msgx_auditor', 'SELECT * FROM msgx.v_status, msgx.v_flight_board, msgx.v_flight_history'), '… but the views');
SELECT ok(pg_temp.refused('msgx_auditor', $$SELECT msgx.loop_pause('pump', 'a', 'b', now())$$), '… and changes nothing');
SELECT ok(pg_temp.refused('msgx_app', 'SELECT * FROM msgx.proc_state'), 'the daemon reads no table');
SELECT ok(pg_temp.refused('msgx_app', 'UPDATE msgx.inbox_cursor SET committed_up_to = 9'), '… and writes none');
SELECT ok(pg_temp.refused('msgx_app', $$SELECT msgx.inbox_release_hole(1, 1, 'a', 'b', now())$$), '… and does nothing that is an operator''s');
SELECT ok(pg_temp.refused('msgx_operator', $$SELECT msgx.pump_apply(1, now(), '[]')$$), 'an operator does nothing that is the daemon''s');
SELECT ok(NOT pg_temp.refused('msgx_operator', $$SELECT msgx.loop_pause('pump', 'a', 'b', now())$$), '… but puts the brake on');
SELECT * FROM finish();
ROLLBACK;

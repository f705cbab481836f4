-- What each role may do, tried as that role: every view, every table, every
-- function, not a sample. schema_guard.sql reads the catalogues instead.
BEGIN;
\ir ../../fixture.psql
SELECT plan(23);
CREATE TEMP VIEW rel AS SELECT c.oid, c.relname, c.relkind FROM pg_class AS c WHERE c.relnamespace = 'msgx'::regnamespace;
CREATE TEMP VIEW fn AS SELECT p.oid, p.proname, p.provolatile FROM pg_proc AS p WHERE p.pronamespace = 'msgx'::regnamespace;
CREATE FUNCTION pg_temp.try(p_role text, p_statement text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('SET LOCAL ROLE %I', p_role);
    EXECUTE p_statement;
    RESET ROLE;
    RETURN 'done';
EXCEPTION WHEN OTHERS THEN
    RESET ROLE;
    RETURN SQLSTATE;
END $$;
-- The statement with each relation's name in it, tried: which ended otherwise than wanted.
CREATE FUNCTION pg_temp.other_than(p_wanted text, p_role text, p_kind "char"[], p_like text, p_statement text) RETURNS text[] LANGUAGE sql AS $$
    SELECT array_agg(r.relname || ' ' || t.how ORDER BY r.relname)
      FROM rel AS r CROSS JOIN LATERAL (SELECT pg_temp.try(p_role, format(p_statement, r.relname)) AS how) AS t
     WHERE r.relkind = ANY (p_kind) AND r.relname LIKE p_like AND t.how <> p_wanted $$;

SELECT cmp_ok((SELECT count(*) FROM rel WHERE relkind = 'v' AND relname LIKE 'v\_%'), '>=', 12::bigint, 'there are views to try');
SELECT cmp_ok((SELECT count(*) FROM rel WHERE relkind = 'r'), '>=', 20::bigint, '… and tables');
SELECT is(pg_temp.other_than('done', r, '{v}', 'v\_%', 'SELECT * FROM msgx.%I LIMIT 1'), NULL, r || ' reads every v_ view') FROM unnest('{msgx_app,msgx_operator,msgx_auditor}'::text[]) AS r;
SELECT is(pg_temp.other_than('42501', r, '{r,p}', '%', 'SELECT * FROM msgx.%I LIMIT 1'), NULL, r || ' reads no table') FROM unnest('{msgx_app,msgx_operator,msgx_auditor}'::text[]) AS r;
-- DELETE and TRUNCATE need no column to be named; UPDATE does.
SELECT is((SELECT array_agg(t.relname || '.' || w.what || ' ' || r ORDER BY t.relname)
             FROM rel AS t
             JOIN LATERAL (SELECT a.attname FROM pg_attribute AS a WHERE a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum LIMIT 1) AS c ON true
            CROSS JOIN LATERAL (VALUES ('update', format('UPDATE msgx.%I SET %I = DEFAULT', t.relname, c.attname)), ('delete', format('DELETE FROM msgx.%I', t.relname)),
                                       ('truncate', format('TRUNCATE msgx.%I', t.relname)), ('insert', format('INSERT INTO msgx.%I DEFAULT VALUES', t.relname))) AS w (what, statement)
            CROSS JOIN unnest('{msgx_app,msgx_operator,msgx_auditor}'::text[]) AS r
            WHERE t.relkind IN ('r', 'p') AND pg_temp.try(r, w.statement) <> '42501'), NULL, 'no role writes any table');
SELECT is((SELECT array_agg(t.relname || ' ' || r ORDER BY t.relname) FROM rel AS t CROSS JOIN unnest('{msgx_app,msgx_operator,msgx_auditor}'::text[]) AS r
            WHERE t.relkind IN ('r', 'p') AND has_any_column_privilege(r, t.oid, 'SELECT, INSERT, UPDATE, REFERENCES')), NULL, '… nor any single column of one');
SELECT is(pg_temp.other_than('42501', 'msgx_app', '{S}', '%', $$SELECT nextval('msgx.%I')$$), NULL, '… nor draws from a sequence');
SELECT is((SELECT array_agg(r) FROM unnest('{msgx_app,msgx_operator,msgx_auditor}'::text[]) AS r WHERE pg_temp.try(r, 'CREATE TABLE msgx.mine (a int)') <> '42501'), NULL, '… nor makes anything in the schema');

-- Functions. What is granted to whom is the contract: a new one is named here.
SELECT is((SELECT array_agg(proname::text ORDER BY proname) FROM fn WHERE has_function_privilege('msgx_operator', oid, 'EXECUTE') AND NOT has_function_privilege('msgx_auditor', oid, 'EXECUTE')),
    ARRAY['backfill_resume', 'inbox_accept_mailbox', 'inbox_release_hole', 'loop_pause', 'loop_resume', 'outbox_requeue'], 'what an operator does and an auditor does not');
SELECT is((SELECT array_agg(proname ORDER BY proname) FROM fn WHERE has_function_privilege('msgx_app', oid, 'EXECUTE') AND has_function_privilege('msgx_operator', oid, 'EXECUTE')
            AND NOT has_function_privilege('msgx_auditor', oid, 'EXECUTE')), NULL, 'the daemon and the operator share nothing that changes anything');
SELECT is((SELECT array_agg(proname ORDER BY proname) FROM fn WHERE has_function_privilege('msgx_auditor', oid, 'EXECUTE') AND provolatile = 'v' AND proname <> 'clock'), NULL, 'an auditor calls only what cannot write');
SELECT is(pg_temp.try('msgx_auditor', $$SELECT * FROM msgx.pump_apply(1, now(), '[]')$$), '42501', 'an auditor applies no messages');
SELECT is(pg_temp.try('msgx_operator', $$SELECT * FROM msgx.pump_apply(1, now(), '[]')$$), '42501', '… nor does an operator');
SELECT is(has_function_privilege('msgx_app', 'msgx.outbox_settle(text)', 'EXECUTE'), false, 'the daemon calls no helper directly');
GRANT SELECT ON lease_now TO msgx_app;
SELECT is(pg_temp.try('msgx_app', $$SELECT * FROM msgx.outbox_next_msg(pg_temp.epoch(), now(), 1)$$), 'done', '… but what it is there for');
INSERT INTO msgx.inbox_hole (lo, hi, first_seen_at) VALUES (7, 7, now());
SELECT is(pg_temp.try('msgx_operator', $$SELECT * FROM msgx.inbox_release_hole(7, 7, 'li', 'rolled back', now())$$), 'done', 'an operator releases a hole');
SELECT is((SELECT released_why FROM msgx.inbox_hole WHERE lo = 7), 'operator', '… really');
SELECT is(pg_temp.try('msgx_operator', $$SELECT * FROM msgx.loop_pause('pump', 'li', 'maintenance', now())$$), 'done', '… puts the brake on a loop');
SELECT is((SELECT wanted FROM msgx.loop_state WHERE loop = 'pump'), 'off', '… really');
SELECT * FROM finish();
ROLLBACK;

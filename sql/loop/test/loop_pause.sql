BEGIN;
\ir ../../fixture.psql
SELECT plan(12);
SELECT results_eq($$SELECT wanted, paused_reason, paused_since FROM msgx.loop_pause('pump', 'li', 'maintenance', pg_temp.at(11))$$,
                  $$VALUES ('off', 'li: maintenance', pg_temp.at(11))$$, 'the brake is on, with who and why and since when');
SELECT results_eq($$SELECT at, operator, subject, reason FROM msgx.operator_audit WHERE action = 'loop_pause'$$,
                  $$VALUES (pg_temp.at(11), 'li', 'pump', 'maintenance')$$, '… audited');
SELECT is((SELECT count(*) FROM msgx.loop_state WHERE wanted = 'off'), 1::bigint, '… on that loop alone');
SELECT is((SELECT paused_reason FROM msgx.loop_pause('pump', 'wu', 'still', pg_temp.at(12))), 'wu: still', 'the last who put it on is named');
SELECT throws_ok($$SELECT * FROM msgx.loop_pause('nobody', 'li', 'x', pg_temp.at())$$, 'MX004', NULL, 'an unknown loop is an error');
SELECT throws_ok($$SELECT * FROM msgx.loop_pause('pump', '', 'x', pg_temp.at())$$, 'MX003', NULL, 'so is no operator');
SELECT throws_ok($$SELECT * FROM msgx.loop_pause('pump', 'li', NULL, pg_temp.at())$$, 'MX003', NULL, 'so is no reason');
SELECT is((SELECT count(*) FROM msgx.operator_audit WHERE action = 'loop_pause'), 2::bigint, '… and none of these leaves a line');
SELECT is_definer('msgx', 'loop_pause', '{text,text,text,timestamp with time zone}', 'it runs with its owner''s rights');
SELECT function_privs_are('msgx', 'loop_pause', '{text,text,text,timestamp with time zone}', role, CASE WHEN role = 'msgx_operator' THEN '{EXECUTE}'::text[] ELSE '{}' END,
                          CASE WHEN role = 'msgx_operator' THEN 'for operators' ELSE '… not for ' || role END)
  FROM unnest('{msgx_operator,msgx_app,msgx_auditor}'::text[]) AS role;
SELECT * FROM finish();
ROLLBACK;

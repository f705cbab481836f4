BEGIN;
\ir ../../fixture.psql
SELECT plan(11);
SELECT loop FROM msgx.loop_pause('pump', 'li', 'maintenance', pg_temp.at(11));
SELECT loop FROM msgx.loop_pause('poller', 'li', 'maintenance', pg_temp.at(11));
SELECT results_eq($$SELECT wanted, paused_reason, paused_since FROM msgx.loop_resume('pump', 'wu', 'done', pg_temp.at(13))$$,
                  $$VALUES ('on', NULL::text, NULL::timestamptz)$$, 'the brake is off, nothing of it is left');
SELECT results_eq($$SELECT at, operator, subject, reason FROM msgx.operator_audit WHERE action = 'loop_resume'$$,
                  $$VALUES (pg_temp.at(13), 'wu', 'pump', 'done')$$, '… audited');
SELECT is((SELECT array_agg(loop) FROM msgx.loop_state WHERE wanted = 'off'), '{poller}', '… on that loop alone');
SELECT is((SELECT wanted FROM msgx.loop_resume('pump', 'wu', 'to be sure', pg_temp.at(14))), 'on', 'a loop without a brake may be resumed');
SELECT throws_ok($$SELECT * FROM msgx.loop_resume('nobody', 'li', 'x', pg_temp.at())$$, 'MX004', NULL, 'an unknown loop is an error');
SELECT throws_ok($$SELECT * FROM msgx.loop_resume('poller', 'li', ' ', pg_temp.at())$$, 'MX003', NULL, 'so is no reason');
SELECT is((SELECT wanted FROM msgx.loop_state WHERE loop = 'poller'), 'off', '… and the brake stays on');
SELECT is_definer('msgx', 'loop_resume', '{text,text,text,timestamp with time zone}', 'it runs with its owner''s rights');
SELECT function_privs_are('msgx', 'loop_resume', '{text,text,text,timestamp with time zone}', role, CASE WHEN role = 'msgx_operator' THEN '{EXECUTE}'::text[] ELSE '{}' END,
                          CASE WHEN role = 'msgx_operator' THEN 'for operators' ELSE '… not for ' || role END)
  FROM unnest('{msgx_operator,msgx_app,msgx_auditor}'::text[]) AS role;
SELECT * FROM finish();
ROLLBACK;

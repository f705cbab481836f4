BEGIN;
\ir ../../fixture.psql
SELECT plan(10);
SELECT is((SELECT row(paused_reason, paused_since, working_time)::text FROM msgx.loop_round(pg_temp.epoch(), 'pump', '', '2 s', pg_temp.at())), '(,,00:00:02)', 'loop_round: working time adds up');
SELECT is((SELECT paused_since FROM msgx.loop_round(pg_temp.epoch(), 'pump', 'mailbox away', '0', pg_temp.at(5))), pg_temp.at(5), 'a pause has a reason and a beginning');
SELECT is((SELECT paused_since FROM msgx.loop_round(pg_temp.epoch(), 'pump', 'mailbox away still', '0', pg_temp.at(9))), pg_temp.at(5), '… which stays while it lasts');
SELECT is((SELECT paused_reason FROM msgx.loop_round(pg_temp.epoch(), 'pump', NULL, '0', pg_temp.at(10))), NULL, 'it ends with the reason');
SELECT is((SELECT wanted || ' ' || paused_reason FROM msgx.loop_pause('pump', 'li', 'maintenance', pg_temp.at(11))), 'off li: maintenance', 'loop_pause puts the brake on');
SELECT is((SELECT paused_reason FROM msgx.loop_round(pg_temp.epoch(), 'pump', '', '0', pg_temp.at(12))), 'li: maintenance', '… and its reason is not the loop''s to change');
SELECT is((SELECT wanted FROM msgx.loop_resume('pump', 'li', 'done', pg_temp.at(13))), 'on', 'loop_resume takes it off');
SELECT is((SELECT array_agg(action ORDER BY audit_id) FROM msgx.operator_audit WHERE subject = 'pump'), '{loop_pause,loop_resume}'::text[], 'both are audited');
SELECT throws_ok($$SELECT * FROM msgx.loop_pause('nobody', 'li', 'x', pg_temp.at())$$, 'MX004', NULL, 'an unknown loop is an error');
SELECT throws_ok($$SELECT * FROM msgx.loop_round(0, 'pump', '', '0', pg_temp.at())$$, 'MX001', NULL, 'a former epoch is refused');
SELECT * FROM finish();
ROLLBACK;

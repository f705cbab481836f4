BEGIN;
\ir ../../fixture.psql
SELECT plan(19);
CREATE FUNCTION pg_temp.round(p_seconds numeric, p_reason text, p_worked interval DEFAULT '0') RETURNS SETOF msgx.loop_state LANGUAGE sql AS $$
    SELECT * FROM msgx.loop_round(pg_temp.epoch(), 'pump', p_reason, p_worked, pg_temp.at(p_seconds)) $$;

SELECT is((SELECT working_time FROM pg_temp.round(0, '', '2 s')), interval '2 s', 'working time is counted');
SELECT is((SELECT working_time FROM pg_temp.round(1, '', '500 ms')), interval '2.5 s', '… and adds up');
SELECT is((SELECT last_round_at FROM msgx.loop_state WHERE loop = 'pump'), pg_temp.at(1), 'the last round is remembered');
SELECT results_eq($$SELECT paused_reason, paused_since FROM pg_temp.round(5, 'mailbox away')$$, $$VALUES ('mailbox away', pg_temp.at(5))$$, 'a pause has a reason and a beginning');
SELECT results_eq($$SELECT paused_reason, paused_since FROM pg_temp.round(9, 'mailbox read-only')$$, $$VALUES ('mailbox read-only', pg_temp.at(5))$$, '… the beginning stays while the reason changes');
SELECT results_eq($$SELECT paused_reason, paused_since FROM pg_temp.round(10, NULL)$$, $$VALUES (NULL::text, NULL::timestamptz)$$, '… and it ends when the loop works');
SELECT is((SELECT paused_since FROM pg_temp.round(20, 'mailbox away')), pg_temp.at(20), 'the next pause begins anew');
SELECT is((SELECT paused_reason FROM pg_temp.round(21, '')), NULL, 'a blank reason is none');
SELECT is((SELECT working_time FROM msgx.loop_state WHERE loop = 'pump'), interval '2.5 s', 'a round without work adds no working time');
SELECT is((SELECT wanted FROM pg_temp.round(22, '')), 'on', 'the brake is off');
SELECT loop FROM msgx.loop_pause('pump', 'li', 'maintenance', pg_temp.at(30));
SELECT is((SELECT wanted FROM pg_temp.round(31, '')), 'off', 'the brake is read with each round');
SELECT results_eq($$SELECT paused_reason, paused_since FROM pg_temp.round(32, 'mailbox away')$$, $$VALUES ('li: maintenance', pg_temp.at(30))$$, '… and its reason is not the loop''s to change');
SELECT is((SELECT count(*) FROM msgx.loop_state WHERE loop <> 'pump' AND last_round_at IS NOT NULL), 0::bigint, 'other loops are left alone');
SELECT throws_ok($$SELECT * FROM msgx.loop_round(pg_temp.epoch(), 'nobody', '', '0', pg_temp.at())$$, 'MX004', NULL, 'an unknown loop is an error');
SELECT throws_ok($$SELECT * FROM msgx.loop_round(0, 'pump', '', '0', pg_temp.at())$$, 'MX001', NULL, 'a former epoch is refused');
SELECT is_definer('msgx', 'loop_round', '{bigint,text,text,interval,timestamp with time zone}', 'it runs with its owner''s rights');
SELECT function_privs_are('msgx', 'loop_round', '{bigint,text,text,interval,timestamp with time zone}', role, CASE WHEN role = 'msgx_app' THEN '{EXECUTE}'::text[] ELSE '{}' END,
                          CASE WHEN role = 'msgx_app' THEN 'for the daemon' ELSE '… not for ' || role END)
  FROM unnest('{msgx_app,msgx_operator,msgx_auditor}'::text[]) AS role;
SELECT * FROM finish();
ROLLBACK;

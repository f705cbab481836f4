BEGIN;
\ir ../../fixture.psql
SELECT plan(14);
SELECT pg_temp.enqueue(1, 3);

SELECT is((SELECT jsonb_array_length(outcomes) FROM pg_temp.apply(0, pg_temp.refused(1, 'CODEC_ERROR'), pg_temp.flop(2, 7, '{}'))), 1,
          'a failure that may be tried again ends the batch');
SELECT is(pg_temp.stands(1), 'FAILED CODEC_ERROR', 'it holds the place as FAILED');
SELECT is(pg_temp.stands(2), 'PENDING', 'what stands behind it is untouched');
SELECT is((SELECT next_attempt_at FROM msgx.proc_state WHERE msg_id = 1), pg_temp.at(1), 'the first backoff is 1 s');
SELECT is((SELECT reason FROM pg_temp.apply(0.5, pg_temp.refused(1, 'CODEC_ERROR'))), 'backing-off', 'it is not tried before its time');
SELECT is((SELECT attempts FROM msgx.proc_state WHERE msg_id = 1), 1, '… and that is no attempt');
SELECT pg_temp.apply(1, pg_temp.refused(1, 'CODEC_ERROR'));
SELECT is((SELECT next_attempt_at FROM msgx.proc_state WHERE msg_id = 1), pg_temp.at(3), 'the second backoff is 2 s');
SELECT pg_temp.apply(3, pg_temp.refused(1, 'CODEC_ERROR'));
SELECT pg_temp.apply(7, pg_temp.refused(1, 'CODEC_ERROR'));
SELECT is((SELECT next_attempt_at FROM msgx.proc_state WHERE msg_id = 1), pg_temp.at(15), 'the fourth backoff is 8 s');
SELECT is((SELECT next_ids FROM pg_temp.apply(15, pg_temp.refused(1, 'CODEC_ERROR'))), '{2,3}'::bigint[], 'the fifth attempt is the last');
SELECT is(pg_temp.stands(1), 'DEAD EXHAUSTED', 'then it is exhausted');
SELECT is((SELECT first_error_class FROM msgx.proc_state WHERE msg_id = 1), 'CODEC_ERROR', 'and keeps its first class');

SELECT is((SELECT outcomes -> 0 ->> 'error' FROM msgx.pump_fail(pg_temp.epoch(), pg_temp.at(20),
           pg_temp.schd(2, pg_temp.new_flight(5)), 'division by zero')), 'division by zero', 'pump_fail records an unexpected error');
SELECT is(pg_temp.stands(2), 'FAILED INFRA', '… as INFRA, to be tried again');
SELECT is((SELECT msg_id FROM msgx.proc_identity WHERE identity_key = 'AODB|SCHD|DNLD|2'), 2::bigint, '… and binds its identity');
SELECT * FROM finish();
ROLLBACK;

BEGIN;
\ir ../../fixture.psql
SELECT plan(13);

SELECT is((SELECT reason FROM msgx.pump_next(pg_temp.epoch(), pg_temp.at())), 'empty', 'no message: empty');

SELECT pg_temp.enqueue(1, 3);
INSERT INTO msgx.proc_state (msg_id, source, updated_at) VALUES (9, 'compat', pg_temp.at());
SELECT is((SELECT next_ids FROM msgx.pump_next(pg_temp.epoch(), pg_temp.at())), '{1,2,3}'::bigint[],
          'a run goes from the head to the watermark, never above it');
SELECT is((SELECT ARRAY[run_epoch, run_from, run_to] FROM msgx.pipeline_lock), ARRAY[pg_temp.epoch(), 1, 3],
          'the run in flight is recorded');
UPDATE msgx.setting SET value = '2' WHERE key = 'pipeline.apply-batch';
SELECT is((SELECT next_ids FROM msgx.pump_next(pg_temp.epoch(), pg_temp.at())), '{1,2}'::bigint[],
          'a run has at most pipeline.apply-batch messages');

UPDATE msgx.proc_state SET state = 'FAILED', next_attempt_at = pg_temp.at(10) WHERE msg_id = 2;
SELECT is((SELECT next_ids FROM msgx.pump_next(pg_temp.epoch(), pg_temp.at())), '{1}'::bigint[],
          'a run ends before a message that is backing off');
UPDATE msgx.proc_state SET state = 'SUCCEEDED', finished_at = pg_temp.at() WHERE msg_id = 1;
SELECT results_eq('SELECT next_ids, reason, until FROM msgx.pump_next(pg_temp.epoch(), pg_temp.at())',
                  $$VALUES ('{}'::bigint[], 'backing-off', pg_temp.at(10))$$, 'a head that is backing off holds everything above it');
SELECT is((SELECT done_up_to FROM msgx.pipeline_lock), 1::bigint, 'the place is just below the smallest unfinished message');
SELECT is((SELECT next_ids FROM msgx.pump_next(pg_temp.epoch(), pg_temp.at(10))), '{2,3}'::bigint[],
          'the head comes back when its time has come');

UPDATE msgx.proc_state SET state = 'SUCCEEDED', finished_at = pg_temp.at() WHERE msg_id IN (2, 3);
SELECT is((SELECT reason FROM msgx.pump_next(pg_temp.epoch(), pg_temp.at(10))), 'beyond-watermark',
          'a message above the watermark waits, and the reason says so');
UPDATE msgx.proc_state SET state = 'PENDING', finished_at = NULL, reopened = true WHERE msg_id = 2;
SELECT is((SELECT next_ids FROM msgx.pump_next(pg_temp.epoch(), pg_temp.at(10))), '{2}'::bigint[],
          'a reopened message behind the place is the head');
UPDATE msgx.loop_state SET wanted = 'off' WHERE loop = 'pump';
SELECT is((SELECT reason FROM msgx.pump_next(pg_temp.epoch(), pg_temp.at(10))), 'braked', 'the brake stops it');

SELECT throws_ok('SELECT * FROM msgx.pump_next(pg_temp.epoch() - 1, pg_temp.at())', 'MX001', NULL, 'a former epoch is refused');
SELECT function_privs_are('msgx', 'pump_next', ARRAY['bigint', 'timestamp with time zone'], 'msgx_app', ARRAY['EXECUTE'],
                          'the daemon may call it');
SELECT * FROM finish();
ROLLBACK;

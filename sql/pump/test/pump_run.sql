BEGIN;
\ir ../../fixture.psql
SELECT plan(6);
SELECT pg_temp.enqueue(1, 4);
UPDATE msgx.proc_state SET state = 'SUCCEEDED', finished_at = pg_temp.at() WHERE msg_id IN (1, 2, 4);
SELECT results_eq($$SELECT outcomes, next_ids, reason, watermark, done_up_to FROM msgx.pump_run(pg_temp.epoch(), pg_temp.at(), '[7]')$$,
                  $$VALUES ('[7]'::jsonb, '{3}'::bigint[], NULL::text, 4::bigint, 2::bigint)$$, 'pump_run moves the place below the smallest unfinished message and gives the run');
SELECT ok((SELECT abs(extract(epoch FROM clock - clock_timestamp())) < 60 FROM msgx.pump_run(pg_temp.epoch(), pg_temp.at(), NULL)), '… with the clock of the server');
UPDATE msgx.proc_state SET state = 'SUCCEEDED', finished_at = pg_temp.at() WHERE msg_id = 3;
SELECT results_eq($$SELECT outcomes, reason, done_up_to FROM msgx.pump_run(pg_temp.epoch(), pg_temp.at(), NULL)$$,
                  $$VALUES ('[]'::jsonb, 'empty', 4::bigint)$$, 'with nothing left the place is the watermark');
SELECT is((SELECT row(run_epoch, run_from, run_to)::text FROM msgx.pipeline_lock), '(,,)', '… and no run is in flight');
UPDATE msgx.proc_state SET state = 'PENDING', finished_at = NULL, reopened = true WHERE msg_id = 2;
SELECT is((SELECT row(next_ids, done_up_to)::text FROM msgx.pump_run(pg_temp.epoch(), pg_temp.at(), NULL)), '({2},4)', 'the place never moves back');
UPDATE msgx.inbox_cursor SET committed_up_to = 9, seen_to = 9;
UPDATE msgx.proc_state SET state = 'SUCCEEDED', finished_at = pg_temp.at() WHERE msg_id = 2;
SELECT is((SELECT done_up_to FROM msgx.pump_run(pg_temp.epoch(), pg_temp.at(), NULL)), 9::bigint, 'released holes are passed over');
SELECT * FROM finish();
ROLLBACK;

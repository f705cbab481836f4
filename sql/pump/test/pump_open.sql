BEGIN;
\ir ../../fixture.psql
SELECT plan(4);
SELECT pg_temp.enqueue(1, 6);
UPDATE msgx.proc_state SET state = 'SUCCEEDED', finished_at = pg_temp.at() WHERE msg_id IN (1, 2, 4);
UPDATE msgx.proc_state SET state = 'PENDING', finished_at = NULL, reopened = true WHERE msg_id = 1;
SELECT is((SELECT array_agg(msg_id) FROM msgx.pump_open(2, pg_temp.at(), 10)), '{1,3,5,6}'::bigint[],
          'reopened messages first, then the unfinished ones above the place');
SELECT is((SELECT array_agg(msg_id) FROM msgx.pump_open(2, pg_temp.at(), 2)), '{1,3}'::bigint[], 'at most as many as asked for');
UPDATE msgx.proc_state SET state = 'FAILED', next_attempt_at = pg_temp.at(5) WHERE msg_id = 3;
SELECT is((SELECT array_agg(msg_id) FROM msgx.pump_open(2, pg_temp.at(), 10)), '{1}'::bigint[], 'ends before one that is backing off');
UPDATE msgx.inbox_cursor SET committed_up_to = 5;
SELECT is((SELECT array_agg(msg_id) FROM msgx.pump_open(2, pg_temp.at(5), 10)), '{1,3,5}'::bigint[], 'never above the watermark');
SELECT * FROM finish();
ROLLBACK;

BEGIN;
\ir ../../fixture.psql
SELECT plan(12);
SELECT pg_temp.enqueue(1, 4);
UPDATE msgx.inbox_cursor SET hole_since = pg_temp.at(1), readable_since = pg_temp.at(2);
INSERT INTO msgx.inbox_hole (lo, hi, first_seen_at, state) VALUES (5, 5, pg_temp.at(3), 'OPEN');
INSERT INTO msgx.inbox_hole (lo, hi, first_seen_at, state, released_at, released_why)
VALUES (7, 7, pg_temp.at(3), 'RELEASED', pg_temp.at(4), 'operator'), (2, 2, pg_temp.at(3), 'RELEASED', pg_temp.at(4), 'aged');
UPDATE msgx.proc_state SET state = 'SUCCEEDED', finished_at = pg_temp.at(5) WHERE msg_id = 1;
UPDATE msgx.proc_state SET state = 'FAILED', reopened = true, next_attempt_at = pg_temp.at(5) WHERE msg_id = 2;
UPDATE msgx.proc_state SET state = 'FAILED', next_attempt_at = pg_temp.at(6) WHERE msg_id = 3;
UPDATE msgx.proc_state SET backfill_next_at = pg_temp.at(7), backfill_attempts = 1 WHERE msg_id = 1;
UPDATE msgx.pipeline_lock SET done_up_to = 2;
INSERT INTO msgx.msg_event (target, partition_key, event_type, msg_id, state_version, payload, created_at, next_attempt_at)
VALUES ('KAFKA:msg', 1, 'UPSERT', 1, 1, '{}', pg_temp.at(), pg_temp.at(8)), ('KAFKA:msg', 1, 'UPSERT', 1, 1, '{}', pg_temp.at(), NULL);

SELECT lives_ok($$SELECT msgx.clock_shift(pg_temp.epoch(), '1 hour')$$, 'the clock jumped forward by an hour');
SELECT results_eq('SELECT hole_since, readable_since FROM msgx.inbox_cursor', $$VALUES (pg_temp.at(3601), pg_temp.at(3602))$$, 'the cursor''s times go along');
SELECT is((SELECT first_seen_at FROM msgx.inbox_hole WHERE lo = 5), pg_temp.at(3603), '… the window of an open hole');
SELECT is((SELECT released_at FROM msgx.inbox_hole WHERE lo = 7), pg_temp.at(3604), '… a release above the watermark');
SELECT is((SELECT released_at FROM msgx.inbox_hole WHERE lo = 2), pg_temp.at(4), 'what is history stays as it was');
SELECT is((SELECT next_attempt_at FROM msgx.proc_state WHERE msg_id = 2), pg_temp.at(3605), 'the backoff of a reopened message goes along');
SELECT is((SELECT next_attempt_at FROM msgx.proc_state WHERE msg_id = 3), pg_temp.at(3606), '… of the head');
SELECT is((SELECT backfill_next_at FROM msgx.proc_state WHERE msg_id = 1), pg_temp.at(3607), '… of a mark');
SELECT is((SELECT array_agg(next_attempt_at ORDER BY event_id) FROM msgx.msg_event), ARRAY[pg_temp.at(3608), NULL], '… of an event');
SELECT lives_ok($$SELECT msgx.clock_shift(pg_temp.epoch(), '-1 hour')$$, 'the clock jumped back');
SELECT is((SELECT first_seen_at FROM msgx.inbox_hole WHERE lo = 5), pg_temp.at(3), 'no window gets longer by it');
SELECT throws_ok($$SELECT msgx.clock_shift(pg_temp.epoch() - 1, '1 hour')$$, 'MX001', NULL, 'a former epoch is refused');
SELECT * FROM finish();
ROLLBACK;

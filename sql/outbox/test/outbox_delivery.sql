-- The edges of delivery: one target never touches the other, what is settled is
-- never looked at again, limits and times to the second.
BEGIN;
\ir ../../fixture.psql
SELECT plan(49);
SELECT pg_temp.enqueue(1, 20);
SELECT pg_temp.apply(0, pg_temp.schd(1, pg_temp.new_flight(1), pg_temp.new_flight(2), pg_temp.new_flight(3)));
SELECT pg_temp.apply(1, pg_temp.flop(2, 1, '{"terminal": "TA"}'));
-- The n-th event of a target.
CREATE FUNCTION pg_temp.e(p_target text, p_n integer) RETURNS bigint LANGUAGE sql AS $$
    SELECT event_id FROM msgx.msg_event WHERE target = 'KAFKA:' || p_target ORDER BY event_id OFFSET p_n - 1 LIMIT 1 $$;
CREATE FUNCTION pg_temp.event(p_target text, p_n integer) RETURNS msgx.msg_event LANGUAGE sql AS $$
    SELECT * FROM msgx.msg_event WHERE event_id = pg_temp.e(p_target, p_n) $$;
CREATE FUNCTION pg_temp.cursor_of(p_target text) RETURNS bigint LANGUAGE sql AS $$
    SELECT sent_up_to FROM msgx.outbox_cursor WHERE target = 'KAFKA:' || p_target $$;
CREATE FUNCTION pg_temp.next_schd(p_seconds numeric, p_limit integer DEFAULT 100) RETURNS TABLE (n integer, r msgx.r_outbox_schd) LANGUAGE sql AS $$
    SELECT row_number() OVER ()::integer, s FROM msgx.outbox_next_schd(pg_temp.epoch(), pg_temp.at(p_seconds), p_limit) AS s $$;
CREATE FUNCTION pg_temp.fail(p_target text, p_event bigint, p_seconds numeric, p_final boolean DEFAULT false) RETURNS SETOF msgx.msg_event LANGUAGE sql AS $$
    SELECT * FROM msgx.outbox_failed(pg_temp.epoch(), 'KAFKA:' || p_target, ARRAY[p_event], '{refused}', ARRAY[p_final], pg_temp.at(p_seconds)) $$;
-- All of them went to partition 3, offsets from 100.
CREATE FUNCTION pg_temp.sent(p_target text, p_events bigint[]) RETURNS SETOF msgx.r_outbox_round LANGUAGE sql AS $$
    SELECT * FROM msgx.outbox_sent(pg_temp.epoch(), 'KAFKA:' || p_target, p_events,
        ARRAY(SELECT v.state_version FROM unnest(p_events) WITH ORDINALITY AS i (id, n) JOIN msgx.msg_event AS v ON v.event_id = i.id ORDER BY i.n),
        'topic', array_fill(3, ARRAY[cardinality(p_events)]), ARRAY(SELECT 99 + g FROM generate_series(1, cardinality(p_events)) AS g), pg_temp.at(5)) $$;

-- outbox_next_schd. Flight 1 changed again, in a later message: its row comes last.
SELECT results_eq('SELECT n, (r).event_id, (r).flid, (r).msg_id FROM pg_temp.next_schd(2)',
    $$VALUES (1, pg_temp.e('schd', 1), 1::bigint, 2::bigint), (2, pg_temp.e('schd', 2), 2, 1), (3, pg_temp.e('schd', 3), 3, 1)$$,
    'outbox_next_schd: by event, with the message that was merged last');
SELECT is((SELECT array_agg((r).event_id) FROM pg_temp.next_schd(2, 2)), ARRAY[pg_temp.e('schd', 1), pg_temp.e('schd', 2)], '… the first ones, at most as many as asked for');
SELECT pg_temp.fail('schd', pg_temp.e('schd', 2), 10);
SELECT is((SELECT array_agg((r).flid) FROM pg_temp.next_schd(10.999)), '{1,3}'::bigint[], 'a flight that is backing off is left out');
SELECT is((SELECT array_agg((r).flid) FROM pg_temp.next_schd(10.999, 2)), '{1,3}'::bigint[], '… and takes no place of the limit');
SELECT is((SELECT array_agg((r).flid) FROM pg_temp.next_schd(11)), '{1,2,3}'::bigint[], '… until its time has come, to the moment');
UPDATE msgx.outbox_cursor SET sent_up_to = pg_temp.e('schd', 1) WHERE target = 'KAFKA:schd';
SELECT is((SELECT array_agg((r).flid) FROM pg_temp.next_schd(11)), '{2,3}'::bigint[], 'nothing at or below the cursor is looked at');
UPDATE msgx.outbox_cursor SET sent_up_to = 0 WHERE target = 'KAFKA:schd';
INSERT INTO msgx.msg_event (target, partition_key, event_type, msg_id, state_version, created_at)
VALUES ('KAFKA:schd', 404, 'UPSERT', 2, 9000, pg_temp.at());
SELECT results_eq('SELECT (r).state_version, (r).document FROM pg_temp.next_schd(11) WHERE (r).flid = 404', $$VALUES (9000::bigint, NULL::jsonb)$$,
    'a flight that is gone has a row with no document: a tombstone');
DELETE FROM msgx.msg_event WHERE partition_key = 404;

-- outbox_next_msg.
UPDATE msgx.outbox_cursor SET sent_up_to = pg_temp.e('msg', 1) WHERE target = 'KAFKA:msg';
SELECT is((SELECT array_agg(event_id) FROM msgx.outbox_next_msg(pg_temp.epoch(), pg_temp.at(2), 2)), ARRAY[pg_temp.e('msg', 2), pg_temp.e('msg', 3)],
          'outbox_next_msg: nothing at or below the cursor is looked at');
UPDATE msgx.outbox_cursor SET sent_up_to = 0 WHERE target = 'KAFKA:msg';
SELECT pg_temp.fail('msg', pg_temp.e('msg', 3), 10);
SELECT is((SELECT array_agg(event_id) FROM msgx.outbox_next_msg(pg_temp.epoch(), pg_temp.at(10), 100)), ARRAY[pg_temp.e('msg', 1), pg_temp.e('msg', 2)],
          '… and it ends before the one that is backing off, though a later one is due');
SELECT is((SELECT payload -> 'change' FROM msgx.outbox_next_msg(pg_temp.epoch(), pg_temp.at(10), 1)), '"created"', '… each with its payload');

-- outbox_failed.
SELECT is((SELECT count(*) FROM pg_temp.fail('msg', pg_temp.e('schd', 1), 10)), 0::bigint, 'outbox_failed: an event of the other target is left alone');
SELECT is((SELECT row(state, attempts)::text FROM pg_temp.event('schd', 1)), '(PENDING,0)', '… unchanged');
SELECT is((SELECT row(state, attempts, next_attempt_at)::text FROM pg_temp.fail('msg', pg_temp.e('msg', 4), 10, true)), '(DEAD,1,)', 'a dead event has no next attempt');
UPDATE msgx.setting SET value = '3s,90s' WHERE key = 'pipeline.backoff';
SELECT is((SELECT next_attempt_at FROM pg_temp.fail('msg', pg_temp.e('msg', 1), 20)), pg_temp.at(23), 'the first wait is the first of pipeline.backoff');
SELECT is((SELECT next_attempt_at FROM pg_temp.fail('msg', pg_temp.e('msg', 1), 30)), pg_temp.at(90), 'no wait is longer than pipeline.backoff-cap');
UPDATE msgx.setting SET value = '3s,4s' WHERE key = 'pipeline.backoff';
SELECT is((SELECT next_attempt_at FROM pg_temp.fail('msg', pg_temp.e('msg', 1), 40)), pg_temp.at(44), 'when the list has ended its last wait counts');
UPDATE msgx.setting SET value = '4' WHERE key = 'kafka.delivery-max-attempts';
SELECT is(pg_temp.cursor_of('msg'), pg_temp.e('msg', 1) - 1, 'the cursor waits for what will be tried again');
SELECT is((SELECT row(state, attempts, next_attempt_at, last_error)::text FROM pg_temp.fail('msg', pg_temp.e('msg', 1), 50)), '(DEAD,4,,refused)',
          'at kafka.delivery-max-attempts it is dead, with no next attempt');
SELECT is(pg_temp.cursor_of('msg'), pg_temp.e('msg', 2) - 1, '… and the cursor is just below the next one');
UPDATE msgx.setting SET value = '5' WHERE key = 'kafka.delivery-max-attempts';
SELECT results_eq($$SELECT event_id, state, last_error FROM msgx.outbox_failed(pg_temp.epoch(), 'KAFKA:msg', ARRAY[pg_temp.e('msg', 3), pg_temp.e('msg', 2)],
                        '{too large,away}', '{true,false}', pg_temp.at(60)) ORDER BY event_id$$,
    $$VALUES (pg_temp.e('msg', 2), 'PENDING', 'away'), (pg_temp.e('msg', 3), 'DEAD', 'too large')$$, 'several at once, in any order: each with its own fate');
SELECT is(pg_temp.cursor_of('msg'), pg_temp.e('msg', 2) - 1, '… and the cursor waits for the one that is not dead');

-- outbox_sent.
SELECT results_eq($$SELECT sent, still_pending FROM msgx.outbox_sent(pg_temp.epoch(), 'KAFKA:msg', ARRAY[pg_temp.e('schd', 1)],
                        ARRAY[(pg_temp.event('schd', 1)).state_version], 'topic', '{3}', '{100}', pg_temp.at(5))$$,
    'VALUES (0, 1)', 'outbox_sent: an event of the other target is left alone');
SELECT is((SELECT state FROM pg_temp.event('schd', 1)), 'PENDING', '… pending as before');
SELECT results_eq($$SELECT target, sent, still_pending, sent_up_to FROM pg_temp.sent('msg', ARRAY[pg_temp.e('msg', 2)])$$,
    $$VALUES ('KAFKA:msg', 1, 0, pg_temp.e('msg', 4))$$, 'with nothing pending the cursor is at the last event of the target');
SELECT is(pg_temp.cursor_of('schd'), 0::bigint, '… and the other target''s is where it was');
SELECT is((SELECT row(state, topic, partition, "offset", sent_at, last_error)::text FROM pg_temp.event('msg', 2)), row('SENT', 'topic', 3, 100, pg_temp.at(5), NULL)::text,
          'a sent event knows its place in Kafka, and its last trouble is forgotten');
CREATE TEMP TABLE before AS SELECT * FROM msgx.msg_event;
SELECT is((SELECT sent FROM msgx.outbox_sent(pg_temp.epoch(), 'KAFKA:msg', ARRAY[pg_temp.e('msg', 2)], ARRAY[(pg_temp.event('msg', 2)).state_version],
                                             'elsewhere', '{7}', '{700}', pg_temp.at(99))), 0, 'the same event once more');
SELECT is((SELECT sent FROM pg_temp.sent('msg', ARRAY[pg_temp.e('msg', 1)])), 0, '… or a dead one');
SELECT set_eq('SELECT * FROM msgx.msg_event', 'SELECT * FROM before', '… changes nothing');
SELECT is((SELECT count(*) FROM msgx.msg_event WHERE target = 'KAFKA:msg' AND last_error LIKE 'superseded%'), 0::bigint, 'a dead change is never superseded: every change is to arrive');

-- outbox_settle: cursors of the two targets, whose events stand in one row of numbers.
SELECT is(msgx.outbox_settle('KAFKA:schd'), pg_temp.e('schd', 1) - 1, 'outbox_settle: just below the first pending event of the target');
UPDATE msgx.msg_event SET state = 'SENT', sent_at = pg_temp.at() WHERE event_id IN (pg_temp.e('schd', 1), pg_temp.e('schd', 3));
SELECT is(msgx.outbox_settle('KAFKA:schd'), pg_temp.e('schd', 2) - 1, '… not past one between sent ones');
SELECT pg_temp.apply(6, pg_temp.flop(3, 1, '{"terminal": "TB"}'));
UPDATE msgx.msg_event SET state = 'SENT', sent_at = pg_temp.at() WHERE target = 'KAFKA:msg' AND state = 'PENDING';
SELECT is(msgx.outbox_settle('KAFKA:msg'), pg_temp.e('msg', 5), 'events of the other target neither hold the cursor nor carry it');
SELECT is(msgx.outbox_settle('KAFKA:msg'), pg_temp.e('msg', 5), '… and again');
UPDATE msgx.msg_event SET state = 'PENDING', sent_at = NULL WHERE event_id = pg_temp.e('msg', 2);
SELECT is(msgx.outbox_settle('KAFKA:msg'), pg_temp.e('msg', 5), 'it never moves back');
SELECT throws_ok($$SELECT msgx.outbox_settle('KAFKA:nowhere')$$, 'P0002', NULL, 'a target without a cursor is an error');

-- Superseding. Flight 1: dead, dead, arrived; flight 2: pending; flight 3: dead.
SELECT pg_temp.fail('schd', pg_temp.e('schd', 4), 10, true);
SELECT pg_temp.apply(7, pg_temp.flop(4, 3, '{"terminal": "TC"}'));
SELECT pg_temp.fail('schd', pg_temp.e('schd', 5), 10, true);
SELECT pg_temp.apply(8, pg_temp.flop(5, 1, '{"terminal": "TD"}'));
-- A former row that had been superseded before, and one that is newer than what arrives.
UPDATE msgx.msg_event SET state = 'DEAD', sent_at = NULL, last_error = 'superseded by event 77' WHERE event_id = pg_temp.e('schd', 1);
INSERT INTO msgx.msg_event (target, partition_key, event_type, msg_id, state_version, state, last_error, created_at)
VALUES ('KAFKA:schd', 1, 'UPSERT', 5, 9000, 'DEAD', 'newer', pg_temp.at());
-- One that arrived long ago.
UPDATE msgx.msg_event SET partition_key = 1, last_error = 'kept' WHERE event_id = pg_temp.e('schd', 3);
-- A dead change of the same flight, older than what arrives.
UPDATE msgx.msg_event SET state = 'DEAD', sent_at = NULL, last_error = 'a change' WHERE event_id = pg_temp.e('msg', 1);
SELECT is((SELECT sent FROM pg_temp.sent('schd', ARRAY[pg_temp.e('schd', 6)])), 1, 'a newer state of flight 1 arrives');
SELECT is((SELECT row(state, last_error)::text FROM pg_temp.event('schd', 4)), row('DEAD', 'superseded by event ' || pg_temp.e('schd', 6))::text, '… its dead row is superseded');
SELECT is((SELECT last_error FROM pg_temp.event('schd', 1)), 'superseded by event 77', '… one that was superseded before keeps its word');
SELECT is((SELECT last_error FROM pg_temp.event('schd', 7)), 'newer', '… a newer dead row stays a dead letter');
SELECT is((SELECT last_error FROM pg_temp.event('schd', 5)), 'refused', '… and so does another flight''s');
SELECT is((SELECT last_error FROM pg_temp.event('msg', 1)), 'a change', '… and a change, which is another target''s');
SELECT is((SELECT last_error FROM pg_temp.event('schd', 2)), 'refused', '… and what is pending keeps its last trouble');
SELECT is((SELECT last_error FROM pg_temp.event('schd', 6)), NULL, '… and what arrived has none');
SELECT is((SELECT last_error FROM pg_temp.event('schd', 3)), 'kept', '… and what arrived before is left alone');
-- A dead change, and a newer change of the same flight that arrives.
SELECT pg_temp.apply(9, pg_temp.flop(6, 1, '{"terminal": "TE"}'));
SELECT is((SELECT sent FROM pg_temp.sent('msg', ARRAY(SELECT event_id FROM msgx.msg_event WHERE target = 'KAFKA:msg' AND msg_id = 6))), 1, 'a newer change of flight 1 arrives');
SELECT is((SELECT last_error FROM pg_temp.event('msg', 1)), 'a change', '… which supersedes nothing');

-- A raised row, and the cursor.
CREATE TEMP TABLE flying AS SELECT (r).event_id, (r).state_version FROM pg_temp.next_schd(20) WHERE (r).flid = 2;
SELECT pg_temp.apply(21, pg_temp.flop(7, 2, '{"terminal": "TF"}'));
SELECT results_eq($$SELECT o.sent, o.still_pending, o.sent_up_to FROM flying AS f,
    msgx.outbox_sent(pg_temp.epoch(), 'KAFKA:schd', ARRAY[f.event_id], ARRAY[f.state_version], 'topic', '{3}', '{200}', pg_temp.at(22)) AS o$$,
    $$VALUES (0, 1, pg_temp.e('schd', 2) - 1)$$, 'a row that was raised on its way stays pending and holds the cursor');
SELECT is((SELECT row(state, topic, sent_at, merged_count, attempts)::text FROM pg_temp.event('schd', 2)), '(PENDING,,,1,0)', '… as if it had not been sent, and due at once');
SELECT * FROM finish();
ROLLBACK;

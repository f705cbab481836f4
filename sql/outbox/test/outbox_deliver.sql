BEGIN;
\ir ../../fixture.psql
SELECT plan(34);
SELECT pg_temp.enqueue(1, 20);
SELECT pg_temp.apply(0, pg_temp.schd(1, pg_temp.new_flight(1), pg_temp.new_flight(2), pg_temp.new_flight(3)));
SELECT pg_temp.apply(1, pg_temp.flop(2, 1, '{"terminal": "TA"}'), pg_temp.msg(3, 'FLOP', 'FDEL', jsonb_build_array(pg_temp.rec('delete', 3))));
-- Events by the order in which they were written: e(1) is the first.
CREATE FUNCTION pg_temp.e(p_target text, p_n integer) RETURNS bigint LANGUAGE sql AS $$
    SELECT event_id FROM msgx.msg_event WHERE target = 'KAFKA:' || p_target ORDER BY event_id OFFSET p_n - 1 LIMIT 1 $$;
CREATE FUNCTION pg_temp.next_msg(p_seconds numeric, p_limit integer DEFAULT 100) RETURNS bigint[] LANGUAGE sql AS $$
    SELECT array_agg(event_id) FROM msgx.outbox_next_msg(pg_temp.epoch(), pg_temp.at(p_seconds), p_limit) $$;
CREATE FUNCTION pg_temp.sent(p_target text, p_events bigint[], p_versions bigint[] DEFAULT NULL) RETURNS SETOF msgx.r_outbox_round LANGUAGE sql AS $$
    SELECT * FROM msgx.outbox_sent(pg_temp.epoch(), 'KAFKA:' || p_target, p_events,
        coalesce(p_versions, (SELECT array_agg(v.state_version ORDER BY i.n) FROM unnest(p_events) WITH ORDINALITY AS i (id, n) JOIN msgx.msg_event AS v ON v.event_id = i.id)),
        'topic', array_fill(2, ARRAY[cardinality(p_events)]), ARRAY(SELECT 10 + g FROM generate_series(1, cardinality(p_events)) AS g), pg_temp.at(5)) $$;
CREATE FUNCTION pg_temp.cursor_of(p_target text) RETURNS bigint LANGUAGE sql AS $$ SELECT sent_up_to FROM msgx.outbox_cursor WHERE target = 'KAFKA:' || p_target $$;

SELECT is(pg_temp.next_msg(2), ARRAY[pg_temp.e('msg', 1), pg_temp.e('msg', 2), pg_temp.e('msg', 3), pg_temp.e('msg', 4), pg_temp.e('msg', 5)],
          'outbox_next_msg: every pending change, in the order of events');
SELECT is(pg_temp.next_msg(2, 2), ARRAY[pg_temp.e('msg', 1), pg_temp.e('msg', 2)], '… at most as many as asked for');
SELECT results_eq($$SELECT sent, still_pending, sent_up_to FROM pg_temp.sent('msg', ARRAY[pg_temp.e('msg', 1), pg_temp.e('msg', 2)])$$,
                  $$VALUES (2, 0, pg_temp.e('msg', 3) - 1)$$, 'outbox_sent: the cursor goes to just below the first pending event');
SELECT is((SELECT row(state, topic, partition, "offset", sent_at)::text FROM msgx.msg_event WHERE event_id = pg_temp.e('msg', 2)),
          row('SENT', 'topic', 2, 12, pg_temp.at(5))::text, '… and each event knows where it went');
SELECT is(pg_temp.next_msg(2, 1), ARRAY[pg_temp.e('msg', 3)], 'the next ones follow');
SELECT is((SELECT sent FROM pg_temp.sent('msg', ARRAY[pg_temp.e('msg', 1), pg_temp.e('msg', 2)])), 0, 'the same call again changes nothing');
SELECT is((SELECT sent FROM pg_temp.sent('msg', ARRAY[pg_temp.e('msg', 4)])), 1, 'one that was acknowledged out of order is settled');
SELECT is(pg_temp.cursor_of('msg'), pg_temp.e('msg', 3) - 1, '… and the cursor waits for the one before it');
SELECT is(pg_temp.next_msg(2), ARRAY[pg_temp.e('msg', 3), pg_temp.e('msg', 5)], '… which comes again, what was sent does not');

SELECT is((SELECT row(state, attempts, next_attempt_at, last_error)::text FROM msgx.outbox_failed(pg_temp.epoch(), 'KAFKA:msg', ARRAY[pg_temp.e('msg', 3)], '{refused}', '{false}', pg_temp.at(10))),
          row('PENDING', 1, pg_temp.at(11), 'refused')::text, 'outbox_failed: a refused event waits out a backoff');
SELECT is(pg_temp.next_msg(10), NULL, '… and nothing of the target overtakes it');
SELECT is(pg_temp.next_msg(11), ARRAY[pg_temp.e('msg', 3), pg_temp.e('msg', 5)], '… until its time has come');
SELECT msgx.outbox_failed(pg_temp.epoch(), 'KAFKA:msg', ARRAY[pg_temp.e('msg', 3)], '{refused}', '{false}', pg_temp.at(11)) FROM generate_series(1, 3);
SELECT is((SELECT next_attempt_at FROM msgx.msg_event WHERE event_id = pg_temp.e('msg', 3)), pg_temp.at(19), 'backoffs grow: 8 s after the fourth');
SELECT is((SELECT state FROM msgx.outbox_failed(pg_temp.epoch(), 'KAFKA:msg', ARRAY[pg_temp.e('msg', 3)], '{refused}', '{false}', pg_temp.at(20))), 'DEAD', 'at kafka.delivery-max-attempts it is dead');
SELECT is(pg_temp.cursor_of('msg'), pg_temp.e('msg', 5) - 1, '… and the cursor passes it');
SELECT is((SELECT state FROM msgx.outbox_failed(pg_temp.epoch(), 'KAFKA:msg', ARRAY[pg_temp.e('msg', 5)], '{too large}', '{true}', pg_temp.at(20))), 'DEAD', 'what can never be sent is dead at once');
SELECT is(pg_temp.cursor_of('msg'), pg_temp.e('msg', 5), 'with nothing pending the cursor is at the last event');
SELECT is((SELECT count(*) FROM msgx.outbox_failed(pg_temp.epoch(), 'KAFKA:msg', ARRAY[pg_temp.e('msg', 1)], '{x}', '{true}', pg_temp.at(20))), 0::bigint, 'a sent event does not fail any more');
SELECT is(msgx.outbox_settle('KAFKA:msg'), pg_temp.e('msg', 5), 'outbox_settle never moves back');

-- schd: the newest state.
CREATE FUNCTION pg_temp.next_schd(p_seconds numeric) RETURNS SETOF msgx.r_outbox_schd LANGUAGE sql AS $$
    SELECT * FROM msgx.outbox_next_schd(pg_temp.epoch(), pg_temp.at(p_seconds), 100) $$;
SELECT is((SELECT array_agg(flid ORDER BY event_id) FROM pg_temp.next_schd(2)), '{1,2,3}'::bigint[], 'outbox_next_schd: each changed flight once');
SELECT is((SELECT document FROM pg_temp.next_schd(2) WHERE flid = 1), (SELECT document FROM msgx.flight_document('{1}')), '… with its whole document');
SELECT is((SELECT state_version FROM pg_temp.next_schd(2) WHERE flid = 1), (SELECT state_version FROM msgx.flight_schd WHERE flid = 1), '… and its newest version');
SELECT is((SELECT document FROM pg_temp.next_schd(2) WHERE flid = 3), NULL, 'a deleted flight has none: a tombstone');
CREATE TEMP TABLE flying AS SELECT * FROM pg_temp.next_schd(2);
SELECT pg_temp.apply(3, pg_temp.flop(4, 2, '{"terminal": "TB"}'));
SELECT is((SELECT row(sent, still_pending)::text FROM pg_temp.sent('schd', ARRAY(SELECT event_id FROM flying ORDER BY event_id), ARRAY(SELECT state_version FROM flying ORDER BY event_id))), '(2,1)',
          'a flight that changed while its record was on its way stays pending');
SELECT is((SELECT document ->> 'terminal' FROM pg_temp.next_schd(4)), 'TB', '… and is sent again with its newest state');
SELECT msgx.outbox_failed(pg_temp.epoch(), 'KAFKA:schd', ARRAY[(SELECT event_id FROM pg_temp.next_schd(4))], '{too large}', '{true}', pg_temp.at(5));
SELECT is((SELECT count(*) FROM pg_temp.next_schd(99)), 0::bigint, 'a dead one is not sent');
SELECT pg_temp.apply(6, pg_temp.flop(5, 2, '{"terminal": "TC"}'));
SELECT is((SELECT array_agg(document ->> 'terminal') FROM pg_temp.next_schd(6)), '{TC}'::text[], 'the next change gets a row of its own');
SELECT pg_temp.sent('schd', ARRAY[(SELECT event_id FROM pg_temp.next_schd(6))]);
SELECT matches((SELECT last_error FROM msgx.msg_event WHERE state = 'DEAD' AND target = 'KAFKA:schd'), '^superseded by event', 'when it has arrived the dead one is superseded');
SELECT is((SELECT count(*) FROM msgx.v_dead_letters WHERE kind = 'event' AND class = 'KAFKA:schd'), 0::bigint, '… and no dead letter any more');
SELECT pg_temp.apply(7, pg_temp.flop(6, 1, '{"terminal": "TX"}'), pg_temp.flop(7, 2, '{"terminal": "TX"}'));
UPDATE msgx.msg_event SET next_attempt_at = pg_temp.at(100) WHERE state = 'PENDING' AND target = 'KAFKA:schd' AND partition_key = 1;
SELECT is((SELECT array_agg(flid) FROM pg_temp.next_schd(8)), '{2}'::bigint[], 'a flight that is backing off does not hold the others');

SELECT throws_ok($$SELECT * FROM msgx.outbox_next_msg(0, pg_temp.at(), 1)$$, 'MX001', NULL, 'outbox_next_msg: a former epoch is refused');
SELECT throws_ok($$SELECT * FROM msgx.outbox_next_schd(0, pg_temp.at(), 1)$$, 'MX001', NULL, 'outbox_next_schd likewise');
SELECT throws_ok($$SELECT * FROM msgx.outbox_sent(0, 'KAFKA:msg', '{}', '{}', 't', '{}', '{}', pg_temp.at())$$, 'MX001', NULL, 'outbox_sent likewise');
SELECT throws_ok($$SELECT * FROM msgx.outbox_failed(0, 'KAFKA:msg', '{}', '{}', '{}', pg_temp.at())$$, 'MX001', NULL, 'outbox_failed likewise');
SELECT * FROM finish();
ROLLBACK;

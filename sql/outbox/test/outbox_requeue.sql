BEGIN;
\ir ../../fixture.psql
SELECT plan(30);
CREATE FUNCTION pg_temp.event(p_nth integer, p_target text DEFAULT 'KAFKA:msg') RETURNS bigint LANGUAGE sql AS $$
    SELECT event_id FROM msgx.msg_event WHERE target = p_target ORDER BY event_id OFFSET p_nth - 1 LIMIT 1 $$;
CREATE FUNCTION pg_temp.next() RETURNS bigint[] LANGUAGE sql AS $$ SELECT array_agg(event_id ORDER BY event_id) FROM msgx.outbox_next_msg(pg_temp.epoch(), pg_temp.at(100), 10) $$;
CREATE FUNCTION pg_temp.sent(p_ids bigint[], p_target text DEFAULT 'KAFKA:msg') RETURNS bigint LANGUAGE sql AS $$
    SELECT sent_up_to FROM msgx.outbox_sent(pg_temp.epoch(), p_target, p_ids, ARRAY(SELECT e.state_version FROM unnest(p_ids) WITH ORDINALITY AS i (id, n) JOIN msgx.msg_event AS e ON e.event_id = i.id ORDER BY i.n),
                                            't', array_fill(0, ARRAY[cardinality(p_ids)]), array_fill(1::bigint, ARRAY[cardinality(p_ids)]), pg_temp.at(50)) $$;
CREATE FUNCTION pg_temp.dead(p_ids bigint[], p_target text DEFAULT 'KAFKA:msg') RETURNS bigint LANGUAGE sql AS $$
    SELECT count(*) FROM msgx.outbox_failed(pg_temp.epoch(), p_target, p_ids, array_fill('too large'::text, ARRAY[cardinality(p_ids)]), array_fill(true, ARRAY[cardinality(p_ids)]), pg_temp.at(50)) $$;
CREATE FUNCTION pg_temp.requeue(p_ids bigint[]) RETURNS bigint[] LANGUAGE sql AS $$
    SELECT array_agg(event_id ORDER BY event_id) FROM msgx.outbox_requeue(p_ids, 'li', 'broker allows it now', pg_temp.at(60)) $$;
SELECT pg_temp.enqueue(1, 9);
SELECT pg_temp.apply(1, pg_temp.schd(1, pg_temp.new_flight(7)));
SELECT pg_temp.apply(2, pg_temp.flop(2, 7, '{"terminal": "A"}'));
SELECT pg_temp.apply(3, pg_temp.flop(3, 7, '{"terminal": "B"}'));

-- A change.
SELECT is(pg_temp.dead(ARRAY[pg_temp.event(1)]), 1::bigint, 'the first change is dead');
SELECT is((SELECT dead FROM msgx.v_outbox WHERE target = 'KAFKA:msg'), 1::bigint, '… v_outbox counts it');
SELECT is((SELECT way_back FROM msgx.v_dead_letters WHERE kind = 'event'), format($$select * from msgx.outbox_requeue(array[%s], 'name', 'reason', now());$$, pg_temp.event(1)), '… and the dead letters tell the way back');
SELECT is(pg_temp.sent(ARRAY[pg_temp.event(2)]) >= pg_temp.event(2), true, 'the cursor passes it');
SELECT is(pg_temp.next(), ARRAY[pg_temp.event(3)], 'dead events are not delivered');
SELECT is(pg_temp.requeue(ARRAY[pg_temp.event(1), pg_temp.event(2), pg_temp.event(3), 999]), ARRAY[pg_temp.event(1)], 'outbox_requeue: dead events, and nothing else');
SELECT is(pg_temp.next(), ARRAY[pg_temp.event(1), pg_temp.event(3)], '… is found behind the cursor, before newer ones');
SELECT is((SELECT row(attempts, requeues)::text FROM msgx.msg_event WHERE event_id = pg_temp.event(1)), '(0,1)', '… its attempts begin anew, and it is known for what it is');
SELECT is((SELECT requeued || ' ' || pending FROM msgx.v_outbox WHERE target = 'KAFKA:msg'), '1 2', '… in v_outbox too');
SELECT is((SELECT subject || ', ' || reason FROM msgx.operator_audit WHERE action = 'outbox_requeue'),
          format('events %s, %s, %s, 999, broker allows it now', pg_temp.event(1), pg_temp.event(2), pg_temp.event(3)), '… and it is written down');
SELECT is(pg_temp.requeue(ARRAY[pg_temp.event(1)]), NULL, 'a second call changes nothing');
SELECT is((SELECT count(*) FROM msgx.outbox_failed(pg_temp.epoch(), 'KAFKA:msg', ARRAY[pg_temp.event(1)], '{x}', '{false}', pg_temp.at(99.5))), 1::bigint, 'it fails again');
SELECT is(pg_temp.next(), ARRAY[pg_temp.event(3)], '… and while it backs off it holds nobody up');
UPDATE msgx.msg_event SET next_attempt_at = NULL;
SELECT pg_temp.sent(ARRAY[pg_temp.event(1)]);
SELECT is(pg_temp.next(), ARRAY[pg_temp.event(3)], 'delivered, it is gone');
SELECT is((SELECT sent_up_to FROM msgx.outbox_cursor WHERE target = 'KAFKA:msg') < pg_temp.event(3), true, '… and the cursor stands where it stood');
SELECT is((SELECT last_sent_at FROM msgx.v_outbox WHERE target = 'KAFKA:msg'), pg_temp.at(50), 'when Kafka last acknowledged is shown');

-- The state of a flight.
SELECT is(pg_temp.dead(ARRAY[pg_temp.event(1, 'KAFKA:schd')], 'KAFKA:schd'), 1::bigint, 'the state of the flight is dead');
SELECT is((SELECT array_agg(partition_key) FROM msgx.outbox_requeue(ARRAY[pg_temp.event(1, 'KAFKA:schd')], 'li', 'x', pg_temp.at(60))), '{7}', 'requeue of a state: the flight is pending');
SELECT is((SELECT state_version FROM msgx.msg_event WHERE event_id = pg_temp.event(2, 'KAFKA:schd')), (SELECT state_version FROM msgx.flight_schd), '… under a new event, with its present version');
SELECT is((SELECT last_error FROM msgx.msg_event WHERE event_id = pg_temp.event(1, 'KAFKA:schd')), 'superseded by event ' || pg_temp.event(2, 'KAFKA:schd'), '… and the dead row says so');
SELECT is(pg_temp.requeue(ARRAY[pg_temp.event(1, 'KAFKA:schd')]), NULL, 'once');
SELECT pg_temp.dead(ARRAY[pg_temp.event(2, 'KAFKA:schd')], 'KAFKA:schd');
SELECT pg_temp.apply(4, pg_temp.flop(4, 7, '{"terminal": "C"}'));
SELECT is(pg_temp.requeue(ARRAY[pg_temp.event(2, 'KAFKA:schd')]), NULL, 'a flight that is pending anyway stays as it is');
SELECT is((SELECT count(*) FROM msgx.msg_event WHERE target = 'KAFKA:schd' AND state = 'PENDING'), 1::bigint, '… with one pending row');
SELECT is((SELECT dead FROM msgx.v_outbox WHERE target = 'KAFKA:schd'), 0::bigint, '… and nothing waits for a person');
SELECT pg_temp.dead(ARRAY[pg_temp.event(3, 'KAFKA:schd')], 'KAFKA:schd');
DELETE FROM msgx.flight_schd;
SELECT is((SELECT event_type FROM msgx.outbox_requeue(ARRAY[pg_temp.event(3, 'KAFKA:schd')], 'li', 'x', pg_temp.at(60))), 'TOMBSTONE', 'a flight that is gone is a tombstone');
SELECT throws_ok($$SELECT msgx.outbox_requeue('{1}', ' ', 'x', pg_temp.at())$$, 'MX003', NULL, 'an operator is needed');
SELECT throws_ok($$SELECT msgx.outbox_requeue('{1}', 'li', NULL, pg_temp.at())$$, 'MX003', NULL, '… and a reason');

-- Documents that cannot be built.
SELECT is((SELECT count(*) FROM msgx.outbox_faults(pg_temp.epoch(), pg_temp.at(100), 10)), 0::bigint, 'outbox_faults: nothing when all is well');
SELECT throws_ok($$SELECT msgx.outbox_faults(pg_temp.epoch() - 1, pg_temp.at(), 1)$$, 'MX001', NULL, 'a former epoch is refused');
CREATE OR REPLACE FUNCTION msgx.flight_document(p_flids bigint[]) RETURNS SETOF msgx.r_flight_document LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    BEGIN RAISE EXCEPTION 'broken'; END $$;
SELECT is((SELECT error FROM msgx.outbox_faults(pg_temp.epoch(), pg_temp.at(100), 10)), 'the document of flight 7 cannot be built: broken (SQLSTATE P0001)', '… else which flight, and why');
SELECT * FROM finish();
ROLLBACK;

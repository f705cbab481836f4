BEGIN;
\ir ../../fixture.psql
SELECT plan(8);
SELECT pg_temp.enqueue(1, 9);
SELECT pg_temp.apply(0, pg_temp.schd(1, pg_temp.new_flight(1), pg_temp.new_flight(2)), pg_temp.flop(2, 1, '{"terminal": "TA"}'));
SELECT results_eq($$SELECT target, partition_key, event_type, msg_id FROM msgx.msg_event ORDER BY event_id$$,
    $$VALUES ('KAFKA:msg', 1::bigint, 'UPSERT', 1::bigint), ('KAFKA:msg', 2, 'UPSERT', 1), ('KAFKA:msg', 1, 'UPSERT', 2),
             ('KAFKA:schd', 2, 'UPSERT', 1), ('KAFKA:schd', 1, 'UPSERT', 2)$$, 'events stand in the order of their versions, one schd row a flight');
SELECT is((SELECT payload FROM msgx.msg_event WHERE msg_id = 2 AND target = 'KAFKA:msg') - 'state_version',
    '{"change": "changed", "fields": {"terminal": {"old": null, "new": "TA"}},
      "flight": {"flid": 1, "flight_number": "GJ8471", "direction": "A", "sodt": "2026-04-17T07:05:00+08:00", "operation_day": "2026-04-17"},
      "message": {"msg_id": 2, "sender": "AODB", "type": "FLOP", "subtype": "ANY", "seqn": 2}}', 'a msg event says which message, which flight, what changed');
UPDATE msgx.msg_event SET attempts = 3, next_attempt_at = pg_temp.at(99), last_error = 'x' WHERE target = 'KAFKA:schd' AND partition_key = 1;
SELECT pg_temp.apply(1, pg_temp.flop(3, 1, '{"terminal": "TB"}'));
SELECT is((SELECT row(attempts, next_attempt_at, last_error, merged_count)::text FROM msgx.msg_event WHERE target = 'KAFKA:schd' AND partition_key = 1), '(0,,,1)',
          'a further change makes the pending row due at once and is counted');
UPDATE msgx.msg_event SET state = 'SENT', sent_at = pg_temp.at(2) WHERE target = 'KAFKA:schd';
SELECT pg_temp.apply(2, pg_temp.flop(4, 1, '{"terminal": "TC"}'));
SELECT is((SELECT count(*) FROM msgx.msg_event WHERE target = 'KAFKA:schd' AND partition_key = 1), 2::bigint, 'a sent row is never raised: the next change gets a new one');
SELECT is((SELECT count(*) FROM msgx.msg_event WHERE target = 'KAFKA:schd' AND state = 'PENDING'), 1::bigint, '… the only pending one');
SELECT is((SELECT count(DISTINCT state_version) FROM msgx.msg_event WHERE target = 'KAFKA:msg'), 5::bigint, 'each change has a version of its own');
SELECT is((SELECT count(*) FROM msgx.msg_event WHERE target = 'KAFKA:schd' AND payload IS NOT NULL), 0::bigint, 'the document of a schd row is not stored');
SELECT pg_temp.apply(3, pg_temp.msg(5, 'FLOP', 'FDEL', jsonb_build_array(pg_temp.rec('delete', 1))), pg_temp.schd(6, pg_temp.new_flight(3)));
SELECT is((SELECT event_type FROM msgx.msg_event WHERE target = 'KAFKA:schd' AND partition_key = 1 AND state = 'PENDING'), 'TOMBSTONE', 'a deletion turns the pending row into a tombstone');
SELECT * FROM finish();
ROLLBACK;

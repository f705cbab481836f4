BEGIN;
\ir ../../fixture.psql
SELECT plan(33);
SELECT pg_temp.enqueue(1, 20);
SELECT pg_temp.apply(0, pg_temp.schd(1, pg_temp.rec('create', 1, jsonb_build_object('set', pg_temp.complete() || '{"max_pax": 180, "local_bag_weight": 12.5}',
    'lists', '{"gate": {"1": {"gate_number": 1, "gate_code": "E5"}}, "stand": {"1": {"stand_number": 1, "stand_code": "N14", "start_time": "2026-04-17T06:00:00+08:00"}},
               "erut": {"1": {"rtno": 1, "airport_code": "WNZ"}, "2": {"rtno": 2, "airport_code": "NNG"}}, "rout": {"1": {"rtno": 1, "airport_code": "WNZ"}}}'::jsonb,
    'extra', '{"ZZZZ": "x"}'::jsonb))));
SELECT is((SELECT operation_day FROM msgx.flight_schd WHERE flid = 1), '2026-04-17'::date, 'the operation day is the local date of SODT');
SELECT is((SELECT sodt FROM msgx.flight_schd WHERE flid = 1), '2026-04-16 23:05+00'::timestamptz, 'times are instants');
SELECT is((SELECT array_agg(kind || rtno || airport_code ORDER BY kind, rtno) FROM msgx.flight_route_point), '{ERUT1WNZ,ERUT2NNG,ROUT1WNZ}'::text[], 'both routes are kept apart');
SELECT is((SELECT count(*) FROM msgx.flight_verify(0, 100)), 0::bigint, 'rows equal the fold');

SELECT pg_temp.apply(1, pg_temp.flop(2, 1, '{"max_pax": 190}'), pg_temp.flop(3, 1, '{"terminal": "TB"}'), pg_temp.flop(4, 1, '{"terminal": "TB"}'));
SELECT is((SELECT array_agg(msg_id || ':' || (payload -> 'fields')::text ORDER BY event_id) FROM msgx.msg_event WHERE target = 'KAFKA:msg' AND msg_id > 1),
          ARRAY['2:{"max_pax": {"new": 190, "old": 180}}', '3:{"terminal": {"new": "TB", "old": null}}'],
          'each event says what its message changed, old to new; a no-change makes none');
SELECT is((SELECT last_msg_id FROM msgx.flight_schd WHERE flid = 1), 3::bigint, 'the last message is the one that made the version');
SELECT is((SELECT state_version FROM msgx.flight_schd WHERE flid = 1), (SELECT max(state_version) FROM msgx.msg_event WHERE target = 'KAFKA:msg'), 'its version is that of the last event');
SELECT results_eq($$SELECT event_type, state_version, merged_count, msg_id FROM msgx.msg_event WHERE target = 'KAFKA:schd'$$,
                  $$SELECT 'UPSERT', state_version, 1, 3::bigint FROM msgx.flight_schd WHERE flid = 1$$, 'one pending schd row stands for all, raised to the newest version');

SELECT pg_temp.apply(2, pg_temp.msg(5, 'FLOP', 'GTDT', jsonb_build_array(pg_temp.rec('change', 1, '{"lists": {"gate": {"1": {"gate_number": 1, "gate_code": "E6"}, "2": {"gate_number": 2, "gate_code": "E7"}}}}'))));
SELECT is((SELECT array_agg(gate_code ORDER BY gate_number) FROM msgx.flight_gate WHERE flid = 1), '{E6,E7}'::text[], 'a list is replaced');
SELECT is((SELECT payload -> 'lists' -> 'gate' FROM msgx.msg_event WHERE msg_id = 5 AND target = 'KAFKA:msg'),
          '{"old": [{"gate_number": 1, "gate_code": "E5"}], "new": [{"gate_number": 1, "gate_code": "E6"}, {"gate_number": 2, "gate_code": "E7"}]}', '… and told whole, old and new');
SELECT is((SELECT count(*) FROM msgx.flight_stand WHERE flid = 1), 1::bigint, 'lists that a patch does not name stay');

-- Deleted and revived within one batch, among other flights.
SELECT pg_temp.apply(3, pg_temp.msg(6, 'FLOP', 'FDEL', jsonb_build_array(pg_temp.rec('delete', 1))), pg_temp.flop(7, 1, '{"terminal": "TZ"}'));
SELECT is((SELECT state FROM msgx.flight_schd WHERE flid = 1), 'DELETED', 'a deleted flight stays as DELETED');
SELECT is((SELECT terminal FROM msgx.flight_schd WHERE flid = 1), 'TB', '… with its last scalars');
SELECT is((SELECT count(*) FROM (SELECT flid FROM msgx.flight_gate UNION ALL SELECT flid FROM msgx.flight_stand UNION ALL SELECT flid FROM msgx.flight_route_point) AS l), 0::bigint, '… and no lists');
SELECT is(pg_temp.stands(7), 'SKIPPED no-flight:1', 'a change behind the deletion finds no flight');
SELECT is((SELECT event_type FROM msgx.msg_event WHERE target = 'KAFKA:schd' AND state = 'PENDING'), 'TOMBSTONE', 'the pending schd row became a tombstone');
SELECT is((SELECT payload ->> 'change' FROM msgx.msg_event WHERE msg_id = 6 AND target = 'KAFKA:msg'), 'deleted', 'the msg event says deleted');
SELECT pg_temp.apply(4, pg_temp.schd(8, pg_temp.new_flight(1)));
SELECT is((SELECT row(state, created_msg_id, terminal, max_pax, extra)::text FROM msgx.flight_schd WHERE flid = 1), '(ACTIVE,8,,,)', 'a revival starts fresh');
SELECT is((SELECT payload ->> 'change' FROM msgx.msg_event WHERE msg_id = 8 AND target = 'KAFKA:msg'), 'created', '… and the event says created');
SELECT is((SELECT count(*) FROM msgx.flight_verify(0, 100)), 0::bigint, 'rows equal the fold');

-- The slow path: a message behind the place of the pump.
SELECT pg_temp.apply(5, pg_temp.flop(9, 77, '{"terminal": "T9"}'), pg_temp.flop(10, 1, '{"terminal": "TX", "runway": "1"}'));
SELECT is(pg_temp.stands(9), 'SKIPPED no-flight:77', 'an orphan');
UPDATE msgx.proc_state SET state = 'PENDING', finished_at = NULL, backfill_next_at = NULL, reopened = true, identity_key = NULL WHERE msg_id = 4;
DELETE FROM msgx.flight_write WHERE msg_id = 4;
SELECT is((SELECT jsonb_array_length(outcomes) FROM pg_temp.apply(6,
              pg_temp.schd(4, pg_temp.new_flight(77, '{"terminal": "T1", "max_pax": 5}')) || '{"seqn": 400, "text_hash": "0400"}', pg_temp.flop(11, 1, '{}'))), 1,
          'a reopened message goes first and alone');
SELECT is((SELECT row(terminal, max_pax, created_msg_id)::text FROM msgx.flight_schd WHERE flid = 77), '(T9,5,4)', 'what came later counts on top of it');
SELECT is(pg_temp.stands(9), 'SKIPPED adopted-by:4', 'the orphan that now counts says so');
UPDATE msgx.proc_state SET state = 'PENDING', finished_at = NULL, backfill_next_at = NULL, reopened = true, identity_key = NULL WHERE msg_id = 9;
DELETE FROM msgx.flight_write WHERE msg_id = 9;
SELECT pg_temp.apply(7, pg_temp.msg(9, 'FLOP', 'X', jsonb_build_array(pg_temp.rec('change', 1, '{"set": {"terminal": "TL", "remarks": "late"}}'))) || '{"seqn": 900, "text_hash": "0900"}');
SELECT is((SELECT row(terminal, remarks, runway)::text FROM msgx.flight_schd WHERE flid = 1), '(TX,late,1)', 'a late write does not push back what newer messages set');
SELECT is((SELECT payload -> 'fields' FROM msgx.msg_event WHERE msg_id = 9 AND target = 'KAFKA:msg'), '{"remarks": {"new": "late", "old": null}}', 'its event tells only the difference that is left');
SELECT is((SELECT count(*) FROM msgx.flight_verify(0, 100)), 1::bigint, 'the log of 77 lost a write by hand: verification sees it');

-- Several writes of one message.
CREATE TEMP TABLE before_many AS SELECT last_value AS version FROM msgx.flight_version_seq;
SELECT pg_temp.apply(8, pg_temp.flop(11, 1, '{}'), pg_temp.msg(12, 'FLOP', 'TRML', jsonb_build_array(pg_temp.rec('change', 1, '{"set": {"terminal": "TC"}}'), pg_temp.rec('change', 1, '{"set": {"terminal": "TX"}}'))),
                        pg_temp.msg(13, 'FLOP', 'TRML', jsonb_build_array(pg_temp.rec('change', 70, '{"set": {"terminal": "TC"}}'), pg_temp.rec('change', 70, '{"set": {"terminal": "TX"}}'))));
SELECT is(pg_temp.stands(12), 'SUCCEEDED no-change', 'writes that cancel one another are no change');
SELECT is((SELECT last_value - version FROM msgx.flight_version_seq, before_many), 0::bigint, '… no version');
SELECT is((SELECT count(*) FROM msgx.msg_event WHERE msg_id = 12), 0::bigint, '… no event');
SELECT is(pg_temp.stands(13), 'SKIPPED no-flight:70', '… for a flight that is not there neither');
SELECT pg_temp.apply(8, pg_temp.msg(14, 'FLOP', 'MIXD', jsonb_build_array(pg_temp.rec('change', 1, '{"set": {"terminal": "TC", "runway": "7"}}'), pg_temp.rec('change', 1, '{"set": {"terminal": "TX"}}'))));
SELECT is(pg_temp.stands(14), 'SUCCEEDED applied', 'what is left of them counts');
SELECT is((SELECT payload -> 'fields' FROM msgx.msg_event WHERE msg_id = 14 AND target = 'KAFKA:msg'), '{"runway": {"new": "7", "old": "1"}}', '… and is all that the event tells');
SELECT * FROM finish();
ROLLBACK;

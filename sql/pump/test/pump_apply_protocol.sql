BEGIN;
\ir ../../fixture.psql
SELECT plan(20);
SELECT pg_temp.enqueue(1, 20);
SELECT pg_temp.apply(0, pg_temp.schd(1, pg_temp.new_flight(1)));

SELECT pg_temp.apply(0, pg_temp.schd(2, pg_temp.new_flight(2)) || '{"declared": 3}');
SELECT is(pg_temp.stands(2), 'DEAD PROTOCOL', 'RECS that does not count the records refuses the message');
SELECT is((SELECT last_error FROM msgx.proc_state WHERE msg_id = 2), 'RECS says 3, 1 records are present', '… in words');
UPDATE msgx.setting SET value = 'warn' WHERE key = 'sis.recs-mismatch-schd';
SELECT pg_temp.apply(0, pg_temp.schd(3, pg_temp.new_flight(3)) || '{"declared": 3}');
SELECT is(pg_temp.stands(3), 'SUCCEEDED applied', '… unless the setting says warn');
SELECT pg_temp.apply(0, pg_temp.schd(4, pg_temp.new_flight(4), pg_temp.new_flight(4)));
SELECT is(pg_temp.stands(4), 'DEAD PROTOCOL', 'the same flight twice in a schedule refuses it');
SELECT is((SELECT last_error FROM msgx.proc_state WHERE msg_id = 4), 'flight 4 stands in it twice, records 1 and 2', '… in words');
SELECT pg_temp.apply(0, pg_temp.msg(5, 'FLOP', 'ANY', jsonb_build_array(
    pg_temp.rec('change', 1, '{"set": {"terminal": "TA"}}'), pg_temp.rec('change', 1, '{"set": {"terminal": "TB"}}'))));
SELECT is(pg_temp.stands(5), 'SUCCEEDED applied', 'in a FLOP the same flight twice is applied in order');
SELECT is((SELECT payload -> 'fields' -> 'terminal' ->> 'new' FROM msgx.msg_event WHERE msg_id = 5 AND target = 'KAFKA:msg'), 'TB', '… as one event, first old to last new');
SELECT is((SELECT count(*) FROM msgx.msg_event WHERE msg_id = 5 AND target = 'KAFKA:msg'), 1::bigint, '… and only one');

SELECT pg_temp.apply(0, pg_temp.schd(6, pg_temp.new_flight(6, '{"aircraft_type": null}'), pg_temp.new_flight(7)));
SELECT is(pg_temp.stands(6), 'DEAD PROTOCOL', 'a new flight without a required element refuses the message');
SELECT is((SELECT last_error FROM msgx.proc_state WHERE msg_id = 6), 'record 1, flight 6: a new flight needs ACFT', '… and names it as on the wire');
SELECT is((SELECT count(*) FROM msgx.flight_schd WHERE flid IN (6, 7)), 0::bigint, '… and nothing of the message lands');
SELECT pg_temp.apply(0, pg_temp.schd(7, pg_temp.rec('create', 1, '{"set": {"sodt": "2026-04-17T08:00:00+08:00", "aircraft_type": null}}')));
SELECT is(pg_temp.stands(7), 'SUCCEEDED applied', 'an existing flight needs FLID and SODT only');
SELECT pg_temp.apply(0, pg_temp.schd(8, pg_temp.rec('create', 1, '{"set": {"terminal": "TA"}}')));
SELECT matches((SELECT last_error FROM msgx.proc_state WHERE msg_id = 8), 'SODT is missing', 'without SODT it is refused');

SELECT pg_temp.apply(0, pg_temp.schd(9, pg_temp.new_flight(9), pg_temp.new_flight(1, '{"sodt": "2026-04-18T00:00:00+08:00"}')));
SELECT is(pg_temp.stands(9), 'DEAD PROTOCOL', 'a flight that moves to another operation day refuses the whole message');
SELECT matches((SELECT last_error FROM msgx.proc_state WHERE msg_id = 9), 'record 2, flight 1: SODT .* lies on operation day 2026-04-18, the flight belongs to 2026-04-17', '… in words');
SELECT is((SELECT count(*) FROM msgx.flight_schd WHERE flid = 9), 0::bigint, '… its other flights too');
SELECT pg_temp.apply(0, pg_temp.msg(10, 'FLOP', 'FDEL', jsonb_build_array(pg_temp.rec('delete', 1))));
SELECT pg_temp.apply(0, pg_temp.schd(11, pg_temp.new_flight(1, '{"sodt": "2026-04-18T00:00:00+08:00"}')));
SELECT is(pg_temp.stands(11), 'DEAD PROTOCOL', 'also a deleted flight keeps its operation day');

-- What depends on an earlier message of the batch waits for the next call.
SELECT is((SELECT jsonb_array_length(outcomes) FROM pg_temp.apply(0,
    pg_temp.schd(12, pg_temp.new_flight(20)), pg_temp.flop(13, 20, '{"terminal": "TA"}'),
    pg_temp.schd(14, pg_temp.new_flight(20, '{"sodt": "2026-04-19T00:00:00+08:00"}')))), 2,
    'a batch ends before a second creation of the same flight');
SELECT pg_temp.apply(0, pg_temp.schd(14, pg_temp.new_flight(20, '{"sodt": "2026-04-19T00:00:00+08:00"}')));
SELECT is(pg_temp.stands(14), 'DEAD PROTOCOL', '… which is then judged against what was stored');
SELECT is((SELECT jsonb_array_length(outcomes) FROM pg_temp.apply(0, pg_temp.flop(16, 1, '{}'), pg_temp.flop(15, 1, '{}'))), 0,
          'a batch that is not the list of unfinished messages is not applied');
SELECT * FROM finish();
ROLLBACK;

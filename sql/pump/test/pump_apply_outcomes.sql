BEGIN;
\ir ../../fixture.psql
SELECT plan(24);
SELECT pg_temp.enqueue(1, 12);
UPDATE msgx.setting SET value = '{"CODEC_ERROR": 1, "UNSUPPORTED": 1}' WHERE key = 'pipeline.class-attempts';

SELECT lives_ok($$SELECT pg_temp.apply(1,
    pg_temp.schd(1, pg_temp.new_flight(101), pg_temp.new_flight(102)),
    pg_temp.flop(2, 101, '{"current_stand": "N14"}'),
    pg_temp.flop(3, 101, '{"current_stand": "N14"}'),
    pg_temp.flop(4, 999, '{"current_stand": "N14"}'),
    pg_temp.refused(5, 'MALFORMED'),
    pg_temp.refused(6, 'PROTOCOL'),
    pg_temp.refused(7, 'CODEC_ERROR'),
    pg_temp.refused(8, 'UNSUPPORTED'),
    pg_temp.msg(9, 'LDM', 'X', '[]', '{"error_class": "UNSUPPORTED", "error": "unknown type"}'),
    pg_temp.msg(10, 'FLOP', 'FDEL', jsonb_build_array(pg_temp.rec('delete', 102))),
    pg_temp.msg(11, 'FLOP', 'FDEL', jsonb_build_array(pg_temp.rec('delete', 102))),
    pg_temp.msg(12, 'FLOP', 'ANY', jsonb_build_array(pg_temp.rec('change', 999, '{"set": {"terminal": "TA"}}'),
                                                     pg_temp.rec('change', 101, '{"set": {"terminal": "TB"}}'))))$$,
    'a batch of every outcome');
SELECT is(pg_temp.stands(1), 'SUCCEEDED applied', 'a schedule is applied');
SELECT is(pg_temp.stands(2), 'SUCCEEDED applied', 'a change of a flight created in the same batch is applied');
SELECT is(pg_temp.stands(3), 'SUCCEEDED no-change', 'the same value again is no change');
SELECT is(pg_temp.stands(4), 'SKIPPED no-flight:999', 'a change of an unknown flight is skipped and says which');
SELECT is(pg_temp.stands(5), 'DEAD MALFORMED', 'malformed is dead at once');
SELECT is(pg_temp.stands(6), 'DEAD PROTOCOL', 'a broken rule is dead at once');
SELECT is(pg_temp.stands(7), 'DEAD EXHAUSTED', 'a class with one attempt is exhausted by the first');
SELECT is((SELECT first_error_class FROM msgx.proc_state WHERE msg_id = 7), 'CODEC_ERROR', 'the first class is kept');
SELECT is(pg_temp.stands(8), 'DEAD EXHAUSTED', 'unsupported likewise');
SELECT is(pg_temp.stands(9), 'SKIPPED ignored', 'an ignore rule goes before what the codec says');
SELECT is(pg_temp.stands(10), 'SUCCEEDED applied', 'a deletion is applied');
SELECT is(pg_temp.stands(11), 'SKIPPED no-flight:102', 'deleting a deleted flight is no flight');
SELECT is(pg_temp.stands(12), 'SUCCEEDED applied', 'an unknown flight among several does not hold the others');
SELECT is((SELECT terminal FROM msgx.flight_schd WHERE flid = 101), 'TB', '… and they are applied');
SELECT is((SELECT last_error FROM msgx.proc_state WHERE msg_id = 6), 'MSG/FLOP: bad', 'the reason is kept in words');

SELECT is((SELECT count(*) FROM msgx.proc_state WHERE finished_at = pg_temp.at(1) AND backfill_next_at = pg_temp.at(1)), 12::bigint,
          'every finished message owes its mark');
SELECT is((SELECT done_up_to FROM msgx.pipeline_lock), 12::bigint, 'the place has moved');
SELECT is((SELECT count(*) FROM msgx.flight_write WHERE msg_id IN (3, 4, 11)), 3::bigint, 'no-changes and orphans are kept in the log');
SELECT is((SELECT count(*) FROM msgx.flight_write WHERE msg_id IN (5, 6, 7, 8, 9)), 0::bigint, 'what was refused leaves nothing');
SELECT is((SELECT array_agg(msg_id ORDER BY event_id) FROM msgx.msg_event WHERE target = 'KAFKA:msg'), '{1,1,2,10,12}'::bigint[],
          'one msg event for each message and flight changed, in order');
SELECT is((SELECT outcome || ' ' || records FROM msgx.schd_snap_log WHERE msg_id = 1), 'SUCCEEDED applied 2', 'a schedule is logged');

-- The answer of a committed call may get lost.
SELECT is((SELECT outcomes -> 0 ->> 'again' FROM pg_temp.apply(2, pg_temp.flop(2, 101, '{"current_stand": "X"}'))), 'true',
          'a finished message sent again is answered as done');
SELECT is((SELECT current_stand FROM msgx.flight_schd WHERE flid = 101), 'N14', '… and has no second effect');
SELECT * FROM finish();
ROLLBACK;

BEGIN;
\ir ../../fixture.psql
SELECT plan(9);
CREATE FUNCTION pg_temp.set(p_id bigint, p_flid bigint, p_set jsonb) RETURNS void LANGUAGE sql AS $$ SELECT pg_temp.apply(p_id, pg_temp.flop(p_id, p_flid, p_set)) $$;
SELECT pg_temp.enqueue(1, 20);
SELECT pg_temp.apply(1, pg_temp.schd(1, pg_temp.new_flight(1), pg_temp.new_flight(2, '{"flight_number": "MF4905", "master_flid": 1, "master_flight_number": "GJ8471"}'),
                                        pg_temp.new_flight(3, '{"flight_number": "CA77", "master_flid": 1}')));
SELECT is((SELECT code_shares FROM msgx.v_flight_board WHERE flid = 1), 'CA77 MF4905', 'the code-share flights of a master');
SELECT is((SELECT master_flight_number FROM msgx.v_flight_board WHERE flid = 2), 'GJ8471', '… which name it');
SELECT pg_temp.set(2, 3, '{"master_flid": null}');
SELECT is((SELECT code_shares FROM msgx.v_flight_board WHERE flid = 1), 'MF4905', 'one that no longer names it leaves the list');
SELECT pg_temp.apply(3, pg_temp.msg(3, 'FLOP', 'FDEL', jsonb_build_array(pg_temp.rec('delete', 2))));
SELECT is((SELECT code_shares FROM msgx.v_flight_board WHERE flid = 1), NULL, '… and so does one that is deleted');
SELECT is((SELECT count(*) FROM msgx.msg_event WHERE partition_key = 1 AND msg_id > 1), 0::bigint, '… without an event of the master');
SELECT pg_temp.set(4, 1, '{"cancelled_at": "2026-04-17T07:00:00+08:00", "diversion_airport": "HAK", "diversion_direction": "TO", "return_type": "A", "linked_flight_number": "GJ2"}');
SELECT is((SELECT row(cancelled_at IS NOT NULL, diversion, return_type, turnaround)::text FROM msgx.v_flight_board WHERE flid = 1), '(t,"TO HAK",A,GJ2)', 'cancelled, diverted, returned, turned around');
SELECT pg_temp.set(5, 1, '{"cancelled_at": null, "diversion_airport": null, "diversion_direction": null}');
SELECT is((SELECT row(cancelled_at IS NOT NULL, diversion)::text FROM msgx.v_flight_board WHERE flid = 1), '(f,)', '… and all of it withdrawn');
SELECT pg_temp.apply(6, pg_temp.msg(6, 'FLOP', 'ANY', jsonb_build_array(pg_temp.rec('change', 1,
    '{"lists": {"carousel": {"2": {"carousel_number": 2, "carousel_code": "B3"}, "1": {"carousel_number": 1, "carousel_code": "B2"}}},
      "upsert": {"delay": {"8C": {"delay_code": "8C"}, "4F": {"delay_code": "4F", "duration_minutes": 105}}}}'))));
SELECT is((SELECT carousels FROM msgx.v_flight_board WHERE flid = 1), 'B2 B3', 'carousels in the order of their numbers');
SELECT is((SELECT delays FROM msgx.v_flight_board WHERE flid = 1), '4F 105 min, 8C', 'delays with their minutes');
SELECT * FROM finish();
ROLLBACK;

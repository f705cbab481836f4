BEGIN;
\ir ../../fixture.psql
SELECT plan(10);
SELECT pg_temp.enqueue(1, 9);
SELECT pg_temp.apply(0, pg_temp.schd(1, pg_temp.rec('create', 1, jsonb_build_object('set', pg_temp.complete(),
    'lists', '{"gate": {"10": {"gate_number": 10, "gate_code": "B"}, "9": {"gate_number": 9, "gate_code": "A"}},
               "delay": {"81": {"delay_code": "81"}, "4F": {"delay_code": "4F", "duration_minutes": 105}}, "rout": {"1": {"rtno": 1}}}'::jsonb,
    'extra', '{"ZZZZ": ""}'::jsonb)), pg_temp.new_flight(2)));
SELECT is((SELECT document - 'state_version' FROM msgx.flight_document('{1}')),
          pg_temp.complete() || '{"flid": 1, "operation_day": "2026-04-17", "state": "ACTIVE", "created_msg_id": 1, "last_msg_id": 1, "extra": {"ZZZZ": ""},
            "gate": [{"gate_number": 9, "gate_code": "A"}, {"gate_number": 10, "gate_code": "B"}],
            "delay": [{"delay_code": "4F", "duration_minutes": 105}, {"delay_code": "81"}], "rout": [{"rtno": 1}]}',
          'values only, lists in their order, times in the zone of the airport');
SELECT is((SELECT count(*) FROM msgx.flight_document('{1,2,3}')), 2::bigint, 'one row for each stored flight');
SELECT is(current_setting('TimeZone'), 'UTC', 'the session''s zone is left alone');

-- What can be read beside it.
SELECT is((SELECT array_agg(list || key ORDER BY list, ord, key) FROM msgx.flight_members('{1}', msgx.flight_list_names())),
          '{delay4F,delay81,gate9,gate10,rout1}'::text[], 'flight_members reads every list');
SELECT is((SELECT state -> 'l' FROM msgx.flight_state('{1}', '{rout}')), '{"rout": {"1": {"rtno": 1}}}', 'flight_state loads the lists asked for');
SELECT is((SELECT state - ARRAY['hit', 'changed'] FROM msgx.flight_log_state('{1}', NULL)),
          (SELECT state FROM msgx.flight_state('{1}', msgx.flight_list_names())), 'flight_log_state, the fold, is the same state');
SELECT pg_temp.apply(1, pg_temp.flop(2, 1, '{"terminal": "TA"}'), pg_temp.flop(3, 1, '{"terminal": "TB"}'));
SELECT is((SELECT state -> 's' ->> 'terminal' FROM msgx.flight_as_of(1, 2)), 'TA', 'flight_as_of shows a flight after a message');
UPDATE msgx.flight_schd SET terminal = 'broken' WHERE flid = 1;
DELETE FROM msgx.flight_gate WHERE flid = 1 AND gate_number = 9;
SELECT is((SELECT array_agg(what ORDER BY what) FROM msgx.flight_verify(0, 10) WHERE flid = 1), '{l,s}'::text[], 'flight_verify finds a broken scalar and a lost list member');
SELECT is((SELECT count(*) FROM msgx.flight_verify(1, 10)), 0::bigint, '… and goes on behind a FLID');
SELECT is(ARRAY(SELECT msgx.flight_ids(0, 1) UNION ALL SELECT msgx.flight_ids(1, 10)), '{1,2}'::bigint[], 'flight_ids pages through the flights');
SELECT * FROM finish();
ROLLBACK;

BEGIN;
\ir ../../fixture.psql
SELECT plan(15);
CREATE FUNCTION pg_temp.put(p_flid bigint, p_list text, p_members jsonb) RETURNS void LANGUAGE sql AS $$
    SELECT msgx.flight_put_lists(ARRAY[jsonb_populate_record(NULL::msgx.r_flight_list,
               jsonb_build_object('flid', p_flid, 'list', p_list, 'members', p_members))]) $$;
CREATE FUNCTION pg_temp.gates(p_flid bigint) RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(gate_number || gate_code, ' ' ORDER BY gate_number) FROM msgx.flight_gate WHERE flid = p_flid $$;
CREATE FUNCTION pg_temp.route(p_kind text) RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(rtno || airport_code, ' ' ORDER BY rtno) FROM msgx.flight_route_point WHERE flid = 1 AND kind = p_kind $$;

-- flight_put_lists
SELECT pg_temp.put(1, 'gate', '{"1": {"gate_number": 1, "gate_code": "A"}, "2": {"gate_number": 2, "gate_code": "B"}}');
SELECT pg_temp.put(2, 'gate', '{"1": {"gate_number": 1, "gate_code": "C"}}');
SELECT pg_temp.put(1, 'gate', '{"2": {"gate_number": 2, "gate_code": "D"}}');
SELECT is(pg_temp.gates(1), '2D', 'a list is replaced whole');
SELECT is(pg_temp.gates(2), '1C', '… of that flight alone');
SELECT pg_temp.put(1, 'erut', '{"1": {"rtno": 1, "airport_code": "WNZ"}}');
SELECT pg_temp.put(1, 'rout', '{"1": {"rtno": 1, "airport_code": "NNG"}}');
SELECT pg_temp.put(1, 'erut', '{}');
SELECT is(pg_temp.route('ERUT'), NULL, 'without members it is emptied');
SELECT is(pg_temp.route('ROUT'), '1NNG', '… and the other route, in the same table, is kept');
SELECT is(pg_temp.gates(1), '2D', '… as are other lists');
SELECT pg_temp.put(1, 'vip', '{"P": {"vip_code": "P", "services": {"CAR": {"service_code": "CAR", "quantity": 2}}}}');
SELECT is((SELECT vip_code || service_code || quantity FROM msgx.flight_vip_service WHERE flid = 1), 'PCAR2', 'services carry the code of their person');
SELECT lives_ok($$ SELECT msgx.flight_put_lists('{}') $$, 'no lists are none');
SELECT is(pg_temp.gates(1), '2D', '… and change nothing');

-- flight_stand_more
SELECT pg_temp.put(1, 'push', '{"N1": {"stand_code": "N1", "push_time": "2026-04-17T08:00:00+00:00", "push_indicator": "OUT"}}');
SELECT pg_temp.put(1, 'tractor', '{"N2": {"stand_code": "N2", "tractor_time": "2026-04-17T08:05:00+00:00"}}');
SELECT is(msgx.flight_stand_more(1, 'N1'), '{"push_time": "2026-04-17T08:00:00+00:00", "push_indicator": "OUT"}', 'a stand is told its push');
SELECT is(msgx.flight_stand_more(1, 'N2'), '{"tractor_time": "2026-04-17T08:05:00+00:00"}', '… and its tractor');
SELECT is(msgx.flight_stand_more(2, 'N1'), '{}', '… of the same flight only');

-- flight_vip_merge
SELECT is(msgx.flight_vip_merge(NULL, '{"P": {"a": 1}}'), '{"P": {"a": 1}}', 'the first person');
SELECT is(msgx.flight_vip_merge('{"P": {"a": 1, "b": 1, "services": {"C": 1}}, "Q": {"a": 1}}', '{"P": {"a": 2}}'),
          '{"P": {"a": 2, "services": {"C": 1}}, "Q": {"a": 1}}', 'a person is replaced, but not the services, nor others');
SELECT is(msgx.flight_vip_merge('{"P": {"services": {"C": 1}}}', '{"P": {"services": {"D": 1}}}'), '{"P": {"services": {"D": 1}}}', 'services that are sent replace them');
SELECT is(msgx.flight_vip_merge('{"P": {"services": {"C": 1}}}', '{"P": {"a": 1, "services": {}}}'), '{"P": {"a": 1}}', '… and sent empty take them away');
SELECT * FROM finish();
ROLLBACK;

BEGIN;
\ir ../../fixture.psql
SELECT plan(37);
-- A change of one flight by the patch given.
CREATE FUNCTION pg_temp.change(p_id bigint, p_patch jsonb) RETURNS void LANGUAGE sql AS $$
    SELECT pg_temp.apply(p_id, pg_temp.msg(p_id, 'FLOP', 'ANY', jsonb_build_array(pg_temp.rec('change', 1, p_patch)))) $$;
CREATE FUNCTION pg_temp.upsert(p_id bigint, p_list text, p_members jsonb) RETURNS void LANGUAGE sql AS $$
    SELECT pg_temp.change(p_id, jsonb_build_object('upsert', jsonb_build_object(p_list, p_members))) $$;
CREATE FUNCTION pg_temp.doc(p_list text) RETURNS jsonb LANGUAGE sql AS $$ SELECT document -> p_list FROM msgx.flight_document('{1}') $$;
CREATE FUNCTION pg_temp.clean() RETURNS text LANGUAGE sql AS $$ SELECT string_agg(v::text, '; ') FROM msgx.flight_verify(0, 100) AS v $$;
SELECT pg_temp.enqueue(1, 40);
SELECT pg_temp.apply(1, pg_temp.schd(1, pg_temp.new_flight(1)));

-- Every list: stored in its table, read back by the fold and in the document.
SELECT pg_temp.change(2, jsonb_build_object('lists', '{
    "stand": {"2": {"stand_number": 2, "stand_code": "N14"}, "1": {"stand_number": 1, "stand_code": "N16", "start_time": "2026-04-17T07:12:00+08:00"}},
    "gate": {"1": {"gate_number": 1, "gate_code": "E5", "gate_indicator": "D"}},
    "checkin": {"10": {"checkin_number": 10, "desk_code": "08"}, "9": {"checkin_number": 9, "desk_code": "07"}},
    "carousel": {"1": {"carousel_number": 1, "carousel_code": "B2", "first_bag_time": "2026-04-17T07:30:00+08:00"}},
    "chute": {"1": {"chute_number": 1, "chute_code": "K07"}},
    "chock": {"1": {"chock_number": 1, "chock_indicator": "ON", "stand_code": "N14"}},
    "airbridge": {"1": {"airbridge_number": 1, "airbridge_code": "J31", "operation": "A", "extra": {"X": "1"}}},
    "delay": {"8C": {"delay_code": "8C", "duration_minutes": 10}, "4F": {"delay_code": "4F"}},
    "service": {"GPU": {"service_code": "GPU", "quantity": 0}},
    "vip": {"P1": {"vip_code": "P1", "entourage_size": 5, "services": {"LNG": {"service_code": "LNG", "quantity": 6}, "CAR": {"service_code": "CAR"}}}},
    "push": {"W07": {"stand_code": "W07", "push_time": "2026-04-17T08:00:00+08:00", "push_indicator": "OUT", "push_number": 1}},
    "tractor": {"N14": {"stand_code": "N14", "tractor_time": "2026-04-17T08:05:00+08:00"}},
    "erut": {"1": {"rtno": 1, "airport_code": "WNZ"}, "2": {"rtno": 2, "airport_code": "NNG"}},
    "rout": {"1": {"rtno": 1, "airport_code": "WNZ"}}}'::jsonb));
SELECT is((SELECT array_agg(n) FROM unnest(msgx.flight_list_names()) AS n WHERE pg_temp.doc(n) IS NULL), NULL, 'every list is in the document');
SELECT is(pg_temp.clean(), NULL, '… and the tables are the fold of the log');
SELECT is((SELECT jsonb_agg(s -> 'stand_code') FROM jsonb_array_elements(pg_temp.doc('stand')) AS s), '["N16", "N14"]', 'members stand in the order of their numbers');
SELECT is((SELECT jsonb_agg(s -> 'desk_code') FROM jsonb_array_elements(pg_temp.doc('checkin')) AS s), '["07", "08"]', '… as numbers, not as text');
SELECT is((SELECT jsonb_agg(s -> 'delay_code') FROM jsonb_array_elements(pg_temp.doc('delay')) AS s), '["4F", "8C"]', '… or of their codes');
SELECT is(pg_temp.doc('stand') -> 1, '{"stand_number": 2, "stand_code": "N14", "tractor_time": "2026-04-17T08:05:00+08:00"}', 'a tractor is told with its stand');
SELECT is(pg_temp.doc('push') -> 0 ->> 'push_indicator', 'OUT', 'a push whose stand is not allocated is told all the same');
SELECT is(pg_temp.doc('vip') -> 0, '{"vip_code": "P1", "entourage_size": 5, "services": [{"service_code": "CAR"}, {"service_code": "LNG", "quantity": 6}]}', 'the services of a person are an array, by code');
SELECT is(pg_temp.doc('service') -> 0 -> 'quantity', '0', 'zero is a value');
SELECT is(pg_temp.doc('airbridge') -> 0 -> 'extra', '{"X": "1"}', 'what has no column comes back out');
SELECT is((SELECT operation || ' ' || extra FROM msgx.flight_airbridge), 'A {"X": "1"}', 'columns are typed');
SELECT is((SELECT count(*) FROM msgx.flight_vip_service), 2::bigint, 'services of a person are rows');
SELECT is((SELECT payload -> 'lists' -> 'vip' -> 'new' FROM msgx.msg_event WHERE msg_id = 2 AND target = 'KAFKA:msg'), pg_temp.doc('vip'), 'the event tells a list as the document does');

-- Stands are replaced; push and tractor are not touched.
SELECT pg_temp.change(3, '{"lists": {"stand": {"1": {"stand_number": 1, "stand_code": "W07"}}}}');
SELECT is(pg_temp.doc('stand'), '[{"stand_number": 1, "stand_code": "W07", "push_time": "2026-04-17T08:00:00+08:00", "push_indicator": "OUT"}]', 'a stand that is allocated later finds its push');
SELECT is(jsonb_array_length(pg_temp.doc('tractor')), 1, '… and the tractor of one that is gone is kept');
SELECT pg_temp.upsert(4, 'push', '{"W07": null}');
SELECT is(pg_temp.doc('push'), NULL, 'a push that is taken away leaves nothing');
SELECT is(pg_temp.doc('stand') -> 0 ? 'push_time', false, '… not with its stand either');
SELECT is((SELECT count(*) FROM msgx.flight_push), 0::bigint, '… nor in the table');
SELECT pg_temp.upsert(5, 'push', '{"NONE": null}');
SELECT is(pg_temp.stands(5), 'SUCCEEDED no-change', 'what is not there cannot be taken away');

-- Keyed lists.
SELECT pg_temp.upsert(6, 'service', '{"BUS": {"service_code": "BUS", "quantity": 2}}');
SELECT is((SELECT string_agg(service_code, ' ' ORDER BY service_code) FROM msgx.flight_service), 'BUS GPU', 'an upsert leaves the other members');
SELECT pg_temp.upsert(7, 'service', '{"GPU": {"service_code": "GPU", "provider": 300128}}');
SELECT is((SELECT row(quantity, provider)::text FROM msgx.flight_service WHERE service_code = 'GPU'), '(,300128)', '… and replaces the whole member');
SELECT pg_temp.upsert(8, 'service', 'null');
SELECT is((SELECT count(*) FROM msgx.flight_service), 0::bigint, 'null clears the list');

-- Persons and their services.
SELECT pg_temp.upsert(9, 'vip', '{"P1": {"vip_code": "P1", "entourage_size": 9}, "P2": {"vip_code": "P2"}}');
SELECT is((SELECT entourage_size FROM msgx.flight_vip WHERE vip_code = 'P1'), 9, 'a person is upserted');
SELECT is((SELECT count(*) FROM msgx.flight_vip_service WHERE vip_code = 'P1'), 2::bigint, '… and keeps services that are not sent again');
SELECT pg_temp.upsert(10, 'vip', '{"P1": {"vip_code": "P1", "entourage_size": 9, "services": {"LNG": {"service_code": "LNG", "quantity": 7}}}}');
SELECT is((SELECT string_agg(service_code || quantity, ' ') FROM msgx.flight_vip_service), 'LNG7', '… replaces them when they are sent');
SELECT is((SELECT count(*) FROM msgx.flight_vip), 2::bigint, '… and other persons stay');
SELECT pg_temp.upsert(11, 'vip', '{"P1": {"vip_code": "P1", "entourage_size": 9, "services": {}}}');
SELECT is((SELECT count(*) FROM msgx.flight_vip_service), 0::bigint, 'sent empty, they are gone');
SELECT is(pg_temp.clean(), NULL, '… in the fold as in the tables');
SELECT pg_temp.upsert(12, 'vip', '{"P1": {"vip_code": "P1", "entourage_size": 9, "services": {}}}');
SELECT is(pg_temp.stands(12), 'SUCCEEDED no-change', '… and again is no change');
SELECT pg_temp.change(13, '{"lists": {"vip": {"P2": {"vip_code": "P2", "services": {"A": {"service_code": "A"}}}}}}');
SELECT pg_temp.change(14, '{"lists": {"vip": {"P2": {"vip_code": "P2"}}}}');
SELECT is((SELECT string_agg(vip_code, ' ') FROM msgx.flight_vip), 'P2', 'a whole list replaces the persons');
SELECT is((SELECT count(*) FROM msgx.flight_vip_service), 0::bigint, '… with their services');

-- The end, and a new life.
SELECT pg_temp.apply(15, pg_temp.msg(15, 'FLOP', 'FDEL', jsonb_build_array(pg_temp.rec('delete', 1))));
SELECT is((SELECT sum(n) FROM (SELECT count(*) AS n FROM msgx.flight_vip UNION ALL SELECT count(*) FROM msgx.flight_tractor UNION ALL SELECT count(*) FROM msgx.flight_carousel
             UNION ALL SELECT count(*) FROM msgx.flight_route_point UNION ALL SELECT count(*) FROM msgx.flight_chock) AS c), 0::numeric, 'a deletion takes the lists along');
SELECT pg_temp.apply(16, pg_temp.schd(16, pg_temp.new_flight(1)));
SELECT is((SELECT array_agg(n) FROM unnest(msgx.flight_list_names()) AS n WHERE pg_temp.doc(n) IS NOT NULL), NULL, 'a new life begins without lists');
SELECT is(pg_temp.clean(), NULL, '… and the fold agrees');

-- Reference data is understood and not stored yet.
SELECT pg_temp.apply(17, pg_temp.msg(17, 'GLST', 'DNLD', '[]'));
SELECT is(pg_temp.stands(17), 'FAILED UNSUPPORTED', 'reference data waits for the step that stores it');
SELECT is((SELECT last_error FROM msgx.proc_state WHERE msg_id = 17), 'messages of type GLST are understood, but not stored yet', '… and says so');
INSERT INTO msgx.ignore_rule (type, reason) VALUES ('SCHS', 'test');
UPDATE msgx.proc_state SET state = 'DEAD', finished_at = pg_temp.at(), next_attempt_at = NULL WHERE msg_id = 17;
SELECT pg_temp.apply(18, pg_temp.msg(18, 'SCHS', 'DNLD', '[]'));
SELECT is(pg_temp.stands(18), 'SKIPPED ignored', '… unless it is ignored on purpose');
SELECT * FROM finish();
ROLLBACK;

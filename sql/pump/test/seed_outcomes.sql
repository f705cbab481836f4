-- What a message may leave behind, by the way it ended: rows of the owner's
-- verification table.
BEGIN;
\ir ../../fixture.psql
SELECT plan(43);
SELECT pg_temp.enqueue(1, 60);
UPDATE msgx.setting SET value = '{"CODEC_ERROR": 1, "UNSUPPORTED": 1}' WHERE key = 'pipeline.class-attempts';
SELECT pg_temp.apply(0, pg_temp.schd(1, pg_temp.new_flight(1), pg_temp.new_flight(2)), pg_temp.flop(2, 1, '{"terminal": "TA"}'));
-- Everything beside proc_state that a message can change for a flight or for a consumer.
CREATE FUNCTION pg_temp.flights() RETURNS text LANGUAGE sql AS $$
    SELECT concat_ws(';', (SELECT string_agg(f::text, ',' ORDER BY flid) FROM msgx.flight_schd AS f),
                          (SELECT string_agg(w::text, ',' ORDER BY flid, msg_id, seq) FROM msgx.flight_write AS w),
                          (SELECT string_agg(m::text, ',' ORDER BY m::text) FROM msgx.flight_members('{1,2,3,4}', msgx.flight_list_names()) AS m),
                          (SELECT string_agg(e::text, ',' ORDER BY event_id) FROM msgx.msg_event AS e)) $$;
-- How often a message was written, and whether its mark was owed from the moment it ended.
CREATE TEMP TABLE written (msg_id bigint, finished boolean, owes boolean);
CREATE FUNCTION pg_temp.note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN INSERT INTO pg_temp.written VALUES (NEW.msg_id, NEW.finished_at IS NOT NULL, NEW.backfill_next_at IS NOT NULL); RETURN NULL; END $$;
CREATE TRIGGER note AFTER UPDATE ON msgx.proc_state FOR EACH ROW EXECUTE FUNCTION pg_temp.note();
-- One record that would change flight 1, in a message that ends otherwise.
CREATE FUNCTION pg_temp.never(p_id bigint, p_more jsonb) RETURNS jsonb LANGUAGE sql AS $$
    SELECT pg_temp.msg(p_id, 'FLOP', 'ANY', jsonb_build_array(pg_temp.rec('change', 1, '{"set": {"terminal": "never"}, "lists": {"gate": {"1": {"gate_number": 1, "gate_code": "X"}}}}'))) || p_more $$;
CREATE TEMP TABLE was AS SELECT pg_temp.flights() AS flights, nextval('msgx.flight_version_seq') AS version;

-- 非业务型终态
SELECT pg_temp.apply(1,
    pg_temp.never(3, '{"error_class": "MALFORMED", "error": "not XML"}'),
    pg_temp.never(4, '{"error_class": "PROTOCOL", "error": "count"}'),
    pg_temp.never(5, '{"error_class": "CODEC_ERROR", "error": "bad value"}'),
    pg_temp.never(6, '{"error_class": "UNSUPPORTED", "error": "no such type"}'),
    pg_temp.never(7, jsonb_build_object('seqn', 2, 'text_hash', md5('2'))),
    pg_temp.never(8, '{"type": "LDM", "styp": "X"}'));
SELECT pg_temp.apply(1, pg_temp.never(9, '{"seqn": 2}'));
SELECT msgx.pump_fail(pg_temp.epoch(), pg_temp.at(1), pg_temp.never(10, '{}'), 'beast');
UPDATE msgx.proc_state SET crashes = 9 WHERE msg_id = 10;
SELECT msgx.pump_fail(pg_temp.epoch(), pg_temp.at(9), pg_temp.never(10, '{}'), 'beast');
SELECT results_eq('SELECT pg_temp.stands(g) FROM generate_series(3, 10) AS g',
    $$VALUES ('DEAD MALFORMED'), ('DEAD PROTOCOL'), ('DEAD EXHAUSTED'), ('DEAD EXHAUSTED'), ('SKIPPED duplicate-of:2'), ('SKIPPED ignored'),
             ('SKIPPED identity-conflict:2'), ('DEAD EXHAUSTED')$$, '非业务型终态: malformed, protocol, exhausted, duplicate, ignored, conflict');
SELECT is(pg_temp.flights(), (SELECT flights FROM was), '… touch no flight, no list, no event, not even the log');
SELECT is(nextval('msgx.flight_version_seq'), (SELECT version + 1 FROM was), '… and take no version');
SELECT is((SELECT array_agg(msg_id ORDER BY msg_id) FROM written WHERE finished), '{3,4,5,6,7,8,9,10}'::bigint[], '非业务型终态: each is written once when it ends');
SELECT is((SELECT count(*) FROM written WHERE finished <> owes), 0::bigint, '… and owes its mark from that very statement on, and not before');

-- 整包协议拒绝
TRUNCATE written;
SELECT pg_temp.apply(10, pg_temp.schd(11, pg_temp.new_flight(1, '{"terminal": "never"}'), pg_temp.new_flight(3), pg_temp.new_flight(2, '{"sodt": "2026-04-18T00:00:00+08:00"}')));
SELECT is(pg_temp.stands(11), 'DEAD PROTOCOL', '整包协议拒绝: one flight on another operation day');
SELECT pg_temp.apply(10, pg_temp.schd(12, pg_temp.new_flight(1, '{"terminal": "never"}'), pg_temp.new_flight(3)) || '{"declared": 3}');
SELECT is(pg_temp.stands(12), 'DEAD PROTOCOL', '整包协议拒绝: a count that is not true');
SELECT pg_temp.apply(10, pg_temp.schd(13, pg_temp.new_flight(1, '{"terminal": "never"}'), pg_temp.new_flight(3), pg_temp.new_flight(3)));
SELECT is(pg_temp.stands(13), 'DEAD PROTOCOL', '整包协议拒绝: a flight twice');
SELECT pg_temp.apply(10, pg_temp.schd(14, pg_temp.new_flight(1, '{"terminal": "never"}'), pg_temp.new_flight(3, '{"flight_number": null}')));
SELECT is(pg_temp.stands(14), 'DEAD PROTOCOL', '整包协议拒绝: a new flight that lacks an element');
SELECT is(pg_temp.flights(), (SELECT flights FROM was), '整包协议拒绝: nothing of the packet lands, states and versions are as before');
SELECT is(nextval('msgx.flight_version_seq'), (SELECT version + 2 FROM was), '… and no version is taken');
SELECT is((SELECT row(count(*), sum(attempts), count(next_attempt_at))::text FROM msgx.proc_state WHERE msg_id BETWEEN 11 AND 14), '(4,0,0)', '… and it is not tried again');

-- 同身份多条记录、失败后重试、归档后重复
SELECT pg_temp.apply(20, pg_temp.msg(15, 'FLOP', 'TRML', '[]', '{"seqn": 77, "text_hash": "0077", "error_class": "INFRA", "error": "away"}'));
CREATE FUNCTION pg_temp.seven(p_id bigint, p_hash text) RETURNS jsonb LANGUAGE sql AS $$
    SELECT pg_temp.msg(p_id, 'FLOP', 'TRML', jsonb_build_array(pg_temp.rec('change', 1, '{"set": {"terminal": "T7"}}')), jsonb_build_object('seqn', 77, 'text_hash', p_hash)) $$;
SELECT is(pg_temp.stands(15), 'FAILED INFRA', '失败后重试: it failed, and its identity is bound');
SELECT pg_temp.apply(30, pg_temp.seven(15, '0077'));
SELECT is(pg_temp.stands(15), 'SUCCEEDED applied', '失败后重试: tried again it is no duplicate of itself');
SELECT pg_temp.apply(30, pg_temp.seven(16, '0077'));
SELECT pg_temp.apply(30, pg_temp.seven(17, '0077'));
SELECT results_eq('SELECT pg_temp.stands(g) FROM generate_series(16, 17) AS g', $$VALUES ('SKIPPED duplicate-of:15'), ('SKIPPED duplicate-of:15')$$, '同身份多条记录: the first alone takes effect');
SELECT is((SELECT count(*) FROM msgx.msg_event WHERE msg_id BETWEEN 15 AND 17 AND target = 'KAFKA:msg'), 1::bigint, '… once');
-- What an archive does to a finished row, once there is one: it leaves proc_state, its identity stays.
DELETE FROM msgx.proc_state WHERE msg_id BETWEEN 15 AND 17;
SELECT pg_temp.apply(40, pg_temp.seven(18, '0077'));
SELECT is(pg_temp.stands(18), 'SKIPPED duplicate-of:15', '归档后重复: a duplicate is known after its first was archived');
SELECT pg_temp.apply(40, pg_temp.seven(19, '0078'));
SELECT is(pg_temp.stands(19), 'SKIPPED identity-conflict:15', '… and so is a conflict');
SELECT is((SELECT count(*) FROM msgx.flight_write WHERE msg_id BETWEEN 16 AND 19), 0::bigint, '… without effect');

-- PG 事务失败: a failure at any write undoes all of it. 20 to 23 write to every table.
UPDATE msgx.setting SET value = '{}' WHERE key = 'pipeline.class-attempts';
CREATE FUNCTION pg_temp.everything() RETURNS text LANGUAGE sql AS $$
    SELECT concat_ws(';', pg_temp.flights(), (SELECT string_agg(p::text, ',' ORDER BY msg_id) FROM msgx.proc_state AS p),
                          (SELECT string_agg(i::text, ',' ORDER BY i::text) FROM msgx.proc_identity AS i), (SELECT l::text FROM msgx.pipeline_lock AS l),
                          (SELECT string_agg(s::text, ',' ORDER BY s::text) FROM msgx.schd_snap_log AS s)) $$;
CREATE FUNCTION pg_temp.batch() RETURNS SETOF msgx.r_pump_round LANGUAGE sql AS $$
    SELECT * FROM pg_temp.apply(50, pg_temp.schd(20, pg_temp.new_flight(4)), pg_temp.never(21, '{}'), pg_temp.flop(22, 999, '{"terminal": "TB"}'), pg_temp.refused(23, 'CODEC_ERROR')) $$;
CREATE FUNCTION pg_temp.beast() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'beast' USING ERRCODE = '22012'; END $$;
CREATE FUNCTION pg_temp.fails_at(p_table text, p_when text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    v_was text := pg_temp.everything();
BEGIN
    EXECUTE format('CREATE TRIGGER beast AFTER %s ON msgx.%I FOR EACH ROW EXECUTE FUNCTION pg_temp.beast()', p_when, p_table);
    RETURN NEXT throws_ok('SELECT * FROM pg_temp.batch()', '22012', 'beast', format('PG 事务失败: an error at the %s of %s reaches the driver', p_when, p_table));
    EXECUTE format('DROP TRIGGER beast ON msgx.%I', p_table);
    RETURN NEXT is(pg_temp.everything(), v_was, '… and nothing of the batch is left: no flight, event, outcome, identity, mark owed');
END $$;
SELECT pg_temp.fails_at(t.name, t.op)
  FROM (VALUES ('flight_write', 'INSERT'), ('flight_schd', 'INSERT'), ('flight_schd', 'UPDATE'), ('flight_gate', 'INSERT'), ('msg_event', 'INSERT'),
               ('proc_state', 'UPDATE'), ('proc_identity', 'INSERT'), ('schd_snap_log', 'INSERT'), ('pipeline_lock', 'UPDATE')) AS t (name, op);
SELECT is((SELECT jsonb_array_length(outcomes) FROM pg_temp.batch()), 4, 'PG 事务失败: tried again it goes through');
SELECT results_eq('SELECT pg_temp.stands(g) FROM generate_series(20, 23) AS g', $$VALUES ('SUCCEEDED applied'), ('SUCCEEDED applied'), ('SKIPPED no-flight:999'), ('FAILED CODEC_ERROR')$$, '… as if nothing had been');
SELECT is((SELECT array_agg(msg_id ORDER BY event_id) FROM msgx.msg_event WHERE target = 'KAFKA:msg' AND msg_id >= 20), '{20,21}'::bigint[], '… with each event once');
SELECT is((SELECT state_version FROM msgx.flight_schd WHERE flid = 4) < (SELECT state_version FROM msgx.flight_schd WHERE flid = 1), true, '… and versions in the order of messages');
SELECT is((SELECT count(*) FROM msgx.proc_state WHERE attempts > 0 AND msg_id BETWEEN 20 AND 22), 0::bigint, '… and no attempt counted');
SELECT is((SELECT count(*) FROM msgx.flight_verify(0, 100)), 0::bigint, '… and rows that equal the fold');
SELECT * FROM finish();
ROLLBACK;

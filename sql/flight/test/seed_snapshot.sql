-- Schedules that come again or late, and messages that come late: rows of the
-- owner's verification table, and convergence.
BEGIN;
\ir ../../fixture.psql
SELECT plan(25);
SELECT pg_temp.enqueue(1, 8);
SELECT pg_temp.apply(0, pg_temp.schd(1, pg_temp.new_flight(1, '{"terminal": "T0"}'), pg_temp.new_flight(2)));
-- 2 is an older schedule that comes late, below.
SELECT pg_temp.apply(0, pg_temp.msg(2, 'LDM', 'X', '[]'));
SELECT pg_temp.apply(1, pg_temp.schd(3, pg_temp.new_flight(3)) || '{"styp": "ADFT"}', pg_temp.flop(4, 1, '{"terminal": "TA", "runway": "18"}'));
CREATE FUNCTION pg_temp.versions() RETURNS bigint[] LANGUAGE sql AS $$ SELECT array_agg(state_version ORDER BY flid) FROM msgx.flight_schd $$;
CREATE FUNCTION pg_temp.changes(p_id bigint) RETURNS bigint LANGUAGE sql AS $$ SELECT count(*) FROM msgx.msg_event WHERE msg_id = p_id AND target = 'KAFKA:msg' $$;
CREATE TEMP TABLE was AS SELECT pg_temp.versions() AS versions, (SELECT count(*) FROM msgx.msg_event) AS events;

-- 快照重复
SELECT pg_temp.apply(2, pg_temp.schd(5, pg_temp.new_flight(1), pg_temp.new_flight(2)));
SELECT is(pg_temp.stands(5), 'SUCCEEDED no-change', '快照重复: the same schedule under a new identity changes nothing');
SELECT is(pg_temp.versions(), (SELECT versions FROM was), '快照重复: no version moves');
SELECT is((SELECT count(*) FROM msgx.msg_event), (SELECT events FROM was), '… and no event is written');
SELECT is((SELECT row(terminal, runway)::text FROM msgx.flight_schd WHERE flid = 1), '(TA,18)', '… and what newer messages set stays');
SELECT is((SELECT array_agg(flid || state ORDER BY flid) FROM msgx.flight_schd), '{1ACTIVE,2ACTIVE,3ACTIVE}', '快照重复: a flight that the schedule does not carry is not deleted');
SELECT pg_temp.apply(2, pg_temp.schd(6, pg_temp.new_flight(1, '{"terminal": "T0"}'), pg_temp.new_flight(2)) || jsonb_build_object('seqn', 1, 'text_hash', md5('1')));
SELECT is(pg_temp.stands(6), 'SKIPPED duplicate-of:1', '快照重复: the same message again is a duplicate');
SELECT is((SELECT outcomes -> 0 ->> 'again' FROM pg_temp.apply(3, pg_temp.schd(5, pg_temp.new_flight(1, '{"terminal": "TX"}')))), 'true', '快照重复: a call that is repeated because its answer got lost is answered as done');
SELECT is(pg_temp.versions(), (SELECT versions FROM was), '… and no version moves');

-- 快照迟到: 2 is taken in now, behind what is newer.
CREATE FUNCTION pg_temp.reopen(p_id bigint) RETURNS void LANGUAGE sql AS $$
    UPDATE msgx.proc_state SET state = 'PENDING', outcome = NULL, finished_at = NULL, backfill_next_at = NULL, reopened = true WHERE msg_id = p_id $$;
DELETE FROM msgx.proc_identity WHERE msg_id = 2;
SELECT pg_temp.reopen(2);
SELECT pg_temp.apply(4, pg_temp.schd(2, pg_temp.new_flight(1, '{"terminal": "T9", "runway": "01", "remarks": "late"}'), pg_temp.new_flight(2)));
SELECT is((SELECT row(terminal, runway, remarks)::text FROM msgx.flight_schd WHERE flid = 1), '(TA,18,late)', '快照迟到: a late schedule pushes nothing back that newer messages set');
SELECT is((SELECT payload -> 'fields' FROM msgx.msg_event WHERE msg_id = 2 AND target = 'KAFKA:msg'), '{"remarks": {"new": "late", "old": null}}', '… its event tells what is left of it');
SELECT is((pg_temp.versions())[2:3], (SELECT versions[2:3] FROM was), '快照迟到: flights it does not change keep their version');
SELECT is((SELECT array_agg(flid || state ORDER BY flid) FROM msgx.flight_schd), '{1ACTIVE,2ACTIVE,3ACTIVE}', '快照迟到: a flight that came after it is not deleted');
SELECT is((pg_temp.versions())[1] > (SELECT max(v) FROM was, unnest(versions) AS v), true, '… and a version never goes back');
SELECT pg_temp.apply(5, pg_temp.msg(7, 'FLOP', 'FDEL', jsonb_build_array(pg_temp.rec('delete', 2))));
DELETE FROM msgx.proc_identity WHERE msg_id = 2;
DELETE FROM msgx.flight_write WHERE msg_id = 2;
SELECT pg_temp.reopen(2);
SELECT pg_temp.apply(6, pg_temp.schd(2, pg_temp.new_flight(2)));
SELECT is((SELECT state FROM msgx.flight_schd WHERE flid = 2), 'DELETED', '快照迟到: it revives no flight that was deleted since');

-- I8. A day of every kind of write; each message in turn comes last, behind all others.
CREATE TEMP TABLE day (id bigint, message jsonb);
INSERT INTO day VALUES
    (1, pg_temp.schd(1, pg_temp.new_flight(11, '{"terminal": "T0"}'), pg_temp.new_flight(12))),
    (2, pg_temp.flop(2, 11, '{"terminal": "T1", "runway": "18"}')),
    (3, pg_temp.msg(3, 'FLOP', 'GTDT', jsonb_build_array(pg_temp.rec('change', 11, '{"lists": {"gate": {"1": {"gate_number": 1, "gate_code": "E5"}, "2": {"gate_number": 2, "gate_code": "E6"}}}}')))),
    (4, pg_temp.msg(4, 'FLOP', 'DELY', jsonb_build_array(pg_temp.rec('change', 11, '{"upsert": {"delay": {"4F": {"delay_code": "4F", "comment": "a"}}}}')))),
    (5, pg_temp.msg(5, 'FLOP', 'FDEL', jsonb_build_array(pg_temp.rec('delete', 12)))),
    (6, pg_temp.flop(6, 13, '{"terminal": "T3"}')),
    (7, pg_temp.schd(7, pg_temp.new_flight(12, '{"remarks": "again"}'), pg_temp.new_flight(13))),
    (8, pg_temp.msg(8, 'FLOP', 'GTDT', jsonb_build_array(pg_temp.rec('change', 11, '{"lists": {"gate": {"1": {"gate_number": 1, "gate_code": "E7"}}}, "set": {"terminal": null}, "extra": {"ZZZZ": "1"}}')))),
    (9, pg_temp.msg(9, 'FLOP', 'DELY', jsonb_build_array(pg_temp.rec('change', 11, '{"upsert": {"delay": {"8C": {"delay_code": "8C"}, "4F": {"delay_code": "4F"}}}}')))),
    (10, pg_temp.flop(10, 13, '{"terminal": "T4"}'));
-- The flights after the day, with p_late taken in last; null: none is late. Leaves nothing behind.
CREATE FUNCTION pg_temp.ends(p_late bigint) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    v_ends text;
BEGIN
    BEGIN
        DELETE FROM msgx.flight_write;
        DELETE FROM msgx.flight_schd;
        DELETE FROM msgx.proc_identity;
        DELETE FROM msgx.proc_state;
        UPDATE msgx.pipeline_lock SET done_up_to = 0;
        INSERT INTO msgx.proc_state (msg_id, updated_at) SELECT id, pg_temp.at() FROM day WHERE id IS DISTINCT FROM p_late;
        UPDATE msgx.inbox_cursor SET committed_up_to = 10, seen_to = 10;
        PERFORM pg_temp.apply(id, message) FROM day WHERE id IS DISTINCT FROM p_late ORDER BY id;
        INSERT INTO msgx.proc_state (msg_id, source, reopened, updated_at) SELECT p_late, 'late', true, pg_temp.at() WHERE p_late IS NOT NULL;
        PERFORM pg_temp.apply(20, message) FROM day WHERE id = p_late;
        SELECT string_agg(concat_ws(' ', s.flid, s.state), E'\n' ORDER BY s.flid) INTO v_ends FROM msgx.flight_state('{11,12,13}', msgx.flight_list_names()) AS s;
        v_ends := concat_ws(E'\n', v_ends, (SELECT 'unfinished ' || msg_id FROM msgx.proc_state WHERE finished_at IS NULL LIMIT 1),
                            (SELECT 'not the fold: ' || flid FROM msgx.flight_verify(0, 100) LIMIT 1));
        RAISE EXCEPTION 'back' USING ERRCODE = 'MX999';
    EXCEPTION WHEN SQLSTATE 'MX999' THEN
        RETURN v_ends;
    END;
END $$;
SELECT matches(pg_temp.ends(NULL), '11 .*E7.*\n12 .*again.*\n13 .*T4', 'I8: the day in the order of ids');
SELECT is(pg_temp.ends(d.id), pg_temp.ends(NULL), format('I8: with message %s late all flights end the same', d.id)) FROM day AS d ORDER BY d.id;
SELECT * FROM finish();
ROLLBACK;

BEGIN;
\ir ../../fixture.psql
SELECT plan(27);
SELECT is((SELECT count(*) FROM msgx.v_status), 1::bigint, 'v_status is one row, also of an empty instance');
SELECT is((SELECT row(active, head_why, unfinished, msg_pending)::text FROM msgx.v_status), '(t,empty,0,0)', '… and says so');
SELECT is((SELECT count(*) FROM msgx.v_head), 0::bigint, 'v_head is empty with the queue');

SELECT pg_temp.enqueue(1, 9);
UPDATE msgx.proc_state SET received_at = now() - interval '1 hour' WHERE msg_id = 1;
SELECT is((SELECT msg_id || ' ' || why FROM msgx.v_head), '1 due', 'v_head: the head');
SELECT pg_temp.apply(0, pg_temp.schd(1, pg_temp.rec('create', 1, jsonb_build_object('set', pg_temp.complete() || '{"current_stand": "N9"}',
    'lists', '{"gate": {"2": {"gate_number": 2, "gate_code": "E6"}, "1": {"gate_number": 1, "gate_code": "E5"}}, "erut": {"1": {"rtno": 1, "airport_code": "WNZ"}, "2": {"rtno": 2, "airport_code": "NNG"}}}'::jsonb)),
    pg_temp.rec('create', 2, jsonb_build_object('set', pg_temp.complete(), 'lists', '{"stand": {"1": {"stand_number": 1, "stand_code": "S1"}}, "checkin": {"1": {"checkin_number": 1, "desk_code": "08"}}}'::jsonb))));
SELECT is((SELECT row(flight_number, stands, gates, route, state)::text FROM msgx.v_flight_board WHERE flid = 1), '(GJ8471,N9,"E5 E6",WNZ-NNG,ACTIVE)', 'v_flight_board: lists in order; the current stand when none is allocated');
SELECT is((SELECT row(stands, desks)::text FROM msgx.v_flight_board WHERE flid = 2), '(S1,08)', '… and allocated stands and desks');
SELECT pg_temp.apply(0, pg_temp.refused(2, 'MALFORMED'));
SELECT msgx.pump_fail(pg_temp.epoch(), now(), pg_temp.flop(3, 1, '{}'), 'beast');
SELECT is((SELECT why LIKE 'backing-off until %' FROM msgx.v_head), true, 'v_head: backing off');
SELECT is((SELECT row(msg_id, attempts, error_class, last_error)::text FROM msgx.v_failed), '(3,1,INFRA,beast)', 'v_failed: what will be tried again, and why');
SELECT is((SELECT array_agg(msg_id ORDER BY msg_id) FROM msgx.v_backlog), '{3,4,5,6,7,8,9}'::bigint[], 'v_backlog: everything unfinished');
SELECT is((SELECT row(kind, id, class, error)::text FROM msgx.v_dead_letters), '(message,2,MALFORMED,"MSG/FLOP: bad")', 'v_dead_letters: dead messages');
UPDATE msgx.proc_state SET state = 'PENDING', finished_at = NULL, backfill_next_at = NULL, reopened = true WHERE msg_id = 2;
SELECT is((SELECT msg_id FROM msgx.v_head), 2::bigint, 'v_head: a reopened message goes first');
SELECT is((SELECT min(msg_id) FROM msgx.v_backlog), 2::bigint, '… and counts as unfinished');
SELECT msgx.loop_pause('pump', 'li', 'maintenance', now());
SELECT is((SELECT why FROM msgx.v_head), 'braked: li: maintenance', 'v_head: braked, with the reason');
SELECT is((SELECT standing_still FROM msgx.v_status), 'pump: li: maintenance', 'v_status: who stands still, and why');
SELECT is((SELECT stands FROM msgx.v_loops WHERE loop = 'pump'), 'braked', 'v_loops: braked');
SELECT msgx.loop_round(pg_temp.epoch(), 'poller', 'mailbox away', '0', now());
SELECT msgx.loop_round(pg_temp.epoch(), 'backfill', '', '0', now());
SELECT msgx.loop_round(pg_temp.epoch(), 'flusher', '', '0', now() - interval '3 minutes');
SELECT is((SELECT array_agg(stands ORDER BY loop) FROM msgx.v_loops WHERE loop IN ('backfill', 'flusher', 'jobs', 'poller')), '{working,silent,"not started",paused}'::text[], '… working, silent, not started, paused');
SELECT msgx.loop_resume('pump', 'li', 'done', now());
UPDATE msgx.proc_state SET state = 'SUCCEEDED', finished_at = now(), backfill_next_at = now(), next_attempt_at = NULL WHERE state IN ('PENDING', 'FAILED');
UPDATE msgx.pipeline_lock SET done_up_to = 9;
INSERT INTO msgx.proc_state (msg_id, source, updated_at) VALUES (50, 'compat', now());
SELECT is((SELECT why FROM msgx.v_head), 'beyond-watermark: 9', 'v_head: beyond the watermark');

INSERT INTO msgx.inbox_hole (lo, hi, first_seen_at) VALUES (10, 12, now() - interval '1 minute'), (20, 20, now());
INSERT INTO msgx.inbox_hole (lo, hi, first_seen_at, state, released_at, released_why, late_at) VALUES (5, 5, now(), 'RELEASED', now(), 'aged', now());
UPDATE msgx.inbox_cursor SET hole_since = now();
SELECT is((SELECT row(ids, age, holds_watermark, ages_out_at - first_seen_at)::text FROM msgx.v_holes WHERE lo = 10), '(3,00:01:00,t,00:05:00)', 'v_holes: how many, how old, until when, and which one holds the watermark');
SELECT is((SELECT count(*) FROM msgx.v_holes WHERE holds_watermark), 1::bigint, '… only one does');
SELECT is((SELECT open_holes FROM msgx.v_status), 2::bigint, 'v_status: open holes');
SELECT is((SELECT lo || ' ' || released_why FROM msgx.v_late_arrivals), '5 aged', 'v_late_arrivals');

SELECT is((SELECT array_agg(what || msg_id ORDER BY msg_id) FROM msgx.v_backfill), ARRAY(SELECT 'owed' || g FROM generate_series(1, 9) AS g), 'v_backfill: marks owed');
UPDATE msgx.proc_state SET backfill_next_at = NULL, backfill_abandoned_at = now(), backfill_abandoned_reason = 'missing' WHERE msg_id = 1;
SELECT is((SELECT what || ' ' || abandoned_reason FROM msgx.v_backfill WHERE msg_id = 1), 'abandoned missing', '… and given up');
SELECT is((SELECT row(marks_owed, marks_abandoned)::text FROM msgx.v_status), '(8,1)', 'v_status: both counted');
SELECT results_eq('SELECT target, pending, backing_off FROM msgx.v_outbox ORDER BY target', $$VALUES ('KAFKA:msg', 2::bigint, 0::bigint), ('KAFKA:schd', 2, 0)$$, 'v_outbox: what waits, by target');
UPDATE msgx.msg_event SET state = 'DEAD', last_error = 'too large' WHERE event_id = (SELECT min(event_id) FROM msgx.msg_event);
SELECT is((SELECT row(kind, class, error, flid)::text FROM msgx.v_dead_letters WHERE kind = 'event'), '(event,KAFKA:msg,"too large",1)', 'v_dead_letters: dead events');
SELECT is((SELECT row(op, type, styp, outcome)::text FROM msgx.v_flight_history WHERE flid = 1), '(create,SCHD,DNLD,applied)', 'v_flight_history: who said what of a flight');
SELECT * FROM finish();
ROLLBACK;

-- Each view row by row and column by column, with the rows it must not show.
-- Views read the server's clock, so times here are relative to now().
BEGIN;
\ir ../../fixture.psql
SELECT plan(51);
CREATE FUNCTION pg_temp.ago(p_seconds numeric) RETURNS timestamptz LANGUAGE sql AS $$ SELECT now() - make_interval(secs => p_seconds::double precision) $$;
CREATE FUNCTION pg_temp.finish_all() RETURNS void LANGUAGE sql AS $$
    UPDATE msgx.proc_state SET state = 'SUCCEEDED', outcome = 'applied', finished_at = now(), next_attempt_at = NULL WHERE state IN ('PENDING', 'FAILED') $$;

-- The lease.
SELECT is((SELECT row(holder, epoch, active, expires_at > now())::text FROM msgx.v_status), row('test', pg_temp.epoch(), true, true)::text, 'v_status: who is active');
UPDATE msgx.instance_lease SET expires_at = pg_temp.ago(1);
SELECT is((SELECT row(holder, active)::text FROM msgx.v_status), '(test,f)', '… a lease that has ended is not');
UPDATE msgx.instance_lease SET holder = NULL, expires_at = pg_temp.ago(-60);
SELECT is((SELECT row(holder, active)::text FROM msgx.v_status), '(,f)', '… nor one that was given back');
UPDATE msgx.instance_lease SET holder = 'test';
SELECT is((SELECT row(open_holes, unfinished, head, dead_messages, dead_events, msg_pending, schd_pending, marks_owed, marks_abandoned, standing_still)::text FROM msgx.v_status), '(0,0,,0,0,0,0,0,0,)',
          'an empty instance: zeros, and no loop that has not started stands still');

-- Queue: v_head, v_backlog, v_failed.
SELECT pg_temp.enqueue(1, 9);
UPDATE msgx.proc_state SET received_at = pg_temp.ago(60 * msg_id) WHERE msg_id < 9;
SELECT is((SELECT row(msg_id, state, type, attempts, received_at, why)::text FROM msgx.v_head), row(1, 'PENDING', NULL, 0, pg_temp.ago(60), 'due')::text, 'v_head: the first unfinished message');
SELECT results_eq('SELECT msg_id, state, source, age FROM msgx.v_backlog WHERE msg_id IN (2, 9) ORDER BY msg_id',
    $$VALUES (2::bigint, 'PENDING', 'poll', '2 minutes'::interval), (9, 'PENDING', 'poll', NULL)$$, 'v_backlog: since when the mailbox has it; unknown for a null time');
SELECT is((SELECT row(unfinished, oldest_received_at, head, head_state, head_why)::text FROM msgx.v_status), row(9, pg_temp.ago(480), 1, 'PENDING', 'due')::text, 'v_status: how many, the oldest, the head');
UPDATE msgx.proc_state SET state = 'FAILED', attempts = 2, error_class = 'CODEC_ERROR', last_error = 'bad', type = 'FLOP', styp = 'BOTM',
       processing_started_at = pg_temp.ago(9), next_attempt_at = pg_temp.ago(1) WHERE msg_id = 1;
SELECT is((SELECT row(msg_id, state, type, styp, attempts, error_class, last_error, why)::text FROM msgx.v_head), '(1,FAILED,FLOP,BOTM,2,CODEC_ERROR,bad,due)', 'v_head: failed, and its time has come');
UPDATE msgx.proc_state SET next_attempt_at = pg_temp.ago(-30) WHERE msg_id = 1;
SELECT is((SELECT why FROM msgx.v_head), 'backing-off until ' || pg_temp.ago(-30), '… backing off, until when');
SELECT results_eq('SELECT * FROM msgx.v_failed', $$VALUES (1::bigint, 2, 'CODEC_ERROR', 'bad', 'FLOP', 'BOTM', pg_temp.ago(9), pg_temp.ago(-30))$$, 'v_failed: only what failed, and why');
UPDATE msgx.proc_state SET next_attempt_at = NULL WHERE msg_id = 1;
UPDATE msgx.loop_state SET paused_reason = 'mailbox away', paused_since = now() WHERE loop = 'poller';
SELECT is((SELECT why FROM msgx.v_head), 'due', 'v_head: another loop''s pause is not the pump''s');
UPDATE msgx.loop_state SET paused_reason = 'identity conflicts', paused_since = now() WHERE loop = 'pump';
SELECT is((SELECT why FROM msgx.v_head), 'paused: identity conflicts', '… paused, with the reason');
UPDATE msgx.proc_state SET next_attempt_at = pg_temp.ago(-30) WHERE msg_id = 1;
SELECT is((SELECT why FROM msgx.v_head), 'backing-off until ' || pg_temp.ago(-30), '… the message''s own wait is told before the loop''s');
UPDATE msgx.loop_state SET paused_reason = NULL, paused_since = NULL, wanted = 'off' WHERE loop = 'pump';
SELECT is((SELECT why FROM msgx.v_head), 'braked: by an operator', '… braked, though nobody said why');
UPDATE msgx.loop_state SET wanted = 'on' WHERE loop = 'pump';
UPDATE msgx.inbox_cursor SET committed_up_to = 0;
SELECT is((SELECT why FROM msgx.v_head), 'beyond-watermark: 0', '… beyond the watermark is told before the message''s own wait');
UPDATE msgx.inbox_cursor SET committed_up_to = 9;

-- Behind the pump's place: only what was reopened.
UPDATE msgx.proc_state SET state = 'PENDING', next_attempt_at = NULL WHERE msg_id = 1;
UPDATE msgx.pipeline_lock SET done_up_to = 5;
SELECT is((SELECT array_agg(msg_id ORDER BY msg_id) FROM msgx.v_backlog), '{6,7,8,9}'::bigint[], 'v_backlog: nothing at or below the pump''s place …');
SELECT is((SELECT msg_id FROM msgx.v_head), 6::bigint, '… nor is it the head');
UPDATE msgx.proc_state SET reopened = true WHERE msg_id IN (2, 4, 7);
SELECT is((SELECT array_agg(msg_id ORDER BY msg_id) FROM msgx.v_backlog), '{2,4,6,7,8,9}'::bigint[], '… but what was reopened; each message once');
SELECT is((SELECT msg_id FROM msgx.v_head), 2::bigint, '… and the first of them is the head');
UPDATE msgx.proc_state SET state = 'SUCCEEDED', finished_at = now() WHERE msg_id IN (2, 4);
SELECT is((SELECT msg_id FROM msgx.v_head), 6::bigint, '… until they are finished: then it goes on in order');
UPDATE msgx.pipeline_lock SET done_up_to = 0;
UPDATE msgx.proc_state SET state = 'PENDING', finished_at = NULL, reopened = false;

-- Flights.
SELECT pg_temp.apply(0, pg_temp.schd(1,
    pg_temp.rec('create', 1, jsonb_build_object('set', pg_temp.complete() || '{"current_stand": "N9", "terminal": "TA", "registration": "B1", "status_code": "DEP", "estimated_time": "2026-04-17T07:10:00+08:00"}',
        'lists', '{"stand": {"10": {"stand_number": 10, "stand_code": "S10"}, "2": {"stand_number": 2, "stand_code": "S2"}, "1": {"stand_number": 1, "stand_code": "S9"}},
                   "gate": {"2": {"gate_number": 2, "gate_code": "E6"}, "11": {"gate_number": 11, "gate_code": "A1"}, "1": {"gate_number": 1, "gate_code": "E9"}},
                   "checkin": {"2": {"checkin_number": 2, "desk_code": "07"}, "10": {"checkin_number": 10, "desk_code": "01"}, "1": {"checkin_number": 1, "desk_code": "08"}},
                   "erut": {"1": {"rtno": 1, "airport_code": "WNZ"}, "10": {"rtno": 10, "airport_code": "AAA"}, "2": {"rtno": 2, "airport_code": "NNG"}},
                   "rout": {"1": {"rtno": 1, "airport_code": "XXX"}}}'::jsonb)),
    pg_temp.rec('create', 2, jsonb_build_object('set', pg_temp.complete(), 'lists', '{"stand": {"1": {"stand_number": 1, "stand_code": "Z1"}}, "gate": {"1": {"gate_number": 1, "gate_code": "Z2"}},
                   "checkin": {"1": {"checkin_number": 1, "desk_code": "Z3"}}, "erut": {"1": {"rtno": 1, "airport_code": "ZZZ"}}}'::jsonb)),
    pg_temp.new_flight(3)));
SELECT results_eq('SELECT flid, stands, gates, desks, route FROM msgx.v_flight_board ORDER BY flid',
    $$VALUES (1::bigint, 'S9 S2 S10', 'E9 E6 A1', '08 07 01', 'WNZ-NNG-AAA'), (2, 'Z1', 'Z2', 'Z3', 'ZZZ'), (3, NULL, NULL, NULL, NULL)$$,
    'v_flight_board: each flight''s own lists, by number; an allocated stand before the current one; the whole route');
SELECT is((SELECT row(operation_day, flight_number, direction, state, sodt, estimated_time, registration, aircraft_type, terminal, status_code, last_msg_id)::text FROM msgx.v_flight_board WHERE flid = 1),
          row('2026-04-17'::date, 'GJ8471', 'A', 'ACTIVE', pg_temp.at(-3300), pg_temp.at(-3000), 'B1', '32Q', 'TA', 'DEP', 1)::text, '… and what else stands on a board');
SELECT pg_temp.apply(0, pg_temp.msg(2, 'FLOP', 'FDEL', jsonb_build_array(pg_temp.rec('delete', 1))), pg_temp.flop(3, 2, '{"terminal": "TB"}'), pg_temp.flop(4, 404, '{"terminal": "TB"}'));
SELECT is((SELECT row(state, stands, gates, last_msg_id)::text FROM msgx.v_flight_board WHERE flid = 1), '(DELETED,N9,,2)', '… a deleted flight stays, without lists');
SELECT results_eq('SELECT msg_id, seq, op, sndr, type, styp, seqn, message_state, outcome, patch FROM msgx.v_flight_history WHERE flid = 2 ORDER BY msg_id, seq',
    $$SELECT 1::bigint, 2, 'create', 'AODB', 'SCHD', 'DNLD', 1::bigint, 'SUCCEEDED', 'applied', (SELECT patch FROM msgx.flight_write WHERE flid = 2 AND msg_id = 1)
       UNION ALL VALUES (3::bigint, 1, 'change', 'AODB', 'FLOP', 'ANY', 3::bigint, 'SUCCEEDED', 'applied', '{"set": {"terminal": "TB"}}'::jsonb)$$,
    'v_flight_history: each message that said something of the flight, in order, and what it said');
SELECT is((SELECT row(op, message_state, outcome)::text FROM msgx.v_flight_history WHERE flid = 404), '(change,SKIPPED,no-flight:404)', '… also of a flight that does not exist');
INSERT INTO msgx.flight_write (flid, msg_id, seq, op, patch, at) VALUES (3, 777, 1, 'change', '{}', now());
SELECT is((SELECT row(op, type, at)::text FROM msgx.v_flight_history WHERE flid = 3 AND msg_id = 777), row('change', NULL, now())::text, '… and of a message that is no longer kept');
DELETE FROM msgx.flight_write WHERE msg_id = 777;

-- Dead letters: message 5 exhausted; events of both targets.
UPDATE msgx.proc_state SET state = 'DEAD', error_class = 'EXHAUSTED', first_error_class = 'CODEC_ERROR', last_error = 'bad', type = 'FLOP', styp = 'GTDT',
       finished_at = pg_temp.ago(60), updated_at = now() WHERE msg_id = 5;
CREATE FUNCTION pg_temp.kill(p_target text, p_flid bigint, p_error text) RETURNS bigint LANGUAGE sql AS $$
    UPDATE msgx.msg_event SET state = 'DEAD', last_error = p_error, created_at = pg_temp.ago(30)
     WHERE event_id = (SELECT min(event_id) FROM msgx.msg_event WHERE target = p_target AND partition_key = p_flid AND state = 'PENDING') RETURNING event_id $$;
CREATE TEMP TABLE killed AS SELECT pg_temp.kill('KAFKA:msg', 1, 'too large') AS a, pg_temp.kill('KAFKA:msg', 2, NULL) AS b, pg_temp.kill('KAFKA:schd', 3, 'superseded by event 9') AS c;
SELECT results_eq('SELECT kind, id, class, first_class, error, type, styp, flid, since FROM msgx.v_dead_letters ORDER BY kind DESC, id',
    $$SELECT 'message', 5::bigint, 'EXHAUSTED', 'CODEC_ERROR', 'bad', 'FLOP', 'GTDT', NULL::bigint, pg_temp.ago(60)
       UNION ALL SELECT 'event', a, 'KAFKA:msg', NULL, 'too large', NULL, NULL, 1, pg_temp.ago(30) FROM killed
       UNION ALL SELECT 'event', b, 'KAFKA:msg', NULL, NULL, NULL, NULL, 2, pg_temp.ago(30) FROM killed$$,
    'v_dead_letters: messages and events that wait for a person; not what a newer state has settled');
SELECT is((SELECT row(dead_messages, dead_events)::text FROM msgx.v_status), '(1,2)', 'v_status: both counted');

-- v_outbox. Pending now: changes of flights 3 (msg), 1 and 2 (both), states of 1 and 2.
SELECT results_eq('SELECT target, sent_up_to, pending, backing_off, merged FROM msgx.v_outbox ORDER BY target',
    $$VALUES ('KAFKA:msg', 0::bigint, 3::bigint, 0::bigint, 0::bigint), ('KAFKA:schd', 0, 2, 0, 2)$$, 'v_outbox: what waits, and for how many further changes it stands');
UPDATE msgx.msg_event SET created_at = pg_temp.ago(90) WHERE state = 'PENDING' AND target = 'KAFKA:msg' AND partition_key = 3;
UPDATE msgx.msg_event SET created_at = pg_temp.ago(30), next_attempt_at = pg_temp.ago(-9) WHERE state = 'PENDING' AND target = 'KAFKA:msg' AND partition_key = 1;
UPDATE msgx.msg_event SET created_at = pg_temp.ago(20), next_attempt_at = pg_temp.ago(9) WHERE state = 'PENDING' AND target = 'KAFKA:msg' AND partition_key = 2;
UPDATE msgx.msg_event SET created_at = pg_temp.ago(200) WHERE state = 'PENDING' AND target = 'KAFKA:schd';
SELECT results_eq('SELECT target, oldest_pending_at, oldest_age, backing_off FROM msgx.v_outbox ORDER BY target',
    $$VALUES ('KAFKA:msg', pg_temp.ago(90), '90 s'::interval, 1::bigint), ('KAFKA:schd', pg_temp.ago(200), '200 s', 0)$$, '… the oldest of each, and what backs off still');
SELECT is((SELECT row(msg_pending, msg_oldest_age, schd_pending, schd_oldest_age)::text FROM msgx.v_status), '(3,00:01:30,2,00:03:20)', 'v_status: the same of both targets');
UPDATE msgx.outbox_cursor SET sent_up_to = (SELECT event_id FROM msgx.msg_event WHERE target = 'KAFKA:msg' AND state = 'PENDING' AND partition_key = 3) WHERE target = 'KAFKA:msg';
SELECT results_eq($$SELECT pending, oldest_age FROM msgx.v_outbox WHERE target = 'KAFKA:msg'$$, $$VALUES (2::bigint, '30 s'::interval)$$, 'v_outbox: nothing at or below the cursor is counted');
UPDATE msgx.msg_event SET state = 'SENT', sent_at = now() WHERE state = 'PENDING';
SELECT results_eq('SELECT pending, oldest_age, merged FROM msgx.v_outbox', 'VALUES (0::bigint, NULL::interval, 0::bigint), (0, NULL, 0)', '… nothing waits: zeros');

-- Marks. Cursor at 4: 1 retried, 2 reopened, 3 confirmed, 5 owed, 6 claimed, 7 given up behind it, 8 above it.
SELECT pg_temp.finish_all();
UPDATE msgx.pipeline_lock SET done_up_to = 9;
UPDATE msgx.backfill_cursor SET settled_up_to = 4;
UPDATE msgx.proc_state SET backfill_next_at = NULL, reopened = false, finished_at = pg_temp.ago(70), received_at = pg_temp.ago(80);
UPDATE msgx.proc_state SET backfill_next_at = pg_temp.ago(5) WHERE msg_id IN (1, 2, 4, 5, 6);
UPDATE msgx.proc_state SET backfill_attempts = 3, backfill_error = 'away', backfill_claimed_until = pg_temp.ago(-50) WHERE msg_id IN (1, 6);
UPDATE msgx.proc_state SET reopened = true WHERE msg_id = 2;
UPDATE msgx.proc_state SET backfill_at = now() WHERE msg_id = 3;
UPDATE msgx.proc_state SET backfill_attempts = 20, backfill_error = 'away', backfill_abandoned_at = now(), backfill_abandoned_reason = 'trouble: away' WHERE msg_id IN (7, 8);
SELECT results_eq('SELECT msg_id, what, attempts, next_at, error, claimed_until, abandoned_reason FROM msgx.v_backfill ORDER BY msg_id',
    $$VALUES (1::bigint, 'owed', 3, pg_temp.ago(5), 'away', pg_temp.ago(-50), NULL), (2, 'owed', 0, pg_temp.ago(5), NULL, NULL, NULL),
             (5, 'owed', 0, pg_temp.ago(5), NULL, NULL, NULL), (6, 'owed', 3, pg_temp.ago(5), 'away', pg_temp.ago(-50), NULL),
             (7, 'abandoned', 20, NULL, 'away', NULL, 'trouble: away'), (8, 'abandoned', 20, NULL, 'away', NULL, 'trouble: away')$$,
    'v_backfill: what is owed above the cursor, what the retry index finds below it, what was given up; each message once');
SELECT is((SELECT count(*) FROM msgx.v_backfill WHERE received_at = pg_temp.ago(80) AND finished_at = pg_temp.ago(70)), 6::bigint, '… with the times of the message');
SELECT is((SELECT row(marks_owed, marks_abandoned)::text FROM msgx.v_status), '(4,2)', 'v_status: owed and given up apart');

-- Holes. The watermark is at 9.
INSERT INTO msgx.inbox_hole (lo, hi, first_seen_at) VALUES (10, 12, pg_temp.ago(60)), (20, 20, pg_temp.ago(3));
INSERT INTO msgx.inbox_hole (lo, hi, first_seen_at, state, released_at, released_why) VALUES (30, 34, pg_temp.ago(400), 'RELEASED', pg_temp.ago(100), 'operator');
INSERT INTO msgx.inbox_hole (lo, hi, first_seen_at, state, released_at, released_why, late_at) VALUES (5, 5, pg_temp.ago(900), 'RELEASED', pg_temp.ago(600), 'aged', pg_temp.ago(10));
UPDATE msgx.inbox_cursor SET hole_since = pg_temp.ago(60), seen_to = 40, last_poll_at = pg_temp.ago(2);
SELECT results_eq('SELECT lo, hi, ids, state, age, ages_out_at, holds_watermark, released_at, released_why, late_at FROM msgx.v_holes ORDER BY lo',
    $$VALUES (5::bigint, 5::bigint, 1::bigint, 'RELEASED', '15 minutes'::interval, NULL::timestamptz, false, pg_temp.ago(600), 'aged', pg_temp.ago(10)),
             (10, 12, 3, 'OPEN', '1 minute', pg_temp.ago(60 - 300), true, NULL, NULL, NULL),
             (20, 20, 1, 'OPEN', '3 s', pg_temp.ago(3 - 300), false, NULL, NULL, NULL),
             (30, 34, 5, 'RELEASED', '400 s', NULL, false, pg_temp.ago(100), 'operator', NULL)$$, 'v_holes: what is missing, since when, until when, what became of it');
SELECT is((SELECT row(watermark, seen_to, hole_since, open_holes, last_poll_at, done_up_to)::text FROM msgx.v_status), row(9, 40, pg_temp.ago(60), 2, pg_temp.ago(2), 9)::text, 'v_status: the mailbox; released holes do not count');
UPDATE msgx.inbox_cursor SET readable_since = pg_temp.ago(10);
SELECT results_eq($$SELECT lo, ages_out_at FROM msgx.v_holes WHERE state = 'OPEN' ORDER BY lo$$, $$VALUES (10::bigint, pg_temp.ago(10 - 300)), (20, pg_temp.ago(3 - 300))$$,
    'v_holes: no window counts from before the mailbox was readable');
UPDATE msgx.setting SET value = '20s' WHERE key = 'pipeline.max-commit-delay';
SELECT is((SELECT ages_out_at FROM msgx.v_holes WHERE lo = 20), pg_temp.ago(3 - 20), '… and it is as long as the setting says');
UPDATE msgx.inbox_hole SET state = 'RELEASED', released_at = now(), released_why = 'aged' WHERE lo = 10;
SELECT is((SELECT row(holds_watermark, ages_out_at)::text FROM msgx.v_holes WHERE lo = 10), '(f,)', '… a released one holds nothing');
UPDATE msgx.inbox_cursor SET committed_up_to = 20;
SELECT is((SELECT open_holes FROM msgx.v_status), 0::bigint, 'v_status: only holes above the watermark are open to it');
SELECT results_eq('SELECT lo, hi, released_at, released_why, late_at FROM msgx.v_late_arrivals', $$VALUES (5::bigint, 5::bigint, pg_temp.ago(600), 'aged', pg_temp.ago(10))$$,
    'v_late_arrivals: what appeared after its release, and nothing else');

-- Loops.
UPDATE msgx.loop_state SET wanted = 'on', paused_reason = NULL, paused_since = NULL, last_round_at = pg_temp.ago(1);
SELECT is((SELECT array_agg(DISTINCT stands) FROM msgx.v_loops), '{working}'::text[], 'v_loops: all work');
SELECT is((SELECT standing_still FROM msgx.v_status), NULL, 'v_status: none stands still');
UPDATE msgx.loop_state SET last_round_at = pg_temp.ago(119), working_time = '5 minutes' WHERE loop = 'dispatcher';
SELECT is((SELECT row(stands, last_round_age, working_time, wanted)::text FROM msgx.v_loops WHERE loop = 'dispatcher'), '(working,00:01:59,00:05:00,on)', 'v_loops: two minutes without a word …');
UPDATE msgx.loop_state SET last_round_at = pg_temp.ago(121) WHERE loop = 'dispatcher';
SELECT is((SELECT stands FROM msgx.v_loops WHERE loop = 'dispatcher'), 'silent', '… are silence');
UPDATE msgx.loop_state SET paused_reason = 'broker away', paused_since = pg_temp.ago(500) WHERE loop = 'flusher';
UPDATE msgx.loop_state SET last_round_at = NULL WHERE loop = 'jobs';
UPDATE msgx.loop_state SET wanted = 'off', paused_reason = 'li: maintenance', last_round_at = pg_temp.ago(500) WHERE loop = 'poller';
UPDATE msgx.loop_state SET wanted = 'off', last_round_at = NULL WHERE loop = 'pump';
SELECT results_eq('SELECT loop, stands, paused_reason, paused_since FROM msgx.v_loops ORDER BY loop',
    $$VALUES ('backfill', 'working', NULL, NULL::timestamptz), ('dispatcher', 'silent', NULL, NULL), ('flusher', 'paused', 'broker away', pg_temp.ago(500)),
             ('jobs', 'not started', NULL, NULL), ('poller', 'braked', 'li: maintenance', NULL), ('pump', 'braked', NULL, NULL)$$, 'each loop as it stands; the brake is told before everything else');
SELECT is((SELECT standing_still FROM msgx.v_status), 'dispatcher: silent; flusher: broker away; poller: li: maintenance; pump: braked', 'v_status: who stands still, and why');
SELECT is((SELECT count(*) FROM msgx.v_status), 1::bigint, '… and it is one row still');
UPDATE msgx.pipeline_lock SET conflict_run = 3;
SELECT is((SELECT conflict_run FROM msgx.v_status), 3, '… with the identity conflicts in a row');
SELECT * FROM finish();
ROLLBACK;

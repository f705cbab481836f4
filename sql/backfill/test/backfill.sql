-- The edges of marking: what is due and to the moment, what a round leaves
-- behind in a row, where the cursor may stand.
BEGIN;
\ir ../../fixture.psql
SELECT plan(57);
CREATE FUNCTION pg_temp.token(p_n integer) RETURNS uuid LANGUAGE sql AS $$ SELECT ('00000000-0000-0000-0000-' || lpad(p_n::text, 12, '0'))::uuid $$;
CREATE FUNCTION pg_temp.claim(p_seconds numeric, p_token integer, p_limit integer DEFAULT 100) RETURNS bigint[] LANGUAGE sql AS $$
    SELECT array_agg(msg_id) FROM msgx.backfill_claim(pg_temp.epoch(), pg_temp.at(p_seconds), p_limit, pg_temp.token(p_token), '60 s') $$;
CREATE FUNCTION pg_temp.settle(p_seconds numeric, p_token integer, p_ids bigint[], p_result text, p_error text DEFAULT '') RETURNS SETOF msgx.r_backfill_round LANGUAGE sql AS $$
    SELECT * FROM msgx.backfill_settle(pg_temp.epoch(), pg_temp.token(p_token), p_ids, array_fill(p_result, ARRAY[cardinality(p_ids)]),
                                       array_fill(p_error, ARRAY[cardinality(p_ids)]), pg_temp.at(p_seconds)) $$;
CREATE FUNCTION pg_temp.cursor_at() RETURNS bigint LANGUAGE sql AS $$ SELECT settled_up_to FROM msgx.backfill_cursor $$;
CREATE FUNCTION pg_temp.row_of(p_id bigint) RETURNS msgx.proc_state LANGUAGE sql AS $$ SELECT * FROM msgx.proc_state WHERE msg_id = p_id $$;
-- Messages p_from to p_to are finished at second 0 and owe their marks.
CREATE FUNCTION pg_temp.owe(p_from bigint, p_to bigint) RETURNS void LANGUAGE sql AS $$
    UPDATE msgx.proc_state SET state = 'SUCCEEDED', outcome = 'applied', finished_at = pg_temp.at(), backfill_next_at = pg_temp.at() WHERE msg_id BETWEEN p_from AND p_to $$;
-- Takes message p_id as under the claim of a token.
CREATE FUNCTION pg_temp.hold(p_id bigint, p_token integer) RETURNS void LANGUAGE sql AS $$
    UPDATE msgx.proc_state SET backfill_token = pg_temp.token(p_token), backfill_claimed_until = pg_temp.at(9999) WHERE msg_id = p_id $$;

-- First tries.
SELECT pg_temp.enqueue(1, 30);
SELECT pg_temp.owe(1, 6), pg_temp.owe(8, 10);
UPDATE msgx.pipeline_lock SET done_up_to = 6;
UPDATE msgx.proc_state SET received_at = pg_temp.at(-90) WHERE msg_id = 2;
UPDATE msgx.proc_state SET backfill_next_at = NULL WHERE msg_id = 3;
SELECT is(pg_temp.claim(0, 1), '{1,2,4,5,6}'::bigint[], 'backfill_claim: what owes no mark is not claimed, nor what stands above the pump''s place');
SELECT is((SELECT row(backfill_token, backfill_claimed_until)::text FROM pg_temp.row_of(2)), row(pg_temp.token(1), pg_temp.at(60))::text, '… and the row names the claim and its end');
SELECT is(pg_temp.claim(59.999, 2), NULL, 'a live claim keeps a first try');
SELECT results_eq($$SELECT * FROM msgx.backfill_claim(pg_temp.epoch(), pg_temp.at(60), 2, pg_temp.token(3), '60 s')$$,
    $$VALUES (1::bigint, NULL::timestamptz, 0), (2, pg_temp.at(-90), 0)$$, '… until it ends, to the moment; a claim brings time of arrival and attempts');
SELECT is((SELECT row(marked, already, abandoned, retried, refused)::text FROM pg_temp.settle(61, 1, '{1,2,4,5,6}', 'marked')), '(3,0,0,0,2)', 'backfill_settle: the first claim settles only what it still holds');
SELECT is(pg_temp.cursor_at(), 0::bigint, '… and the cursor waits for what is claimed by the other');
SELECT is((SELECT row(backfill_token, backfill_claimed_until, backfill_at)::text FROM pg_temp.row_of(1)), row(pg_temp.token(3), pg_temp.at(120), NULL)::text, 'what was refused is unchanged');
SELECT is((SELECT row(marked, refused)::text FROM pg_temp.settle(62, 3, '{1,2}', 'marked')), '(2,0)', 'the one that holds it settles it');
SELECT is(pg_temp.cursor_at(), 6::bigint, '… and the cursor goes to the pump''s place, not past it');
SELECT is((SELECT row(backfill_at, backfill_next_at, backfill_attempts, backfill_error, backfill_token, backfill_claimed_until, backfill_abandoned_at, updated_at)::text FROM pg_temp.row_of(1)),
          row(pg_temp.at(62), NULL, 0, NULL, NULL, NULL, NULL, pg_temp.at(62))::text, '… and nothing of the claim is left in the row');
SELECT is((SELECT row(marked, refused)::text FROM pg_temp.settle(63, 3, '{1,2}', 'marked')), '(0,2)', 'settling twice is refused');

UPDATE msgx.pipeline_lock SET done_up_to = 10;
UPDATE msgx.backfill_cursor SET settled_up_to = 9;
SELECT is(pg_temp.claim(70, 4), '{10}'::bigint[], 'nothing at or below the cursor is a first try');
UPDATE msgx.proc_state SET backfill_claimed_until = NULL, backfill_token = NULL WHERE msg_id = 10;
-- Replay or a late arrival: behind the cursor, with no attempt yet.
UPDATE msgx.proc_state SET reopened = true WHERE msg_id = 8;
SELECT is(pg_temp.claim(70, 5), '{8,10}'::bigint[], '… but a reopened message is found');
UPDATE msgx.backfill_cursor SET settled_up_to = 7;
SELECT is(pg_temp.claim(200, 6, 2), '{8,9}'::bigint[], 'above the cursor a reopened message is a retry: it takes no place of the first tries');
SELECT is((SELECT row(marked, refused)::text FROM pg_temp.settle(201, 6, '{9}', 'marked')), '(1,0)', 'with 9 marked, 8 reopened and 10 owed …');
SELECT is(pg_temp.cursor_at(), 9::bigint, '… the cursor does not wait for the reopened one');
UPDATE msgx.pipeline_lock SET done_up_to = 8;
SELECT pg_temp.settle(202, 6, '{8}', 'marked');
SELECT is(pg_temp.cursor_at(), 9::bigint, 'the cursor never moves back');
UPDATE msgx.pipeline_lock SET done_up_to = 10;
SELECT pg_temp.hold(10, 6);
SELECT is((SELECT already FROM pg_temp.settle(203, 6, '{10}', 'already', 'marked by hand')), 1, 'already: an attempt that does not count');
SELECT is((SELECT row(backfill_at, backfill_attempts, backfill_error, backfill_abandoned_reason)::text FROM pg_temp.row_of(10)),
          row(pg_temp.at(203), 0, 'marked by hand', NULL)::text, '… confirmed, with what was found');
SELECT is(pg_temp.cursor_at(), 10::bigint, '… and the cursor is at the pump''s place');

-- Trouble: the waits.
SELECT pg_temp.owe(11, 11);
UPDATE msgx.pipeline_lock SET done_up_to = 11;
CREATE FUNCTION pg_temp.trouble(p_seconds numeric) RETURNS numeric LANGUAGE sql AS $$
    SELECT pg_temp.hold(11, 7);
    SELECT pg_temp.settle(p_seconds, 7, '{11}', 'trouble', 'away');
    SELECT extract(epoch FROM backfill_next_at - pg_temp.at(p_seconds)) FROM pg_temp.row_of(11) $$;
SELECT is((SELECT array_agg(pg_temp.trouble(1000 * g) ORDER BY g) FROM generate_series(1, 8) AS g), '{30,60,120,240,480,900,900,900}'::numeric[],
          'trouble waits 30 s, 1 min, 2 min, 4 min, 8 min, 15 min, and never longer');
SELECT is((SELECT row(backfill_attempts, backfill_at, backfill_error, backfill_token, backfill_claimed_until, updated_at)::text FROM pg_temp.row_of(11)),
          row(8, NULL, 'away', NULL, pg_temp.at(9999), pg_temp.at(8000))::text, '… and leaves attempts and error, no claim, and how long the try may be under way');
SELECT is(pg_temp.cursor_at(), 11::bigint, '… and the cursor has passed it: the retry index finds it');
SELECT is(pg_temp.claim(8899.999, 8), NULL, 'inside its wait it is not claimed');
SELECT is(pg_temp.claim(8900, 8), '{11}'::bigint[], '… then it is, to the moment');
SELECT is(pg_temp.claim(8959.999, 9), NULL, 'a live claim keeps a retry');
SELECT is(pg_temp.claim(8960, 9), '{11}'::bigint[], '… until it ends');
UPDATE msgx.proc_state SET backfill_attempts = 18 WHERE msg_id = 11;
SELECT is((SELECT row(marked, already, abandoned, retried, refused)::text FROM pg_temp.settle(9000, 9, '{11}', 'trouble', 'away')), '(0,0,0,1,0)', 'the attempt before the last: once more');
SELECT pg_temp.hold(11, 10);
SELECT is((SELECT row(marked, already, abandoned, retried, refused)::text FROM pg_temp.settle(10000, 10, '{11}', 'trouble')), '(0,0,1,0,0)', 'the attempt that reaches backfill-max-attempts: given up, and not to be tried again');
SELECT is((SELECT row(backfill_attempts, backfill_next_at, backfill_abandoned_at, backfill_abandoned_reason, backfill_error)::text FROM pg_temp.row_of(11)),
          row(20, NULL, pg_temp.at(10000), 'trouble', NULL)::text, '… with the reason; an empty error is none');
UPDATE msgx.proc_state SET received_at = pg_temp.at() - interval '1 year' WHERE msg_id = 11;
SELECT is(pg_temp.claim(99999, 11), NULL, 'what was given up is not claimed, however old');
UPDATE msgx.setting SET value = '1' WHERE key = 'pipeline.backfill-max-attempts';
SELECT pg_temp.owe(12, 12), pg_temp.hold(12, 12);
SELECT is((SELECT abandoned FROM pg_temp.settle(10000, 12, '{12}', 'trouble', 'away')), 1, 'the limit is the setting''s');
UPDATE msgx.setting SET value = '20' WHERE key = 'pipeline.backfill-max-attempts';

-- Missing, and a message that is open again.
SELECT pg_temp.owe(13, 14), pg_temp.hold(13, 13), pg_temp.hold(14, 13), pg_temp.hold(15, 13);
SELECT is((SELECT row(marked, already, abandoned, retried, refused)::text FROM pg_temp.settle(10001, 13, '{13}', 'missing', 'no row')), '(0,0,1,0,0)', 'missing: given up at once');
SELECT is((SELECT row(backfill_attempts, backfill_at, backfill_next_at, backfill_abandoned_reason)::text FROM pg_temp.row_of(13)), '(0,,,"missing: no row")', '… with the reason, and no attempt counted');
SELECT is((SELECT row(marked, refused)::text FROM pg_temp.settle(10002, 13, '{15}', 'marked')), '(0,1)', 'a message that is not finished is never confirmed');
SELECT is((SELECT backfill_at FROM pg_temp.row_of(15)), NULL, '… so nothing says that it is marked');
UPDATE msgx.proc_state SET backfill_token = NULL, backfill_claimed_until = NULL WHERE msg_id = 15;
SELECT is((SELECT row(marked, already, abandoned, retried, refused)::text
             FROM msgx.backfill_settle(pg_temp.epoch(), pg_temp.token(13), '{16,14}', '{missing,marked}', '{"",""}', pg_temp.at(10003))), '(1,0,0,0,1)', 'each message has the result in its place');
SELECT is((SELECT row(marked, already, abandoned, retried, refused)::text FROM msgx.backfill_settle(pg_temp.epoch(), pg_temp.token(13), '{}', '{}', '{}', pg_temp.at(10004))),
          '(0,0,0,0,0)', 'a round with nothing in it counts nothing');

-- Where the cursor may stand: 16 to 18 owe, 16 has the first trouble, 17 is owed, the pump is at 18.
SELECT pg_temp.owe(16, 18), pg_temp.owe(20, 20), pg_temp.hold(16, 14);
UPDATE msgx.pipeline_lock SET done_up_to = 18;
SELECT pg_temp.settle(10005, 14, '{16}', 'trouble', 'away');
SELECT is(pg_temp.cursor_at(), 16::bigint, 'the cursor is just below the first first try');
UPDATE msgx.pipeline_lock SET done_up_to = 16;
SELECT pg_temp.settle(10005, 14, '{16}', 'trouble', 'away');
SELECT is(pg_temp.cursor_at(), 16::bigint, '… and never above the pump''s place');
UPDATE msgx.pipeline_lock SET done_up_to = 18;
SELECT pg_temp.hold(17, 15), pg_temp.hold(18, 15);
SELECT pg_temp.settle(10006, 15, '{17,18}', 'marked');
SELECT is(pg_temp.cursor_at(), 18::bigint, '… though there are owed marks above it');

-- Retries: order, shares, age. 16 has one attempt, due at 10035.
SELECT pg_temp.owe(19, 26);
UPDATE msgx.pipeline_lock SET done_up_to = 26;
UPDATE msgx.proc_state SET backfill_attempts = 2 WHERE msg_id IN (19, 20, 21);
UPDATE msgx.proc_state SET backfill_attempts = 1 WHERE msg_id = 22;
CREATE FUNCTION pg_temp.free() RETURNS void LANGUAGE sql AS $$ UPDATE msgx.proc_state SET backfill_token = NULL, backfill_claimed_until = NULL $$;
SELECT is(pg_temp.claim(10010, 16, 6), '{19,20,22,23,24,25}'::bigint[], 'half and half: fewest attempts first, then the lowest ids; each message once');
SELECT pg_temp.free();
SELECT is(pg_temp.claim(10010, 16, 5), '{19,22,23,24,25}'::bigint[], 'of an odd limit the first tries have the greater half');
SELECT pg_temp.free();
SELECT is(pg_temp.claim(10010, 16, 7), '{19,20,22,23,24,25,26}'::bigint[], 'what retries leave over …');
SELECT pg_temp.free();
UPDATE msgx.proc_state SET backfill_next_at = NULL WHERE msg_id BETWEEN 24 AND 26;
SELECT is(pg_temp.claim(10010, 16, 4), '{19,20,22,23}'::bigint[], '… and what first tries leave over the other kind takes');
SELECT pg_temp.free();
UPDATE msgx.proc_state SET backfill_next_at = NULL WHERE msg_id BETWEEN 19 AND 23;
SELECT is(pg_temp.claim(10010, 17), NULL, 'only 16 is owed now, and backing off');
UPDATE msgx.proc_state SET received_at = pg_temp.at(10011) - interval '30 days', updated_at = pg_temp.at(9980) WHERE msg_id = 16;
SELECT is(pg_temp.claim(10010, 17), NULL, '… not older than R');
SELECT is(pg_temp.claim(10011, 17), '{16}'::bigint[], '… older than R: due in spite of its backoff');
SELECT is(pg_temp.claim(10012, 18), NULL, '… but not in spite of a live claim');
UPDATE msgx.proc_state SET received_at = NULL WHERE msg_id = 16;
SELECT pg_temp.free();
SELECT is(pg_temp.claim(10012, 19), NULL, 'a null time of arrival is never older than R');
UPDATE msgx.setting SET value = 'true' WHERE key = 'shadow';
SELECT is(pg_temp.claim(10040, 20), NULL, 'a shadow claims no retry either');
UPDATE msgx.setting SET value = 'false' WHERE key = 'shadow';

-- Resume.
SELECT results_eq($$SELECT msg_id, backfill_next_at, backfill_attempts, backfill_abandoned_at, backfill_abandoned_reason, updated_at
                      FROM msgx.backfill_resume('{13,11,1,999}', 'li', 'row restored', pg_temp.at(20000)) ORDER BY msg_id$$,
    $$SELECT g, pg_temp.at(20000), 1, NULL::timestamptz, NULL::text, pg_temp.at(20000) FROM unnest('{11,13}'::bigint[]) AS g$$, 'backfill_resume: what had been given up is owed again, from the first attempt on');
SELECT is((SELECT row(backfill_at, backfill_next_at)::text FROM pg_temp.row_of(1)), row(pg_temp.at(62), NULL)::text, '… a confirmed mark is left alone');
SELECT results_eq($$SELECT operator, subject, reason, at FROM msgx.operator_audit WHERE action = 'backfill_resume'$$,
    $$VALUES ('li', 'messages 13, 11, 1, 999', 'row restored', pg_temp.at(20000))$$, '… and it is written down who did it and why');
SELECT is(pg_temp.claim(20000, 21), '{11,13,16}'::bigint[], '… and they are claimed though the cursor has passed them');
SELECT throws_ok($$SELECT * FROM msgx.backfill_resume('{12}', 'li', ' ', pg_temp.at())$$, 'MX003', NULL, 'no reason: refused');
SELECT is((SELECT backfill_abandoned_at FROM pg_temp.row_of(12)), pg_temp.at(10000), '… and nothing has changed');
SELECT * FROM finish();
ROLLBACK;

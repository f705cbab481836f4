BEGIN;
\ir ../../fixture.psql
SELECT plan(35);
-- Messages 1 to 9 are finished and owe their marks; 10 is not finished.
SELECT pg_temp.enqueue(1, 10);
UPDATE msgx.proc_state SET state = 'SUCCEEDED', outcome = 'applied', finished_at = pg_temp.at(), backfill_next_at = pg_temp.at() WHERE msg_id < 10;
UPDATE msgx.pipeline_lock SET done_up_to = 9;
CREATE FUNCTION pg_temp.token(p_n integer) RETURNS uuid LANGUAGE sql AS $$ SELECT ('00000000-0000-0000-0000-' || lpad(p_n::text, 12, '0'))::uuid $$;
CREATE FUNCTION pg_temp.claim(p_seconds numeric, p_token integer, p_limit integer DEFAULT 100) RETURNS bigint[] LANGUAGE sql AS $$
    SELECT array_agg(msg_id) FROM msgx.backfill_claim(pg_temp.epoch(), pg_temp.at(p_seconds), p_limit, pg_temp.token(p_token), '60 s') $$;
CREATE FUNCTION pg_temp.settle(p_seconds numeric, p_token integer, p_ids bigint[], p_result text) RETURNS SETOF msgx.r_backfill_round LANGUAGE sql AS $$
    SELECT * FROM msgx.backfill_settle(pg_temp.epoch(), pg_temp.token(p_token), p_ids, array_fill(p_result, ARRAY[cardinality(p_ids)]),
                                       array_fill(CASE p_result WHEN 'trouble' THEN 'away' ELSE '' END, ARRAY[cardinality(p_ids)]), pg_temp.at(p_seconds)) $$;
CREATE FUNCTION pg_temp.cursor_at() RETURNS bigint LANGUAGE sql AS $$ SELECT settled_up_to FROM msgx.backfill_cursor $$;

SELECT is(pg_temp.claim(0, 1, 3), '{1,2,3}'::bigint[], 'backfill_claim: first tries in id order, at most as many as asked for');
SELECT is(pg_temp.claim(0, 2, 3), '{4,5,6}'::bigint[], 'what is under a live claim is left alone');
SELECT is((SELECT row(marked, already, abandoned, retried, refused)::text FROM pg_temp.settle(1, 9, '{1,2,3}', 'marked')), '(0,0,0,0,3)', 'backfill_settle: without the token nothing is settled');
SELECT is((SELECT count(*) FROM msgx.proc_state WHERE backfill_at IS NOT NULL), 0::bigint, '… nothing at all');
SELECT is((SELECT row(marked, already, abandoned, retried, refused)::text FROM pg_temp.settle(1, 1, '{1,2}', 'marked')), '(2,0,0,0,0)', 'marks that were written are confirmed');
SELECT is((SELECT row(backfill_at, backfill_next_at, backfill_token)::text FROM msgx.proc_state WHERE msg_id = 1), row(pg_temp.at(1), NULL, NULL)::text, '… and owed no more');
SELECT is(pg_temp.cursor_at(), 2::bigint, 'the cursor moves over what is settled');
SELECT is((SELECT already FROM pg_temp.settle(1, 2, '{4}', 'already')), 1, 'a row that was marked before counts as marked');
SELECT is((SELECT backfill_at IS NOT NULL FROM msgx.proc_state WHERE msg_id = 4), true, '… confirmed');
SELECT is(pg_temp.cursor_at(), 2::bigint, '… but the cursor waits for the first try before it');
SELECT is((SELECT abandoned FROM pg_temp.settle(1, 1, '{3}', 'missing')), 1, 'a row that is gone is given up at once');
SELECT is((SELECT row(backfill_at, backfill_next_at, backfill_abandoned_at, backfill_abandoned_reason)::text FROM msgx.proc_state WHERE msg_id = 3), row(NULL, NULL, pg_temp.at(1), 'missing')::text, '… which is not a mark');
SELECT is(pg_temp.cursor_at(), 4::bigint, '… and the cursor passes it');

SELECT is((SELECT retried FROM pg_temp.settle(1, 2, '{5,6}', 'trouble')), 2, 'trouble is tried again');
SELECT is((SELECT row(backfill_attempts, backfill_next_at, backfill_error)::text FROM msgx.proc_state WHERE msg_id = 5), row(1, pg_temp.at(31), 'away')::text, '… after 30 s');
SELECT is(pg_temp.cursor_at(), 6::bigint, '… by the retry index, so the cursor passes it');
SELECT is(pg_temp.claim(2, 3), '{7,8,9}'::bigint[], 'a message that is not finished is never claimed, nor one that is backing off');
SELECT is(pg_temp.claim(61, 4), '{5,6}'::bigint[], 'it comes back when its time has come');
SELECT is(pg_temp.claim(62, 5), '{7,8,9}'::bigint[], 'a claim that has ended is taken again');
SELECT is((SELECT refused FROM pg_temp.settle(63, 3, '{7}', 'marked')), 1, '… and the one that lost it settles nothing');
SELECT pg_temp.settle(63, 4, '{5}', 'trouble');
SELECT is((SELECT backfill_next_at FROM msgx.proc_state WHERE msg_id = 5), pg_temp.at(123), 'the second wait is a minute');
UPDATE msgx.proc_state SET backfill_attempts = 9, backfill_token = pg_temp.token(6) WHERE msg_id = 5;
SELECT pg_temp.settle(200, 6, '{5}', 'trouble');
SELECT is((SELECT backfill_next_at FROM msgx.proc_state WHERE msg_id = 5), pg_temp.at(200 + 900), 'the longest is 15 minutes');
SELECT is(pg_temp.claim(300, 7), '{6,7,8,9}'::bigint[], 'inside the backoff it is not due');
UPDATE msgx.proc_state SET received_at = pg_temp.at(300) - interval '30 days' WHERE msg_id = 5;
SELECT is(pg_temp.claim(300, 8), '{5}'::bigint[], '… unless the message is older than R');
UPDATE msgx.proc_state SET backfill_attempts = 19 WHERE msg_id = 5;
SELECT is((SELECT abandoned FROM pg_temp.settle(301, 8, '{5}', 'trouble')), 1, 'at backfill-max-attempts it is given up');
SELECT is((SELECT backfill_abandoned_reason FROM msgx.proc_state WHERE msg_id = 5), 'trouble: away', '… with the reason');
SELECT pg_temp.settle(301, 7, '{6,7,8,9}', 'marked');

-- Fairness, a null received time, shadow, resume.
SELECT pg_temp.enqueue(11, 20);
UPDATE msgx.proc_state SET state = 'SUCCEEDED', outcome = 'applied', finished_at = pg_temp.at(), backfill_next_at = pg_temp.at() WHERE msg_id > 9;
UPDATE msgx.proc_state SET backfill_attempts = 21 - msg_id WHERE msg_id BETWEEN 10 AND 14;
UPDATE msgx.pipeline_lock SET done_up_to = 20;
SELECT is(pg_temp.claim(400, 10, 4), '{13,14,15,16}'::bigint[], 'first tries and retries have half of the limit each; retries with the fewest attempts go first');
SELECT is(pg_temp.claim(400, 11, 100), '{10,11,12,17,18,19,20}'::bigint[], 'what one kind leaves over the other takes');
SELECT pg_temp.settle(400, 11, '{17}', 'trouble');
SELECT is((SELECT count(*) FROM msgx.backfill_claim(pg_temp.epoch(), pg_temp.at(401), 100, pg_temp.token(12), '60 s') WHERE msg_id = 17), 0::bigint, 'a null received time makes nothing overdue');
SELECT is((SELECT array_agg(msg_id) FROM msgx.backfill_resume('{3,4,5}', 'li', 'row restored', pg_temp.at(500))), '{3,5}'::bigint[], 'backfill_resume: abandoned marks are owed again, others are left alone');
SELECT is((SELECT subject FROM msgx.operator_audit WHERE action = 'backfill_resume'), 'messages 3, 4, 5', '… audited');
UPDATE msgx.setting SET value = 'true' WHERE key = 'shadow';
SELECT is(pg_temp.claim(501, 13), NULL, 'a shadow claims nothing');
UPDATE msgx.setting SET value = 'false' WHERE key = 'shadow';
SELECT ok(pg_temp.claim(501, 14) @> '{3,5}', '… and the resumed ones are found');
SELECT throws_ok($$SELECT * FROM msgx.backfill_claim(0, pg_temp.at(), 1, pg_temp.token(1), '60 s')$$, 'MX001', NULL, 'a former epoch claims nothing');
SELECT throws_ok($$SELECT * FROM msgx.backfill_settle(0, pg_temp.token(1), '{}', '{}', '{}', pg_temp.at())$$, 'MX001', NULL, '… and settles nothing');
SELECT * FROM finish();
ROLLBACK;

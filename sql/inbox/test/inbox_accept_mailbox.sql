BEGIN;
\ir ../../fixture.psql
SELECT plan(19);
-- A poll that finds rows in an otherwise plain mailbox.
CREATE FUNCTION pg_temp.poll(p_ids bigint[], p_max bigint, p_next bigint, p_server text, p_seconds numeric)
RETURNS SETOF msgx.r_inbox_round LANGUAGE sql AS $$
    SELECT * FROM msgx.inbox_advance(pg_temp.epoch(), (SELECT poll_seq FROM msgx.inbox_cursor), p_ids, array_fill(''::text, ARRAY[cardinality(p_ids)]),
                                     pg_temp.at(p_seconds), pg_temp.at(p_seconds), p_server, p_max, p_next, '{}', '{}') $$;

-- Another server, or rows that vanished from the end: hole windows count anew.
SELECT results_eq($$SELECT watermark, windows_anew FROM pg_temp.poll('{1,2,3,5}', 5, NULL, 'a', 0)$$, $$VALUES (3::bigint, NULL::text)$$, 'a hole above row 3, on server a');
SELECT results_eq($$SELECT watermark, windows_anew FROM pg_temp.poll('{5}', 5, NULL, 'b', 200)$$, $$VALUES (3::bigint, 'the mailbox was on server a and is on b')$$, 'server b answers');
SELECT is((SELECT watermark FROM pg_temp.poll('{5}', 5, NULL, 'b', 300)), 3::bigint, 'the window that began on server a does not count');
SELECT results_eq($$SELECT watermark, windows_anew FROM pg_temp.poll('{5}', 5, NULL, 'b', 500)$$, $$VALUES (5::bigint, NULL::text)$$, '… the one from the first poll of server b does');
SELECT is((SELECT watermark FROM pg_temp.poll('{7}', 7, NULL, 'b', 600)), 5::bigint, 'a hole above row 5');
SELECT results_eq($$SELECT watermark, windows_anew FROM pg_temp.poll('{}', 5, NULL, 'b', 700)$$, $$VALUES (5::bigint, 'the highest id of the mailbox was 7 and is 5')$$, 'row 7 is gone: its id may come again, and 6 too');
SELECT results_eq($$SELECT watermark, windows_anew FROM pg_temp.poll('{7}', 7, NULL, 'b', 900)$$, $$VALUES (5::bigint, NULL::text)$$, 'the window before that does not count');
SELECT is((SELECT watermark FROM pg_temp.poll('{7}', 7, NULL, 'b', 1000)), 7::bigint, '… the one after it does');

-- Refused and accepted.
SELECT throws_ok($$SELECT * FROM msgx.inbox_accept_mailbox('li', 'why not', pg_temp.at())$$, 'MX005', NULL, 'nothing is refused: nothing to accept');
SELECT matches((SELECT refused_why FROM pg_temp.poll('{}', 0, 1, 'b', 1100)), 'the ids of the mailbox went back', 'refused');
SELECT throws_ok($$SELECT * FROM msgx.inbox_accept_mailbox('li', ' ', pg_temp.at())$$, 'MX003', NULL, 'why must be said');
CREATE TEMP TABLE was AS SELECT to_jsonb(c) AS c FROM msgx.inbox_cursor AS c;
SELECT results_eq($$SELECT refused_why, refused_since, trusted_to, mailbox_server, mailbox_max, readable_since FROM msgx.inbox_accept_mailbox('li', 'counter set above', pg_temp.at(1200))$$,
                  $$VALUES (NULL::text, NULL::timestamptz, 7::bigint, NULL::text, NULL::bigint, pg_temp.at(1200))$$, 'accepted: what is there counts as known, hole windows count from now');
SELECT is((SELECT to_jsonb(c) - '{refused_why,refused_since,trusted_to,mailbox_server,mailbox_max,readable_since}'::text[] FROM msgx.inbox_cursor AS c),
          (SELECT c - '{refused_why,refused_since,trusted_to,mailbox_server,mailbox_max,readable_since}'::text[] FROM was), '… and nothing else changes');
SELECT results_eq($$SELECT operator, action, subject, reason, detail ->> 'refused_why' LIKE 'the ids%' FROM msgx.operator_audit WHERE action = 'inbox_accept_mailbox'$$,
                  $$VALUES ('li', 'inbox_accept_mailbox', 'watermark 7', 'counter set above', true)$$, 'it is on record, with what was accepted');
SELECT matches((SELECT refused_why FROM pg_temp.poll('{}', 0, 1, 'b', 1300)), 'the ids of the mailbox went back', 'while the counter is not right it is refused again');
SELECT is((SELECT count(*) FROM msgx.inbox_accept_mailbox('li', 'now it is', pg_temp.at(1400))), 1::bigint, 'accepted again');
SELECT results_eq($$SELECT accepted, watermark FROM pg_temp.poll('{}', 0, 8, 'b', 1500)$$, $$VALUES (true, 7::bigint)$$, 'with the counter above the watermark it goes on');
SELECT results_eq($$SELECT watermark, enqueued FROM pg_temp.poll('{8,9}', 9, NULL, 'b', 1600)$$, $$VALUES (9::bigint, 2)$$, '… and takes what comes');
SELECT is((SELECT count(*) FROM msgx.proc_state), 7::bigint, 'every row once');
SELECT * FROM finish();
ROLLBACK;

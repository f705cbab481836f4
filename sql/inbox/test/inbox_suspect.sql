BEGIN;
\ir ../../fixture.psql
SELECT plan(33);
-- A poll of a mailbox: its rows above the watermark, highest id, next id, rows below, where and when.
CREATE FUNCTION pg_temp.poll(p_ids bigint[], p_max bigint, p_next bigint, p_below bigint[], p_below_at text[], p_server text DEFAULT 'a', p_seconds numeric DEFAULT 0)
RETURNS SETOF msgx.r_inbox_round LANGUAGE sql AS $$
    SELECT * FROM msgx.inbox_advance(pg_temp.epoch(), (SELECT poll_seq FROM msgx.inbox_cursor), p_ids,
                                     array_fill('2026-04-17 00:00:00+00'::text, ARRAY[cardinality(p_ids)]), pg_temp.at(p_seconds), pg_temp.at(p_seconds),
                                     p_server, p_max, p_next, p_below, p_below_at) $$;
CREATE FUNCTION pg_temp.judge(p_max bigint, p_next bigint, p_below bigint[] DEFAULT '{}', p_below_at text[] DEFAULT '{}') RETURNS text LANGUAGE sql AS $$
    SELECT coalesce(left(msgx.inbox_suspect(p_max, p_next, p_below, p_below_at), 30), 'well') $$;
CREATE FUNCTION pg_temp.cursor() RETURNS jsonb LANGUAGE sql AS $$ SELECT to_jsonb(c) FROM msgx.inbox_cursor AS c $$;

-- The ids go back.
SELECT is(pg_temp.judge(0, 1), 'well', 'an empty mailbox of a new instance');
SELECT is(pg_temp.judge(0, NULL), 'well', '… also when it does not tell its next id');
SELECT is((SELECT watermark FROM pg_temp.poll('{1,2,3}', 3, NULL, '{}', '{}')), 3::bigint, 'three rows');
SELECT is(pg_temp.judge(3, NULL), 'well', 'it ends at the watermark');
SELECT is(pg_temp.judge(2, 4), 'well', 'its last row was purged: the next one comes above the watermark');
SELECT is(pg_temp.judge(0, 4), 'well', '… all of them');
SELECT is(pg_temp.judge(2, 3), 'the ids of the mailbox went ba', 'its next row would get the id of the watermark');
SELECT is(pg_temp.judge(0, 1), 'the ids of the mailbox went ba', '… or one below');
SELECT is(pg_temp.judge(NULL, 1), 'the ids of the mailbox went ba', '… no highest id is none');
SELECT is(pg_temp.judge(2, NULL), 'the ids of the mailbox went ba', '… or one that is not known');
UPDATE msgx.inbox_cursor SET seed_floor = 3, seeded_mode = '3', mailbox_max = 2;
SELECT is(pg_temp.judge(2, 3), 'well', 'seeded above all rows by its operator');
UPDATE msgx.inbox_cursor SET mailbox_max = NULL;
SELECT is(pg_temp.judge(2, 3), 'well', '… before the first poll too');
UPDATE msgx.inbox_cursor SET mailbox_max = 3;
SELECT is(pg_temp.judge(2, 3), 'the ids of the mailbox went ba', '… but a row at the watermark was seen');
UPDATE msgx.inbox_cursor SET seeded_mode = 'max', mailbox_max = NULL;
SELECT is(pg_temp.judge(2, 3), 'the ids of the mailbox went ba', '… and seeded with max it was there');
UPDATE msgx.inbox_cursor SET seed_floor = 2, seeded_mode = '2';
SELECT is(pg_temp.judge(2, 3), 'the ids of the mailbox went ba', '… and so was what was read above the seed');

-- Other rows below.
UPDATE msgx.inbox_cursor SET seed_floor = NULL, seeded_mode = NULL, mailbox_max = 3;
SELECT is(pg_temp.judge(9, 10, '{2,3}', '{2026-04-17 00:00:00+00,2026-04-17 08:00:00+08}'), 'well', 'rows below as they were read');
SELECT is(pg_temp.judge(9, 10, '{2,3}', '{2026-04-17 00:00:00+00,2026-04-17 00:00:01+00}'), 'mailbox row 3 is another one n', 'one was received at another time');
SELECT is(pg_temp.judge(9, 10, '{2,3}', '{"",2026-04-17 00:00:00+00}'), 'mailbox row 2 is another one n', '… or has no time now');
SELECT is(pg_temp.judge(9, 10, '{0}', '{2026-04-17 00:00:01+00}'), 'well', 'one that was never read has nothing to be compared with');
UPDATE msgx.proc_state SET received_at = NULL WHERE msg_id = 3;
SELECT is(pg_temp.judge(9, 10, '{3}', '{""}'), 'well', 'no time then, no time now');
SELECT is(pg_temp.judge(9, 10, '{3}', '{2026-04-17 00:00:00+00}'), 'well', 'no time then, a time now: its writer may have added it');
UPDATE msgx.proc_state SET received_at = pg_temp.at(1) WHERE msg_id = 3;
UPDATE msgx.proc_state SET source = 'compat' WHERE msg_id = 3;
SELECT is(pg_temp.judge(9, 10, '{3}', '{2026-04-17 00:00:00+00}'), 'well', 'only a time that was read counts');
UPDATE msgx.proc_state SET source = 'poll' WHERE msg_id = 3;
UPDATE msgx.inbox_cursor SET seed_floor = 3;
SELECT is(pg_temp.judge(9, 10, '{3}', '{2026-04-17 00:00:00+00}'), 'well', 'below the seed nothing is compared');
UPDATE msgx.inbox_cursor SET seed_floor = NULL, trusted_to = 3;
SELECT is(pg_temp.judge(9, 10, '{3}', '{2026-04-17 00:00:00+00}'), 'well', '… nor what an operator accepted');
UPDATE msgx.inbox_cursor SET trusted_to = NULL;

-- What a poll does about it.
CREATE TEMP TABLE was AS SELECT pg_temp.cursor() AS c;
SELECT results_eq($$SELECT accepted, watermark, enqueued, poll_seq, seen_to, left(refused_why, 28) FROM pg_temp.poll('{4}', 4, 5, '{3}', '{2026-04-17 00:00:00+00}', p_seconds => 5)$$,
                  $$VALUES (false, 3::bigint, 0, 1::bigint, 3::bigint, 'mailbox row 3 is another one')$$, 'such a mailbox is refused, with its reason');
SELECT is(pg_temp.cursor() - 'refused_why' - 'refused_since', (SELECT c - 'refused_why' - 'refused_since' FROM was), '… and nothing else changes');
SELECT is((SELECT refused_since FROM msgx.inbox_cursor), pg_temp.at(5), '… but since when');
SELECT is_empty('SELECT FROM msgx.proc_state WHERE msg_id = 4', '… nothing is enqueued');
SELECT matches((SELECT refused_why FROM pg_temp.poll('{4}', 4, 5, '{}', '{}', p_seconds => 9)), 'row 3', 'it stays refused, whatever it shows later');
SELECT matches((SELECT refused_why FROM msgx.inbox_advance(pg_temp.epoch(), 1, '{4}', '{""}', pg_temp.at(9), pg_temp.at(9))), 'row 3', '… or does not show');
SELECT matches((SELECT refused_why FROM msgx.inbox_advance(pg_temp.epoch(), -1, NULL, NULL, NULL, NULL)), 'row 3', '… which who only asks is told');
SELECT is((SELECT refused_since FROM msgx.inbox_cursor), pg_temp.at(5), '… since when it is');
SELECT set_eq($$SELECT lo FROM msgx.inbox_hole$$, '{}'::bigint[], 'no hole was seen in it');
SELECT * FROM finish();
ROLLBACK;

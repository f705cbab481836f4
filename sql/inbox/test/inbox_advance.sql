BEGIN;
\ir ../../fixture.psql
SELECT plan(69);
-- A page read at p_seconds and handed over at once.
CREATE FUNCTION pg_temp.poll(p_seconds numeric, VARIADIC p_ids bigint[]) RETURNS SETOF msgx.r_inbox_round LANGUAGE sql AS $$
    SELECT * FROM msgx.inbox_advance(pg_temp.epoch(), (SELECT poll_seq FROM msgx.inbox_cursor), p_ids,
                                     array_fill(''::text, ARRAY[cardinality(p_ids)]), pg_temp.at(p_seconds), pg_temp.at(p_seconds)) $$;
CREATE FUNCTION pg_temp.ledger() RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(format('%s-%s %s@%s', lo, hi, state, extract(epoch FROM first_seen_at - pg_temp.at())::int), ', ' ORDER BY lo) FROM msgx.inbox_hole $$;

-- Fenced first: a former holder locks nothing.
CREATE TEMP TABLE locked AS SELECT xmax AS by FROM msgx.inbox_cursor;
SELECT throws_ok($$SELECT * FROM msgx.inbox_advance(0, 0, '{}', '{}', pg_temp.at(), pg_temp.at())$$, 'MX001', NULL, 'a former epoch is refused');
SELECT is((SELECT xmax FROM msgx.inbox_cursor), (SELECT by FROM locked), '… before it locks the cursor');
SELECT is((SELECT count(*) FROM msgx.inbox_advance(pg_temp.epoch(), 7, NULL, NULL, NULL, NULL)), 1::bigint, 'a poll with another number may ask how the cursor stands, with nothing else');
SELECT is((SELECT xmax FROM msgx.inbox_cursor), pg_current_xact_id()::xid, '… and even so the cursor is locked first');
SELECT results_eq('SELECT accepted, watermark, enqueued, poll_seq FROM pg_temp.poll(0, 1, 2, 3)', $$VALUES (true, 3::bigint, 3, 1::bigint)$$,
                  'without a hole everything is enqueued and the watermark moves');
SELECT is((SELECT count(*) FROM msgx.proc_state WHERE state = 'PENDING' AND received_at IS NULL), 3::bigint, 'a received time may be null');
CREATE TEMP TABLE was AS SELECT c.* FROM msgx.inbox_cursor AS c;
SELECT results_eq($$SELECT accepted, watermark_before, watermark, enqueued, released_holes, released_ids, poll_seq, seen_to
                     FROM msgx.inbox_advance(pg_temp.epoch(), 0, '{4,6}', '{"",""}', pg_temp.at(), pg_temp.at())$$,
                  $$VALUES (false, 3::bigint, 3::bigint, 0, 0, 0::bigint, 1::bigint, 3::bigint)$$, 'a poll with another number tells how the cursor stands');
SELECT is((SELECT count(*) FROM msgx.proc_state), 3::bigint, '… enqueues nothing');
SELECT is_empty('SELECT * FROM msgx.inbox_hole', '… sees no hole');
SELECT set_eq('SELECT c::text FROM msgx.inbox_cursor AS c', 'SELECT w::text FROM was AS w', '… and leaves the cursor as it was');
SELECT is((SELECT accepted FROM msgx.inbox_advance(pg_temp.epoch(), NULL, '{4}', '{""}', pg_temp.at(), pg_temp.at())), false, 'no number is another number');
SELECT is((SELECT poll_seq FROM msgx.inbox_advance(pg_temp.epoch(), 1, '{}', '{}', pg_temp.at(1), pg_temp.at(1))), 2::bigint, 'an empty page counts as a poll');
SELECT set_eq($$SELECT to_jsonb(c) - 'poll_seq' - 'last_poll_at' FROM msgx.inbox_cursor AS c$$, $$SELECT to_jsonb(w) - 'poll_seq' - 'last_poll_at' FROM was AS w$$,
              '… and changes nothing but the number');
SELECT is((SELECT last_poll_at FROM msgx.inbox_cursor), pg_temp.at(1), '… and the time of the last poll');

SELECT results_eq('SELECT watermark, enqueued, hole_since FROM pg_temp.poll(10, 5, 6)', $$VALUES (3::bigint, 0, pg_temp.at(10))$$,
                  'a hole right above the watermark holds it, also when the page starts on it');
SELECT is(pg_temp.ledger(), '4-4 OPEN@10', 'it is in the ledger since its first sighting');
SELECT is((SELECT watermark FROM pg_temp.poll(309, 5, 6)), 3::bigint, 'inside its window it holds');
SELECT is((SELECT watermark FROM msgx.inbox_advance(pg_temp.epoch(), (SELECT poll_seq FROM msgx.inbox_cursor), '{5,6}', '{"",""}', pg_temp.at(309), pg_temp.at(400))), 3::bigint,
          'what counts is when the read started, not when it ended');
SELECT results_eq('SELECT watermark, enqueued, released_holes, released_ids, hole_since FROM pg_temp.poll(310, 5, 6)',
                  $$VALUES (6::bigint, 2, 1, 1::bigint, NULL::timestamptz)$$, 'when its window has passed it is crossed');
SELECT is((SELECT released_why || ' ' || released_at FROM msgx.inbox_hole), 'aged ' || pg_temp.at(310), '… and the release is recorded');

SELECT is((SELECT watermark FROM pg_temp.poll(320, 8, 10)), 6::bigint, 'a new hole gets a full window of its own');
SELECT is(pg_temp.ledger(), '4-4 RELEASED@10, 7-7 OPEN@320, 9-9 OPEN@320', '… each of them');
SELECT is((SELECT watermark FROM pg_temp.poll(330, 7, 8, 10)), 8::bigint, 'a row that appears fills its hole');
SELECT is(pg_temp.ledger(), '4-4 RELEASED@10, 9-9 OPEN@320', '… and leaves the ledger; the next one keeps its first sighting');
SELECT is((SELECT hole_since FROM msgx.inbox_cursor), pg_temp.at(320), 'hole_since is the first sighting of the hole above the watermark');
SELECT is((SELECT watermark FROM pg_temp.poll(620, 10, 12)), 10::bigint, 'which is crossed when its own window has passed');
SELECT is(pg_temp.ledger(), '4-4 RELEASED@10, 9-9 RELEASED@320, 11-11 OPEN@620', 'a later one is not');
SELECT is((SELECT watermark FROM pg_temp.poll(700, 11, 12)), 12::bigint, 'filled');

-- Many and large.
SELECT is((SELECT watermark FROM pg_temp.poll(1000, VARIADIC ARRAY(SELECT 12 + 2 * g FROM generate_series(1, 1000) AS g))), 12::bigint, 'a thousand scattered holes hold');
SELECT results_eq('SELECT watermark, enqueued, released_holes FROM pg_temp.poll(1300, VARIADIC ARRAY(SELECT 12 + 2 * g FROM generate_series(1, 1000) AS g))',
                  $$VALUES (2012::bigint, 1000, 1000)$$, '… and cost one window together');
SELECT is((SELECT watermark FROM pg_temp.poll(1400, 1002013)), 2012::bigint, 'a gap of a million ids holds');
SELECT is((SELECT count(*) FROM msgx.inbox_hole WHERE state = 'OPEN'), 1::bigint, '… as one range');
SELECT is((SELECT watermark FROM pg_temp.poll(1500, 500000, 1002013)), 2012::bigint, 'a row in the middle of it');
SELECT is((SELECT array_agg(hi - lo + 1 ORDER BY lo) FROM msgx.inbox_hole WHERE state = 'OPEN'), '{497987,502012}'::bigint[], '… splits it');
SELECT is((SELECT count(*) FROM msgx.inbox_hole WHERE state = 'OPEN' AND first_seen_at = pg_temp.at(1400)), 2::bigint, '… and both pieces keep the first sighting');
SELECT results_eq('SELECT watermark, released_ids FROM pg_temp.poll(1700, 500000, 1002013)', $$VALUES (1002013::bigint, 999999::bigint)$$, 'then both age out');

-- The unreadable mailbox, the operator, the presence that always wins.
SELECT is((SELECT watermark FROM pg_temp.poll(2000, 1002015)), 1002013::bigint, 'a hole');
SELECT msgx.inbox_readable(pg_temp.epoch(), pg_temp.at(2200));
SELECT is((SELECT watermark FROM pg_temp.poll(2499, 1002015)), 1002013::bigint, 'its window does not count from before the mailbox was readable again');
SELECT is((SELECT watermark FROM pg_temp.poll(2500, 1002015)), 1002015::bigint, '… but from then on');
SELECT pg_temp.poll(3000, 1002018);
SELECT msgx.inbox_release_hole(1002016, 1002017, 'li', 'rolled back, says the owner', pg_temp.at(3010));
SELECT is((SELECT watermark FROM msgx.inbox_advance(pg_temp.epoch(), (SELECT poll_seq FROM msgx.inbox_cursor), '{1002018}', '{""}', pg_temp.at(3009), pg_temp.at(3011))), 1002015::bigint,
          'an operator''s release counts only for reads that started after it');
SELECT is((SELECT watermark FROM pg_temp.poll(3012, 1002016, 1002018)), 1002018::bigint, 'then the watermark crosses what is still missing');
SELECT is((SELECT state FROM msgx.proc_state WHERE msg_id = 1002016), 'PENDING', '… and what is present after all is enqueued, in spite of the release');
SELECT is((SELECT array_agg(lo) FROM msgx.inbox_hole WHERE lo > 1002015), '{1002017}'::bigint[], '… and leaves the ledger');

INSERT INTO msgx.proc_state (msg_id, source, updated_at) VALUES (1002019, 'compat', pg_temp.at());
SELECT is((SELECT enqueued FROM pg_temp.poll(3100, 1002019)), 0, 'a row that is enqueued already is not enqueued again');
SELECT is((SELECT source FROM msgx.proc_state WHERE msg_id = 1002019), 'compat', '… and stays as it came');

-- A received time, in whatever zone it was written.
SELECT accepted FROM msgx.inbox_advance(pg_temp.epoch(), (SELECT poll_seq FROM msgx.inbox_cursor), '{1002020}', '{2026-04-17T08:00:05+08:00}', pg_temp.at(3101), pg_temp.at(3102));
SELECT is((SELECT received_at FROM msgx.proc_state WHERE msg_id = 1002020), pg_temp.at(5), 'the received time is kept as an instant');
SELECT is((SELECT updated_at FROM msgx.proc_state WHERE msg_id = 1002020), pg_temp.at(3102), '… and the time of the call');

-- Beyond the page, found by the frontier.
SELECT seen_to FROM msgx.inbox_frontier(pg_temp.epoch(), 1002020, '{1002021,1002024}', pg_temp.at(3200), pg_temp.at(3201));
SELECT results_eq('SELECT watermark, hole_since, seen_to FROM pg_temp.poll(3210, 1002021)', $$VALUES (1002021::bigint, pg_temp.at(3201), 1002024::bigint)$$,
                  'hole_since also tells of a hole right behind the end of the page; the frontier does not go back');
SELECT is((SELECT hole_since FROM msgx.inbox_advance(pg_temp.epoch(), (SELECT poll_seq FROM msgx.inbox_cursor), '{}', '{}', pg_temp.at(3211), pg_temp.at(3211))), pg_temp.at(3201),
          '… and stays while pages are empty');
SELECT results_eq('SELECT watermark, hole_since FROM pg_temp.poll(3501, 1002024, 1002026)', $$VALUES (1002024::bigint, pg_temp.at(3501))$$,
                  'the window of a hole that the frontier saw counts from there; a fresh one behind it holds');
SELECT is((SELECT watermark FROM msgx.inbox_advance(pg_temp.epoch(), (SELECT poll_seq FROM msgx.inbox_cursor), '{1002026}', '{""}', pg_temp.at(9000), pg_temp.at(3502))), 1002024::bigint,
          'a read that ended before it started, as a clock that went back makes it, ends no window');
SELECT is((SELECT watermark FROM pg_temp.poll(3601, 1002025, 1002026)), 1002026::bigint, 'filled');

-- What is gone again, and what lies below.
SELECT is((SELECT watermark FROM pg_temp.poll(3700, 1002028, 1002029)), 1002026::bigint, 'a hole');
SELECT is((SELECT watermark FROM pg_temp.poll(4000, 1002029)), 1002027::bigint, 'it ages out; a row that was there and is gone is a hole of its own, seen now');
SELECT is((SELECT hole_since FROM msgx.inbox_cursor), pg_temp.at(4000), '… which holds the watermark below it');
SELECT is((SELECT watermark FROM pg_temp.poll(4300, 1002029)), 1002029::bigint, '… for a window');
SELECT is((SELECT state || ' ' || released_why FROM msgx.inbox_hole WHERE lo = 4), 'RELEASED aged', 'a released range below the watermark stays for the late watch');

-- The hot path: no hole in the page, none in the ledger above the watermark.
INSERT INTO msgx.inbox_hole (lo, hi, first_seen_at, state, released_at, released_why)
SELECT 2000000 + 2 * g, 2000000 + 2 * g, pg_temp.at(), 'RELEASED', pg_temp.at(), 'aged' FROM generate_series(1, 10000) AS g;
UPDATE msgx.inbox_cursor SET committed_up_to = 2020001, seen_to = 2020001;
CREATE TEMP VIEW touched AS
SELECT coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) AS read, n_tup_ins + n_tup_upd + n_tup_del AS written,
       seq_scan + idx_scan AS looks
  FROM pg_stat_xact_user_tables WHERE relid = 'msgx.inbox_hole'::regclass;
CREATE TEMP TABLE cold AS SELECT t.* FROM touched AS t;
SELECT is((SELECT watermark FROM pg_temp.poll(5000, 2020002, 2020003)), 2020003::bigint, 'behind ten thousand released holes');
SELECT is((SELECT t.read - c.read FROM touched AS t, cold AS c), 0::bigint, '… a page without a hole reads none of them');
SELECT is((SELECT t.written - c.written FROM touched AS t, cold AS c), 0::bigint, '… and writes none');
SELECT is((SELECT t.looks - c.looks FROM touched AS t, cold AS c), 1::bigint, '… after the one look whether any lies in it');

-- Refusals.
CREATE FUNCTION pg_temp.page(p_ids bigint[], p_received text[], p_read timestamptz DEFAULT pg_temp.at(6000), p_now timestamptz DEFAULT pg_temp.at(6000))
RETURNS bigint LANGUAGE sql AS $$
    SELECT watermark FROM msgx.inbox_advance(pg_temp.epoch(), (SELECT poll_seq FROM msgx.inbox_cursor), p_ids, p_received, p_read, p_now) $$;
SELECT throws_ok('SELECT * FROM pg_temp.poll(6000, 2020003)', 'MX003', NULL, 'an id at the watermark is refused');
SELECT throws_ok('SELECT * FROM pg_temp.poll(6000, 2020005, 2020005)', 'MX003', NULL, 'so is an id twice');
SELECT throws_ok('SELECT * FROM pg_temp.poll(6000, 2020005, 2020004)', 'MX003', NULL, 'so are ids that do not ascend');
SELECT throws_ok($$SELECT pg_temp.page('{2020004,NULL,2020006}', '{"","",""}')$$, 'MX003', NULL, 'so is a null among them: it would pass for the missing one');
SELECT throws_ok($$SELECT pg_temp.page('{2020004,2020005}', '{""}')$$, 'MX003', NULL, 'so are fewer received times than ids');
SELECT throws_ok($$SELECT pg_temp.page('{2020004}', NULL)$$, 'MX003', NULL, '… or none');
SELECT throws_ok($$SELECT pg_temp.page('{2020005}', '{""}', NULL)$$, 'MX003', NULL, 'so is a page without the time of its read: no window could be judged');
SELECT throws_ok($$SELECT pg_temp.page('{2020005}', '{""}', pg_temp.at(6000), NULL)$$, 'MX003', NULL, '… or without the time now');
SELECT * FROM finish();
ROLLBACK;

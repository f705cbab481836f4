BEGIN;
\ir ../../fixture.psql
SELECT plan(40);
-- A page read at p_seconds and handed over at once.
CREATE FUNCTION pg_temp.poll(p_seconds numeric, VARIADIC p_ids bigint[]) RETURNS SETOF msgx.r_inbox_round LANGUAGE sql AS $$
    SELECT * FROM msgx.inbox_advance(pg_temp.epoch(), (SELECT poll_seq FROM msgx.inbox_cursor), p_ids,
                                     array_fill(''::text, ARRAY[cardinality(p_ids)]), pg_temp.at(p_seconds), pg_temp.at(p_seconds)) $$;
CREATE FUNCTION pg_temp.w() RETURNS bigint LANGUAGE sql AS $$ SELECT committed_up_to FROM msgx.inbox_cursor $$;
CREATE FUNCTION pg_temp.ledger() RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(format('%s-%s %s@%s', lo, hi, state, extract(epoch FROM first_seen_at - pg_temp.at())::int), ', ' ORDER BY lo) FROM msgx.inbox_hole $$;

SELECT results_eq('SELECT accepted, watermark, enqueued, poll_seq FROM pg_temp.poll(0, 1, 2, 3)', $$VALUES (true, 3::bigint, 3, 1::bigint)$$,
                  'without a hole everything is enqueued and the watermark moves');
SELECT is((SELECT count(*) FROM msgx.proc_state WHERE state = 'PENDING' AND received_at IS NULL), 3::bigint, 'a received time may be null');
SELECT results_eq($$SELECT accepted, watermark FROM msgx.inbox_advance(pg_temp.epoch(), 0, '{4}', '{""}', pg_temp.at(), pg_temp.at())$$,
                  $$VALUES (false, 3::bigint)$$, 'a poll with another number changes nothing and tells how the cursor stands');
SELECT is((SELECT count(*) FROM msgx.proc_state), 3::bigint, '… nothing at all');
SELECT is((SELECT poll_seq FROM msgx.inbox_advance(pg_temp.epoch(), 1, '{}', '{}', pg_temp.at(1), pg_temp.at(1))), 2::bigint, 'an empty page counts as a poll');
SELECT is((SELECT last_poll_at FROM msgx.inbox_cursor), pg_temp.at(1), '… and is remembered');

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
SELECT throws_ok('SELECT * FROM pg_temp.poll(3200, 1002019)', 'MX003', NULL, 'an id at the watermark is refused');
SELECT throws_ok('SELECT * FROM pg_temp.poll(3200, 1002030, 1002030)', 'MX003', NULL, 'so is an id twice');
SELECT throws_ok($$SELECT * FROM msgx.inbox_advance(0, 0, '{}', '{}', pg_temp.at(), pg_temp.at())$$, 'MX001', NULL, 'a former epoch is refused');
SELECT * FROM finish();
ROLLBACK;

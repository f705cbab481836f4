BEGIN;
\ir ../../fixture.psql
SELECT plan(15);
CREATE FUNCTION pg_temp.ahead(p_seconds numeric, p_from bigint, p_ids bigint[]) RETURNS bigint LANGUAGE sql AS $$
    SELECT seen_to FROM msgx.inbox_frontier(pg_temp.epoch(), p_from, p_ids, pg_temp.at(p_seconds), pg_temp.at(p_seconds + 1)) $$;

-- Fenced first: a former holder locks nothing.
CREATE TEMP TABLE locked AS SELECT xmax AS by FROM msgx.inbox_cursor;
SELECT throws_ok($$SELECT * FROM msgx.inbox_frontier(0, 2000000, '{2000009}', pg_temp.at(), pg_temp.at())$$, 'MX001', NULL, 'a former epoch is refused');
SELECT is((SELECT xmax FROM msgx.inbox_cursor), (SELECT by FROM locked), '… before it locks the cursor');
SELECT is(pg_temp.ahead(6, 0, '{1,2,5}'), 5::bigint, 'the frontier moves to the last id');
SELECT results_eq('SELECT lo, hi, state, first_seen_at FROM msgx.inbox_hole', $$VALUES (3::bigint, 4::bigint, 'OPEN', pg_temp.at(7))$$, '… and a hole is first seen when the call reports it');
SELECT is(pg_temp.ahead(8, 5, '{6,2000000}'), 2000000::bigint, 'from there on');
SELECT is((SELECT hi - lo + 1 FROM msgx.inbox_hole WHERE lo = 7), 1999993::bigint, '… two million missing ids are one range');
CREATE TEMP TABLE was AS SELECT c::text AS cursor, (SELECT string_agg(h::text, ',' ORDER BY h.lo) FROM msgx.inbox_hole AS h) AS holes FROM msgx.inbox_cursor AS c;
CREATE TEMP VIEW stands AS SELECT c::text AS cursor, (SELECT string_agg(h::text, ',' ORDER BY h.lo) FROM msgx.inbox_hole AS h) AS holes FROM msgx.inbox_cursor AS c;
SELECT is(pg_temp.ahead(9, 3, '{9}'), 2000000::bigint, 'from elsewhere than the frontier it tells how the cursor stands');
SELECT is(pg_temp.ahead(9, 3000000, '{3000009}'), 2000000::bigint, '… from above it too');
SELECT is(pg_temp.ahead(9, 2000000, '{}'), 2000000::bigint, 'a read that found nothing moves nothing');
SELECT is(pg_temp.ahead(9, 2000000, NULL), 2000000::bigint, '… also when it comes as null');
SELECT is((SELECT seen_to FROM msgx.inbox_frontier(pg_temp.epoch(), 2000000, '{2000009}', pg_temp.at(99), pg_temp.at(9))), 2000000::bigint, 'a read that ended before it started decides nothing');
SELECT set_eq('SELECT * FROM stands', 'SELECT * FROM was', '… none of these changes anything');
SELECT is((SELECT committed_up_to FROM msgx.inbox_cursor), 0::bigint, 'the watermark is never moved');
SELECT is((SELECT count(*) FROM msgx.proc_state), 0::bigint, '… and nothing enqueued');
SELECT throws_ok($$SELECT pg_temp.ahead(9, 2000000, '{2000009,2000005}')$$, 'MX003', NULL, 'ids that do not ascend are refused');
SELECT * FROM finish();
ROLLBACK;

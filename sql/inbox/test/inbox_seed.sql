BEGIN;
\ir ../../fixture.psql
SELECT plan(32);
CREATE FUNCTION pg_temp.ledger() RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(concat_ws(' ', lo || '-' || hi, state, released_why, extract(epoch FROM first_seen_at - pg_temp.at())::int), ', ' ORDER BY lo) FROM msgx.inbox_hole $$;
-- A mailbox with rows 100 to 110; of the young ones, above 105, three are there.
CREATE FUNCTION pg_temp.seed(p_mode text) RETURNS bigint LANGUAGE sql AS $$
    SELECT committed_up_to FROM msgx.inbox_seed(pg_temp.epoch(), p_mode, 100, 110, 105, '{106,108,110}', pg_temp.at(9)) $$;
CREATE FUNCTION pg_temp.unseed() RETURNS void LANGUAGE sql AS $$
    DELETE FROM msgx.inbox_hole;
    UPDATE msgx.inbox_cursor SET committed_up_to = 0, seen_to = 0, hole_since = NULL, seeded_at = NULL, seeded_mode = NULL, seed_floor = NULL $$;

-- Fenced first: a former holder locks nothing.
CREATE TEMP TABLE locked AS SELECT xmax AS by FROM msgx.inbox_cursor;
SELECT throws_ok($$SELECT * FROM msgx.inbox_seed(0, 'max', 100, 110, 105, '{}', pg_temp.at())$$, 'MX001', NULL, 'a former epoch is refused');
SELECT is((SELECT xmax FROM msgx.inbox_cursor), (SELECT by FROM locked), '… before it locks the cursor');
SELECT is(pg_temp.seed('min'), 99::bigint, 'min: all rows present will be read');
SELECT is(pg_temp.ledger(), NULL, '… nothing is to be watched');
SELECT throws_ok($$SELECT pg_temp.seed('max')$$, 'MX002', NULL, 'a seeded instance is not seeded again');
SELECT pg_temp.unseed();
SELECT is(pg_temp.seed('zero'), 0::bigint, 'zero: from id 0');
SELECT is((SELECT seed_floor FROM msgx.inbox_cursor), 0::bigint, '… recorded');
SELECT throws_ok($$SELECT pg_temp.seed('max')$$, 'MX002', NULL, '… so that it is not seeded again either');
SELECT pg_temp.unseed();
SELECT is(pg_temp.seed('max'), 110::bigint, 'max: none of the rows present');
SELECT is(pg_temp.ledger(), '107-107 RELEASED seeded 9, 109-109 RELEASED seeded 9', '… but what is missing among the young ones is watched');
SELECT results_eq('SELECT seeded_mode, seeded_at, seed_floor, seen_to FROM msgx.inbox_cursor', $$VALUES ('max', pg_temp.at(9), 110::bigint, 110::bigint)$$, '… and the seed is recorded');
SELECT pg_temp.unseed();
SELECT is(pg_temp.seed('107'), 107::bigint, 'an id');
SELECT is(pg_temp.ledger(), '107-107 RELEASED seeded 9', '… watched only up to it');
SELECT pg_temp.unseed();
SELECT is(pg_temp.seed('104'), 104::bigint, 'an id below the young ones');
SELECT is(pg_temp.ledger(), NULL, '… watches nothing');
SELECT pg_temp.unseed();
SELECT is(pg_temp.seed('113'), 113::bigint, 'an id above all rows: the mailbox may have been cleared');
SELECT is(pg_temp.ledger(), '107-107 RELEASED seeded 9, 109-109 RELEASED seeded 9, 111-113 RELEASED seeded 9', '… watched up to it');
SELECT pg_temp.unseed();
SELECT is((SELECT committed_up_to FROM msgx.inbox_seed(pg_temp.epoch(), 'min', 0, 0, 0, NULL, pg_temp.at(9))), 0::bigint, 'min of an empty mailbox');
SELECT pg_temp.unseed();
SELECT is((SELECT committed_up_to FROM msgx.inbox_seed(pg_temp.epoch(), 'max', 0, 0, 0, '{}', pg_temp.at(9))), 0::bigint, 'max of an empty mailbox');

-- Polls came first: they found the first hole, and no message yet.
SELECT pg_temp.unseed();
SELECT seen_to FROM msgx.inbox_frontier(pg_temp.epoch(), 0, '{100,104,120}', pg_temp.at(1), pg_temp.at(1));
UPDATE msgx.inbox_cursor SET hole_since = pg_temp.at(1);
SELECT is(pg_temp.seed('max'), 110::bigint, 'an instance that has only seen holes may be seeded');
SELECT is(pg_temp.ledger(), '107-107 RELEASED seeded 9, 109-109 RELEASED seeded 9, 111-119 OPEN 1', '… what it saw below ends, what lies above keeps its first sighting');
SELECT results_eq('SELECT seen_to, hole_since FROM msgx.inbox_cursor', $$VALUES (120::bigint, pg_temp.at(1))$$, '… and the frontier stays');
SELECT is((SELECT watermark FROM msgx.inbox_advance(pg_temp.epoch(), (SELECT poll_seq FROM msgx.inbox_cursor), '{120}', '{""}', pg_temp.at(301), pg_temp.at(301))), 120::bigint, '… then polls go on from there');

SELECT pg_temp.unseed();
SELECT throws_ok($$SELECT pg_temp.seed('max')$$, 'MX002', NULL, 'an instance that has messages is not seeded');
DELETE FROM msgx.proc_state;
UPDATE msgx.inbox_cursor SET committed_up_to = 5, seen_to = 5;
SELECT throws_ok($$SELECT pg_temp.seed('max')$$, 'MX002', NULL, 'nor one that has a watermark');
SELECT pg_temp.unseed();
SELECT throws_ok($$SELECT pg_temp.seed('latest')$$, 'MX003', NULL, 'another word is refused');
SELECT throws_ok($$SELECT pg_temp.seed('-5')$$, 'MX003', NULL, 'so is a negative id');
SELECT throws_ok($$SELECT pg_temp.seed(NULL)$$, 'MX003', NULL, 'so is null');
SELECT throws_ok($$SELECT * FROM msgx.inbox_seed(pg_temp.epoch(), 'max', 100, NULL, 105, '{}', pg_temp.at(9))$$, 'MX003', NULL, 'so are unknown bounds');
SELECT throws_ok($$SELECT * FROM msgx.inbox_seed(pg_temp.epoch(), 'max', 100, 110, NULL, '{}', pg_temp.at(9))$$, 'MX003', NULL, '… or not knowing where the young rows begin');
SELECT is((SELECT seeded_at FROM msgx.inbox_cursor), NULL, 'a refusal seeds nothing');
SELECT pg_temp.seed('max');
SELECT is((SELECT count(*) FROM msgx.proc_state), 0::bigint, 'a seed enqueues nothing');
SELECT * FROM finish();
ROLLBACK;

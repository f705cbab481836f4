BEGIN;
\ir ../../fixture.psql
SELECT plan(21);
CREATE FUNCTION pg_temp.ledger() RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(format('%s-%s %s %s', lo, hi, state, released_why), ', ' ORDER BY lo) FROM msgx.inbox_hole $$;
CREATE FUNCTION pg_temp.seed(p_mode text) RETURNS bigint LANGUAGE sql AS $$
    SELECT committed_up_to FROM msgx.inbox_seed(pg_temp.epoch(), p_mode, 100, 110, 105, '{106,108,110}', pg_temp.at()) $$;
CREATE FUNCTION pg_temp.unseed() RETURNS void LANGUAGE sql AS $$
    DELETE FROM msgx.inbox_hole;
    UPDATE msgx.inbox_cursor SET committed_up_to = 0, seen_to = 0, seeded_at = NULL, seeded_mode = NULL, seed_floor = NULL $$;

SELECT is(pg_temp.seed('min'), 99::bigint, 'inbox_seed min: all rows present will be read');
SELECT is(pg_temp.ledger(), NULL, '… nothing is to be watched');
SELECT throws_ok($$SELECT pg_temp.seed('max')$$, 'MX002', NULL, 'a seeded instance is not seeded again');
SELECT pg_temp.unseed();
SELECT is(pg_temp.seed('zero'), 0::bigint, 'zero: from id 0');
SELECT pg_temp.unseed();
SELECT is(pg_temp.seed('max'), 110::bigint, 'max: none of the rows present');
SELECT is(pg_temp.ledger(), '107-107 RELEASED seeded, 109-109 RELEASED seeded', '… but what is missing among the young ones is watched');
SELECT results_eq('SELECT seeded_mode, seed_floor, seen_to FROM msgx.inbox_cursor', $$VALUES ('max', 110::bigint, 110::bigint)$$, '… and the seed is recorded');
SELECT pg_temp.unseed();
SELECT is(pg_temp.seed('107'), 107::bigint, 'an id');
SELECT is(pg_temp.ledger(), '107-107 RELEASED seeded', '… watched only up to it');
SELECT pg_temp.unseed();
SELECT throws_ok($$SELECT pg_temp.seed('latest')$$, 'MX003', NULL, 'anything else is refused');
INSERT INTO msgx.proc_state (msg_id, updated_at) VALUES (5, pg_temp.at());
SELECT throws_ok($$SELECT pg_temp.seed('max')$$, 'MX002', NULL, 'an instance that has messages is not seeded');
DELETE FROM msgx.proc_state;

SELECT is((SELECT seen_to FROM msgx.inbox_frontier(pg_temp.epoch(), 0, '{1,2,5}', pg_temp.at(), pg_temp.at(7))), 5::bigint, 'inbox_frontier moves the frontier to the last id');
SELECT is((SELECT lo || '-' || hi || ' ' || (first_seen_at = pg_temp.at(7)) FROM msgx.inbox_hole), '3-4 true', '… and sees holes from the moment it reports them');
SELECT is((SELECT seen_to FROM msgx.inbox_frontier(pg_temp.epoch(), 3, '{9}', pg_temp.at(), pg_temp.at(8))), 5::bigint, 'from elsewhere than the frontier it changes nothing');
SELECT is((SELECT committed_up_to FROM msgx.inbox_cursor), 0::bigint, 'it never moves the watermark');
SELECT is((SELECT first_seen_at FROM msgx.inbox_reconcile(2, 5, '{4,5}', pg_temp.at(9))), pg_temp.at(7), 'inbox_reconcile: a piece keeps the first sighting');

INSERT INTO msgx.inbox_hole (lo, hi, first_seen_at) VALUES (20, 29, pg_temp.at());
SELECT is((SELECT state FROM msgx.inbox_release_hole(23, 24, 'li', 'why', pg_temp.at(9))), 'RELEASED', 'inbox_release_hole releases a part');
SELECT is(pg_temp.ledger(), '3-3 OPEN , 20-22 OPEN , 23-24 RELEASED operator, 25-29 OPEN ', '… and the rest stays open');
SELECT is((SELECT subject FROM msgx.operator_audit WHERE action = 'inbox_release_hole'), 'ids 23 to 24', '… audited');
SELECT throws_ok($$SELECT * FROM msgx.inbox_release_hole(24, 25, 'li', 'why', pg_temp.at())$$, 'MX005', NULL, 'what is not an open hole is refused');
SELECT throws_ok($$SELECT * FROM msgx.inbox_release_hole(25, 25, 'li', '', pg_temp.at())$$, 'MX003', NULL, 'so is a release without a reason');
SELECT * FROM finish();
ROLLBACK;

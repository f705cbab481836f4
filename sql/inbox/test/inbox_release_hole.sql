BEGIN;
\ir ../../fixture.psql
SELECT plan(17);
CREATE FUNCTION pg_temp.ledger() RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(concat_ws(' ', lo || '-' || hi, state, released_why, extract(epoch FROM first_seen_at - pg_temp.at())::int), ', ' ORDER BY lo) FROM msgx.inbox_hole $$;
INSERT INTO msgx.inbox_hole (lo, hi, first_seen_at) VALUES (20, 29, pg_temp.at(1)), (30, 39, pg_temp.at(2)), (50, 50, pg_temp.at(3));
UPDATE msgx.inbox_cursor SET committed_up_to = 19, seen_to = 60, hole_since = pg_temp.at(1);
CREATE TEMP TABLE was AS SELECT c.* FROM msgx.inbox_cursor AS c;

SELECT results_eq($$SELECT lo, hi, state, released_at, released_why FROM msgx.inbox_release_hole(23, 24, 'li', 'why', pg_temp.at(9))$$,
                  $$VALUES (23::bigint, 24::bigint, 'RELEASED', pg_temp.at(9), 'operator')$$, 'a part of a range is released');
SELECT is(pg_temp.ledger(), '20-22 OPEN 1, 23-24 RELEASED operator 1, 25-29 OPEN 1, 30-39 OPEN 2, 50-50 OPEN 3', '… the rest stays open, all with their first sighting');
SELECT isnt((SELECT xmax FROM msgx.inbox_cursor), '0'::xid, '… under the lock of the cursor');
SELECT set_eq('SELECT c::text FROM msgx.inbox_cursor AS c', 'SELECT w::text FROM was AS w', '… which itself only a poll moves');
SELECT results_eq($$SELECT operator, subject, reason, at FROM msgx.operator_audit WHERE action = 'inbox_release_hole'$$,
                  $$VALUES ('li', 'ids 23 to 24', 'why', pg_temp.at(9))$$, '… audited');
SELECT is((SELECT array_agg(lo || '-' || hi ORDER BY lo) FROM msgx.inbox_release_hole(27, 32, 'li', 'why', pg_temp.at(10))), '{27-29,30-32}', 'several ranges are released at once, each by its part');
SELECT is(pg_temp.ledger(), '20-22 OPEN 1, 23-24 RELEASED operator 1, 25-26 OPEN 1, 27-29 RELEASED operator 1, 30-32 RELEASED operator 2, 33-39 OPEN 2, 50-50 OPEN 3', '… keeping their sightings apart');
SELECT is((SELECT count(*) FROM msgx.inbox_release_hole(50, 50, 'li', 'why', pg_temp.at(10))), 1::bigint, 'a single id');
CREATE TEMP TABLE before AS SELECT pg_temp.ledger() AS ledger, (SELECT count(*) FROM msgx.operator_audit) AS audits;
SELECT throws_ok($$SELECT * FROM msgx.inbox_release_hole(24, 25, 'li', 'why', pg_temp.at())$$, 'MX005', NULL, 'a part that is released already is refused');
SELECT throws_ok($$SELECT * FROM msgx.inbox_release_hole(39, 40, 'li', 'why', pg_temp.at())$$, 'MX005', NULL, 'so is a part that is no hole');
SELECT throws_ok($$SELECT * FROM msgx.inbox_release_hole(70, 70, 'li', 'why', pg_temp.at())$$, 'MX005', NULL, 'so is what nobody has looked at');
SELECT throws_ok($$SELECT * FROM msgx.inbox_release_hole(35, 34, 'li', 'why', pg_temp.at())$$, 'MX003', NULL, 'so is a range that ends before it begins');
SELECT throws_ok($$SELECT * FROM msgx.inbox_release_hole(35, NULL, 'li', 'why', pg_temp.at())$$, 'MX003', NULL, '… or has no end');
SELECT throws_ok($$SELECT * FROM msgx.inbox_release_hole(35, 35, 'li', ' ', pg_temp.at())$$, 'MX003', NULL, 'so is a release without a reason');
SELECT throws_ok($$SELECT * FROM msgx.inbox_release_hole(35, 35, NULL, 'why', pg_temp.at())$$, 'MX003', NULL, '… or without an operator');
SELECT is(pg_temp.ledger(), (SELECT ledger FROM before), 'a refusal changes nothing');
SELECT is((SELECT count(*) FROM msgx.operator_audit), (SELECT audits FROM before), '… and leaves no line');
SELECT * FROM finish();
ROLLBACK;

BEGIN;
\ir ../../fixture.psql
SELECT plan(3);
CREATE TEMP TABLE was AS SELECT c.* FROM msgx.inbox_cursor AS c;
SELECT is((SELECT readable_since FROM msgx.inbox_readable(pg_temp.epoch(), pg_temp.at(5))), pg_temp.at(5), 'the end of an unreadable spell is remembered');
SELECT set_eq($$SELECT to_jsonb(c) - 'readable_since' FROM msgx.inbox_cursor AS c$$, $$SELECT to_jsonb(w) - 'readable_since' FROM was AS w$$, '… and nothing else changes');
SELECT throws_ok($$SELECT * FROM msgx.inbox_readable(0, pg_temp.at())$$, 'MX001', NULL, 'a former epoch is refused');
SELECT * FROM finish();
ROLLBACK;

BEGIN;
\ir ../../fixture.psql
SELECT plan(9);
CREATE FUNCTION pg_temp.ledger() RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(format('%s-%s %s@%s', lo, hi, state, extract(epoch FROM first_seen_at - pg_temp.at())::int), ', ' ORDER BY lo) FROM msgx.inbox_hole $$;
CREATE FUNCTION pg_temp.report(p_seconds numeric, p_from bigint, VARIADIC p_ids bigint[]) RETURNS bigint LANGUAGE sql AS $$
    SELECT count(*) FROM msgx.inbox_reconcile(p_from, p_ids[cardinality(p_ids)], p_ids, pg_temp.at(p_seconds)) $$;

SELECT is(pg_temp.report(1, 0, 3, 4, 7), 2::bigint, 'what is missing enters the ledger');
SELECT is(pg_temp.ledger(), '1-2 OPEN@1, 5-6 OPEN@1', '… as ranges, from W+1 on');
SELECT pg_temp.report(2, 0, 3, 4, 7, 10);
SELECT is(pg_temp.ledger(), '1-2 OPEN@1, 5-6 OPEN@1, 8-9 OPEN@2', 'what is missing already keeps its first sighting, a new range has its own');
SELECT pg_temp.report(3, 0, 3, 6, 7, 10);
SELECT is(pg_temp.ledger(), '1-2 OPEN@1, 4-4 OPEN@3, 5-5 OPEN@1, 8-9 OPEN@2', 'ranges side by side with different sightings are not merged');
UPDATE msgx.inbox_hole SET state = 'RELEASED', released_at = pg_temp.at(4), released_why = 'operator' WHERE lo = 8;
SELECT pg_temp.report(5, 0, 1, 3, 4, 5, 6, 7, 9, 10);
SELECT is(pg_temp.ledger(), '2-2 OPEN@1, 8-8 RELEASED@2', 'what is present leaves the ledger, open or released');
SELECT is((SELECT released_why || ' ' || released_at FROM msgx.inbox_hole WHERE lo = 8), 'operator ' || pg_temp.at(4), '… and the rest of a released range stays released as it was');
SELECT is(pg_temp.report(6, 0, 1, 2, 3, 4, 5), 0::bigint, 'what lies beyond the read is not judged');
SELECT is(pg_temp.ledger(), '8-8 RELEASED@2', '… and stays');
SELECT is((SELECT count(*) FROM msgx.inbox_hole WHERE first_seen_mailbox_at IS NOT NULL), 0::bigint, 'the mailbox''s clock is not claimed to be known');
SELECT * FROM finish();
ROLLBACK;

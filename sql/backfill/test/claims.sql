BEGIN;
\ir ../../fixture.psql
SELECT plan(11);
CREATE FUNCTION pg_temp.claim(p_seconds numeric) RETURNS bigint[] LANGUAGE sql AS $$
    SELECT array_agg(msg_id) FROM msgx.backfill_claim((SELECT epoch FROM msgx.instance_lease), pg_temp.at(p_seconds), 10, gen_random_uuid(), '120 s') $$;
CREATE FUNCTION pg_temp.settle(p_seconds numeric, p_ids bigint[], p_results text[]) RETURNS SETOF msgx.r_backfill_round LANGUAGE sql AS $$
    SELECT * FROM msgx.backfill_settle((SELECT epoch FROM msgx.instance_lease), (SELECT backfill_token FROM msgx.proc_state WHERE msg_id = p_ids[1]),
                                       p_ids, p_results, array_fill('why'::text, ARRAY[cardinality(p_ids)]), pg_temp.at(p_seconds)) $$;
SELECT pg_temp.enqueue(1, 3);
UPDATE msgx.proc_state SET state = 'SUCCEEDED', outcome = 'applied', finished_at = pg_temp.at(), backfill_next_at = pg_temp.at();
UPDATE msgx.pipeline_lock SET done_up_to = 3;
UPDATE msgx.setting SET value = '1' WHERE key = 'pipeline.backfill-max-attempts';

UPDATE msgx.inbox_cursor SET refused_why = 'ids went back', refused_since = pg_temp.at();
SELECT is(pg_temp.claim(0), NULL, 'nothing is marked in a mailbox that is refused');
UPDATE msgx.inbox_cursor SET refused_why = NULL, refused_since = NULL;
SELECT is(pg_temp.claim(0), '{1,2,3}'::bigint[], 'three first tries');
SELECT is((SELECT DISTINCT backfill_epoch FROM msgx.proc_state), pg_temp.epoch(), 'a claim names its epoch');
SELECT is((SELECT row(marked, retried, abandoned)::text FROM pg_temp.settle(1, '{1,2,3}', '{released,released,marked}')), '(1,2,0)', 'released: the mailbox could not be asked');
SELECT is((SELECT row(backfill_attempts, backfill_next_at, backfill_error, backfill_token, backfill_epoch)::text FROM msgx.proc_state WHERE msg_id = 1),
          row(0, pg_temp.at(), 'why', NULL, NULL)::text, '… is no attempt, and leaves the mark due as it was');
SELECT is((SELECT settled_up_to FROM msgx.backfill_cursor), 0::bigint, '… its first try is still to come');
SELECT is(pg_temp.claim(2), '{1,2}'::bigint[], '… and may come at once');
SELECT is(pg_temp.claim(3), NULL, 'a live claim of this epoch keeps them');
SELECT msgx.lease_acquire('test', '1 hour', '{}', true);
SELECT is(pg_temp.claim(3), '{1,2}'::bigint[], '… one of a dead epoch does not');
SELECT is((SELECT refused FROM msgx.backfill_settle((SELECT epoch FROM msgx.instance_lease), gen_random_uuid(), '{1}', '{marked}', '{""}', pg_temp.at(4))), 1,
          '… nor does its token settle anything');
SELECT is((SELECT row(marked, abandoned)::text FROM pg_temp.settle(4, '{1,2}', '{marked,trouble}')), '(1,1)', 'trouble of one row counts against that row');
SELECT * FROM finish();
ROLLBACK;

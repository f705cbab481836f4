BEGIN;
\ir ../../fixture.psql
SELECT plan(29);
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

-- What may still be under way.
SELECT pg_temp.enqueue(4, 20);
UPDATE msgx.proc_state SET state = 'SUCCEEDED', outcome = 'applied', finished_at = pg_temp.at(), backfill_next_at = pg_temp.at() WHERE msg_id > 3;
UPDATE msgx.pipeline_lock SET done_up_to = 8;
UPDATE msgx.setting SET value = '20' WHERE key = 'pipeline.backfill-max-attempts';
SELECT is(pg_temp.claim(1000), '{4,5,6,7,8}'::bigint[], 'five are claimed at second 1000 for 120 s');
SELECT pg_temp.settle(1001, '{4,5,6,7,8}', '{trouble,released,marked,already,missing}');
SELECT results_eq('SELECT msg_id, backfill_claimed_until FROM msgx.proc_state WHERE msg_id BETWEEN 4 AND 8 ORDER BY msg_id',
    $$VALUES (4::bigint, pg_temp.at(1120)), (5, pg_temp.at(1120)), (6, NULL), (7, NULL), (8, NULL)$$,
    'after trouble and released the try may be under way until the claim would have ended; what is marked or gone can come to no harm');
SELECT is((SELECT array_agg(claimed_until) FROM msgx.v_backfill WHERE msg_id = 4), ARRAY[pg_temp.at(1120)], '… which v_backfill shows');
SELECT is(pg_temp.claim(1002), '{5}'::bigint[], '… but nobody holds it: released is claimed at once');
SELECT is((SELECT backfill_claimed_until FROM msgx.proc_state WHERE msg_id = 5), pg_temp.at(1122), '… under a claim of its own');
SELECT pg_temp.settle(1003, '{5}', '{marked}');
SELECT is(pg_temp.claim(1031), '{4}'::bigint[], '… and trouble after its backoff');

-- Older than R and failing: not in every round.
UPDATE msgx.proc_state SET received_at = pg_temp.at() - interval '40 days', backfill_attempts = 5 WHERE msg_id = 4;
SELECT pg_temp.settle(1032, '{4}', '{trouble}');
SELECT is((SELECT backfill_next_at FROM msgx.proc_state WHERE msg_id = 4), pg_temp.at(1032 + 900), 'one that is older than R has 15 min of backoff');
SELECT is(pg_temp.claim(1061.999), NULL, '… is left alone for 30 s after its try');
SELECT is(pg_temp.claim(1062), '{4}'::bigint[], '… and is due from then on');
SELECT pg_temp.settle(1063, '{4}', '{marked}');

-- All are refused, or one.
UPDATE msgx.pipeline_lock SET done_up_to = 20;
UPDATE msgx.proc_state SET backfill_attempts = 19 WHERE msg_id > 8;
SELECT is(pg_temp.claim(1100), '{9,10,11,12,13,14,15,16,17,18}'::bigint[], 'ten that had 19 of 20 attempts');
SELECT is((SELECT row(retried, abandoned, refusing)::text FROM pg_temp.settle(1101, '{9,10,11,12,13,14,15,16,17,18}', array_fill('trouble'::text, '{10}'))),
          '(10,0,t)', 'every one of ten is refused: none is given up');
SELECT is((SELECT array_agg(DISTINCT row(backfill_attempts, backfill_next_at)::text) FROM msgx.proc_state WHERE msg_id BETWEEN 9 AND 18),
          ARRAY[row(20, pg_temp.at(1101 + 900))::text], '… they wait as after any trouble, and others come first');
SELECT is(pg_temp.claim(1102), '{19,20}'::bigint[], '… the next ones');
SELECT is((SELECT row(abandoned, refusing)::text FROM pg_temp.settle(1103, '{19,20}', '{trouble,trouble}')), '(2,f)', 'two of two: they are given up at the limit');
SELECT is(pg_temp.claim(2100), '{9,10,11,12,13,14,15,16,17,18}'::bigint[], 'the ten come again');
SELECT is((SELECT row(marked, abandoned, refusing)::text FROM pg_temp.settle(2101, '{9,10,11,12,13,14,15,16,17,18}', array_fill('trouble'::text, '{9}') || '{marked}')),
          '(1,9,f)', '… one gets through: the others are at fault');

-- Given up, and taken up again since.
UPDATE msgx.proc_state SET state = 'PENDING', reopened = true, finished_at = NULL WHERE msg_id = 20;
SELECT is((SELECT array_agg(msg_id) FROM msgx.backfill_resume('{19,20}', 'li', 'unlocked', pg_temp.at(3000))), '{19}'::bigint[],
          'a message that is not finished owes no mark, whatever was given up before');
SELECT is((SELECT backfill_next_at FROM msgx.proc_state WHERE msg_id = 20), NULL, '… and will owe it when it is finished');
SELECT * FROM finish();
ROLLBACK;

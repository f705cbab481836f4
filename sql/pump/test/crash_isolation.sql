BEGIN;
\ir ../../fixture.psql
SELECT plan(38);
CREATE FUNCTION pg_temp.next(p_epoch bigint, p_seconds numeric DEFAULT 0) RETURNS text LANGUAGE sql AS $$
    SELECT concat_ws(' ', next_ids::text, reason, 'ahead ' || ahead) FROM msgx.pump_next(p_epoch, pg_temp.at(p_seconds)) $$;
CREATE FUNCTION pg_temp.try(p_epoch bigint, p_id bigint, p_seconds numeric DEFAULT 0) RETURNS text LANGUAGE sql AS $$
    SELECT concat_ws(' ', outcomes -> 0 ->> 'state', outcomes -> 0 ->> 'error_class', next_ids::text, reason, 'ahead ' || ahead)
      FROM msgx.pump_try(p_epoch, pg_temp.at(p_seconds), p_id) $$;
-- The process is gone and another takes its place.
CREATE FUNCTION pg_temp.restart() RETURNS bigint LANGUAGE sql AS $$ SELECT epoch FROM msgx.lease_acquire('test', '1 hour', '{}', true) $$;
CREATE FUNCTION pg_temp.now_epoch() RETURNS bigint LANGUAGE sql AS $$ SELECT epoch FROM msgx.instance_lease $$;

UPDATE msgx.setting SET value = '2' WHERE key = 'pipeline.apply-batch';
SELECT pg_temp.enqueue(1, 12);
SELECT is(pg_temp.next(pg_temp.epoch()), '{1,2} ahead 4', 'a run, and as much again twice may be decoded ahead');
SELECT is(pg_temp.next(pg_temp.epoch()), '{1,2} ahead 4', 'asking again is no crash');
SELECT pg_temp.restart();
SELECT is(pg_temp.next(pg_temp.now_epoch()), '{1} ahead 0', 'a new holder that finds the run of a dead epoch takes its messages alone, with nothing ahead');
SELECT is((SELECT suspect_to FROM msgx.pipeline_lock), 6::bigint, '… those that may have been decoded ahead too');
SELECT is((SELECT sum(crashes) FROM msgx.proc_state), 0::bigint, '… and nobody is guilty yet');
SELECT is(pg_temp.try(pg_temp.now_epoch(), 2), '{1} ahead 0', 'pump_try: another message than the run''s gets the run again');
SELECT is((SELECT run_stamped FROM msgx.pipeline_lock), false, '… and no stamp');
SELECT is(pg_temp.try(pg_temp.now_epoch(), 1), '{1} ahead 0', 'pump_try: go on and decode it');
SELECT is((SELECT row(run_epoch, run_from, run_to, run_stamped)::text FROM msgx.pipeline_lock), format('(%s,1,1,t)', pg_temp.now_epoch()), '… it is stamped');
SELECT throws_ok($$SELECT msgx.pump_try(pg_temp.now_epoch() - 1, pg_temp.at(), 1)$$, 'MX001', NULL, 'a former epoch is refused');
SELECT is((SELECT next_ids FROM msgx.pump_apply(pg_temp.now_epoch(), pg_temp.at(1), jsonb_build_array(pg_temp.flop(1, 7, '{}')))), '{2}'::bigint[], 'an outcome gives the next, alone again');
SELECT is((SELECT run_stamped FROM msgx.pipeline_lock), false, '… and clears the stamp');

-- The process dies on message 2.
SELECT pg_temp.try(pg_temp.now_epoch(), 2);
SELECT pg_temp.restart();
SELECT is(pg_temp.next(pg_temp.now_epoch()), '{2} ahead 0', 'the message it died on is the head, alone');
SELECT is((SELECT crashes FROM msgx.proc_state WHERE msg_id = 2), 1, '… one crash counts against it');
SELECT is((SELECT suspect_to FROM msgx.pipeline_lock), 6::bigint, '… and nothing was decoded ahead of it: no more suspects');
SELECT is(pg_temp.next(pg_temp.now_epoch()), '{2} ahead 0', 'asking again counts no crash');
SELECT is((SELECT crashes FROM msgx.proc_state WHERE msg_id = 2), 1, '… indeed');

-- The process lives, and could not reach the database.
SELECT pg_temp.try(pg_temp.now_epoch(), 2);
SELECT lives_ok($$SELECT msgx.pump_put_back(pg_temp.now_epoch(), pg_temp.now_epoch())$$, 'pump_put_back: the environment failed, not the message');
SELECT pg_temp.restart();
SELECT pg_temp.next(pg_temp.now_epoch());
SELECT is((SELECT crashes FROM msgx.proc_state WHERE msg_id = 2), 1, '… so no crash counts');
SELECT pg_temp.try(pg_temp.now_epoch(), 2);
SELECT pg_temp.restart();
SELECT msgx.pump_put_back(pg_temp.now_epoch(), pg_temp.now_epoch() - 1);
SELECT pg_temp.next(pg_temp.now_epoch());
SELECT is((SELECT crashes FROM msgx.proc_state WHERE msg_id = 2), 1, '… also when the living process has a new epoch by now');
SELECT pg_temp.try(pg_temp.now_epoch(), 2);
SELECT msgx.pump_put_back(pg_temp.now_epoch(), pg_temp.now_epoch() - 1);
SELECT is((SELECT run_stamped FROM msgx.pipeline_lock), true, '… and a run of another epoch is left alone');
SELECT throws_ok($$SELECT msgx.pump_put_back(pg_temp.now_epoch() - 1, pg_temp.now_epoch())$$, 'MX001', NULL, '… and a former epoch is refused');

-- A clean stop.
SELECT msgx.lease_release(pg_temp.now_epoch());
SELECT pg_temp.restart();
SELECT pg_temp.next(pg_temp.now_epoch());
SELECT is((SELECT crashes FROM msgx.proc_state WHERE msg_id = 2), 1, 'a clean stop is no crash');

-- The limit is 3: three more deaths pass it.
SELECT pg_temp.try(pg_temp.now_epoch(), 2), pg_temp.restart();
SELECT pg_temp.next(pg_temp.now_epoch()), pg_temp.try(pg_temp.now_epoch(), 2), pg_temp.restart();
SELECT pg_temp.next(pg_temp.now_epoch());
SELECT is((SELECT crashes FROM msgx.proc_state WHERE msg_id = 2), 3, 'three crashes');
SELECT is(pg_temp.try(pg_temp.now_epoch(), 2), '{2} ahead 0', '… are the limit, not past it');
SELECT pg_temp.restart();
SELECT pg_temp.next(pg_temp.now_epoch());
SELECT is(pg_temp.try(pg_temp.now_epoch(), 2, 9), 'DEAD EXHAUSTED {3} ahead 0', 'past the limit it fails without being decoded');
SELECT is((SELECT first_error_class || ' ' || last_error FROM msgx.proc_state WHERE msg_id = 2),
          'INFRA the process ended while it was tried alone, nothing else at hand (given up: the process ended 4 times on it)', '… as INFRA, and says why');
SELECT is((SELECT backfill_next_at FROM msgx.proc_state WHERE msg_id = 2), pg_temp.at(9), '… and owes its mark like any other');

-- The rest of the suspects, then runs again.
SELECT is((SELECT string_agg((SELECT next_ids::text || ' ' || ahead FROM msgx.pump_apply(pg_temp.now_epoch(), pg_temp.at(10), jsonb_build_array(pg_temp.flop(g, 7, '{}')))), ', ' ORDER BY g)
             FROM generate_series(3, 5) AS g), '{4} 0, {5} 0, {6} 0', 'the other suspects go alone');
SELECT is((SELECT next_ids::text || ' ' || ahead FROM msgx.pump_apply(pg_temp.now_epoch(), pg_temp.at(10), jsonb_build_array(pg_temp.flop(6, 7, '{}')))),
          '{7,8} 4', 'behind them runs are whole again');
SELECT is((SELECT suspect_to FROM msgx.pipeline_lock), NULL, '… and nobody is suspect any more');

-- The brake and the empty queue leave no run behind.
UPDATE msgx.loop_state SET wanted = 'off' WHERE loop = 'pump';
SELECT is(pg_temp.next(pg_temp.now_epoch()), '{} braked ahead 4', 'braked: no run');
SELECT pg_temp.restart();
UPDATE msgx.loop_state SET wanted = 'on' WHERE loop = 'pump';
SELECT is(pg_temp.next(pg_temp.now_epoch()), '{7,8} ahead 4', '… and a process that dies while braked makes no suspects');

-- A run behind the place.
SELECT msgx.lease_release(pg_temp.now_epoch());
SELECT pg_temp.restart();
UPDATE msgx.proc_state SET state = 'SUCCEEDED', finished_at = pg_temp.at(), backfill_next_at = NULL WHERE msg_id >= 7;
UPDATE msgx.proc_state SET state = 'PENDING', finished_at = NULL, reopened = true, backfill_next_at = NULL WHERE msg_id IN (11, 12);
SELECT is(pg_temp.next(pg_temp.now_epoch()), '{11,12} ahead 4', 'reopened messages are a run like any other');
SELECT pg_temp.restart();
SELECT is(pg_temp.next(pg_temp.now_epoch()), '{11} ahead 0', '… and go alone after a crash');
SELECT is((SELECT next_ids::text || ' ' || ahead FROM msgx.pump_apply(pg_temp.now_epoch(), pg_temp.at(11), jsonb_build_array(pg_temp.flop(11, 7, '{}')))), '{12} 0', '… each of them');
SELECT function_privs_are('msgx', f, a::text[], 'msgx_app', ARRAY['EXECUTE'], f || ': the daemon may call it')
  FROM (VALUES ('pump_try', '{bigint,timestamp with time zone,bigint}'), ('pump_put_back', '{bigint,bigint}')) AS g (f, a);
SELECT * FROM finish();
ROLLBACK;

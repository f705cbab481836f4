-- What holds for every function, also for those that are still to come.
BEGIN;
\ir ../../fixture.psql
CREATE TEMP TABLE fn AS
SELECT p.proname, p.provolatile, p.prosrc, p.pronargs, p.proargnames[1] = 'p_epoch' AS fenced,
       has_function_privilege('msgx_app', p.oid, 'EXECUTE') AS daemon,
       (SELECT string_agg(', NULL::' || format_type(a.type, NULL), '' ORDER BY a.n)
          FROM unnest(p.proargtypes) WITH ORDINALITY AS a (type, n) WHERE a.n > 1) AS nulls
  FROM pg_proc AS p
 WHERE p.pronamespace = 'msgx'::regnamespace AND p.prokind = 'f';
-- The code without its comments.
UPDATE fn SET prosrc = regexp_replace(prosrc, '--[^\n]*', '', 'g');
SELECT plan(6 + (SELECT count(*)::integer FROM fn WHERE daemon AND fenced AND proname NOT IN ('lease_renew', 'lease_release')));

-- I5. What the daemon may call and is not fenced: the lease itself, the clock, and what only reads.
SELECT is((SELECT array_agg(proname ORDER BY proname) FROM fn WHERE daemon AND fenced IS NOT TRUE AND provolatile = 'v'), '{clock,lease_acquire,lease_evict}',
          'every function of the daemon that may write takes the epoch');
SELECT is((SELECT array_agg(proname) FROM fn WHERE fenced AND provolatile <> 'v'), NULL, 'what takes the epoch is VOLATILE: it sees the lease as it is now');
SELECT throws_ok(format('SELECT * FROM msgx.%I(pg_temp.epoch() - 1%s)', proname, nulls), 'MX001', NULL, format('%s: a former epoch is refused before anything else', proname))
  FROM fn WHERE daemon AND fenced AND proname NOT IN ('lease_renew', 'lease_release') ORDER BY proname;
SELECT is((SELECT count(*) FROM msgx.lease_renew(pg_temp.epoch() - 1, '1 hour', now())), 0::bigint, 'lease_renew: a former epoch gets nothing');
SELECT is((SELECT count(*) FROM msgx.lease_release(pg_temp.epoch() - 1)), 0::bigint, 'lease_release: a former epoch gives nothing up');

-- I10. A time comes as p_now; msgx.clock() is only handed back to the driver.
SELECT is((SELECT array_agg(proname ORDER BY proname) FROM fn
            WHERE prosrc ~* '\m(now|clock_timestamp|statement_timestamp|transaction_timestamp|timeofday)\s*\(|\m(current_timestamp|current_date|current_time|localtime|localtimestamp)\M|''now'''),
          '{clock,lease_acquire,lease_evict,lease_renew}', 'no function but the lease reads the clock of the server');
SELECT is((SELECT array_agg(proname ORDER BY proname) FROM fn WHERE prosrc ~ 'msgx\.clock\(\)'), '{pump_run,pump_try}', '… and who asks for it hands it back');
SELECT * FROM finish();
ROLLBACK;

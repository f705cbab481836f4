BEGIN;
\ir ../../fixture.psql
SELECT plan(21);
SELECT is(msgx.operation_day('2026-04-17 15:59+00', 'Asia/Shanghai', 0), '2026-04-17'::date, 'operation_day: the local date');
SELECT is(msgx.operation_day('2026-04-17 16:00+00', 'Asia/Shanghai', 0), '2026-04-18'::date, '… from local midnight on the next');
SELECT is(msgx.operation_day('2026-04-17 19:59+00', 'Asia/Shanghai', 4), '2026-04-17'::date, '… shifted by the cut-off hour');
SELECT is(msgx.operation_day('2026-04-17 20:00+00', 'Asia/Shanghai', 4), '2026-04-18'::date, '… which begins the day');
SELECT is(msgx.flight_missing(pg_temp.complete()), '{}', 'flight_missing: a complete set');
SELECT is(msgx.flight_missing('{"sodt": null}'), '{ALCD,FLNO,MVIN,SODT,FLTY,FLIN,ACFT}'::text[], '… what lacks, by names of the wire');
SELECT is(msgx.flight_missing(NULL), '{ALCD,FLNO,MVIN,SODT,FLTY,FLIN,ACFT}'::text[], '… without a set all');
SELECT is(msgx.flight_list_array('gate', '{"10": 2, "9": 1}'), '[1, 2]', 'flight_list_array: by number');
SELECT is(msgx.flight_list_array('delay', '{"81": 2, "4F": 1}'), '[1, 2]', '… delays by code');
SELECT is(msgx.flight_list_array('gate', '{}'), NULL, '… null for none');
SELECT is(msgx.flight_diff('{"s": {"a": 1, "b": 1}, "l": {}, "x": {}}', '{"s": {"a": 2, "b": 2}, "l": {}, "x": {}}', '{a}'),
          '{"fields": {"a": {"old": 1, "new": 2}}}', 'flight_diff: only the scalars asked for');
SELECT is(msgx.flight_diff('{"s": {"a": 1, "c": 1}, "l": {}, "x": {}}', '{"s": {"b": 2, "c": 1}, "l": {}, "x": {}}', NULL),
          '{"fields": {"a": {"old": 1, "new": null}, "b": {"old": null, "new": 2}}}', '… all when none are named');
SELECT is(msgx.flight_diff(NULL, '{"s": {"a": 1}, "l": {}, "x": {}}', NULL), '{"fields": {"a": {"old": null, "new": 1}}}', '… from nothing');
SELECT is(msgx.flight_diff('{"s": {}, "l": {"gate": {"1": 1}}, "x": {"Z": 1}}', '{"s": {}, "l": {}, "x": {"Z": 2}}', '{}'),
          '{"lists": {"gate": {"old": [1], "new": []}}, "extra": {"old": {"Z": 1}, "new": {"Z": 2}}}', '… lists whole, extra whole');
SELECT ok(msgx.flight_same('{"live": true, "s": {"a": 1}, "l": {}, "x": {}, "created": 1, "last": 1, "changed": true}',
                           '{"live": true, "s": {"a": 1}, "l": {}, "x": {}, "created": 1, "last": 2, "changed": false}'), 'flight_same: who changed it last does not count');
SELECT is(ARRAY(SELECT p.part FROM unnest('{live,s,l,x,created}'::text[]) AS p (part), jsonb_build_object('live', 1, 's', 1, 'l', 1, 'x', 1, 'created', 1) AS o (state)
                 WHERE NOT msgx.flight_same(o.state, o.state || jsonb_build_object(p.part, 2))), '{live,s,l,x,created}'::text[], '… each part does');
SELECT ok(NOT msgx.flight_same(NULL, '{"live": true}'), '… none and one');
SELECT ok(msgx.flight_same(NULL, NULL), '… none and none');
SELECT ok(NOT msgx.flight_same('{"live": true}', '{"live": true, "s": {}}'), '… lacking and empty');

-- flight_put and flight_fold_step know every column and every list.
SELECT is((SELECT count(*) FROM pg_attribute AS a
            WHERE a.attrelid = 'msgx.flight_schd'::regclass AND a.attnum > 0 AND a.attname NOT IN ('flid', 'operation_day')
              AND NOT pg_get_functiondef('msgx.flight_put(msgx.r_flight_change[],boolean,timestamptz)'::regprocedure)
                      LIKE '%' || a.attname || ' = EXCLUDED.' || a.attname || '%'), 0::bigint, 'flight_put stores every column');
SELECT is((SELECT array_agg(DISTINCT replace(c.relname, 'flight_', '') ORDER BY replace(c.relname, 'flight_', ''))
             FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'flid'
            WHERE c.relnamespace = 'msgx'::regnamespace AND c.relkind = 'r' AND c.relname NOT IN ('flight_schd', 'flight_write', 'flight_hst', 'flight_route_point', 'flight_vip_service')),
          (SELECT array_agg(n ORDER BY n) FROM unnest(msgx.flight_list_names()) AS n WHERE n NOT IN ('erut', 'rout')), 'flight_list_names names every list table');
SELECT * FROM finish();
ROLLBACK;

BEGIN;
\ir ../../fixture.psql
SELECT plan(26);
CREATE TEMP TABLE w (n serial, op text, patch jsonb);
CREATE FUNCTION pg_temp.fold() RETURNS jsonb LANGUAGE sql AS $$ SELECT msgx.flight_fold(op, patch, n ORDER BY n) FROM w $$;
CREATE FUNCTION pg_temp.write(p_op text, p_patch jsonb DEFAULT '{}') RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN INSERT INTO w (op, patch) VALUES (p_op, p_patch); RETURN pg_temp.fold(); END $$;

SELECT is(pg_temp.fold(), NULL, 'no write, no flight');
SELECT is(pg_temp.write('change', '{"set": {"terminal": "TA"}}') ->> 'hit', 'false', 'a change of nothing has no effect');
SELECT is(pg_temp.write('delete') ->> 'hit', 'false', 'a deletion of nothing has no effect');
SELECT is(pg_temp.write('create', '{"set": {"terminal": "TA"}}') ->> 'hit', 'false', 'an incomplete creation has no effect');
SELECT is(pg_temp.write('create', jsonb_build_object('set', pg_temp.complete() || '{"terminal": "TB", "max_pax": null}')) -> 's' ->> 'terminal', 'TB',
          'a complete one begins the flight');
SELECT is(pg_temp.fold() -> 's' ? 'max_pax', false, 'null is no value');
SELECT is(pg_temp.fold() ->> 'created', '4', '… and it is known by which message');
SELECT is(pg_temp.write('change', '{"set": {"max_pax": 0}}') -> 's' ->> 'max_pax', '0', 'zero is a value');
SELECT is(pg_temp.fold() -> 's' ->> 'terminal', 'TB', 'what a patch does not name stays');
SELECT is(pg_temp.write('change', '{"set": {"terminal": null}}') -> 's' ? 'terminal', false, 'null clears');
SELECT is(pg_temp.fold() ->> 'changed', 'true', '… which is a change');
SELECT is(pg_temp.write('change', '{"set": {"terminal": null}}') ->> 'changed', 'false', 'clearing again is none');
SELECT is(pg_temp.fold() ->> 'last', '6', '… and the last change stays the last');

SELECT is(pg_temp.write('change', '{"lists": {"gate": {"1": {"gate_number": 1, "gate_code": "E5"}, "2": {"gate_number": 2}}}}') -> 'l' -> 'gate' -> '1' ->> 'gate_code',
          'E5', 'a list is taken');
SELECT is(pg_temp.write('change', '{"lists": {"gate": {"2": {"gate_number": 2}}}}') -> 'l', '{"gate": {"2": {"gate_number": 2}}}',
          'a list replaces the whole list');
SELECT is(pg_temp.write('change', '{"lists": {"gate": {}}}') -> 'l', '{}', 'an empty list clears it');
SELECT is(pg_temp.write('change', '{"upsert": {"delay": {"4F": {"delay_code": "4F", "comment": "a"}}}}') -> 'l' -> 'delay' -> '4F' ->> 'comment', 'a',
          'an upsert adds by key');
SELECT is(pg_temp.write('change', '{"upsert": {"delay": {"8C": {"delay_code": "8C"}}}}') -> 'l' -> 'delay' ? '4F', true, '… and keeps the others');
SELECT is(pg_temp.write('change', '{"upsert": {"delay": {"4F": {"delay_code": "4F"}}}}') -> 'l' -> 'delay' -> '4F' ? 'comment', false,
          'an upserted member replaces the stored one whole');
SELECT is(pg_temp.write('change', '{"upsert": {"delay": null}}') -> 'l', '{}', 'upsert null empties the list');
SELECT is(pg_temp.write('change', '{"extra": {"ZZZZ": "1"}}') -> 'x', '{"ZZZZ": "1"}', 'unknown elements are kept');
SELECT is(pg_temp.write('create', '{"set": {"sodt": "2026-04-17T08:00:00+08:00"}, "lists": {"gate": {"1": {"gate_number": 1}}}}') -> 's' ->> 'flight_number', 'GJ8471',
          'a creation merges into a live flight');
SELECT is(pg_temp.write('delete') - 's' - 'x', '{"live": false, "l": {}, "created": 4, "last": 17, "hit": true, "changed": true}', 'a deletion ends it, with no lists');
SELECT is(pg_temp.fold() -> 's' ->> 'sodt', '2026-04-17T08:00:00+08:00', '… and keeps the last scalars');
SELECT is(pg_temp.write('create', jsonb_build_object('set', pg_temp.complete())) -> 'x', '{}', 'a revival starts fresh');
SELECT is(pg_temp.fold() -> 's', pg_temp.complete(), '… its scalars too');
SELECT * FROM finish();
ROLLBACK;

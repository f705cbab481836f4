BEGIN;
\ir ../../fixture.psql
SELECT plan(8);
SELECT is(msgx.inbox_last_id(3, '{4,5,9}'), 9::bigint, 'the last id of a read');
SELECT is(msgx.inbox_last_id(3, '[0:1]={4,5}'), 5::bigint, '… wherever the array begins to count');
SELECT is(msgx.inbox_last_id(3, '{}'), NULL, 'none of an empty read');
SELECT is(msgx.inbox_last_id(3, NULL), NULL, '… which may come as null');
SELECT throws_ok($$SELECT msgx.inbox_last_id(3, '{3,4}')$$, 'MX003', NULL, 'an id where the read began is refused');
SELECT throws_ok($$SELECT msgx.inbox_last_id(3, '{4,4}')$$, 'MX003', NULL, 'so is an id twice');
SELECT throws_ok($$SELECT msgx.inbox_last_id(3, '{5,4}')$$, 'MX003', NULL, 'so are ids that do not ascend');
SELECT throws_ok($$SELECT msgx.inbox_last_id(3, '{4,NULL}')$$, 'MX003', NULL, 'so is a null');
SELECT * FROM finish();
ROLLBACK;

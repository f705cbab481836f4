BEGIN;
\ir ../../fixture.psql
SELECT plan(3);
SELECT is(msgx.identity_key('AODB', 'FLOP', 'BOTM', 600402, '2026-04-17 23:30+00', 'Asia/Shanghai', false), 'AODB|FLOP|BOTM|600402',
          'sender, type, subtype and number');
SELECT is(msgx.identity_key('AODB', 'FLOP', 'BOTM', 1, '2026-04-17 23:30+00', 'Asia/Shanghai', true), 'AODB|FLOP|BOTM|1|2026-04-18',
          'the day is the local one');
SELECT is(msgx.identity_key('AODB', 'FLOP', NULL, 1, NULL, 'Asia/Shanghai', false), NULL, 'no identity when a part is missing');
SELECT * FROM finish();
ROLLBACK;

BEGIN;
\ir ../../fixture.psql
SELECT plan(18);
SELECT pg_temp.enqueue(1, 40);
UPDATE msgx.setting SET value = '100' WHERE key = 'pipeline.apply-batch';

SELECT is((SELECT jsonb_array_length(outcomes) FROM pg_temp.apply(0,
              pg_temp.schd(1, pg_temp.new_flight(1)),
              pg_temp.schd(2, pg_temp.new_flight(2)) || '{"seqn": 1, "text_hash": "aa"}')), 1,
          'a batch ends before a message whose identity an earlier one of it has');
SELECT pg_temp.apply(0, pg_temp.schd(2, pg_temp.new_flight(2)) || jsonb_build_object('seqn', 1, 'text_hash', md5('1')));
SELECT is(pg_temp.stands(2), 'SKIPPED duplicate-of:1', 'the same identity with the same text is a duplicate, the lower id owns it');
SELECT pg_temp.apply(0, pg_temp.schd(3, pg_temp.new_flight(2)) || '{"seqn": 1, "text_hash": "ab"}');
SELECT is(pg_temp.stands(3), 'SKIPPED identity-conflict:1', 'the same identity with another text is a conflict, never a silent duplicate');
SELECT is((SELECT count(*) FROM msgx.flight_schd WHERE flid = 2), 0::bigint, 'neither has an effect');
SELECT pg_temp.apply(0, pg_temp.schd(4, pg_temp.new_flight(2)) || '{"seqn": 1, "text_hash": "ac", "dttm": "2026-04-18T06:00:00+08:00"}');
SELECT is(pg_temp.stands(4), 'SKIPPED identity-conflict:1', '24 hours later to the second is still a conflict');
SELECT pg_temp.apply(0, pg_temp.schd(5, pg_temp.new_flight(2)) || '{"seqn": 1, "text_hash": "ad", "dttm": "2026-04-18T06:00:01+08:00"}');
SELECT is(pg_temp.stands(5), 'SUCCEEDED applied', 'more than identity.wrap-after later the identity passes on');
SELECT pg_temp.apply(1, pg_temp.schd(6, pg_temp.new_flight(2)) || '{"seqn": 1, "text_hash": "ae", "dttm": "2026-04-18T07:00:00+08:00"}');
SELECT is(pg_temp.stands(6), 'SKIPPED identity-conflict:5', '… and the new owner defends it');
UPDATE msgx.setting SET value = '0s' WHERE key = 'identity.wrap-after';
SELECT pg_temp.apply(1, pg_temp.schd(7, pg_temp.new_flight(2)) || '{"seqn": 1, "text_hash": "af", "dttm": "2027-04-18T07:00:00+08:00"}');
SELECT is(pg_temp.stands(7), 'SKIPPED identity-conflict:5', 'wrap-after 0 never passes it on');
UPDATE msgx.proc_state SET identity_forced = true WHERE msg_id = 8;
SELECT pg_temp.apply(1, pg_temp.schd(8, pg_temp.new_flight(2, '{"terminal": "TC"}')) || '{"seqn": 1, "text_hash": "b0"}');
SELECT is(pg_temp.stands(8), 'SUCCEEDED applied', 'an operator may force a conflict');

-- A message never judges itself a duplicate of itself.
SELECT pg_temp.apply(2, pg_temp.refused(9, 'CODEC_ERROR'));
SELECT is(pg_temp.stands(9), 'FAILED CODEC_ERROR', 'a failed message binds its identity');
SELECT pg_temp.apply(9, pg_temp.flop(9, 1, '{"terminal": "TA"}'));
SELECT is(pg_temp.stands(9), 'SUCCEEDED applied', '… and is no duplicate of itself when tried again');
SELECT pg_temp.apply(9, pg_temp.refused(10, 'MALFORMED'));
SELECT is((SELECT count(*) FROM msgx.proc_identity WHERE msg_id = 10), 0::bigint, 'a malformed message binds nothing');
UPDATE msgx.setting SET value = 'true' WHERE key = 'identity.include-day-boundary';
SELECT pg_temp.apply(9, pg_temp.flop(11, 1, '{"terminal": "TB"}') || '{"seqn": 9, "dttm": "2026-04-18T00:10:00+08:00"}');
SELECT is((SELECT identity_key FROM msgx.proc_state WHERE msg_id = 11), 'AODB|FLOP|ANY|9|2026-04-18', 'the local day of DTTM can be part of it');
UPDATE msgx.setting SET value = 'false' WHERE key = 'identity.include-day-boundary';

-- Ten conflicts in a row: somebody's SEQN is broken, or ours is.
SELECT pg_temp.apply(10, VARIADIC (SELECT array_agg(pg_temp.flop(g, 1, '{}') || jsonb_build_object('styp', 'C' || g, 'seqn', 1) ORDER BY g)
                                     FROM generate_series(12, 21) AS g));
SELECT is((SELECT conflict_run FROM msgx.pipeline_lock), 0, 'no conflict, no count');
SELECT pg_temp.apply(11, VARIADIC (SELECT array_agg(pg_temp.flop(g, 1, '{}') || jsonb_build_object('styp', 'C' || (g - 10), 'seqn', 1) ORDER BY g)
                                     FROM generate_series(22, 24) AS g));
SELECT is((SELECT conflict_run FROM msgx.pipeline_lock), 3, 'conflicts in a row are counted over batches');
SELECT pg_temp.apply(12, VARIADIC (SELECT array_agg(pg_temp.flop(g, 1, '{}') || jsonb_build_object('styp', 'C' || (g - 13), 'seqn', 1, 'text_hash', 'ff') ORDER BY g)
                                     FROM generate_series(25, 34) AS g));
SELECT is((SELECT max(msg_id) FROM msgx.proc_state WHERE state = 'SKIPPED'), 31::bigint, 'the batch ends with the tenth');
SELECT is((SELECT wanted FROM msgx.loop_state WHERE loop = 'pump'), 'off', '… and the pump is braked');
SELECT matches((SELECT paused_reason FROM msgx.loop_state WHERE loop = 'pump'), 'identity conflicts in a row.*31', '… with a reason');
SELECT * FROM finish();
ROLLBACK;

BEGIN;
\ir ../../fixture.psql
SELECT plan(4);
INSERT INTO msgx.proc_identity (identity_key, text_hash, msg_id, bound_at) VALUES ('k', '\x01', 1, pg_temp.at());
CREATE FUNCTION pg_temp.judge(p_hash bytea, p_class text) RETURNS msgx.r_pump_item LANGUAGE sql AS $$
    SELECT (msgx.pump_judge(ARRAY[ROW(5, p_hash, 'AODB', 'FLOP', 'X', 1, NULL, NULL, '[]', 'k', false, false, 0, NULL, NULL,
                                      p_class, 'e', NULL, false, NULL)::msgx.r_pump_item], false))[1] $$;
SELECT is((pg_temp.judge('\x01', 'CODEC_ERROR')).outcome, 'duplicate-of:1', 'identity goes before what the codec says');
SELECT is((pg_temp.judge('\x02', NULL)).outcome, 'identity-conflict:1', 'without a DTTM a conflict stays a conflict');
SELECT is((pg_temp.judge('\x01', 'MALFORMED')).state, 'DEAD', 'malformed goes before identity');
SELECT is((pg_temp.judge('\x02', NULL)).bind, false, 'what is skipped for its identity binds nothing');
SELECT * FROM finish();
ROLLBACK;

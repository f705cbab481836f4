CREATE OR REPLACE VIEW msgx.r_pump_item AS
SELECT
    NULL::bigint AS msg_id,
    NULL::bytea AS text_hash,
    NULL::text AS sndr,
    NULL::text AS type,
    NULL::text AS styp,
    NULL::bigint AS seqn,
    NULL::timestamptz AS dttm,
    NULL::bigint AS declared,
    NULL::jsonb AS records,
    NULL::text AS identity_key,
    NULL::boolean AS bound,
    NULL::boolean AS forced,
    NULL::integer AS attempts,
    NULL::text AS first_error_class,
    NULL::text AS state,
    NULL::text AS error_class,
    NULL::text AS error,
    NULL::text AS outcome,
    NULL::boolean AS bind,
    NULL::text AS last
WHERE false;
ALTER VIEW msgx.r_pump_item OWNER TO msgx_owner;
COMMENT ON VIEW msgx.r_pump_item IS 'Row type inside pump_apply: one message and its verdict so far.';
COMMENT ON COLUMN msgx.r_pump_item.msg_id IS 'The message.';
COMMENT ON COLUMN msgx.r_pump_item.text_hash IS 'SHA-256 of its text.';
COMMENT ON COLUMN msgx.r_pump_item.sndr IS 'META/SNDR.';
COMMENT ON COLUMN msgx.r_pump_item.type IS 'META/TYPE.';
COMMENT ON COLUMN msgx.r_pump_item.styp IS 'META/STYP.';
COMMENT ON COLUMN msgx.r_pump_item.seqn IS 'META/SEQN.';
COMMENT ON COLUMN msgx.r_pump_item.dttm IS 'META/DTTM.';
COMMENT ON COLUMN msgx.r_pump_item.declared IS 'RECS.';
COMMENT ON COLUMN msgx.r_pump_item.records IS 'Its records as decoded.';
COMMENT ON COLUMN msgx.r_pump_item.identity_key IS 'Business identity; null when META is unusable.';
COMMENT ON COLUMN msgx.r_pump_item.bound IS 'The identity is bound to it from an earlier attempt.';
COMMENT ON COLUMN msgx.r_pump_item.forced IS 'An operator accepted it in spite of its identity.';
COMMENT ON COLUMN msgx.r_pump_item.attempts IS 'Failed attempts before this one.';
COMMENT ON COLUMN msgx.r_pump_item.first_error_class IS 'Class of its first failure.';
COMMENT ON COLUMN msgx.r_pump_item.state IS 'State decided; null while it is to be applied.';
COMMENT ON COLUMN msgx.r_pump_item.error_class IS 'Class of the failure.';
COMMENT ON COLUMN msgx.r_pump_item.error IS 'The failure in words.';
COMMENT ON COLUMN msgx.r_pump_item.outcome IS 'Outcome decided.';
COMMENT ON COLUMN msgx.r_pump_item.bind IS 'Its identity is to be bound.';
COMMENT ON COLUMN msgx.r_pump_item.last IS 'Why a failure now is the last, whatever the attempts; null when it is not.';

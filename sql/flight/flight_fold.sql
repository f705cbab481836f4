CREATE OR REPLACE AGGREGATE msgx.flight_fold(p_op text, p_patch jsonb, p_msg_id bigint) (
    -- A flight is the fold of its writes in (msg_id, seq) order.
    --   Caller   flight_apply (as a window over the stored state), flight_log_state,
    --            flight_verify
    --   Returns  the state, see flight_fold_step; null for no write at all
    sfunc = msgx.flight_fold_step,
    stype = jsonb,
    parallel = safe
);
ALTER AGGREGATE msgx.flight_fold(text, jsonb, bigint) OWNER TO msgx_owner;
COMMENT ON AGGREGATE msgx.flight_fold(text, jsonb, bigint) IS 'A flight is the fold of its writes in (msg_id, seq) order.';
REVOKE ALL ON FUNCTION msgx.flight_fold(text, jsonb, bigint) FROM PUBLIC;

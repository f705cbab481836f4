CREATE OR REPLACE FUNCTION msgx.pump_fail(p_epoch bigint, p_now timestamptz, p_message jsonb, p_error text)
RETURNS SETOF msgx.r_pump_round
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $body$
-- Record that one message raised an unexpected error when it was tried alone.
--   Caller   pump loop, for the head only
--   Arguments p_epoch    fencing epoch; p_now  time
--             p_message  the decoded message as given to pump_apply
--             p_error    the error in words
--   Writes   proc_state (FAILED INFRA, or DEAD EXHAUSTED), proc_identity,
--            pipeline_lock
--   Locks    as pump_apply
--   Returns  as pump_apply
--   Raises   MX001 fenced
BEGIN
    RETURN QUERY
    SELECT * FROM msgx.pump_apply(p_epoch, p_now, jsonb_build_array(
        (p_message - 'records') || jsonb_build_object('error_class', 'INFRA', 'error', p_error)));
END;
$body$;
ALTER FUNCTION msgx.pump_fail(bigint, timestamptz, jsonb, text) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.pump_fail(bigint, timestamptz, jsonb, text) IS 'Record that one message raised an unexpected error when it was tried alone.';
REVOKE ALL ON FUNCTION msgx.pump_fail(bigint, timestamptz, jsonb, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION msgx.pump_fail(bigint, timestamptz, jsonb, text) TO msgx_app;

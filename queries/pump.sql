-- name: PumpNext :one
SELECT * FROM msgx.pump_next(p_epoch => @epoch, p_now => @now::timestamptz);

-- name: PumpApply :one
SELECT * FROM msgx.pump_apply(p_epoch => @epoch, p_now => @now::timestamptz, p_batch => @batch::jsonb);

-- name: PumpFail :one
SELECT * FROM msgx.pump_fail(p_epoch => @epoch, p_now => @now::timestamptz, p_message => @message::jsonb, p_error => @error);

-- name: PumpTry :one
SELECT * FROM msgx.pump_try(p_epoch => @epoch, p_now => @now::timestamptz, p_msg_id => @msg_id);

-- name: PumpPutBack :exec
SELECT msgx.pump_put_back(p_epoch => @epoch, p_run_epoch => @run_epoch);

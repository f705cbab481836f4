-- name: PumpNext :one
SELECT * FROM msgx.pump_next(p_epoch => @epoch, p_now => @now::timestamptz);

-- name: PumpApply :one
SELECT * FROM msgx.pump_apply(p_epoch => @epoch, p_now => @now::timestamptz, p_batch => @batch::jsonb);

-- name: PumpFail :one
SELECT * FROM msgx.pump_fail(p_epoch => @epoch, p_now => @now::timestamptz, p_message => @message::jsonb, p_error => @error);

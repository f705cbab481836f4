-- name: LoopRound :one
SELECT * FROM msgx.loop_round(
    p_epoch => @epoch, p_loop => @loop, p_reason => @reason, p_worked => @worked::interval, p_now => @now::timestamptz);

-- name: InboxAdvance :one
SELECT * FROM msgx.inbox_advance(
    p_epoch => @epoch, p_poll_seq => @poll_seq, p_ids => @ids::bigint[], p_received => @received::text[],
    p_read_started => @read_started::timestamptz, p_now => @now::timestamptz,
    p_server => sqlc.narg('server'), p_max => sqlc.narg('max'), p_next => sqlc.narg('next'),
    p_below_ids => @below_ids::bigint[], p_below_received => @below_received::text[]);

-- name: InboxFrontier :one
SELECT * FROM msgx.inbox_frontier(
    p_epoch => @epoch, p_from => sqlc.arg('from'), p_ids => @ids::bigint[],
    p_read_started => @read_started::timestamptz, p_now => @now::timestamptz);

-- name: InboxReadable :one
SELECT * FROM msgx.inbox_readable(p_epoch => @epoch, p_now => @now::timestamptz);

-- name: InboxSeed :one
SELECT * FROM msgx.inbox_seed(
    p_epoch => @epoch, p_mode => @mode, p_min => sqlc.arg('min'), p_max => sqlc.arg('max'),
    p_recent_from => @recent_from, p_recent_ids => @recent_ids::bigint[], p_now => @now::timestamptz);

-- name: InboxReleaseHole :many
SELECT * FROM msgx.inbox_release_hole(
    p_lo => @lo, p_hi => @hi, p_operator => @operator, p_reason => @reason, p_now => @now::timestamptz);

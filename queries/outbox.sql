-- name: OutboxNextMsg :many
SELECT * FROM msgx.outbox_next_msg(p_epoch => @epoch, p_now => @now::timestamptz, p_limit => sqlc.arg('limit'));

-- name: OutboxNextSchd :many
SELECT * FROM msgx.outbox_next_schd(p_epoch => @epoch, p_now => @now::timestamptz, p_limit => sqlc.arg('limit'));

-- name: OutboxSent :one
SELECT * FROM msgx.outbox_sent(
    p_epoch => @epoch, p_target => @target, p_event_ids => @event_ids::bigint[], p_versions => @versions::bigint[],
    p_topic => @topic, p_partitions => @partitions::integer[], p_offsets => @offsets::bigint[], p_now => @now::timestamptz);

-- name: OutboxFailed :many
SELECT * FROM msgx.outbox_failed(
    p_epoch => @epoch, p_target => @target, p_event_ids => @event_ids::bigint[], p_errors => @errors::text[],
    p_final => @final::boolean[], p_now => @now::timestamptz);

-- name: OutboxFaults :many
SELECT * FROM msgx.outbox_faults(p_epoch => @epoch, p_now => @now::timestamptz, p_limit => sqlc.arg('limit'));

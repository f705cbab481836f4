-- name: LeaseAcquire :many
SELECT holder, epoch, expires_at
  FROM msgx.lease_acquire(p_holder => @holder, p_ttl => @ttl::interval, p_settings => @settings::jsonb, p_autostart => @autostart,
       p_former => sqlc.narg('former')::bigint);

-- name: LeaseRenew :many
SELECT epoch, expires_at, msgx.clock()::timestamptz AS clock
  FROM msgx.lease_renew(p_epoch => @epoch, p_ttl => @ttl::interval, p_host_clock => @host_clock::timestamptz);

-- name: LeaseHolder :one
SELECT holder, epoch, expires_at FROM msgx.v_lease;

-- name: LeaseEvict :many
SELECT ended::text FROM msgx.lease_evict() AS ended;

-- name: LeaseRelease :many
SELECT epoch FROM msgx.lease_release(p_epoch => @epoch);

-- name: Clock :one
SELECT msgx.clock()::timestamptz AS clock;

-- name: ClockShift :exec
SELECT msgx.clock_shift(p_epoch => @epoch, p_by => @by::interval);

-- name: LeaseAcquire :many
SELECT holder, epoch, expires_at
  FROM msgx.lease_acquire(p_holder => @holder, p_ttl => @ttl::interval, p_settings => @settings::jsonb, p_autostart => @autostart);

-- name: LeaseRenew :many
SELECT epoch, expires_at
  FROM msgx.lease_renew(p_epoch => @epoch, p_ttl => @ttl::interval);

-- name: LeaseRelease :many
SELECT epoch FROM msgx.lease_release(p_epoch => @epoch);

-- name: Clock :one
SELECT msgx.clock()::timestamptz AS clock;

CREATE OR REPLACE VIEW msgx.v_lease AS
SELECT l.holder, l.epoch, l.acquired_at, l.expires_at,
       coalesce(l.expires_at > clock_timestamp(), false) AS active,
       l.host_skew
  FROM msgx.instance_lease AS l;
ALTER VIEW msgx.v_lease OWNER TO msgx_owner;
COMMENT ON VIEW msgx.v_lease IS 'Who is active, since when and until when. Take-overs: operator_audit, action take-over.';
COMMENT ON COLUMN msgx.v_lease.holder IS 'Name of the instance; null after a clean stop.';
COMMENT ON COLUMN msgx.v_lease.epoch IS 'Fencing epoch: raised by every acquire.';
COMMENT ON COLUMN msgx.v_lease.acquired_at IS 'When the holder acquired it.';
COMMENT ON COLUMN msgx.v_lease.expires_at IS 'When it may be taken over unless renewed.';
COMMENT ON COLUMN msgx.v_lease.active IS 'It is held and has not ended.';
COMMENT ON COLUMN msgx.v_lease.host_skew IS 'Clock of the holder''s host minus clock of this server at the last renewal; it decides nothing.';

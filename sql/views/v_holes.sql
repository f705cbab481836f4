CREATE OR REPLACE VIEW msgx.v_holes AS
SELECT h.lo, h.hi, h.hi - h.lo + 1 AS ids, h.state, h.first_seen_at,
       date_trunc('second', now() - h.first_seen_at) AS age,
       CASE WHEN h.state = 'OPEN' THEN greatest(h.first_seen_at, c.readable_since) + s.value::interval END AS ages_out_at,
       h.lo = c.committed_up_to + 1 AND h.state = 'OPEN' AS holds_watermark,
       h.released_at, h.released_why, h.late_at
  FROM msgx.inbox_hole AS h
 CROSS JOIN msgx.inbox_cursor AS c
  JOIN msgx.setting AS s ON s.key = 'pipeline.max-commit-delay';
ALTER VIEW msgx.v_holes OWNER TO msgx_owner;
COMMENT ON VIEW msgx.v_holes IS 'Missing mailbox ids: open ones hold the watermark until they age out or are released.';
COMMENT ON COLUMN msgx.v_holes.lo IS 'First missing id.';
COMMENT ON COLUMN msgx.v_holes.hi IS 'Last missing id.';
COMMENT ON COLUMN msgx.v_holes.ids IS 'How many.';
COMMENT ON COLUMN msgx.v_holes.state IS 'OPEN or RELEASED.';
COMMENT ON COLUMN msgx.v_holes.first_seen_at IS 'First sighting.';
COMMENT ON COLUMN msgx.v_holes.age IS 'Time since the first sighting.';
COMMENT ON COLUMN msgx.v_holes.ages_out_at IS 'When its window ends.';
COMMENT ON COLUMN msgx.v_holes.holds_watermark IS 'It stands right above the watermark.';
COMMENT ON COLUMN msgx.v_holes.released_at IS 'When it was released.';
COMMENT ON COLUMN msgx.v_holes.released_why IS 'aged, proved, operator or seeded.';
COMMENT ON COLUMN msgx.v_holes.late_at IS 'When a row appeared in it after its release.';

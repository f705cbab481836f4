CREATE OR REPLACE VIEW msgx.v_late_arrivals AS
SELECT h.lo, h.hi, h.released_at, h.released_why, h.late_at
  FROM msgx.inbox_hole AS h
 WHERE h.late_at IS NOT NULL;
ALTER VIEW msgx.v_late_arrivals OWNER TO msgx_owner;
COMMENT ON VIEW msgx.v_late_arrivals IS 'Ids that appeared in the mailbox after they had been released as holes.';
COMMENT ON COLUMN msgx.v_late_arrivals.lo IS 'First id.';
COMMENT ON COLUMN msgx.v_late_arrivals.hi IS 'Last id.';
COMMENT ON COLUMN msgx.v_late_arrivals.released_at IS 'When it was released.';
COMMENT ON COLUMN msgx.v_late_arrivals.released_why IS 'Why.';
COMMENT ON COLUMN msgx.v_late_arrivals.late_at IS 'When it was found.';

CREATE OR REPLACE VIEW msgx.v_loops AS
SELECT l.loop, l.wanted, CASE WHEN l.wanted = 'off' THEN 'braked' WHEN l.paused_reason IS NOT NULL THEN 'paused'
            WHEN l.last_round_at IS NULL THEN 'not started' WHEN l.last_round_at < now() - interval '2 minutes' THEN 'silent'
            ELSE 'working' END AS stands,
       l.paused_reason, l.paused_since, l.last_round_at, date_trunc('second', now() - l.last_round_at) AS last_round_age, l.working_time
  FROM msgx.loop_state AS l;
ALTER VIEW msgx.v_loops OWNER TO msgx_owner;
COMMENT ON VIEW msgx.v_loops IS 'The loops of the driver: brake, pause and reason.';
COMMENT ON COLUMN msgx.v_loops.loop IS 'Name of the loop.';
COMMENT ON COLUMN msgx.v_loops.wanted IS 'The brake: on lets it work.';
COMMENT ON COLUMN msgx.v_loops.stands IS 'working, paused, braked, not started, or silent: it has said nothing for 2 minutes.';
COMMENT ON COLUMN msgx.v_loops.paused_reason IS 'Why it does not work.';
COMMENT ON COLUMN msgx.v_loops.paused_since IS 'Since when.';
COMMENT ON COLUMN msgx.v_loops.last_round_at IS 'When it last said so.';
COMMENT ON COLUMN msgx.v_loops.last_round_age IS 'How long ago.';
COMMENT ON COLUMN msgx.v_loops.working_time IS 'Working time so far.';

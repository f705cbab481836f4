CREATE OR REPLACE VIEW msgx.v_flight_history AS
SELECT w.flid, w.msg_id, w.seq, w.op, p.sndr, p.type, p.styp, p.seqn, p.state AS message_state, p.outcome, w.patch, w.at
  FROM msgx.flight_write AS w
  LEFT JOIN msgx.proc_state AS p USING (msg_id);
ALTER VIEW msgx.v_flight_history OWNER TO msgx_owner;
COMMENT ON VIEW msgx.v_flight_history IS 'What each message said of a flight; filter by flid, order by msg_id, seq.';
COMMENT ON COLUMN msgx.v_flight_history.flid IS 'FLID.';
COMMENT ON COLUMN msgx.v_flight_history.msg_id IS 'The message.';
COMMENT ON COLUMN msgx.v_flight_history.seq IS 'Place of the record in it.';
COMMENT ON COLUMN msgx.v_flight_history.op IS 'create, change or delete.';
COMMENT ON COLUMN msgx.v_flight_history.sndr IS 'META/SNDR.';
COMMENT ON COLUMN msgx.v_flight_history.type IS 'META/TYPE.';
COMMENT ON COLUMN msgx.v_flight_history.styp IS 'META/STYP.';
COMMENT ON COLUMN msgx.v_flight_history.seqn IS 'META/SEQN.';
COMMENT ON COLUMN msgx.v_flight_history.message_state IS 'State of the message.';
COMMENT ON COLUMN msgx.v_flight_history.outcome IS 'Outcome of the message.';
COMMENT ON COLUMN msgx.v_flight_history.patch IS 'What it said.';
COMMENT ON COLUMN msgx.v_flight_history.at IS 'When it was written.';

CREATE OR REPLACE VIEW msgx.r_outbox_fault AS
SELECT NULL::bigint AS event_id, NULL::text AS error
 WHERE false;
ALTER VIEW msgx.r_outbox_fault OWNER TO msgx_owner;
COMMENT ON VIEW msgx.r_outbox_fault IS 'Row type of outbox_faults.';
COMMENT ON COLUMN msgx.r_outbox_fault.event_id IS 'The event.';
COMMENT ON COLUMN msgx.r_outbox_fault.error IS 'Why its document cannot be built.';

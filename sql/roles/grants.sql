-- The rights to schema and views. Rights to functions stand in the functions'
-- own files; nobody but the owner has any to tables.
GRANT USAGE ON SCHEMA msgx TO msgx_app, msgx_operator, msgx_auditor;
REVOKE ALL ON ALL TABLES IN SCHEMA msgx FROM PUBLIC, msgx_app, msgx_operator, msgx_auditor;
GRANT SELECT ON
    msgx.v_lease,
    msgx.v_head,
    msgx.v_holes,
    msgx.v_backlog,
    msgx.v_failed,
    msgx.v_dead_letters,
    msgx.v_backfill,
    msgx.v_outbox,
    msgx.v_late_arrivals,
    msgx.v_flight_board,
    msgx.v_flight_history,
    msgx.v_loops,
    msgx.v_status
TO msgx_app, msgx_operator, msgx_auditor;

-- migrate:up
CREATE SEQUENCE msgx.flight_version_seq;
COMMENT ON SEQUENCE msgx.flight_version_seq IS 'Versions of all flights: a later change of any flight has a higher one.';

CREATE TABLE msgx.flight_write (
    flid   bigint NOT NULL,
    msg_id bigint NOT NULL,
    seq    integer NOT NULL,
    op     text NOT NULL CHECK (op IN ('create', 'change', 'delete')),
    patch  jsonb NOT NULL,
    at     timestamptz NOT NULL,
    PRIMARY KEY (flid, msg_id, seq)
) WITH (autovacuum_vacuum_insert_scale_factor = 0.05);
COMMENT ON TABLE msgx.flight_write IS 'The log: what each message said of a flight, orphans and no-changes too. A flight is the fold of its writes in (msg_id, seq) order.';
COMMENT ON COLUMN msgx.flight_write.flid IS 'FLID.';
COMMENT ON COLUMN msgx.flight_write.msg_id IS 'The message.';
COMMENT ON COLUMN msgx.flight_write.seq IS 'Place of the record in its message, from 1.';
COMMENT ON COLUMN msgx.flight_write.op IS 'create (SCHD record), change (FLOP), delete (FDEL, SCHD/DEL).';
COMMENT ON COLUMN msgx.flight_write.patch IS 'set, lists, upsert, extra: see docs/architecture.md.';
COMMENT ON COLUMN msgx.flight_write.at IS 'When it was written.';

CREATE TABLE msgx.flight_schd (
    flid bigint PRIMARY KEY,
    operation_day date NOT NULL,
    state text NOT NULL CHECK (state IN ('ACTIVE', 'DELETED')),
    state_version bigint NOT NULL,
    created_msg_id bigint NOT NULL,
    last_msg_id bigint NOT NULL,
    updated_at timestamptz NOT NULL,
    sodt timestamptz NOT NULL,
    airline_code text,
    airline_subcompany text,
    flight_number text,
    direction text,
    flight_type text,
    flight_indicator text,
    aircraft_type text,
    registration text,
    linked_airline_code text,
    linked_flight_number text,
    linked_flid bigint,
    terminal text,
    max_pax integer,
    master_airline_code text,
    master_flight_number text,
    master_flid bigint,
    estimated_time timestamptz,
    actual_time timestamptz,
    current_stand text,
    pax_agent bigint,
    field_agent bigint,
    maintenance_agent bigint,
    cancelled_at timestamptz,
    remarks text,
    boarding_open timestamptz,
    last_call timestamptz,
    final_time timestamptz,
    approved_time timestamptz,
    engine_start_request timestamptz,
    engine_start timestamptz,
    vip_count integer,
    vip_rank integer,
    local_bag_count integer,
    local_bag_weight numeric,
    passenger_count integer,
    external_status_code text,
    external_status_comment text,
    status_code text,
    previous_estimated_departure timestamptz,
    previous_actual_departure timestamptz,
    next_estimated_arrival timestamptz,
    next_actual_arrival timestamptz,
    estimated_offblock timestamptz,
    calculated_offblock timestamptz,
    target_offblock timestamptz,
    calculated_takeoff timestamptz,
    internal_estimated timestamptz,
    runway text,
    diversion_airport text,
    diversion_direction text,
    diversion_reason text,
    return_type text,
    return_reason text,
    landing_abort_indicator text,
    landing_abort_reason text,
    door_open_time timestamptz,
    door_close_time timestamptz,
    extra jsonb
) WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
COMMENT ON TABLE msgx.flight_schd IS 'One row for each flight: the fold of its writes, scalars only. Deleted flights stay as DELETED.';
COMMENT ON COLUMN msgx.flight_schd.flid IS 'FLID.';
COMMENT ON COLUMN msgx.flight_schd.operation_day IS 'Local date of SODT shifted by the cut-off hour when the flight was first created; never changes.';
COMMENT ON COLUMN msgx.flight_schd.state IS 'ACTIVE, or DELETED by FDEL or SCHD/DEL.';
COMMENT ON COLUMN msgx.flight_schd.state_version IS 'Version, from one sequence for all flights.';
COMMENT ON COLUMN msgx.flight_schd.created_msg_id IS 'The message that began its present life.';
COMMENT ON COLUMN msgx.flight_schd.last_msg_id IS 'The message that made this version.';
COMMENT ON COLUMN msgx.flight_schd.updated_at IS 'When this version was made.';
COMMENT ON COLUMN msgx.flight_schd.extra IS 'Elements without a column, as they came.';
COMMENT ON COLUMN msgx.flight_schd.sodt IS 'SODT: scheduled time at the home airport.';
COMMENT ON COLUMN msgx.flight_schd.airline_code IS 'ALCD.';
COMMENT ON COLUMN msgx.flight_schd.airline_subcompany IS 'ALSC.';
COMMENT ON COLUMN msgx.flight_schd.flight_number IS 'FLNO, with the airline prefix.';
COMMENT ON COLUMN msgx.flight_schd.direction IS 'MVIN: A arrival, D departure.';
COMMENT ON COLUMN msgx.flight_schd.flight_type IS 'FLTY.';
COMMENT ON COLUMN msgx.flight_schd.flight_indicator IS 'FLIN: D domestic, I international, M mixed.';
COMMENT ON COLUMN msgx.flight_schd.aircraft_type IS 'ACFT.';
COMMENT ON COLUMN msgx.flight_schd.registration IS 'RENO.';
COMMENT ON COLUMN msgx.flight_schd.linked_airline_code IS 'TAOP: airline of the turnaround flight.';
COMMENT ON COLUMN msgx.flight_schd.linked_flight_number IS 'TAFL: number of the turnaround flight.';
COMMENT ON COLUMN msgx.flight_schd.linked_flid IS 'TAID: FLID of the turnaround flight.';
COMMENT ON COLUMN msgx.flight_schd.terminal IS 'TRML.';
COMMENT ON COLUMN msgx.flight_schd.max_pax IS 'MAXP: seats.';
COMMENT ON COLUMN msgx.flight_schd.master_airline_code IS 'CSOP: airline of the master of a code share.';
COMMENT ON COLUMN msgx.flight_schd.master_flight_number IS 'CSFT: number of the master of a code share.';
COMMENT ON COLUMN msgx.flight_schd.master_flid IS 'MAID: FLID of the master of a code share.';
COMMENT ON COLUMN msgx.flight_schd.estimated_time IS 'ESTT: estimated time at the home airport.';
COMMENT ON COLUMN msgx.flight_schd.actual_time IS 'ACTT: actual time at the home airport.';
COMMENT ON COLUMN msgx.flight_schd.current_stand IS 'STND.';
COMMENT ON COLUMN msgx.flight_schd.pax_agent IS 'PHAG: passenger handling agent.';
COMMENT ON COLUMN msgx.flight_schd.field_agent IS 'FHAG: ramp handling agent.';
COMMENT ON COLUMN msgx.flight_schd.maintenance_agent IS 'MHAG: maintenance agent.';
COMMENT ON COLUMN msgx.flight_schd.cancelled_at IS 'CNCL: a value means cancelled.';
COMMENT ON COLUMN msgx.flight_schd.remarks IS 'REMC.';
COMMENT ON COLUMN msgx.flight_schd.boarding_open IS 'BOTM.';
COMMENT ON COLUMN msgx.flight_schd.last_call IS 'LACL.';
COMMENT ON COLUMN msgx.flight_schd.final_time IS 'FINT: boarding ends.';
COMMENT ON COLUMN msgx.flight_schd.approved_time IS 'APPT.';
COMMENT ON COLUMN msgx.flight_schd.engine_start_request IS 'EGSR.';
COMMENT ON COLUMN msgx.flight_schd.engine_start IS 'EGST.';
COMMENT ON COLUMN msgx.flight_schd.vip_count IS 'VIPP.';
COMMENT ON COLUMN msgx.flight_schd.vip_rank IS 'VIPR.';
COMMENT ON COLUMN msgx.flight_schd.local_bag_count IS 'LBNO.';
COMMENT ON COLUMN msgx.flight_schd.local_bag_weight IS 'LBWT.';
COMMENT ON COLUMN msgx.flight_schd.passenger_count IS 'PAXC.';
COMMENT ON COLUMN msgx.flight_schd.external_status_code IS 'EXSC.';
COMMENT ON COLUMN msgx.flight_schd.external_status_comment IS 'EXSR.';
COMMENT ON COLUMN msgx.flight_schd.status_code IS 'FTSS.';
COMMENT ON COLUMN msgx.flight_schd.previous_estimated_departure IS 'PEDT: from the previous station.';
COMMENT ON COLUMN msgx.flight_schd.previous_actual_departure IS 'PADT: from the previous station.';
COMMENT ON COLUMN msgx.flight_schd.next_estimated_arrival IS 'NEAT: at the next station.';
COMMENT ON COLUMN msgx.flight_schd.next_actual_arrival IS 'NAAT: at the next station.';
COMMENT ON COLUMN msgx.flight_schd.estimated_offblock IS 'EOBT.';
COMMENT ON COLUMN msgx.flight_schd.calculated_offblock IS 'COBT.';
COMMENT ON COLUMN msgx.flight_schd.target_offblock IS 'TOBT.';
COMMENT ON COLUMN msgx.flight_schd.calculated_takeoff IS 'CTOT.';
COMMENT ON COLUMN msgx.flight_schd.internal_estimated IS 'IEST.';
COMMENT ON COLUMN msgx.flight_schd.runway IS 'RUNW.';
COMMENT ON COLUMN msgx.flight_schd.diversion_airport IS 'FDIV@DDES.';
COMMENT ON COLUMN msgx.flight_schd.diversion_direction IS 'FDIV@DDIR: TO or FROM.';
COMMENT ON COLUMN msgx.flight_schd.diversion_reason IS 'text of FDIV.';
COMMENT ON COLUMN msgx.flight_schd.return_type IS 'FRET@REID: A air, G ground.';
COMMENT ON COLUMN msgx.flight_schd.return_reason IS 'text of FRET.';
COMMENT ON COLUMN msgx.flight_schd.landing_abort_indicator IS 'FLAB@ARES: O overshoot, G go-around.';
COMMENT ON COLUMN msgx.flight_schd.landing_abort_reason IS 'text of FLAB.';
COMMENT ON COLUMN msgx.flight_schd.door_open_time IS 'PORT with POID O.';
COMMENT ON COLUMN msgx.flight_schd.door_close_time IS 'PORT with POID C.';
CREATE INDEX flight_schd_day ON msgx.flight_schd (operation_day);
COMMENT ON INDEX msgx.flight_schd_day IS 'The board of a day; operation_day never changes, so updates stay cheap.';

CREATE TABLE msgx.flight_stand (
    flid bigint NOT NULL,
    stand_number integer NOT NULL,
    stand_code text,
    start_time timestamptz,
    end_time timestamptz,
    extra jsonb,
    PRIMARY KEY (flid, stand_number)
) WITH (fillfactor = 70);
COMMENT ON TABLE msgx.flight_stand IS 'PSDT: stand allocation.';
COMMENT ON COLUMN msgx.flight_stand.flid IS 'FLID.';
COMMENT ON COLUMN msgx.flight_stand.stand_number IS '@PSNO.';
COMMENT ON COLUMN msgx.flight_stand.stand_code IS 'PSST.';
COMMENT ON COLUMN msgx.flight_stand.start_time IS 'STST.';
COMMENT ON COLUMN msgx.flight_stand.end_time IS 'STET.';
COMMENT ON COLUMN msgx.flight_stand.extra IS 'Parts without a column, as they came.';

CREATE TABLE msgx.flight_gate (
    flid bigint NOT NULL,
    gate_number integer NOT NULL,
    gate_code text,
    planned_start_time timestamptz,
    planned_end_time timestamptz,
    actual_start_time timestamptz,
    actual_end_time timestamptz,
    gate_indicator text,
    extra jsonb,
    PRIMARY KEY (flid, gate_number)
) WITH (fillfactor = 70);
COMMENT ON TABLE msgx.flight_gate IS 'GTDT: gate allocation.';
COMMENT ON COLUMN msgx.flight_gate.flid IS 'FLID.';
COMMENT ON COLUMN msgx.flight_gate.gate_number IS '@GTNO.';
COMMENT ON COLUMN msgx.flight_gate.gate_code IS 'GATE.';
COMMENT ON COLUMN msgx.flight_gate.planned_start_time IS 'PGOT.';
COMMENT ON COLUMN msgx.flight_gate.planned_end_time IS 'PGCT.';
COMMENT ON COLUMN msgx.flight_gate.actual_start_time IS 'GOTM.';
COMMENT ON COLUMN msgx.flight_gate.actual_end_time IS 'GCTM.';
COMMENT ON COLUMN msgx.flight_gate.gate_indicator IS 'GTYP.';
COMMENT ON COLUMN msgx.flight_gate.extra IS 'Parts without a column, as they came.';

CREATE TABLE msgx.flight_checkin (
    flid bigint NOT NULL,
    checkin_number integer NOT NULL,
    desk_code text,
    desk_class text,
    planned_start_time timestamptz,
    planned_end_time timestamptz,
    actual_start_time timestamptz,
    actual_end_time timestamptz,
    checkin_indicator text,
    extra jsonb,
    PRIMARY KEY (flid, checkin_number)
) WITH (fillfactor = 70);
COMMENT ON TABLE msgx.flight_checkin IS 'CKDT: check-in desk allocation.';
COMMENT ON COLUMN msgx.flight_checkin.flid IS 'FLID.';
COMMENT ON COLUMN msgx.flight_checkin.checkin_number IS '@CKNO.';
COMMENT ON COLUMN msgx.flight_checkin.desk_code IS 'CHKC.';
COMMENT ON COLUMN msgx.flight_checkin.desk_class IS 'CCLS.';
COMMENT ON COLUMN msgx.flight_checkin.planned_start_time IS 'PCOT.';
COMMENT ON COLUMN msgx.flight_checkin.planned_end_time IS 'PCCT.';
COMMENT ON COLUMN msgx.flight_checkin.actual_start_time IS 'COTM.';
COMMENT ON COLUMN msgx.flight_checkin.actual_end_time IS 'CCTM.';
COMMENT ON COLUMN msgx.flight_checkin.checkin_indicator IS 'CTYP.';
COMMENT ON COLUMN msgx.flight_checkin.extra IS 'Parts without a column, as they came.';

CREATE TABLE msgx.flight_delay (
    flid bigint NOT NULL,
    delay_code text NOT NULL,
    start_time timestamptz,
    duration_minutes integer,
    comment text,
    extra jsonb,
    PRIMARY KEY (flid, delay_code)
) WITH (fillfactor = 70);
COMMENT ON TABLE msgx.flight_delay IS 'DELY: delay reasons.';
COMMENT ON COLUMN msgx.flight_delay.flid IS 'FLID.';
COMMENT ON COLUMN msgx.flight_delay.delay_code IS '@CODE.';
COMMENT ON COLUMN msgx.flight_delay.start_time IS '@STRT.';
COMMENT ON COLUMN msgx.flight_delay.duration_minutes IS '@DURA, in minutes.';
COMMENT ON COLUMN msgx.flight_delay.comment IS 'text of DELY.';
COMMENT ON COLUMN msgx.flight_delay.extra IS 'Parts without a column, as they came.';

CREATE TABLE msgx.flight_route_point (
    flid bigint NOT NULL,
    kind text NOT NULL CHECK (kind IN ('ERUT', 'ROUT')),
    rtno integer NOT NULL,
    airport_code text,
    arrival_time timestamptz,
    departure_time timestamptz,
    extra jsonb,
    PRIMARY KEY (flid, kind, rtno)
) WITH (fillfactor = 70);
COMMENT ON TABLE msgx.flight_route_point IS 'ERUT: the whole route with the home airport; ROUT: the route without it.';
COMMENT ON COLUMN msgx.flight_route_point.flid IS 'FLID.';
COMMENT ON COLUMN msgx.flight_route_point.kind IS 'ERUT or ROUT.';
COMMENT ON COLUMN msgx.flight_route_point.rtno IS '@RTNO.';
COMMENT ON COLUMN msgx.flight_route_point.airport_code IS 'APCD.';
COMMENT ON COLUMN msgx.flight_route_point.arrival_time IS 'SCAT.';
COMMENT ON COLUMN msgx.flight_route_point.departure_time IS 'SCDT.';
COMMENT ON COLUMN msgx.flight_route_point.extra IS 'Parts without a column, as they came.';

CREATE TABLE msgx.schd_snap_log (
    msg_id      bigint NOT NULL,
    recv_at     timestamptz NOT NULL,
    styp        text,
    scope_start timestamptz,
    scope_end   timestamptz,
    declared    bigint,
    records     integer NOT NULL,
    outcome     text NOT NULL,
    PRIMARY KEY (msg_id, recv_at)
);
COMMENT ON TABLE msgx.schd_snap_log IS 'One row for each schedule message that was processed.';
COMMENT ON COLUMN msgx.schd_snap_log.msg_id IS 'The message.';
COMMENT ON COLUMN msgx.schd_snap_log.recv_at IS 'When it was processed.';
COMMENT ON COLUMN msgx.schd_snap_log.styp IS 'META/STYP.';
COMMENT ON COLUMN msgx.schd_snap_log.scope_start IS 'Earliest SODT in it.';
COMMENT ON COLUMN msgx.schd_snap_log.scope_end IS 'Latest SODT in it.';
COMMENT ON COLUMN msgx.schd_snap_log.declared IS 'RECS.';
COMMENT ON COLUMN msgx.schd_snap_log.records IS 'Records present.';
COMMENT ON COLUMN msgx.schd_snap_log.outcome IS 'State and outcome of the message.';
CREATE INDEX schd_snap_log_scope ON msgx.schd_snap_log (scope_end, recv_at);
COMMENT ON INDEX msgx.schd_snap_log_scope IS 'For the purge.';

ALTER SEQUENCE msgx.flight_version_seq OWNER TO msgx_owner;
ALTER TABLE msgx.flight_write OWNER TO msgx_owner;
ALTER TABLE msgx.flight_schd OWNER TO msgx_owner;
ALTER TABLE msgx.flight_stand OWNER TO msgx_owner;
ALTER TABLE msgx.flight_gate OWNER TO msgx_owner;
ALTER TABLE msgx.flight_checkin OWNER TO msgx_owner;
ALTER TABLE msgx.flight_delay OWNER TO msgx_owner;
ALTER TABLE msgx.flight_route_point OWNER TO msgx_owner;
ALTER TABLE msgx.schd_snap_log OWNER TO msgx_owner;

-- migrate:down
DROP TABLE msgx.schd_snap_log, msgx.flight_route_point, msgx.flight_delay, msgx.flight_checkin, msgx.flight_gate, msgx.flight_stand, msgx.flight_schd, msgx.flight_write;
DROP SEQUENCE msgx.flight_version_seq;

-- What the migrations add up to. Written by `make gen/schema`; not to be edited.

CREATE SCHEMA msgx;

ALTER SCHEMA msgx OWNER TO msgx_owner;

COMMENT ON SCHEMA msgx IS 'msgexchange: inbox, flight state and outbox of the airport message engine.';

CREATE TABLE msgx.backfill_cursor (
    singleton boolean DEFAULT true NOT NULL,
    settled_up_to bigint DEFAULT 0 NOT NULL,
    CONSTRAINT backfill_cursor_singleton_check CHECK (singleton)
)
WITH (fillfactor='50');

ALTER TABLE msgx.backfill_cursor OWNER TO msgx_owner;

COMMENT ON TABLE msgx.backfill_cursor IS 'How far the first tries to mark the mailbox have come.';

COMMENT ON COLUMN msgx.backfill_cursor.singleton IS 'Makes the table one row.';

COMMENT ON COLUMN msgx.backfill_cursor.settled_up_to IS 'Each message up to it is marked, or found by proc_state_backfill_retry, or owes nothing.';

CREATE TABLE msgx.flight_airbridge (
    flid bigint NOT NULL,
    airbridge_number integer NOT NULL,
    airbridge_code text,
    operation text,
    operation_time timestamp with time zone,
    extra jsonb
)
WITH (fillfactor='70');

ALTER TABLE msgx.flight_airbridge OWNER TO msgx_owner;

COMMENT ON TABLE msgx.flight_airbridge IS 'ABTM: airbridges attached and detached, by number.';

COMMENT ON COLUMN msgx.flight_airbridge.flid IS 'FLID.';

COMMENT ON COLUMN msgx.flight_airbridge.airbridge_number IS 'ABTM/@ASNO: number, the key.';

COMMENT ON COLUMN msgx.flight_airbridge.airbridge_code IS 'ABTM/ABDG: airbridge.';

COMMENT ON COLUMN msgx.flight_airbridge.operation IS 'ABTM/ABOP: A attached, D detached.';

COMMENT ON COLUMN msgx.flight_airbridge.operation_time IS 'ABTM/AOTM: time.';

COMMENT ON COLUMN msgx.flight_airbridge.extra IS 'Elements and attributes without a column, as they came.';

CREATE TABLE msgx.flight_carousel (
    flid bigint NOT NULL,
    carousel_number integer NOT NULL,
    carousel_code text,
    carousel_class text,
    planned_start_time timestamp with time zone,
    planned_end_time timestamp with time zone,
    first_bag_time timestamp with time zone,
    last_bag_time timestamp with time zone,
    carousel_indicator text,
    extra jsonb
)
WITH (fillfactor='70');

ALTER TABLE msgx.flight_carousel OWNER TO msgx_owner;

COMMENT ON TABLE msgx.flight_carousel IS 'CLDT: baggage carousels of a flight, by number.';

COMMENT ON COLUMN msgx.flight_carousel.flid IS 'FLID.';

COMMENT ON COLUMN msgx.flight_carousel.carousel_number IS 'CLDT/@CLNO: number, the key.';

COMMENT ON COLUMN msgx.flight_carousel.carousel_code IS 'CLDT/BELT: carousel.';

COMMENT ON COLUMN msgx.flight_carousel.carousel_class IS 'CLDT/BCLS: class, F, C, Y or X.';

COMMENT ON COLUMN msgx.flight_carousel.planned_start_time IS 'CLDT/PCOT: planned opening.';

COMMENT ON COLUMN msgx.flight_carousel.planned_end_time IS 'CLDT/PCCT: planned closing.';

COMMENT ON COLUMN msgx.flight_carousel.first_bag_time IS 'CLDT/FBAG: first bag.';

COMMENT ON COLUMN msgx.flight_carousel.last_bag_time IS 'CLDT/LBAG: last bag.';

COMMENT ON COLUMN msgx.flight_carousel.carousel_indicator IS 'CLDT/BTYP: D domestic, I international.';

COMMENT ON COLUMN msgx.flight_carousel.extra IS 'Elements and attributes without a column, as they came.';

CREATE TABLE msgx.flight_checkin (
    flid bigint NOT NULL,
    checkin_number integer NOT NULL,
    desk_code text,
    desk_class text,
    planned_start_time timestamp with time zone,
    planned_end_time timestamp with time zone,
    actual_start_time timestamp with time zone,
    actual_end_time timestamp with time zone,
    checkin_indicator text,
    extra jsonb
)
WITH (fillfactor='70');

ALTER TABLE msgx.flight_checkin OWNER TO msgx_owner;

COMMENT ON TABLE msgx.flight_checkin IS 'CKDT: check-in desk allocation.';

COMMENT ON COLUMN msgx.flight_checkin.flid IS 'FLID.';

COMMENT ON COLUMN msgx.flight_checkin.checkin_number IS 'CKDT/@CKNO: number, the key.';

COMMENT ON COLUMN msgx.flight_checkin.desk_code IS 'CKDT/CHKC: desk; leading zeros matter.';

COMMENT ON COLUMN msgx.flight_checkin.desk_class IS 'CKDT/CCLS: class, F, C, Y or X.';

COMMENT ON COLUMN msgx.flight_checkin.planned_start_time IS 'CKDT/PCOT: planned opening.';

COMMENT ON COLUMN msgx.flight_checkin.planned_end_time IS 'CKDT/PCCT: planned closing.';

COMMENT ON COLUMN msgx.flight_checkin.actual_start_time IS 'CKDT/COTM: actual opening.';

COMMENT ON COLUMN msgx.flight_checkin.actual_end_time IS 'CKDT/CCTM: actual closing.';

COMMENT ON COLUMN msgx.flight_checkin.checkin_indicator IS 'CKDT/CTYP: D domestic, I international.';

COMMENT ON COLUMN msgx.flight_checkin.extra IS 'Parts without a column, as they came.';

CREATE TABLE msgx.flight_chock (
    flid bigint NOT NULL,
    chock_number integer NOT NULL,
    chock_time timestamp with time zone,
    chock_indicator text,
    stand_code text,
    extra jsonb
)
WITH (fillfactor='70');

ALTER TABLE msgx.flight_chock OWNER TO msgx_owner;

COMMENT ON TABLE msgx.flight_chock IS 'CHOT: chocks on and off, by number.';

COMMENT ON COLUMN msgx.flight_chock.flid IS 'FLID.';

COMMENT ON COLUMN msgx.flight_chock.chock_number IS 'CHOT/@CSNO: number, the key.';

COMMENT ON COLUMN msgx.flight_chock.chock_time IS 'CHOT/CHTM: time.';

COMMENT ON COLUMN msgx.flight_chock.chock_indicator IS 'CHOT/CHID: ON or OFF.';

COMMENT ON COLUMN msgx.flight_chock.stand_code IS 'CHOT/CHST: stand.';

COMMENT ON COLUMN msgx.flight_chock.extra IS 'Elements and attributes without a column, as they came.';

CREATE TABLE msgx.flight_chute (
    flid bigint NOT NULL,
    chute_number integer NOT NULL,
    chute_code text,
    chute_class text,
    planned_start_time timestamp with time zone,
    planned_end_time timestamp with time zone,
    actual_start_time timestamp with time zone,
    actual_end_time timestamp with time zone,
    chute_indicator text,
    extra jsonb
)
WITH (fillfactor='70');

ALTER TABLE msgx.flight_chute OWNER TO msgx_owner;

COMMENT ON TABLE msgx.flight_chute IS 'CHDT: baggage chutes of a flight, by number.';

COMMENT ON COLUMN msgx.flight_chute.flid IS 'FLID.';

COMMENT ON COLUMN msgx.flight_chute.chute_number IS 'CHDT/@CHNO: number, the key.';

COMMENT ON COLUMN msgx.flight_chute.chute_code IS 'CHDT/CHUT: chute.';

COMMENT ON COLUMN msgx.flight_chute.chute_class IS 'CHDT/CCLS: class.';

COMMENT ON COLUMN msgx.flight_chute.planned_start_time IS 'CHDT/PCBT: planned begin.';

COMMENT ON COLUMN msgx.flight_chute.planned_end_time IS 'CHDT/PCET: planned end.';

COMMENT ON COLUMN msgx.flight_chute.actual_start_time IS 'CHDT/CBTM: actual begin.';

COMMENT ON COLUMN msgx.flight_chute.actual_end_time IS 'CHDT/CETM: actual end.';

COMMENT ON COLUMN msgx.flight_chute.chute_indicator IS 'CHDT/CTYP: D domestic, I international.';

COMMENT ON COLUMN msgx.flight_chute.extra IS 'Elements and attributes without a column, as they came.';

CREATE TABLE msgx.flight_delay (
    flid bigint NOT NULL,
    delay_code text NOT NULL,
    start_time timestamp with time zone,
    duration_minutes integer,
    comment text,
    extra jsonb
)
WITH (fillfactor='70');

ALTER TABLE msgx.flight_delay OWNER TO msgx_owner;

COMMENT ON TABLE msgx.flight_delay IS 'DELY: delay reasons.';

COMMENT ON COLUMN msgx.flight_delay.flid IS 'FLID.';

COMMENT ON COLUMN msgx.flight_delay.delay_code IS 'DELY/@CODE: delay code, the key.';

COMMENT ON COLUMN msgx.flight_delay.start_time IS 'DELY/@STRT: start.';

COMMENT ON COLUMN msgx.flight_delay.duration_minutes IS 'DELY/@DURA: duration, in minutes.';

COMMENT ON COLUMN msgx.flight_delay.comment IS 'DELY, its text: comment.';

COMMENT ON COLUMN msgx.flight_delay.extra IS 'Parts without a column, as they came.';

CREATE TABLE msgx.flight_gate (
    flid bigint NOT NULL,
    gate_number integer NOT NULL,
    gate_code text,
    planned_start_time timestamp with time zone,
    planned_end_time timestamp with time zone,
    actual_start_time timestamp with time zone,
    actual_end_time timestamp with time zone,
    gate_indicator text,
    extra jsonb
)
WITH (fillfactor='70');

ALTER TABLE msgx.flight_gate OWNER TO msgx_owner;

COMMENT ON TABLE msgx.flight_gate IS 'GTDT: gate allocation.';

COMMENT ON COLUMN msgx.flight_gate.flid IS 'FLID.';

COMMENT ON COLUMN msgx.flight_gate.gate_number IS 'GTDT/@GTNO: number, the key.';

COMMENT ON COLUMN msgx.flight_gate.gate_code IS 'GTDT/GATE: gate.';

COMMENT ON COLUMN msgx.flight_gate.planned_start_time IS 'GTDT/PGOT: planned opening.';

COMMENT ON COLUMN msgx.flight_gate.planned_end_time IS 'GTDT/PGCT: planned closing.';

COMMENT ON COLUMN msgx.flight_gate.actual_start_time IS 'GTDT/GOTM: actual opening.';

COMMENT ON COLUMN msgx.flight_gate.actual_end_time IS 'GTDT/GCTM: actual closing.';

COMMENT ON COLUMN msgx.flight_gate.gate_indicator IS 'GTDT/GTYP: D domestic, I international.';

COMMENT ON COLUMN msgx.flight_gate.extra IS 'Parts without a column, as they came.';

CREATE TABLE msgx.flight_push (
    flid bigint NOT NULL,
    stand_code text NOT NULL,
    push_number integer,
    push_time timestamp with time zone,
    push_indicator text,
    extra jsonb
)
WITH (fillfactor='70');

ALTER TABLE msgx.flight_push OWNER TO msgx_owner;

COMMENT ON TABLE msgx.flight_push IS 'PSHT: push-back, by stand, whether that stand is allocated or not.';

COMMENT ON COLUMN msgx.flight_push.flid IS 'FLID.';

COMMENT ON COLUMN msgx.flight_push.stand_code IS 'PSHT/PUST: stand, the key.';

COMMENT ON COLUMN msgx.flight_push.push_number IS 'PSHT/@PSHN: number; it orders nothing.';

COMMENT ON COLUMN msgx.flight_push.push_time IS 'PSHT/PSTM: time of the push-back.';

COMMENT ON COLUMN msgx.flight_push.push_indicator IS 'PSHT/PSID: push indicator.';

COMMENT ON COLUMN msgx.flight_push.extra IS 'Elements and attributes without a column, as they came.';

CREATE TABLE msgx.flight_route_point (
    flid bigint NOT NULL,
    kind text NOT NULL,
    rtno integer NOT NULL,
    airport_code text,
    arrival_time timestamp with time zone,
    departure_time timestamp with time zone,
    extra jsonb,
    CONSTRAINT flight_route_point_kind_check CHECK ((kind = ANY (ARRAY['ERUT'::text, 'ROUT'::text])))
)
WITH (fillfactor='70');

ALTER TABLE msgx.flight_route_point OWNER TO msgx_owner;

COMMENT ON TABLE msgx.flight_route_point IS 'ERUT: the whole route with the home airport; ROUT: the route without it.';

COMMENT ON COLUMN msgx.flight_route_point.flid IS 'FLID.';

COMMENT ON COLUMN msgx.flight_route_point.kind IS 'ERUT or ROUT.';

COMMENT ON COLUMN msgx.flight_route_point.rtno IS 'ERUT/@RTNO, ROUT/@RTNO: number of the stop, the key.';

COMMENT ON COLUMN msgx.flight_route_point.airport_code IS 'ERUT/APCD, ROUT/APCD: airport.';

COMMENT ON COLUMN msgx.flight_route_point.arrival_time IS 'ERUT/SCAT, ROUT/SCAT: scheduled arrival at the stop.';

COMMENT ON COLUMN msgx.flight_route_point.departure_time IS 'ERUT/SCDT, ROUT/SCDT: scheduled departure from the stop.';

COMMENT ON COLUMN msgx.flight_route_point.extra IS 'Parts without a column, as they came.';

CREATE TABLE msgx.flight_schd (
    flid bigint NOT NULL,
    operation_day date NOT NULL,
    state text NOT NULL,
    state_version bigint NOT NULL,
    created_msg_id bigint NOT NULL,
    last_msg_id bigint NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    sodt timestamp with time zone NOT NULL,
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
    estimated_time timestamp with time zone,
    actual_time timestamp with time zone,
    current_stand text,
    pax_agent bigint,
    field_agent bigint,
    maintenance_agent bigint,
    cancelled_at timestamp with time zone,
    remarks text,
    boarding_open timestamp with time zone,
    last_call timestamp with time zone,
    final_time timestamp with time zone,
    approved_time timestamp with time zone,
    engine_start_request timestamp with time zone,
    engine_start timestamp with time zone,
    vip_count integer,
    vip_rank integer,
    local_bag_count integer,
    local_bag_weight numeric,
    passenger_count integer,
    external_status_code text,
    external_status_comment text,
    status_code text,
    previous_estimated_departure timestamp with time zone,
    previous_actual_departure timestamp with time zone,
    next_estimated_arrival timestamp with time zone,
    next_actual_arrival timestamp with time zone,
    estimated_offblock timestamp with time zone,
    calculated_offblock timestamp with time zone,
    target_offblock timestamp with time zone,
    calculated_takeoff timestamp with time zone,
    internal_estimated timestamp with time zone,
    runway text,
    diversion_airport text,
    diversion_direction text,
    diversion_reason text,
    return_type text,
    return_reason text,
    landing_abort_indicator text,
    landing_abort_reason text,
    door_open_time timestamp with time zone,
    door_close_time timestamp with time zone,
    extra jsonb,
    CONSTRAINT flight_schd_state_check CHECK ((state = ANY (ARRAY['ACTIVE'::text, 'DELETED'::text])))
)
WITH (fillfactor='60', autovacuum_vacuum_scale_factor='0.05', autovacuum_vacuum_cost_delay='0');

ALTER TABLE msgx.flight_schd OWNER TO msgx_owner;

COMMENT ON TABLE msgx.flight_schd IS 'One row for each flight: the fold of its writes, scalars only. Deleted flights stay as DELETED.';

COMMENT ON COLUMN msgx.flight_schd.flid IS 'FLID.';

COMMENT ON COLUMN msgx.flight_schd.operation_day IS 'Local date of SODT shifted by the cut-off hour when the flight was first created; never changes.';

COMMENT ON COLUMN msgx.flight_schd.state IS 'ACTIVE, or DELETED by FDEL or SCHD/DEL.';

COMMENT ON COLUMN msgx.flight_schd.state_version IS 'Version, from one sequence for all flights.';

COMMENT ON COLUMN msgx.flight_schd.created_msg_id IS 'The message that began its present life.';

COMMENT ON COLUMN msgx.flight_schd.last_msg_id IS 'The message that made this version.';

COMMENT ON COLUMN msgx.flight_schd.updated_at IS 'When this version was made.';

COMMENT ON COLUMN msgx.flight_schd.sodt IS 'SODT: scheduled time at the home airport, of arrival or of departure.';

COMMENT ON COLUMN msgx.flight_schd.airline_code IS 'ALCD: operating airline.';

COMMENT ON COLUMN msgx.flight_schd.airline_subcompany IS 'ALSC: sub-company of the airline.';

COMMENT ON COLUMN msgx.flight_schd.flight_number IS 'FLNO: flight number, with the prefix of the airline.';

COMMENT ON COLUMN msgx.flight_schd.direction IS 'MVIN: A arrival, D departure.';

COMMENT ON COLUMN msgx.flight_schd.flight_type IS 'FLTY: type of the flight.';

COMMENT ON COLUMN msgx.flight_schd.flight_indicator IS 'FLIN: D domestic, I international, M mixed.';

COMMENT ON COLUMN msgx.flight_schd.aircraft_type IS 'ACFT: aircraft type.';

COMMENT ON COLUMN msgx.flight_schd.registration IS 'RENO: registration of the aircraft.';

COMMENT ON COLUMN msgx.flight_schd.linked_airline_code IS 'TAOP: airline of the turnaround flight.';

COMMENT ON COLUMN msgx.flight_schd.linked_flight_number IS 'TAFL: number of the turnaround flight.';

COMMENT ON COLUMN msgx.flight_schd.linked_flid IS 'TAID: FLID of the turnaround flight. It may be unknown here, or deleted.';

COMMENT ON COLUMN msgx.flight_schd.terminal IS 'TRML: terminal.';

COMMENT ON COLUMN msgx.flight_schd.max_pax IS 'MAXP: seats.';

COMMENT ON COLUMN msgx.flight_schd.master_airline_code IS 'CSOP: airline of the master of a code share.';

COMMENT ON COLUMN msgx.flight_schd.master_flight_number IS 'CSFT: number of the master of a code share.';

COMMENT ON COLUMN msgx.flight_schd.master_flid IS 'MAID: FLID of the master, if the flight is a code share. It may be unknown here, or deleted.';

COMMENT ON COLUMN msgx.flight_schd.estimated_time IS 'ESTT: estimated time at the home airport.';

COMMENT ON COLUMN msgx.flight_schd.actual_time IS 'ACTT: actual time at the home airport.';

COMMENT ON COLUMN msgx.flight_schd.current_stand IS 'STND: the stand where the aircraft is. It says nothing of the list stand.';

COMMENT ON COLUMN msgx.flight_schd.pax_agent IS 'PHAG: passenger handling agent.';

COMMENT ON COLUMN msgx.flight_schd.field_agent IS 'FHAG: ramp handling agent.';

COMMENT ON COLUMN msgx.flight_schd.maintenance_agent IS 'MHAG: maintenance agent.';

COMMENT ON COLUMN msgx.flight_schd.cancelled_at IS 'CNCL: time of the cancellation; a value means cancelled.';

COMMENT ON COLUMN msgx.flight_schd.remarks IS 'REMC: remark.';

COMMENT ON COLUMN msgx.flight_schd.boarding_open IS 'BOTM: boarding opens.';

COMMENT ON COLUMN msgx.flight_schd.last_call IS 'LACL: last call.';

COMMENT ON COLUMN msgx.flight_schd.final_time IS 'FINT: boarding ends.';

COMMENT ON COLUMN msgx.flight_schd.approved_time IS 'APPT: approved time.';

COMMENT ON COLUMN msgx.flight_schd.engine_start_request IS 'EGSR: engine start requested.';

COMMENT ON COLUMN msgx.flight_schd.engine_start IS 'EGST: engines started.';

COMMENT ON COLUMN msgx.flight_schd.vip_count IS 'VIPP: number of VIP passengers.';

COMMENT ON COLUMN msgx.flight_schd.vip_rank IS 'VIPR: rank of the VIP passengers.';

COMMENT ON COLUMN msgx.flight_schd.local_bag_count IS 'LBNO: local bags, pieces.';

COMMENT ON COLUMN msgx.flight_schd.local_bag_weight IS 'LBWT: local bags, weight; the protocol names no unit.';

COMMENT ON COLUMN msgx.flight_schd.passenger_count IS 'PAXC: passengers.';

COMMENT ON COLUMN msgx.flight_schd.external_status_code IS 'EXSC: external status.';

COMMENT ON COLUMN msgx.flight_schd.external_status_comment IS 'EXSR: comment to the external status.';

COMMENT ON COLUMN msgx.flight_schd.status_code IS 'FTSS: status of the flight.';

COMMENT ON COLUMN msgx.flight_schd.previous_estimated_departure IS 'PEDT: estimated departure from the previous station.';

COMMENT ON COLUMN msgx.flight_schd.previous_actual_departure IS 'PADT: actual departure from the previous station.';

COMMENT ON COLUMN msgx.flight_schd.next_estimated_arrival IS 'NEAT: estimated arrival at the next station.';

COMMENT ON COLUMN msgx.flight_schd.next_actual_arrival IS 'NAAT: actual arrival at the next station.';

COMMENT ON COLUMN msgx.flight_schd.estimated_offblock IS 'EOBT: estimated off-block time.';

COMMENT ON COLUMN msgx.flight_schd.calculated_offblock IS 'COBT: calculated off-block time.';

COMMENT ON COLUMN msgx.flight_schd.target_offblock IS 'TOBT: target off-block time.';

COMMENT ON COLUMN msgx.flight_schd.calculated_takeoff IS 'CTOT: calculated take-off time.';

COMMENT ON COLUMN msgx.flight_schd.internal_estimated IS 'IEST: internal estimated time.';

COMMENT ON COLUMN msgx.flight_schd.runway IS 'RUNW: runway.';

COMMENT ON COLUMN msgx.flight_schd.diversion_airport IS 'FDIV/@DDES: airport of the diversion; a value means diverted.';

COMMENT ON COLUMN msgx.flight_schd.diversion_direction IS 'FDIV/@DDIR: TO or FROM that airport.';

COMMENT ON COLUMN msgx.flight_schd.diversion_reason IS 'FDIV, its text: reason of the diversion.';

COMMENT ON COLUMN msgx.flight_schd.return_type IS 'FRET/@REID: A air return, G ground return; a value means returned.';

COMMENT ON COLUMN msgx.flight_schd.return_reason IS 'FRET, its text: reason of the return.';

COMMENT ON COLUMN msgx.flight_schd.landing_abort_indicator IS 'FLAB/@ARES: O overshoot, G go-around; a value means aborted.';

COMMENT ON COLUMN msgx.flight_schd.landing_abort_reason IS 'FLAB, its text: reason of the aborted landing.';

COMMENT ON COLUMN msgx.flight_schd.door_open_time IS 'PORT/POTM where POID is O: cabin door opened.';

COMMENT ON COLUMN msgx.flight_schd.door_close_time IS 'PORT/POTM where POID is C: cabin door closed.';

COMMENT ON COLUMN msgx.flight_schd.extra IS 'Elements without a column, as they came.';

CREATE TABLE msgx.flight_service (
    flid bigint NOT NULL,
    service_code text NOT NULL,
    quantity integer,
    start_time timestamp with time zone,
    end_time timestamp with time zone,
    provider bigint,
    abnormal_reason text,
    abnormal_remark text,
    extra jsonb
)
WITH (fillfactor='70');

ALTER TABLE msgx.flight_service OWNER TO msgx_owner;

COMMENT ON TABLE msgx.flight_service IS 'SRVT: ground services of a flight, by code.';

COMMENT ON COLUMN msgx.flight_service.flid IS 'FLID.';

COMMENT ON COLUMN msgx.flight_service.service_code IS 'SRVT/SRTC: service, the key.';

COMMENT ON COLUMN msgx.flight_service.quantity IS 'SRVT/SRQT: quantity.';

COMMENT ON COLUMN msgx.flight_service.start_time IS 'SRVT/SRST: start.';

COMMENT ON COLUMN msgx.flight_service.end_time IS 'SRVT/SRET: end.';

COMMENT ON COLUMN msgx.flight_service.provider IS 'SRVT/SRPR: provider.';

COMMENT ON COLUMN msgx.flight_service.abnormal_reason IS 'SRVT/SANR: abnormal reason.';

COMMENT ON COLUMN msgx.flight_service.abnormal_remark IS 'SRVT/SARR: remark to it.';

COMMENT ON COLUMN msgx.flight_service.extra IS 'Elements and attributes without a column, as they came.';

CREATE TABLE msgx.flight_stand (
    flid bigint NOT NULL,
    stand_number integer NOT NULL,
    stand_code text,
    start_time timestamp with time zone,
    end_time timestamp with time zone,
    extra jsonb
)
WITH (fillfactor='70');

ALTER TABLE msgx.flight_stand OWNER TO msgx_owner;

COMMENT ON TABLE msgx.flight_stand IS 'PSDT: stand allocation.';

COMMENT ON COLUMN msgx.flight_stand.flid IS 'FLID.';

COMMENT ON COLUMN msgx.flight_stand.stand_number IS 'PSDT/@PSNO: number, the key.';

COMMENT ON COLUMN msgx.flight_stand.stand_code IS 'PSDT/PSST: stand.';

COMMENT ON COLUMN msgx.flight_stand.start_time IS 'PSDT/STST: planned start.';

COMMENT ON COLUMN msgx.flight_stand.end_time IS 'PSDT/STET: planned end.';

COMMENT ON COLUMN msgx.flight_stand.extra IS 'Parts without a column, as they came.';

CREATE TABLE msgx.flight_tractor (
    flid bigint NOT NULL,
    stand_code text NOT NULL,
    tractor_time timestamp with time zone,
    extra jsonb
)
WITH (fillfactor='70');

ALTER TABLE msgx.flight_tractor OWNER TO msgx_owner;

COMMENT ON TABLE msgx.flight_tractor IS 'TIPT: tractor in place, by stand, whether that stand is allocated or not.';

COMMENT ON COLUMN msgx.flight_tractor.flid IS 'FLID.';

COMMENT ON COLUMN msgx.flight_tractor.stand_code IS 'TIPT/TRST: stand, the key.';

COMMENT ON COLUMN msgx.flight_tractor.tractor_time IS 'TIPT/TRTM: time.';

COMMENT ON COLUMN msgx.flight_tractor.extra IS 'Elements and attributes without a column, as they came.';

CREATE SEQUENCE msgx.flight_version_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER TABLE msgx.flight_version_seq OWNER TO msgx_owner;

COMMENT ON SEQUENCE msgx.flight_version_seq IS 'Versions of all flights: a later change of any flight has a higher one.';

CREATE TABLE msgx.flight_vip (
    flid bigint NOT NULL,
    vip_code text NOT NULL,
    entourage_size integer,
    extra jsonb
)
WITH (fillfactor='70');

ALTER TABLE msgx.flight_vip OWNER TO msgx_owner;

COMMENT ON TABLE msgx.flight_vip IS 'VIPF: VIP persons of a flight, by code. Personal data.';

COMMENT ON COLUMN msgx.flight_vip.flid IS 'FLID.';

COMMENT ON COLUMN msgx.flight_vip.vip_code IS 'VIPF/VPCD: person, the key.';

COMMENT ON COLUMN msgx.flight_vip.entourage_size IS 'VIPF/VFES: size of the entourage.';

COMMENT ON COLUMN msgx.flight_vip.extra IS 'Elements and attributes without a column, as they came.';

CREATE TABLE msgx.flight_vip_service (
    flid bigint NOT NULL,
    vip_code text NOT NULL,
    service_code text NOT NULL,
    quantity bigint,
    start_time timestamp with time zone,
    end_time timestamp with time zone,
    extra jsonb
)
WITH (fillfactor='70');

ALTER TABLE msgx.flight_vip_service OWNER TO msgx_owner;

COMMENT ON TABLE msgx.flight_vip_service IS 'VIPF/VIPT: services for a VIP person, by code.';

COMMENT ON COLUMN msgx.flight_vip_service.flid IS 'FLID.';

COMMENT ON COLUMN msgx.flight_vip_service.vip_code IS 'VIPF/VPCD.';

COMMENT ON COLUMN msgx.flight_vip_service.service_code IS 'VIPF/VIPT/VSCD: service, the key.';

COMMENT ON COLUMN msgx.flight_vip_service.quantity IS 'VIPF/VIPT/VTQY: quantity.';

COMMENT ON COLUMN msgx.flight_vip_service.start_time IS 'VIPF/VIPT/VTST: start.';

COMMENT ON COLUMN msgx.flight_vip_service.end_time IS 'VIPF/VIPT/VTET: end.';

COMMENT ON COLUMN msgx.flight_vip_service.extra IS 'Elements and attributes without a column, as they came.';

CREATE TABLE msgx.flight_write (
    flid bigint NOT NULL,
    msg_id bigint NOT NULL,
    seq integer NOT NULL,
    op text NOT NULL,
    patch jsonb NOT NULL,
    at timestamp with time zone NOT NULL,
    CONSTRAINT flight_write_op_check CHECK ((op = ANY (ARRAY['create'::text, 'change'::text, 'delete'::text])))
)
WITH (autovacuum_vacuum_insert_scale_factor='0.05');

ALTER TABLE msgx.flight_write OWNER TO msgx_owner;

COMMENT ON TABLE msgx.flight_write IS 'The log: what each message said of a flight, orphans and no-changes too. A flight is the fold of its writes in (msg_id, seq) order.';

COMMENT ON COLUMN msgx.flight_write.flid IS 'FLID.';

COMMENT ON COLUMN msgx.flight_write.msg_id IS 'The message.';

COMMENT ON COLUMN msgx.flight_write.seq IS 'Place of the record in its message, from 1.';

COMMENT ON COLUMN msgx.flight_write.op IS 'create (SCHD record), change (FLOP), delete (FDEL, SCHD/DEL).';

COMMENT ON COLUMN msgx.flight_write.patch IS 'set, lists, upsert, extra: see docs/architecture.md.';

COMMENT ON COLUMN msgx.flight_write.at IS 'When it was written.';

CREATE TABLE msgx.ignore_rule (
    type text NOT NULL,
    styp text DEFAULT '*'::text NOT NULL,
    reason text NOT NULL
);

ALTER TABLE msgx.ignore_rule OWNER TO msgx_owner;

COMMENT ON TABLE msgx.ignore_rule IS 'Message types that are skipped on purpose.';

COMMENT ON COLUMN msgx.ignore_rule.type IS 'META/TYPE.';

COMMENT ON COLUMN msgx.ignore_rule.styp IS 'META/STYP, or * for every one.';

COMMENT ON COLUMN msgx.ignore_rule.reason IS 'Why they are skipped.';

CREATE TABLE msgx.inbox_cursor (
    singleton boolean DEFAULT true NOT NULL,
    committed_up_to bigint DEFAULT 0 NOT NULL,
    seen_to bigint DEFAULT 0 NOT NULL,
    hole_since timestamp with time zone,
    poll_seq bigint DEFAULT 0 NOT NULL,
    seeded_at timestamp with time zone,
    seeded_mode text,
    seed_floor bigint,
    last_poll_at timestamp with time zone,
    readable_since timestamp with time zone,
    mailbox_server text,
    mailbox_max bigint,
    trusted_to bigint,
    refused_since timestamp with time zone,
    refused_why text,
    CONSTRAINT inbox_cursor_check CHECK ((seen_to >= committed_up_to)),
    CONSTRAINT inbox_cursor_check1 CHECK (((refused_since IS NULL) = (refused_why IS NULL))),
    CONSTRAINT inbox_cursor_committed_up_to_check CHECK ((committed_up_to >= 0)),
    CONSTRAINT inbox_cursor_singleton_check CHECK (singleton)
)
WITH (fillfactor='50');

ALTER TABLE msgx.inbox_cursor OWNER TO msgx_owner;

COMMENT ON TABLE msgx.inbox_cursor IS 'The watermark: how far the mailbox has been read without a gap.';

COMMENT ON COLUMN msgx.inbox_cursor.singleton IS 'Makes the table one row.';

COMMENT ON COLUMN msgx.inbox_cursor.committed_up_to IS 'Watermark W: every mailbox id up to it is enqueued, or was released as a hole.';

COMMENT ON COLUMN msgx.inbox_cursor.seen_to IS 'Frontier: ids up to it have been looked at, and the missing ones are in inbox_hole.';

COMMENT ON COLUMN msgx.inbox_cursor.hole_since IS 'First sighting of the hole right above W; null when none stands there.';

COMMENT ON COLUMN msgx.inbox_cursor.poll_seq IS 'Number of the next poll; a poll with another number changes nothing.';

COMMENT ON COLUMN msgx.inbox_cursor.seeded_at IS 'When the watermark was set by a cut-over; null if never.';

COMMENT ON COLUMN msgx.inbox_cursor.seeded_mode IS 'How it was seeded: min, zero, max or an id.';

COMMENT ON COLUMN msgx.inbox_cursor.seed_floor IS 'Nothing at or below it is looked at, but for the ranges watched since the seed.';

COMMENT ON COLUMN msgx.inbox_cursor.last_poll_at IS 'When the mailbox was last read.';

COMMENT ON COLUMN msgx.inbox_cursor.readable_since IS 'End of the last spell of more than 30 s in which the mailbox was unreadable: no hole window counts from before it.';

COMMENT ON COLUMN msgx.inbox_cursor.mailbox_server IS 'Which server answered the last poll.';

COMMENT ON COLUMN msgx.inbox_cursor.mailbox_max IS 'Highest id of the mailbox at the last poll.';

COMMENT ON COLUMN msgx.inbox_cursor.trusted_to IS 'Rows up to it are not compared with what was read: an operator accepted them as they are.';

COMMENT ON COLUMN msgx.inbox_cursor.refused_since IS 'Since when nothing is taken from the mailbox, because its ids cannot be trusted; null if they can.';

COMMENT ON COLUMN msgx.inbox_cursor.refused_why IS 'Why.';

CREATE TABLE msgx.inbox_hole (
    lo bigint NOT NULL,
    hi bigint NOT NULL,
    first_seen_at timestamp with time zone NOT NULL,
    first_seen_mailbox_at timestamp with time zone,
    state text DEFAULT 'OPEN'::text NOT NULL,
    released_at timestamp with time zone,
    released_why text,
    late_at timestamp with time zone,
    CONSTRAINT inbox_hole_check CHECK ((hi >= lo)),
    CONSTRAINT inbox_hole_check1 CHECK (((state = 'RELEASED'::text) = ((released_at IS NOT NULL) AND (released_why IS NOT NULL)))),
    CONSTRAINT inbox_hole_released_why_check CHECK ((released_why = ANY (ARRAY['aged'::text, 'proved'::text, 'operator'::text, 'seeded'::text]))),
    CONSTRAINT inbox_hole_state_check CHECK ((state = ANY (ARRAY['OPEN'::text, 'RELEASED'::text])))
);

ALTER TABLE msgx.inbox_hole OWNER TO msgx_owner;

COMMENT ON TABLE msgx.inbox_hole IS 'Ledger of missing mailbox ids, as ranges. Each keeps its own first sighting, so that windows run side by side.';

COMMENT ON COLUMN msgx.inbox_hole.lo IS 'First missing id.';

COMMENT ON COLUMN msgx.inbox_hole.hi IS 'Last missing id.';

COMMENT ON COLUMN msgx.inbox_hole.first_seen_at IS 'When the range was first seen missing; its window counts from here.';

COMMENT ON COLUMN msgx.inbox_hole.first_seen_mailbox_at IS 'The same moment by the clock of the mailbox, for the proof by open transactions.';

COMMENT ON COLUMN msgx.inbox_hole.state IS 'OPEN holds the watermark, RELEASED does not.';

COMMENT ON COLUMN msgx.inbox_hole.released_at IS 'When it was released.';

COMMENT ON COLUMN msgx.inbox_hole.released_why IS 'aged: its window passed; proved: no open transaction can fill it; operator: by hand; seeded: below the cut-over.';

COMMENT ON COLUMN msgx.inbox_hole.late_at IS 'When a row appeared in it after its release.';

CREATE TABLE msgx.instance_lease (
    singleton boolean DEFAULT true NOT NULL,
    holder text,
    epoch bigint NOT NULL,
    acquired_at timestamp with time zone,
    expires_at timestamp with time zone,
    ttl interval,
    host_skew interval,
    CONSTRAINT instance_lease_singleton_check CHECK (singleton)
);

ALTER TABLE msgx.instance_lease OWNER TO msgx_owner;

COMMENT ON TABLE msgx.instance_lease IS 'The one active instance. Its epoch fences every call of a former holder.';

COMMENT ON COLUMN msgx.instance_lease.singleton IS 'Makes the table one row.';

COMMENT ON COLUMN msgx.instance_lease.holder IS 'Name of the instance that holds the lease; null after a release.';

COMMENT ON COLUMN msgx.instance_lease.epoch IS 'Fencing epoch: raised by every acquire, never lowered.';

COMMENT ON COLUMN msgx.instance_lease.acquired_at IS 'When the present holder acquired it, by the clock of this server.';

COMMENT ON COLUMN msgx.instance_lease.expires_at IS 'When it may be taken over unless renewed.';

COMMENT ON COLUMN msgx.instance_lease.ttl IS 'How long the lease lasts after a renewal; an end more than twice as far away is the work of a clock that was set back.';

COMMENT ON COLUMN msgx.instance_lease.host_skew IS 'Clock of the holder''s host minus clock of this server at the last renewal; for people, it decides nothing.';

CREATE TABLE msgx.loop_state (
    loop text NOT NULL,
    wanted text DEFAULT 'on'::text NOT NULL,
    paused_reason text,
    paused_since timestamp with time zone,
    last_round_at timestamp with time zone,
    working_time interval DEFAULT '00:00:00'::interval NOT NULL,
    CONSTRAINT loop_state_loop_check CHECK ((loop = ANY (ARRAY['poller'::text, 'pump'::text, 'dispatcher'::text, 'flusher'::text, 'backfill'::text, 'jobs'::text]))),
    CONSTRAINT loop_state_wanted_check CHECK ((wanted = ANY (ARRAY['on'::text, 'off'::text])))
)
WITH (fillfactor='50');

ALTER TABLE msgx.loop_state OWNER TO msgx_owner;

COMMENT ON TABLE msgx.loop_state IS 'One row for each loop of the driver: the brake, why it pauses, when it last worked.';

COMMENT ON COLUMN msgx.loop_state.loop IS 'Name of the loop.';

COMMENT ON COLUMN msgx.loop_state.wanted IS 'The operator''s brake: off stops the loop at the end of its round.';

COMMENT ON COLUMN msgx.loop_state.paused_reason IS 'Why the loop does not work now; null while it works.';

COMMENT ON COLUMN msgx.loop_state.paused_since IS 'Since when it pauses.';

COMMENT ON COLUMN msgx.loop_state.last_round_at IS 'When its last round ended.';

COMMENT ON COLUMN msgx.loop_state.working_time IS 'Working time so far: grows only while the loop can work.';

CREATE TABLE msgx.msg_event (
    event_id bigint NOT NULL,
    target text NOT NULL,
    partition_key bigint NOT NULL,
    event_type text NOT NULL,
    msg_id bigint NOT NULL,
    state_version bigint NOT NULL,
    payload jsonb,
    state text DEFAULT 'PENDING'::text NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    next_attempt_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    sent_at timestamp with time zone,
    topic text,
    partition integer,
    "offset" bigint,
    last_error text,
    merged_count integer DEFAULT 0 NOT NULL,
    requeues integer DEFAULT 0 NOT NULL,
    CONSTRAINT msg_event_check CHECK (((state = 'SENT'::text) = (sent_at IS NOT NULL))),
    CONSTRAINT msg_event_event_type_check CHECK ((event_type = ANY (ARRAY['UPSERT'::text, 'TOMBSTONE'::text]))),
    CONSTRAINT msg_event_state_check CHECK ((state = ANY (ARRAY['PENDING'::text, 'SENT'::text, 'DEAD'::text]))),
    CONSTRAINT msg_event_target_check CHECK ((target = ANY (ARRAY['KAFKA:msg'::text, 'KAFKA:schd'::text])))
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='5000', autovacuum_analyze_scale_factor='0.05', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_vacuum_cost_delay='0');

ALTER TABLE msgx.msg_event OWNER TO msgx_owner;

COMMENT ON TABLE msgx.msg_event IS 'The outbox: what Kafka is still to be told, and what it was told.';

COMMENT ON COLUMN msgx.msg_event.event_id IS 'Order of delivery within a target.';

COMMENT ON COLUMN msgx.msg_event.target IS 'KAFKA:msg, every change; KAFKA:schd, the newest state.';

COMMENT ON COLUMN msgx.msg_event.partition_key IS 'FLID: the key of the record.';

COMMENT ON COLUMN msgx.msg_event.event_type IS 'UPSERT, or TOMBSTONE for a deleted flight.';

COMMENT ON COLUMN msgx.msg_event.msg_id IS 'The message that caused it; for KAFKA:schd the last one merged into it.';

COMMENT ON COLUMN msgx.msg_event.state_version IS 'Version of the flight it tells of.';

COMMENT ON COLUMN msgx.msg_event.payload IS 'Value of the record for KAFKA:msg; null for KAFKA:schd, whose document is built when it is sent.';

COMMENT ON COLUMN msgx.msg_event.state IS 'PENDING, SENT (acknowledged by Kafka), or DEAD (given up).';

COMMENT ON COLUMN msgx.msg_event.attempts IS 'Failed attempts that counted against it.';

COMMENT ON COLUMN msgx.msg_event.next_attempt_at IS 'When it may be tried again.';

COMMENT ON COLUMN msgx.msg_event.created_at IS 'When it was written.';

COMMENT ON COLUMN msgx.msg_event.sent_at IS 'When Kafka had acknowledged it.';

COMMENT ON COLUMN msgx.msg_event.topic IS 'Topic it went to.';

COMMENT ON COLUMN msgx.msg_event.partition IS 'Partition it went to.';

COMMENT ON COLUMN msgx.msg_event."offset" IS 'Offset it got.';

COMMENT ON COLUMN msgx.msg_event.last_error IS 'Why the last attempt failed.';

COMMENT ON COLUMN msgx.msg_event.merged_count IS 'Further changes of the flight that this pending row stands for (KAFKA:schd).';

COMMENT ON COLUMN msgx.msg_event.requeues IS 'How often an operator took it out of the dead letters; its record says so, as it comes behind newer ones.';

ALTER TABLE msgx.msg_event ALTER COLUMN event_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME msgx.msg_event_event_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

COMMENT ON SEQUENCE msgx.msg_event_event_id_seq IS 'Event ids: allocated under the pipeline lock, so their order is the order of commits.';

CREATE TABLE msgx.operator_audit (
    audit_id bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    operator text NOT NULL,
    action text NOT NULL,
    subject text NOT NULL,
    reason text NOT NULL,
    detail jsonb
);

ALTER TABLE msgx.operator_audit OWNER TO msgx_owner;

COMMENT ON TABLE msgx.operator_audit IS 'Who did what by hand, and why; also each change of a setting.';

COMMENT ON COLUMN msgx.operator_audit.audit_id IS 'Number of the line.';

COMMENT ON COLUMN msgx.operator_audit.at IS 'When it was done.';

COMMENT ON COLUMN msgx.operator_audit.operator IS 'The person or instance, as named by the caller.';

COMMENT ON COLUMN msgx.operator_audit.action IS 'The function that was called.';

COMMENT ON COLUMN msgx.operator_audit.subject IS 'What it was done to.';

COMMENT ON COLUMN msgx.operator_audit.reason IS 'Why, in the caller''s words.';

COMMENT ON COLUMN msgx.operator_audit.detail IS 'Arguments and what changed.';

ALTER TABLE msgx.operator_audit ALTER COLUMN audit_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME msgx.operator_audit_audit_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

COMMENT ON SEQUENCE msgx.operator_audit_audit_id_seq IS 'Numbers the lines of operator_audit.';

CREATE TABLE msgx.outbox_cursor (
    target text NOT NULL,
    sent_up_to bigint DEFAULT 0 NOT NULL,
    CONSTRAINT outbox_cursor_target_check CHECK ((target = ANY (ARRAY['KAFKA:msg'::text, 'KAFKA:schd'::text])))
)
WITH (fillfactor='50');

ALTER TABLE msgx.outbox_cursor OWNER TO msgx_owner;

COMMENT ON TABLE msgx.outbox_cursor IS 'How far each target was delivered. Apart from pipeline_lock, so that delivery never waits for the pump.';

COMMENT ON COLUMN msgx.outbox_cursor.target IS 'The target.';

COMMENT ON COLUMN msgx.outbox_cursor.sent_up_to IS 'Every event of the target up to it is SENT or DEAD.';

CREATE TABLE msgx.pipeline_lock (
    singleton boolean DEFAULT true NOT NULL,
    done_up_to bigint DEFAULT 0 NOT NULL,
    run_epoch bigint,
    run_from bigint,
    run_to bigint,
    conflict_run integer DEFAULT 0 NOT NULL,
    run_stamped boolean DEFAULT false NOT NULL,
    suspect_to bigint,
    CONSTRAINT pipeline_lock_singleton_check CHECK (singleton)
)
WITH (fillfactor='50');

ALTER TABLE msgx.pipeline_lock OWNER TO msgx_owner;

COMMENT ON TABLE msgx.pipeline_lock IS 'The row that every writer of flights and events locks, so that event order is commit order; and the place of the pump.';

COMMENT ON COLUMN msgx.pipeline_lock.singleton IS 'Makes the table one row.';

COMMENT ON COLUMN msgx.pipeline_lock.done_up_to IS 'Every enqueued message up to it was finished once; never moves back.';

COMMENT ON COLUMN msgx.pipeline_lock.run_epoch IS 'Epoch of the instance that has the run in flight.';

COMMENT ON COLUMN msgx.pipeline_lock.run_from IS 'First message of the run in flight.';

COMMENT ON COLUMN msgx.pipeline_lock.run_to IS 'Last message of the run in flight.';

COMMENT ON COLUMN msgx.pipeline_lock.conflict_run IS 'Identity conflicts in a row; ten pause the pump.';

COMMENT ON COLUMN msgx.pipeline_lock.run_stamped IS 'The run is one message that is being tried alone, its text at hand; found with the run of a dead epoch, the process died on that message.';

COMMENT ON COLUMN msgx.pipeline_lock.suspect_to IS 'Messages up to it are tried alone: a process died with them in flight.';

CREATE TABLE msgx.proc_identity (
    identity_key text NOT NULL,
    text_hash bytea NOT NULL,
    msg_id bigint NOT NULL,
    dttm timestamp with time zone,
    bound_at timestamp with time zone NOT NULL
)
WITH (autovacuum_vacuum_insert_scale_factor='0.05');

ALTER TABLE msgx.proc_identity OWNER TO msgx_owner;

COMMENT ON TABLE msgx.proc_identity IS 'Business identities that have been used, with the text they were used for.';

COMMENT ON COLUMN msgx.proc_identity.identity_key IS 'SNDR|TYPE|STYP|SEQN, with the day of DTTM if so configured.';

COMMENT ON COLUMN msgx.proc_identity.text_hash IS 'SHA-256 of the text: the same pair again is a duplicate, the key with another text is a conflict.';

COMMENT ON COLUMN msgx.proc_identity.msg_id IS 'The message that owns the pair.';

COMMENT ON COLUMN msgx.proc_identity.dttm IS 'DTTM of the owner; a much later message takes the identity over (SEQN wrapped).';

COMMENT ON COLUMN msgx.proc_identity.bound_at IS 'When it was bound.';

CREATE TABLE msgx.proc_state (
    msg_id bigint NOT NULL,
    state text DEFAULT 'PENDING'::text NOT NULL,
    source text DEFAULT 'poll'::text NOT NULL,
    received_at timestamp with time zone,
    identity_key text,
    identity_forced boolean DEFAULT false NOT NULL,
    guard_waived boolean DEFAULT false NOT NULL,
    sndr text,
    type text,
    styp text,
    seqn bigint,
    dttm timestamp with time zone,
    attempts integer DEFAULT 0 NOT NULL,
    crashes integer DEFAULT 0 NOT NULL,
    reopened boolean DEFAULT false NOT NULL,
    next_attempt_at timestamp with time zone,
    processing_started_at timestamp with time zone,
    processing_started_work interval,
    error_class text,
    first_error_class text,
    last_error text,
    outcome text,
    finished_at timestamp with time zone,
    updated_at timestamp with time zone NOT NULL,
    backfill_next_at timestamp with time zone,
    backfill_at timestamp with time zone,
    backfill_attempts integer DEFAULT 0 NOT NULL,
    backfill_error text,
    backfill_token uuid,
    backfill_claimed_until timestamp with time zone,
    backfill_abandoned_at timestamp with time zone,
    backfill_abandoned_reason text,
    backfill_epoch bigint,
    CONSTRAINT proc_state_check CHECK (((finished_at IS NOT NULL) = (state = ANY (ARRAY['SUCCEEDED'::text, 'SKIPPED'::text, 'DEAD'::text])))),
    CONSTRAINT proc_state_check1 CHECK (((backfill_next_at IS NULL) OR (state = ANY (ARRAY['SUCCEEDED'::text, 'SKIPPED'::text, 'DEAD'::text])))),
    CONSTRAINT proc_state_error_class_check CHECK ((error_class = ANY (ARRAY['MALFORMED'::text, 'PROTOCOL'::text, 'CODEC_ERROR'::text, 'UNSUPPORTED'::text, 'INFRA'::text, 'EXHAUSTED'::text]))),
    CONSTRAINT proc_state_source_check CHECK ((source = ANY (ARRAY['poll'::text, 'compat'::text, 'late'::text]))),
    CONSTRAINT proc_state_state_check CHECK ((state = ANY (ARRAY['PENDING'::text, 'FAILED'::text, 'SUCCEEDED'::text, 'SKIPPED'::text, 'DEAD'::text])))
)
WITH (fillfactor='60', autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='5000', autovacuum_analyze_scale_factor='0.05', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_vacuum_cost_delay='0');

ALTER TABLE msgx.proc_state OWNER TO msgx_owner;

COMMENT ON TABLE msgx.proc_state IS 'One row for each message taken from the mailbox: its state, its failures, its outcome, and the mark still owed.';

COMMENT ON COLUMN msgx.proc_state.msg_id IS 'Mailbox id (CMINMSGS_ID).';

COMMENT ON COLUMN msgx.proc_state.state IS 'PENDING and FAILED hold the head of the queue; SUCCEEDED, SKIPPED and DEAD are final.';

COMMENT ON COLUMN msgx.proc_state.source IS 'How it came in: poll, compat (HTTP), late (behind the watermark).';

COMMENT ON COLUMN msgx.proc_state.received_at IS 'CMINMSGS_DATE_RECEIVED; may be null.';

COMMENT ON COLUMN msgx.proc_state.identity_key IS 'Business identity SNDR|TYPE|STYP|SEQN as bound; null before the first decoding.';

COMMENT ON COLUMN msgx.proc_state.identity_forced IS 'An operator accepted the message although its identity belongs to another text.';

COMMENT ON COLUMN msgx.proc_state.guard_waived IS 'An operator waived the answer guard.';

COMMENT ON COLUMN msgx.proc_state.sndr IS 'META/SNDR.';

COMMENT ON COLUMN msgx.proc_state.type IS 'META/TYPE.';

COMMENT ON COLUMN msgx.proc_state.styp IS 'META/STYP.';

COMMENT ON COLUMN msgx.proc_state.seqn IS 'META/SEQN.';

COMMENT ON COLUMN msgx.proc_state.dttm IS 'META/DTTM; orders nothing.';

COMMENT ON COLUMN msgx.proc_state.attempts IS 'Failed attempts that counted against the message.';

COMMENT ON COLUMN msgx.proc_state.crashes IS 'Times the process died on it.';

COMMENT ON COLUMN msgx.proc_state.reopened IS 'Taken up again behind the place of the pump, by replay or as a late arrival.';

COMMENT ON COLUMN msgx.proc_state.next_attempt_at IS 'When a FAILED message may be tried again.';

COMMENT ON COLUMN msgx.proc_state.processing_started_at IS 'When it was first tried.';

COMMENT ON COLUMN msgx.proc_state.processing_started_work IS 'Working time of the pump at its first failure; the head-deadline counts from here.';

COMMENT ON COLUMN msgx.proc_state.error_class IS 'Class of the last failure.';

COMMENT ON COLUMN msgx.proc_state.first_error_class IS 'Class before it was exhausted.';

COMMENT ON COLUMN msgx.proc_state.last_error IS 'The last failure in words: what, where, what is expected.';

COMMENT ON COLUMN msgx.proc_state.outcome IS 'applied, no-change, duplicate-of:<id>, identity-conflict:<id>, no-flight:<flid>, adopted-by:<id>, ignored …';

COMMENT ON COLUMN msgx.proc_state.finished_at IS 'When it reached its final state.';

COMMENT ON COLUMN msgx.proc_state.updated_at IS 'Last change of the row.';

COMMENT ON COLUMN msgx.proc_state.backfill_next_at IS 'Not null: a mark in the mailbox is owed, due at this time.';

COMMENT ON COLUMN msgx.proc_state.backfill_at IS 'When the mark was confirmed.';

COMMENT ON COLUMN msgx.proc_state.backfill_attempts IS 'Failed attempts to mark.';

COMMENT ON COLUMN msgx.proc_state.backfill_error IS 'Why the last attempt to mark failed.';

COMMENT ON COLUMN msgx.proc_state.backfill_token IS 'Claim under which it is being marked; settling needs the same.';

COMMENT ON COLUMN msgx.proc_state.backfill_claimed_until IS 'When the claim ends by itself; stays after a try whose end is not known, and until then the message is not to be taken up again.';

COMMENT ON COLUMN msgx.proc_state.backfill_abandoned_at IS 'When marking was given up; it is not marked.';

COMMENT ON COLUMN msgx.proc_state.backfill_abandoned_reason IS 'Why it was given up.';

COMMENT ON COLUMN msgx.proc_state.backfill_epoch IS 'Epoch under which it is claimed to be marked; a claim of a dead epoch keeps nobody waiting.';

CREATE TABLE msgx.schd_snap_log (
    msg_id bigint NOT NULL,
    recv_at timestamp with time zone NOT NULL,
    styp text,
    scope_start timestamp with time zone,
    scope_end timestamp with time zone,
    declared bigint,
    records integer NOT NULL,
    outcome text NOT NULL
);

ALTER TABLE msgx.schd_snap_log OWNER TO msgx_owner;

COMMENT ON TABLE msgx.schd_snap_log IS 'One row for each schedule message that was processed.';

COMMENT ON COLUMN msgx.schd_snap_log.msg_id IS 'The message.';

COMMENT ON COLUMN msgx.schd_snap_log.recv_at IS 'When it was processed.';

COMMENT ON COLUMN msgx.schd_snap_log.styp IS 'META/STYP.';

COMMENT ON COLUMN msgx.schd_snap_log.scope_start IS 'Earliest SODT in it.';

COMMENT ON COLUMN msgx.schd_snap_log.scope_end IS 'Latest SODT in it.';

COMMENT ON COLUMN msgx.schd_snap_log.declared IS 'RECS.';

COMMENT ON COLUMN msgx.schd_snap_log.records IS 'Records present.';

COMMENT ON COLUMN msgx.schd_snap_log.outcome IS 'State and outcome of the message.';

CREATE TABLE msgx.setting (
    key text NOT NULL,
    value text NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE msgx.setting OWNER TO msgx_owner;

COMMENT ON TABLE msgx.setting IS 'Parameters of the rules, copied from the configuration when an instance acquires the lease. Functions read them here.';

COMMENT ON COLUMN msgx.setting.key IS 'Name of the configuration key.';

COMMENT ON COLUMN msgx.setting.value IS 'Value as text; durations are written in seconds, as in 300s.';

COMMENT ON COLUMN msgx.setting.updated_at IS 'When the value last changed.';

CREATE TABLE msgx.sql_file (
    path text NOT NULL,
    sha256 text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE msgx.sql_file OWNER TO msgx_owner;

COMMENT ON TABLE msgx.sql_file IS 'Functions, views and grants as last applied by msgx migrate: file and checksum.';

COMMENT ON COLUMN msgx.sql_file.path IS 'Path below sql/.';

COMMENT ON COLUMN msgx.sql_file.sha256 IS 'SHA-256 of the file as applied, hexadecimal.';

COMMENT ON COLUMN msgx.sql_file.applied_at IS 'When the set of files was applied.';

ALTER TABLE ONLY msgx.backfill_cursor
    ADD CONSTRAINT backfill_cursor_pkey PRIMARY KEY (singleton);

ALTER TABLE ONLY msgx.flight_airbridge
    ADD CONSTRAINT flight_airbridge_pkey PRIMARY KEY (flid, airbridge_number);

ALTER TABLE ONLY msgx.flight_carousel
    ADD CONSTRAINT flight_carousel_pkey PRIMARY KEY (flid, carousel_number);

ALTER TABLE ONLY msgx.flight_checkin
    ADD CONSTRAINT flight_checkin_pkey PRIMARY KEY (flid, checkin_number);

ALTER TABLE ONLY msgx.flight_chock
    ADD CONSTRAINT flight_chock_pkey PRIMARY KEY (flid, chock_number);

ALTER TABLE ONLY msgx.flight_chute
    ADD CONSTRAINT flight_chute_pkey PRIMARY KEY (flid, chute_number);

ALTER TABLE ONLY msgx.flight_delay
    ADD CONSTRAINT flight_delay_pkey PRIMARY KEY (flid, delay_code);

ALTER TABLE ONLY msgx.flight_gate
    ADD CONSTRAINT flight_gate_pkey PRIMARY KEY (flid, gate_number);

ALTER TABLE ONLY msgx.flight_push
    ADD CONSTRAINT flight_push_pkey PRIMARY KEY (flid, stand_code);

ALTER TABLE ONLY msgx.flight_route_point
    ADD CONSTRAINT flight_route_point_pkey PRIMARY KEY (flid, kind, rtno);

ALTER TABLE ONLY msgx.flight_schd
    ADD CONSTRAINT flight_schd_pkey PRIMARY KEY (flid);

ALTER TABLE ONLY msgx.flight_service
    ADD CONSTRAINT flight_service_pkey PRIMARY KEY (flid, service_code);

ALTER TABLE ONLY msgx.flight_stand
    ADD CONSTRAINT flight_stand_pkey PRIMARY KEY (flid, stand_number);

ALTER TABLE ONLY msgx.flight_tractor
    ADD CONSTRAINT flight_tractor_pkey PRIMARY KEY (flid, stand_code);

ALTER TABLE ONLY msgx.flight_vip
    ADD CONSTRAINT flight_vip_pkey PRIMARY KEY (flid, vip_code);

ALTER TABLE ONLY msgx.flight_vip_service
    ADD CONSTRAINT flight_vip_service_pkey PRIMARY KEY (flid, vip_code, service_code);

ALTER TABLE ONLY msgx.flight_write
    ADD CONSTRAINT flight_write_pkey PRIMARY KEY (flid, msg_id, seq);

ALTER TABLE ONLY msgx.ignore_rule
    ADD CONSTRAINT ignore_rule_pkey PRIMARY KEY (type, styp);

ALTER TABLE ONLY msgx.inbox_cursor
    ADD CONSTRAINT inbox_cursor_pkey PRIMARY KEY (singleton);

ALTER TABLE ONLY msgx.inbox_hole
    ADD CONSTRAINT inbox_hole_pkey PRIMARY KEY (lo);

ALTER TABLE ONLY msgx.instance_lease
    ADD CONSTRAINT instance_lease_pkey PRIMARY KEY (singleton);

ALTER TABLE ONLY msgx.loop_state
    ADD CONSTRAINT loop_state_pkey PRIMARY KEY (loop);

ALTER TABLE ONLY msgx.msg_event
    ADD CONSTRAINT msg_event_pkey PRIMARY KEY (event_id);

ALTER TABLE ONLY msgx.operator_audit
    ADD CONSTRAINT operator_audit_pkey PRIMARY KEY (audit_id);

ALTER TABLE ONLY msgx.outbox_cursor
    ADD CONSTRAINT outbox_cursor_pkey PRIMARY KEY (target);

ALTER TABLE ONLY msgx.pipeline_lock
    ADD CONSTRAINT pipeline_lock_pkey PRIMARY KEY (singleton);

ALTER TABLE ONLY msgx.proc_identity
    ADD CONSTRAINT proc_identity_pkey PRIMARY KEY (identity_key, text_hash);

ALTER TABLE ONLY msgx.proc_state
    ADD CONSTRAINT proc_state_pkey PRIMARY KEY (msg_id);

ALTER TABLE ONLY msgx.schd_snap_log
    ADD CONSTRAINT schd_snap_log_pkey PRIMARY KEY (msg_id, recv_at);

ALTER TABLE ONLY msgx.setting
    ADD CONSTRAINT setting_pkey PRIMARY KEY (key);

ALTER TABLE ONLY msgx.sql_file
    ADD CONSTRAINT sql_file_pkey PRIMARY KEY (path);

CREATE INDEX flight_schd_day ON msgx.flight_schd USING btree (operation_day);

COMMENT ON INDEX msgx.flight_schd_day IS 'The board of a day; operation_day never changes, so updates stay cheap.';

CREATE INDEX flight_schd_master ON msgx.flight_schd USING btree (master_flid) WHERE (master_flid IS NOT NULL);

COMMENT ON INDEX msgx.flight_schd_master IS 'Code-share flights of a master flight.';

CREATE INDEX msg_event_dead ON msgx.msg_event USING btree (event_id) WHERE (state = 'DEAD'::text);

COMMENT ON INDEX msgx.msg_event_dead IS 'Dead events, for the views and for requeue.';

CREATE INDEX msg_event_requeued ON msgx.msg_event USING btree (event_id) WHERE ((target = 'KAFKA:msg'::text) AND (state = 'PENDING'::text) AND (requeues > 0));

COMMENT ON INDEX msgx.msg_event_requeued IS 'Changes taken out of the dead letters that Kafka has not had yet.';

CREATE UNIQUE INDEX msg_event_schd_pending ON msgx.msg_event USING btree (partition_key) WHERE ((target = 'KAFKA:schd'::text) AND (state = 'PENDING'::text));

COMMENT ON INDEX msgx.msg_event_schd_pending IS 'The one pending schd row of a flight.';

CREATE INDEX proc_state_backfill_retry ON msgx.proc_state USING btree (backfill_attempts, msg_id) WHERE ((backfill_next_at IS NOT NULL) AND ((backfill_attempts > 0) OR reopened));

COMMENT ON INDEX msgx.proc_state_backfill_retry IS 'Marks owed that the first sweep did not settle, fairest first.';

CREATE INDEX proc_state_open_dead ON msgx.proc_state USING btree (msg_id) WHERE ((state = 'DEAD'::text) OR (backfill_abandoned_at IS NOT NULL));

COMMENT ON INDEX msgx.proc_state_open_dead IS 'Dead letters and abandoned marks, for the views.';

CREATE INDEX proc_state_reopened ON msgx.proc_state USING btree (msg_id) WHERE (reopened AND (state = ANY (ARRAY['PENDING'::text, 'FAILED'::text])));

COMMENT ON INDEX msgx.proc_state_reopened IS 'Messages taken up again that are not finished.';

CREATE INDEX schd_snap_log_scope ON msgx.schd_snap_log USING btree (scope_end, recv_at);

COMMENT ON INDEX msgx.schd_snap_log_scope IS 'For the purge.';

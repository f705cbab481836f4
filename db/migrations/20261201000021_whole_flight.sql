-- migrate:up
CREATE TABLE msgx.flight_carousel (
    flid               bigint NOT NULL,
    carousel_number    integer NOT NULL,
    carousel_code      text,
    carousel_class     text,
    planned_start_time timestamptz,
    planned_end_time   timestamptz,
    first_bag_time     timestamptz,
    last_bag_time      timestamptz,
    carousel_indicator text,
    extra              jsonb,
    PRIMARY KEY (flid, carousel_number)
) WITH (fillfactor = 70);
COMMENT ON TABLE msgx.flight_carousel IS 'CLDT: baggage carousels of a flight, by number.';
COMMENT ON COLUMN msgx.flight_carousel.flid IS 'FLID.';
COMMENT ON COLUMN msgx.flight_carousel.carousel_number IS 'CLDT/@CLNO.';
COMMENT ON COLUMN msgx.flight_carousel.carousel_code IS 'CLDT/BELT.';
COMMENT ON COLUMN msgx.flight_carousel.carousel_class IS 'CLDT/BCLS.';
COMMENT ON COLUMN msgx.flight_carousel.planned_start_time IS 'CLDT/PCOT.';
COMMENT ON COLUMN msgx.flight_carousel.planned_end_time IS 'CLDT/PCCT.';
COMMENT ON COLUMN msgx.flight_carousel.first_bag_time IS 'CLDT/FBAG.';
COMMENT ON COLUMN msgx.flight_carousel.last_bag_time IS 'CLDT/LBAG.';
COMMENT ON COLUMN msgx.flight_carousel.carousel_indicator IS 'CLDT/BTYP.';
COMMENT ON COLUMN msgx.flight_carousel.extra IS 'Elements and attributes without a column, as they came.';

CREATE TABLE msgx.flight_chute (
    flid               bigint NOT NULL,
    chute_number       integer NOT NULL,
    chute_code         text,
    chute_class        text,
    planned_start_time timestamptz,
    planned_end_time   timestamptz,
    actual_start_time  timestamptz,
    actual_end_time    timestamptz,
    chute_indicator    text,
    extra              jsonb,
    PRIMARY KEY (flid, chute_number)
) WITH (fillfactor = 70);
COMMENT ON TABLE msgx.flight_chute IS 'CHDT: baggage chutes of a flight, by number.';
COMMENT ON COLUMN msgx.flight_chute.flid IS 'FLID.';
COMMENT ON COLUMN msgx.flight_chute.chute_number IS 'CHDT/@CHNO.';
COMMENT ON COLUMN msgx.flight_chute.chute_code IS 'CHDT/CHUT.';
COMMENT ON COLUMN msgx.flight_chute.chute_class IS 'CHDT/CCLS.';
COMMENT ON COLUMN msgx.flight_chute.planned_start_time IS 'CHDT/PCBT.';
COMMENT ON COLUMN msgx.flight_chute.planned_end_time IS 'CHDT/PCET.';
COMMENT ON COLUMN msgx.flight_chute.actual_start_time IS 'CHDT/CBTM.';
COMMENT ON COLUMN msgx.flight_chute.actual_end_time IS 'CHDT/CETM.';
COMMENT ON COLUMN msgx.flight_chute.chute_indicator IS 'CHDT/CTYP.';
COMMENT ON COLUMN msgx.flight_chute.extra IS 'Elements and attributes without a column, as they came.';

CREATE TABLE msgx.flight_chock (
    flid            bigint NOT NULL,
    chock_number    integer NOT NULL,
    chock_time      timestamptz,
    chock_indicator text,
    stand_code      text,
    extra           jsonb,
    PRIMARY KEY (flid, chock_number)
) WITH (fillfactor = 70);
COMMENT ON TABLE msgx.flight_chock IS 'CHOT: chocks on and off, by number.';
COMMENT ON COLUMN msgx.flight_chock.flid IS 'FLID.';
COMMENT ON COLUMN msgx.flight_chock.chock_number IS 'CHOT/@CSNO.';
COMMENT ON COLUMN msgx.flight_chock.chock_time IS 'CHOT/CHTM.';
COMMENT ON COLUMN msgx.flight_chock.chock_indicator IS 'CHOT/CHID: ON or OFF.';
COMMENT ON COLUMN msgx.flight_chock.stand_code IS 'CHOT/CHST.';
COMMENT ON COLUMN msgx.flight_chock.extra IS 'Elements and attributes without a column, as they came.';

CREATE TABLE msgx.flight_airbridge (
    flid             bigint NOT NULL,
    airbridge_number integer NOT NULL,
    airbridge_code   text,
    operation        text,
    operation_time   timestamptz,
    extra            jsonb,
    PRIMARY KEY (flid, airbridge_number)
) WITH (fillfactor = 70);
COMMENT ON TABLE msgx.flight_airbridge IS 'ABTM: airbridges attached and detached, by number.';
COMMENT ON COLUMN msgx.flight_airbridge.flid IS 'FLID.';
COMMENT ON COLUMN msgx.flight_airbridge.airbridge_number IS 'ABTM/@ASNO.';
COMMENT ON COLUMN msgx.flight_airbridge.airbridge_code IS 'ABTM/ABDG.';
COMMENT ON COLUMN msgx.flight_airbridge.operation IS 'ABTM/ABOP: A attach, D detach.';
COMMENT ON COLUMN msgx.flight_airbridge.operation_time IS 'ABTM/AOTM.';
COMMENT ON COLUMN msgx.flight_airbridge.extra IS 'Elements and attributes without a column, as they came.';

CREATE TABLE msgx.flight_service (
    flid            bigint NOT NULL,
    service_code    text NOT NULL,
    quantity        integer,
    start_time      timestamptz,
    end_time        timestamptz,
    provider        bigint,
    abnormal_reason text,
    abnormal_remark text,
    extra           jsonb,
    PRIMARY KEY (flid, service_code)
) WITH (fillfactor = 70);
COMMENT ON TABLE msgx.flight_service IS 'SRVT: ground services of a flight, by code.';
COMMENT ON COLUMN msgx.flight_service.flid IS 'FLID.';
COMMENT ON COLUMN msgx.flight_service.service_code IS 'SRVT/SRTC.';
COMMENT ON COLUMN msgx.flight_service.quantity IS 'SRVT/SRQT.';
COMMENT ON COLUMN msgx.flight_service.start_time IS 'SRVT/SRST.';
COMMENT ON COLUMN msgx.flight_service.end_time IS 'SRVT/SRET.';
COMMENT ON COLUMN msgx.flight_service.provider IS 'SRVT/SRPR.';
COMMENT ON COLUMN msgx.flight_service.abnormal_reason IS 'SRVT/SANR.';
COMMENT ON COLUMN msgx.flight_service.abnormal_remark IS 'SRVT/SARR.';
COMMENT ON COLUMN msgx.flight_service.extra IS 'Elements and attributes without a column, as they came.';

CREATE TABLE msgx.flight_vip (
    flid           bigint NOT NULL,
    vip_code       text NOT NULL,
    entourage_size integer,
    extra          jsonb,
    PRIMARY KEY (flid, vip_code)
) WITH (fillfactor = 70);
COMMENT ON TABLE msgx.flight_vip IS 'VIPF: VIP persons of a flight, by code. Personal data.';
COMMENT ON COLUMN msgx.flight_vip.flid IS 'FLID.';
COMMENT ON COLUMN msgx.flight_vip.vip_code IS 'VIPF/VPCD.';
COMMENT ON COLUMN msgx.flight_vip.entourage_size IS 'VIPF/VFES.';
COMMENT ON COLUMN msgx.flight_vip.extra IS 'Elements and attributes without a column, as they came.';

CREATE TABLE msgx.flight_vip_service (
    flid         bigint NOT NULL,
    vip_code     text NOT NULL,
    service_code text NOT NULL,
    quantity     bigint,
    start_time   timestamptz,
    end_time     timestamptz,
    extra        jsonb,
    PRIMARY KEY (flid, vip_code, service_code)
) WITH (fillfactor = 70);
COMMENT ON TABLE msgx.flight_vip_service IS 'VIPF/VIPT: services for a VIP person, by code.';
COMMENT ON COLUMN msgx.flight_vip_service.flid IS 'FLID.';
COMMENT ON COLUMN msgx.flight_vip_service.vip_code IS 'VIPF/VPCD.';
COMMENT ON COLUMN msgx.flight_vip_service.service_code IS 'VIPF/VIPT/VSCD.';
COMMENT ON COLUMN msgx.flight_vip_service.quantity IS 'VIPF/VIPT/VTQY.';
COMMENT ON COLUMN msgx.flight_vip_service.start_time IS 'VIPF/VIPT/VTST.';
COMMENT ON COLUMN msgx.flight_vip_service.end_time IS 'VIPF/VIPT/VTET.';
COMMENT ON COLUMN msgx.flight_vip_service.extra IS 'Elements and attributes without a column, as they came.';

CREATE TABLE msgx.flight_push (
    flid           bigint NOT NULL,
    stand_code     text NOT NULL,
    push_number    integer,
    push_time      timestamptz,
    push_indicator text,
    extra          jsonb,
    PRIMARY KEY (flid, stand_code)
) WITH (fillfactor = 70);
COMMENT ON TABLE msgx.flight_push IS 'PSHT: push-back, by stand, whether that stand is allocated or not.';
COMMENT ON COLUMN msgx.flight_push.flid IS 'FLID.';
COMMENT ON COLUMN msgx.flight_push.stand_code IS 'PSHT/PUST.';
COMMENT ON COLUMN msgx.flight_push.push_number IS 'PSHT/@PSHN.';
COMMENT ON COLUMN msgx.flight_push.push_time IS 'PSHT/PSTM.';
COMMENT ON COLUMN msgx.flight_push.push_indicator IS 'PSHT/PSID.';
COMMENT ON COLUMN msgx.flight_push.extra IS 'Elements and attributes without a column, as they came.';

CREATE TABLE msgx.flight_tractor (
    flid         bigint NOT NULL,
    stand_code   text NOT NULL,
    tractor_time timestamptz,
    extra        jsonb,
    PRIMARY KEY (flid, stand_code)
) WITH (fillfactor = 70);
COMMENT ON TABLE msgx.flight_tractor IS 'TIPT: tractor in place, by stand, whether that stand is allocated or not.';
COMMENT ON COLUMN msgx.flight_tractor.flid IS 'FLID.';
COMMENT ON COLUMN msgx.flight_tractor.stand_code IS 'TIPT/TRST.';
COMMENT ON COLUMN msgx.flight_tractor.tractor_time IS 'TIPT/TRTM.';
COMMENT ON COLUMN msgx.flight_tractor.extra IS 'Elements and attributes without a column, as they came.';

-- Code-share flights of a master, turnaround partners.
CREATE INDEX flight_schd_master ON msgx.flight_schd (master_flid) WHERE master_flid IS NOT NULL;
COMMENT ON INDEX msgx.flight_schd_master IS 'Code-share flights of a master flight.';

ALTER TABLE msgx.flight_carousel OWNER TO msgx_owner;
ALTER TABLE msgx.flight_chute OWNER TO msgx_owner;
ALTER TABLE msgx.flight_chock OWNER TO msgx_owner;
ALTER TABLE msgx.flight_airbridge OWNER TO msgx_owner;
ALTER TABLE msgx.flight_service OWNER TO msgx_owner;
ALTER TABLE msgx.flight_vip OWNER TO msgx_owner;
ALTER TABLE msgx.flight_vip_service OWNER TO msgx_owner;
ALTER TABLE msgx.flight_push OWNER TO msgx_owner;
ALTER TABLE msgx.flight_tractor OWNER TO msgx_owner;

-- migrate:down
DROP INDEX msgx.flight_schd_master;
DROP TABLE msgx.flight_tractor, msgx.flight_push, msgx.flight_vip_service, msgx.flight_vip, msgx.flight_service, msgx.flight_airbridge,
    msgx.flight_chock, msgx.flight_chute, msgx.flight_carousel;

CREATE OR REPLACE VIEW msgx.v_flight_board AS
SELECT f.operation_day, f.flid, f.flight_number, f.direction, f.state, f.sodt, f.estimated_time, f.actual_time, f.cancelled_at,
       f.registration, f.aircraft_type, f.terminal,
       coalesce((SELECT string_agg(s.stand_code, ' ' ORDER BY s.stand_number) FROM msgx.flight_stand AS s WHERE s.flid = f.flid),
                f.current_stand) AS stands,
       (SELECT string_agg(g.gate_code, ' ' ORDER BY g.gate_number) FROM msgx.flight_gate AS g WHERE g.flid = f.flid) AS gates,
       (SELECT string_agg(k.desk_code, ' ' ORDER BY k.checkin_number) FROM msgx.flight_checkin AS k WHERE k.flid = f.flid) AS desks,
       (SELECT string_agg(r.airport_code, '-' ORDER BY r.rtno) FROM msgx.flight_route_point AS r WHERE r.flid = f.flid AND r.kind = 'ERUT') AS route,
       f.status_code, f.state_version, f.last_msg_id, f.updated_at,
       (SELECT string_agg(b.carousel_code, ' ' ORDER BY b.carousel_number) FROM msgx.flight_carousel AS b WHERE b.flid = f.flid) AS carousels,
       (SELECT string_agg(c.flight_number, ' ' ORDER BY c.flight_number) FROM msgx.flight_schd AS c
         WHERE c.master_flid = f.flid AND c.state = 'ACTIVE') AS code_shares,
       f.master_flight_number, f.linked_flight_number AS turnaround,
       nullif(concat_ws(' ', f.diversion_direction, f.diversion_airport), '') AS diversion, f.return_type,
       (SELECT string_agg(concat_ws(' ', d.delay_code, d.duration_minutes || ' min'), ', ' ORDER BY d.delay_code)
          FROM msgx.flight_delay AS d WHERE d.flid = f.flid) AS delays
  FROM msgx.flight_schd AS f;
ALTER VIEW msgx.v_flight_board OWNER TO msgx_owner;
COMMENT ON VIEW msgx.v_flight_board IS 'The flights as on a board; filter by operation_day.';
COMMENT ON COLUMN msgx.v_flight_board.operation_day IS 'Operating day.';
COMMENT ON COLUMN msgx.v_flight_board.flid IS 'FLID.';
COMMENT ON COLUMN msgx.v_flight_board.flight_number IS 'FLNO.';
COMMENT ON COLUMN msgx.v_flight_board.direction IS 'A arrival, D departure.';
COMMENT ON COLUMN msgx.v_flight_board.state IS 'ACTIVE or DELETED.';
COMMENT ON COLUMN msgx.v_flight_board.sodt IS 'SODT: scheduled time.';
COMMENT ON COLUMN msgx.v_flight_board.estimated_time IS 'ESTT.';
COMMENT ON COLUMN msgx.v_flight_board.actual_time IS 'ACTT.';
COMMENT ON COLUMN msgx.v_flight_board.cancelled_at IS 'CNCL.';
COMMENT ON COLUMN msgx.v_flight_board.registration IS 'RENO.';
COMMENT ON COLUMN msgx.v_flight_board.aircraft_type IS 'ACFT.';
COMMENT ON COLUMN msgx.v_flight_board.terminal IS 'TRML.';
COMMENT ON COLUMN msgx.v_flight_board.stands IS 'Stands by number; the current one when none is allocated.';
COMMENT ON COLUMN msgx.v_flight_board.gates IS 'Gates by number.';
COMMENT ON COLUMN msgx.v_flight_board.desks IS 'Check-in desks by number.';
COMMENT ON COLUMN msgx.v_flight_board.route IS 'Airports of the whole route.';
COMMENT ON COLUMN msgx.v_flight_board.status_code IS 'FTSS.';
COMMENT ON COLUMN msgx.v_flight_board.state_version IS 'Version.';
COMMENT ON COLUMN msgx.v_flight_board.last_msg_id IS 'The message that made it.';
COMMENT ON COLUMN msgx.v_flight_board.updated_at IS 'When it was made.';
COMMENT ON COLUMN msgx.v_flight_board.carousels IS 'Baggage carousels by number.';
COMMENT ON COLUMN msgx.v_flight_board.code_shares IS 'Flight numbers of its code-share flights: those that are active and name it as their master (MAID).';
COMMENT ON COLUMN msgx.v_flight_board.master_flight_number IS 'CSFT: the flight it is a code share of.';
COMMENT ON COLUMN msgx.v_flight_board.turnaround IS 'TAFL: flight number of the turnaround flight.';
COMMENT ON COLUMN msgx.v_flight_board.diversion IS 'FDIV: TO or FROM, and the airport.';
COMMENT ON COLUMN msgx.v_flight_board.return_type IS 'FRET: A air, G ground.';
COMMENT ON COLUMN msgx.v_flight_board.delays IS 'DELY: codes and minutes.';

package sis

// kind is the wire form of a value and the JSON type it becomes.
type kind uint8

const (
	text      kind = iota // trimmed text
	integer               // fits 32 bits
	long                  // fits 64 bits
	flightRef             // a FLID: positive, up to 18 digits
	decimal               // digits with a decimal point
	moment                // DDMONYYHHMM, local wall clock (wire 2.1)
	duration              // HHMM, becomes minutes
)

// class says how a FLOP treats its element (wire 3.5, D4).
type class uint8

const (
	notInFlop class = iota
	mandatory       // M: absent or empty is refused
	optional        // O: absent is refused, empty clears
	clearable       // T: absent or empty clears
)

// scalar is an element with one value.
type scalar struct {
	element string
	column  string
	kind    kind
	class   class // of the FLOP whose STYP is the element's name
}

// scalars are the single values of FLTR and FLOP, in the order of wire 4.1.
func scalarTable() []scalar {
	return []scalar{
		{"ALCD", "airline_code", text, notInFlop},
		{"ALSC", "airline_subcompany", text, notInFlop},
		{"FLNO", "flight_number", text, notInFlop},
		{"MVIN", "direction", text, notInFlop},
		{"SODT", "sodt", moment, notInFlop},
		{"FLTY", "flight_type", text, mandatory},
		{"FLIN", "flight_indicator", text, mandatory},
		{"ACFT", "aircraft_type", text, mandatory},
		{"RENO", "registration", text, optional},
		{"TAOP", "linked_airline_code", text, notInFlop},
		{"TAFL", "linked_flight_number", text, notInFlop},
		{"TAID", "linked_flid", flightRef, notInFlop},
		{"TRML", "terminal", text, optional},
		{"MAXP", "max_pax", integer, optional},
		{"CSOP", "master_airline_code", text, notInFlop},
		{"CSFT", "master_flight_number", text, notInFlop},
		{"MAID", "master_flid", flightRef, notInFlop},
		{"ESTT", "estimated_time", moment, clearable},
		{"ACTT", "actual_time", moment, clearable},
		{"STND", "current_stand", text, optional},
		{"PHAG", "pax_agent", long, notInFlop},
		{"FHAG", "field_agent", long, notInFlop},
		{"MHAG", "maintenance_agent", long, notInFlop},
		{"CNCL", "cancelled_at", moment, clearable},
		{"REMC", "remarks", text, optional},
		{"BOTM", "boarding_open", moment, clearable},
		{"LACL", "last_call", moment, clearable},
		{"FINT", "final_time", moment, clearable},
		{"APPT", "approved_time", moment, clearable},
		{"EGSR", "engine_start_request", moment, clearable},
		{"EGST", "engine_start", moment, clearable},
		{"VIPP", "vip_count", integer, notInFlop},
		{"VIPR", "vip_rank", integer, notInFlop},
		{"LBNO", "local_bag_count", integer, optional},
		{"LBWT", "local_bag_weight", decimal, optional},
		{"PAXC", "passenger_count", integer, optional},
		{"EXSC", "external_status_code", text, notInFlop},
		{"EXSR", "external_status_comment", text, notInFlop},
		{"FTSS", "status_code", text, optional},
		{"PEDT", "previous_estimated_departure", moment, clearable},
		{"PADT", "previous_actual_departure", moment, clearable},
		{"NEAT", "next_estimated_arrival", moment, clearable},
		{"NAAT", "next_actual_arrival", moment, clearable},
		{"EOBT", "estimated_offblock", moment, clearable},
		{"COBT", "calculated_offblock", moment, clearable},
		{"TOBT", "target_offblock", moment, clearable},
		{"CTOT", "calculated_takeoff", moment, clearable},
		{"IEST", "internal_estimated", moment, clearable},
		{"RUNW", "runway", text, optional},
	}
}

// grouping says how a FLOP of several elements treats them.
type grouping uint8

const (
	each      grouping = iota // G: each absent or empty one is cleared
	allOrNone                 // X: any absent or empty one clears all
	leading                   // the first must be there, and empty clears all; the others may be absent
)

// group is a FLOP that sets several scalars.
type group struct {
	styp     string
	elements []string
	how      grouping
}

func groupTable() []group {
	return []group{
		{"HNAG", []string{"FHAG", "PHAG", "MHAG"}, each},
		{"VIPP", []string{"VIPP", "VIPR"}, each},
		{"TAOP", []string{"TAOP", "TAFL", "TAID"}, allOrNone},
		{"CSOP", []string{"CSOP", "CSFT", "MAID"}, allOrNone},
		{"CSFT", []string{"CSOP", "CSFT", "MAID"}, allOrNone},
		{"EXSS", []string{"EXSC", "EXSR"}, leading},
	}
}

// composite is an element of one attribute and a text (wire 4.2).
type composite struct {
	element   string
	attribute string
	column    string // of the attribute
	second    string // a further attribute, "" for none
	secondCol string
	allowed   []string // values of the second attribute
	textCol   string
}

func compositeTable() []composite {
	return []composite{
		{"FDIV", "DDES", "diversion_airport", "DDIR", "diversion_direction", []string{"TO", "FROM"}, "diversion_reason"},
		{"FRET", "REID", "return_type", "", "", nil, "return_reason"},
		{"FLAB", "ARES", "landing_abort_indicator", "", "", nil, "landing_abort_reason"},
	}
}

// field is a value inside a list member: a child element, an attribute with
// @, or the text of the member itself with #.
type field struct {
	name     string
	column   string
	kind     kind
	required bool
}

// list is a repeated element (wire 4.3). Its first field is the key.
type list struct {
	element string
	name    string
	fields  []field
	keyed   bool // by a code, upserted by FLOP; else by number, replaced by FLOP
	inFlop  bool
}

func listTable() []list {
	return []list{
		{element: "PSDT", name: "stand", inFlop: true, fields: []field{
			{"@PSNO", "stand_number", integer, true}, {"PSST", "stand_code", text, false},
			{"STST", "start_time", moment, false}, {"STET", "end_time", moment, false}}},
		{element: "GTDT", name: "gate", inFlop: true, fields: []field{
			{"@GTNO", "gate_number", integer, true}, {"GATE", "gate_code", text, false},
			{"PGOT", "planned_start_time", moment, false}, {"PGCT", "planned_end_time", moment, false},
			{"GOTM", "actual_start_time", moment, false}, {"GCTM", "actual_end_time", moment, false},
			{"GTYP", "gate_indicator", text, false}}},
		{element: "CKDT", name: "checkin", inFlop: true, fields: []field{
			{"@CKNO", "checkin_number", integer, true}, {"CHKC", "desk_code", text, false}, {"CCLS", "desk_class", text, false},
			{"PCOT", "planned_start_time", moment, false}, {"PCCT", "planned_end_time", moment, false},
			{"COTM", "actual_start_time", moment, false}, {"CCTM", "actual_end_time", moment, false},
			{"CTYP", "checkin_indicator", text, false}}},
		{element: "DELY", name: "delay", keyed: true, inFlop: true, fields: []field{
			{"@CODE", "delay_code", text, true}, {"@STRT", "start_time", moment, false},
			{"@DURA", "duration_minutes", duration, false}, {"#", "comment", text, false}}},
		{element: "ERUT", name: "erut", inFlop: true, fields: []field{
			{"@RTNO", "rtno", integer, true}, {"APCD", "airport_code", text, true},
			{"SCAT", "arrival_time", moment, false}, {"SCDT", "departure_time", moment, false}}},
		{element: "ROUT", name: "rout", fields: []field{
			{"@RTNO", "rtno", integer, true}, {"APCD", "airport_code", text, true},
			{"SCAT", "arrival_time", moment, false}, {"SCDT", "departure_time", moment, false}}},
	}
}

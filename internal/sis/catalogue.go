package sis

import "strings"

// kind is the wire form of a value and the JSON type it becomes.
type kind uint8

const (
	text      kind = iota // trimmed text
	integer               // fits 32 bits
	long                  // fits 64 bits
	number                // of a list member: 0 or more, fits 32 bits
	flightRef             // a FLID: positive, up to 18 digits (wire D10)
	decimal               // digits with a decimal point
	moment                // DDMONYYHHMM, local wall clock (wire 2.1)
	duration              // HHMM, becomes minutes
	yesNo                 // Y or N
	day                   // DDMONYY
	clockTime             // HHMM, or the end of DDMONYYHHMM, becomes HH:MM
	weekdays              // seven digits, the day's own or 0
)

// class says how a FLOP treats an element of its subtype (wire 3.5, D4).
type class byte

const (
	none      class = 0   // no FLOP sets it
	mandatory class = 'M' // absent or empty is refused
	optional  class = 'O' // absent is refused, empty clears
	clearable class = 'T' // absent or empty clears
	grouped   class = 'G' // like T, each element of its subtype for itself
	together  class = 'X' // absent or empty clears all elements of its subtype
	follower  class = 'F' // like T, and cleared where the O element of its subtype is empty
)

// scalar is an element with one value.
type scalar struct {
	element string
	column  string
	kind    kind
	max     int    // characters of a text on the wire; for readers: a longer one is kept (wire D9)
	styps   string // subtypes of the FLOP that sets it, with blanks between
	class   class
}

// scalars are the single values of FLTR and FLOP, in the order of wire 4.1.
func scalars() []scalar {
	return []scalar{
		{"ALCD", "airline_code", text, 3, "", none},
		{"ALSC", "airline_subcompany", text, 10, "", none},
		{"FLNO", "flight_number", text, 12, "", none},
		{"MVIN", "direction", text, 1, "", none},
		{"SODT", "sodt", moment, 0, "", none},
		{"FLTY", "flight_type", text, 1, "FLTY", mandatory},
		{"FLIN", "flight_indicator", text, 1, "FLIN", mandatory},
		{"ACFT", "aircraft_type", text, 3, "ACFT", mandatory},
		{"RENO", "registration", text, 10, "RENO", optional},
		{"TAOP", "linked_airline_code", text, 3, "TAOP", together},
		{"TAFL", "linked_flight_number", text, 12, "TAOP", together},
		{"TAID", "linked_flid", flightRef, 0, "TAOP", together},
		{"TRML", "terminal", text, 5, "TRML", optional},
		{"MAXP", "max_pax", integer, 0, "MAXP", optional},
		{"CSOP", "master_airline_code", text, 3, "CSOP CSFT", together},
		{"CSFT", "master_flight_number", text, 12, "CSOP CSFT", together},
		{"MAID", "master_flid", flightRef, 0, "CSOP CSFT", together},
		{"ESTT", "estimated_time", moment, 0, "ESTT", clearable},
		{"ACTT", "actual_time", moment, 0, "ACTT", clearable},
		{"STND", "current_stand", text, 8, "STND", optional},
		{"PHAG", "pax_agent", long, 0, "HNAG", grouped},
		{"FHAG", "field_agent", long, 0, "HNAG", grouped},
		{"MHAG", "maintenance_agent", long, 0, "HNAG", grouped},
		{"CNCL", "cancelled_at", moment, 0, "CNCL", clearable},
		{"REMC", "remarks", text, 80, "REMC", optional},
		{"BOTM", "boarding_open", moment, 0, "BOTM", clearable},
		{"LACL", "last_call", moment, 0, "LACL", clearable},
		{"FINT", "final_time", moment, 0, "FINT", clearable},
		{"APPT", "approved_time", moment, 0, "APPT", clearable},
		{"EGSR", "engine_start_request", moment, 0, "EGSR", clearable},
		{"EGST", "engine_start", moment, 0, "EGST", clearable},
		{"VIPP", "vip_count", integer, 0, "VIPP", grouped},
		{"VIPR", "vip_rank", integer, 0, "VIPP", grouped},
		{"LBNO", "local_bag_count", integer, 0, "LBNO", optional},
		{"LBWT", "local_bag_weight", decimal, 0, "LBWT", optional},
		{"PAXC", "passenger_count", integer, 0, "PAXC", optional},
		{"EXSC", "external_status_code", text, 8, "EXSS", optional},
		{"EXSR", "external_status_comment", text, 256, "EXSS", follower},
		{"FTSS", "status_code", text, 8, "FTSS", optional},
		{"PEDT", "previous_estimated_departure", moment, 0, "PEDT", clearable},
		{"PADT", "previous_actual_departure", moment, 0, "PADT", clearable},
		{"NEAT", "next_estimated_arrival", moment, 0, "NEAT", clearable},
		{"NAAT", "next_actual_arrival", moment, 0, "NAAT", clearable},
		{"EOBT", "estimated_offblock", moment, 0, "EOBT", clearable},
		{"COBT", "calculated_offblock", moment, 0, "COBT", clearable},
		{"TOBT", "target_offblock", moment, 0, "TOBT", clearable},
		{"CTOT", "calculated_takeoff", moment, 0, "CTOT", clearable},
		{"IEST", "internal_estimated", moment, 0, "IEST", clearable},
		{"RUNW", "runway", text, 8, "RUNW", optional},
	}
}

// field is a value inside an element: a child element, an attribute with @, or
// the text of the element itself with #.
type field struct {
	name     string
	column   string
	kind     kind
	max      int    // as in scalar
	required bool   // a FLOP without it is refused; the first of a list in FLTR too
	oneOf    string // values it may have, with blanks between; "" for any
}

// place is how a field is reached from its element, for paths.
func (f *field) place() string {
	switch f.name[0] {
	case '@':
		return f.name
	case '#':
		return ""
	}
	return "/" + f.name
}

// composite is an element of attributes and a text, class X as a FLOP of its
// own name (wire 4.2). Its first field leads: without it all are cleared.
type composite struct {
	element string
	alone   bool // the text must not stand without the leading field
	fields  []field
}

func composites() []composite {
	return []composite{
		{"FDIV", false, []field{
			{"@DDES", "diversion_airport", text, 3, false, ""},
			{"@DDIR", "diversion_direction", text, 4, true, "TO FROM"},
			{"#", "diversion_reason", text, 30, false, ""}}},
		{"FRET", true, []field{
			{"@REID", "return_type", text, 1, false, ""},
			{"#", "return_reason", text, 30, false, ""}}},
		{"FLAB", true, []field{
			{"@ARES", "landing_abort_indicator", text, 1, false, ""},
			{"#", "landing_abort_reason", text, 30, false, ""}}},
	}
}

// door is PORT, whose child POID says which time its child POTM is. As a FLOP
// it must be there.
type door struct {
	poid   string
	column string
}

func doors() []door {
	return []door{{"O", "door_open_time"}, {"C", "door_close_time"}}
}

// list is a repeated element (wire 4.3). Its first field is the key.
type list struct {
	element string
	name    string
	keyed   bool // by a code, upserted by a FLOP; else by number, replaced
	styp    bool // there is a FLOP of this name
	fields  []field
	inner   *list  // a list inside each member; nil when there is none
	lasting string // the field without which a member is none; "" when any will do
}

func lists() []list {
	return []list{
		{element: "PSDT", name: "stand", styp: true, fields: []field{
			{"@PSNO", "stand_number", number, 0, true, ""},
			{"PSST", "stand_code", text, 8, false, ""},
			{"STST", "start_time", moment, 0, false, ""},
			{"STET", "end_time", moment, 0, false, ""}}},
		{element: "GTDT", name: "gate", styp: true, fields: []field{
			{"@GTNO", "gate_number", number, 0, true, ""},
			{"GATE", "gate_code", text, 8, false, ""},
			{"PGOT", "planned_start_time", moment, 0, false, ""},
			{"PGCT", "planned_end_time", moment, 0, false, ""},
			{"GOTM", "actual_start_time", moment, 0, false, ""},
			{"GCTM", "actual_end_time", moment, 0, false, ""},
			{"GTYP", "gate_indicator", text, 1, false, ""}}},
		{element: "CKDT", name: "checkin", styp: true, fields: []field{
			{"@CKNO", "checkin_number", number, 0, true, ""},
			{"CHKC", "desk_code", text, 8, false, ""},
			{"CCLS", "desk_class", text, 1, false, ""},
			{"PCOT", "planned_start_time", moment, 0, false, ""},
			{"PCCT", "planned_end_time", moment, 0, false, ""},
			{"COTM", "actual_start_time", moment, 0, false, ""},
			{"CCTM", "actual_end_time", moment, 0, false, ""},
			{"CTYP", "checkin_indicator", text, 1, false, ""}}},
		{element: "CLDT", name: "carousel", styp: true, fields: []field{
			{"@CLNO", "carousel_number", number, 0, true, ""},
			{"BELT", "carousel_code", text, 8, false, ""},
			{"BCLS", "carousel_class", text, 1, false, ""},
			{"PCOT", "planned_start_time", moment, 0, false, ""},
			{"PCCT", "planned_end_time", moment, 0, false, ""},
			{"FBAG", "first_bag_time", moment, 0, false, ""},
			{"LBAG", "last_bag_time", moment, 0, false, ""},
			{"BTYP", "carousel_indicator", text, 1, false, ""}}},
		{element: "CHDT", name: "chute", styp: true, fields: []field{
			{"@CHNO", "chute_number", number, 0, true, ""},
			{"CHUT", "chute_code", text, 8, false, ""},
			{"CCLS", "chute_class", text, 1, false, ""},
			{"PCBT", "planned_start_time", moment, 0, false, ""},
			{"PCET", "planned_end_time", moment, 0, false, ""},
			{"CBTM", "actual_start_time", moment, 0, false, ""},
			{"CETM", "actual_end_time", moment, 0, false, ""},
			{"CTYP", "chute_indicator", text, 1, false, ""}}},
		{element: "CHOT", name: "chock", styp: true, fields: []field{
			{"@CSNO", "chock_number", number, 0, true, ""},
			{"CHTM", "chock_time", moment, 0, false, ""},
			{"CHID", "chock_indicator", text, 3, false, ""},
			{"CHST", "stand_code", text, 8, false, ""}}},
		{element: "ABTM", name: "airbridge", styp: true, fields: []field{
			{"@ASNO", "airbridge_number", number, 0, true, ""},
			{"ABDG", "airbridge_code", text, 8, false, ""},
			{"ABOP", "operation", text, 1, false, ""},
			{"AOTM", "operation_time", moment, 0, false, ""}}},
		{element: "DELY", name: "delay", keyed: true, styp: true, fields: []field{
			{"@CODE", "delay_code", text, 3, true, ""},
			{"@STRT", "start_time", moment, 0, false, ""},
			{"@DURA", "duration_minutes", duration, 0, false, ""},
			{"#", "comment", text, 80, false, ""}}},
		{element: "SRVT", name: "service", keyed: true, styp: true, fields: []field{
			{"SRTC", "service_code", text, 4, true, ""},
			{"SRQT", "quantity", integer, 0, true, ""},
			{"SRST", "start_time", moment, 0, false, ""},
			{"SRET", "end_time", moment, 0, false, ""},
			{"SRPR", "provider", long, 0, false, ""},
			{"SANR", "abnormal_reason", text, 8, false, ""},
			{"SARR", "abnormal_remark", text, 256, false, ""}}},
		{element: "VIPF", name: "vip", keyed: true, styp: true, fields: []field{
			{"VPCD", "vip_code", text, 10, true, ""},
			{"VFES", "entourage_size", integer, 0, false, ""}},
			inner: &list{element: "VIPT", name: "services", keyed: true, fields: []field{
				{"VSCD", "service_code", text, 10, true, ""},
				{"VTQY", "quantity", long, 0, false, ""},
				{"VTST", "start_time", moment, 0, false, ""},
				{"VTET", "end_time", moment, 0, false, ""}}}},
		{element: "PSHT", name: "push", keyed: true, styp: true, lasting: "PSTM", fields: []field{
			{"PUST", "stand_code", text, 8, true, ""},
			{"@PSHN", "push_number", number, 0, false, ""},
			{"PSTM", "push_time", moment, 0, false, ""},
			{"PSID", "push_indicator", text, 3, false, ""}}},
		{element: "TIPT", name: "tractor", keyed: true, styp: true, lasting: "TRTM", fields: []field{
			{"TRST", "stand_code", text, 8, true, ""},
			{"TRTM", "tractor_time", moment, 0, false, ""}}},
		{element: "ERUT", name: "erut", styp: true, fields: stops()},
		{element: "ROUT", name: "rout", fields: stops()},
	}
}

func stops() []field {
	return []field{
		{"@RTNO", "rtno", number, 0, true, ""},
		{"APCD", "airport_code", text, 8, true, ""},
		{"SCAT", "arrival_time", moment, 0, false, ""},
		{"SCDT", "departure_time", moment, 0, false, ""},
	}
}

// element is how a child of a record is read; all nil for one that the
// catalogue does not know.
type element struct {
	scalar    *scalar
	composite *composite
	list      *list
	doors     []door
}

// event is what a FLOP of one subtype does; nothing set for a deletion.
type event struct {
	scalars []*scalar
	element
}

// catalogue is the tables, by name.
type catalogue struct {
	elements map[string]element // children of FLTR
	events   map[string]event   // FLOP by STYP
	bodies   map[string]bool    // every TYPE of wire 3: also the element of its body
	refs     map[string]*reference
	season   season
}

func newCatalogue() catalogue {
	c := catalogue{
		elements: map[string]element{}, events: map[string]event{"FDEL": {}}, refs: map[string]*reference{}, season: seasonal(),
		bodies: map[string]bool{"SCHD": true, "SCHS": true, "FLOP": true, "RQFD": true, "RQRD": true},
	}
	for _, s := range scalars() {
		c.elements[s.element] = element{scalar: &s}
		for _, styp := range strings.Fields(s.styps) {
			c.events[styp] = event{scalars: append(c.events[styp].scalars, &s)}
		}
	}
	for _, x := range composites() {
		c.elements[x.element] = element{composite: &x}
		c.events[x.element] = event{element: element{composite: &x}}
	}
	for _, l := range lists() {
		c.elements[l.element] = element{list: &l}
		if l.styp {
			c.events[l.element] = event{element: element{list: &l}}
		}
	}
	c.elements["PORT"] = element{doors: doors()}
	c.events["PORT"] = event{element: element{doors: doors()}}
	for _, r := range references() {
		c.refs[r.typ], c.bodies[r.typ] = &r, true
	}
	return c
}

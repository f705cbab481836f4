package simulate

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// form is how a value is written on the wire.
type form int

const (
	asText form = iota
	asInt
	asBig
	asDecimal
	asTime
	asDuration // hours and minutes, kept as minutes
)

// column is where a value goes.
type column struct {
	name string
	form form
}

// scalars are the flight's columns by element.
var scalars = map[string]column{
	"ALCD": {"airline_code", asText}, "ALSC": {"airline_subcompany", asText}, "FLNO": {"flight_number", asText},
	"MVIN": {"direction", asText}, "SODT": {"sodt", asTime}, "FLTY": {"flight_type", asText}, "FLIN": {"flight_indicator", asText},
	"ACFT": {"aircraft_type", asText}, "RENO": {"registration", asText},
	"TAOP": {"linked_airline_code", asText}, "TAFL": {"linked_flight_number", asText}, "TAID": {"linked_flid", asBig},
	"TRML": {"terminal", asText}, "MAXP": {"max_pax", asInt},
	"CSOP": {"master_airline_code", asText}, "CSFT": {"master_flight_number", asText}, "MAID": {"master_flid", asBig},
	"ESTT": {"estimated_time", asTime}, "ACTT": {"actual_time", asTime}, "STND": {"current_stand", asText},
	"PHAG": {"pax_agent", asBig}, "FHAG": {"field_agent", asBig}, "MHAG": {"maintenance_agent", asBig},
	"CNCL": {"cancelled_at", asTime}, "REMC": {"remarks", asText}, "BOTM": {"boarding_open", asTime},
	"LACL": {"last_call", asTime}, "FINT": {"final_time", asTime}, "APPT": {"approved_time", asTime},
	"EGSR": {"engine_start_request", asTime}, "EGST": {"engine_start", asTime},
	"VIPP": {"vip_count", asInt}, "VIPR": {"vip_rank", asInt},
	"LBNO": {"local_bag_count", asInt}, "LBWT": {"local_bag_weight", asDecimal}, "PAXC": {"passenger_count", asInt},
	"EXSC": {"external_status_code", asText}, "EXSR": {"external_status_comment", asText}, "FTSS": {"status_code", asText},
	"PEDT": {"previous_estimated_departure", asTime}, "PADT": {"previous_actual_departure", asTime},
	"NEAT": {"next_estimated_arrival", asTime}, "NAAT": {"next_actual_arrival", asTime},
	"EOBT": {"estimated_offblock", asTime}, "COBT": {"calculated_offblock", asTime}, "TOBT": {"target_offblock", asTime},
	"CTOT": {"calculated_takeoff", asTime}, "IEST": {"internal_estimated", asTime}, "RUNW": {"runway", asText},
}

// required are the elements without which a flight cannot begin.
var required = []string{"ALCD", "FLNO", "MVIN", "SODT", "FLTY", "FLIN", "ACFT"}

// composites are elements whose attributes and text are several columns; without
// the leading attribute all of them are empty.
var composites = map[string]struct {
	leader string
	attrs  map[string]string
	text   string
}{
	"FDIV": {"DDES", map[string]string{"DDES": "diversion_airport", "DDIR": "diversion_direction"}, "diversion_reason"},
	"FRET": {"REID", map[string]string{"REID": "return_type"}, "return_reason"},
	"FLAB": {"ARES", map[string]string{"ARES": "landing_abort_indicator"}, "landing_abort_reason"},
}

// doors are the columns of PORT by POID.
var doors = map[string]string{"O": "door_open_time", "C": "door_close_time"}

// list is one of the flight's lists.
type list struct {
	name    string
	key     string            // attribute or element
	keyed   bool              // by a code: an event adds and replaces members; else it replaces the list
	attrs   map[string]column // the key is here or in elems
	elems   map[string]column
	text    string // column of the text, "" for none
	needs   string // element that an event must have beside the key, "" for none
	lasting string // element without which a member is taken away, "" for none
	inner   *list  // list inside each member
	within  string // its element
}

var lists = map[string]list{
	"PSDT": {name: "stand", key: "PSNO", attrs: map[string]column{"PSNO": {"stand_number", asInt}}, elems: map[string]column{
		"PSST": {"stand_code", asText}, "STST": {"start_time", asTime}, "STET": {"end_time", asTime}}},
	"GTDT": {name: "gate", key: "GTNO", attrs: map[string]column{"GTNO": {"gate_number", asInt}}, elems: map[string]column{
		"GATE": {"gate_code", asText}, "PGOT": {"planned_start_time", asTime}, "PGCT": {"planned_end_time", asTime},
		"GOTM": {"actual_start_time", asTime}, "GCTM": {"actual_end_time", asTime}, "GTYP": {"gate_indicator", asText}}},
	"CKDT": {name: "checkin", key: "CKNO", attrs: map[string]column{"CKNO": {"checkin_number", asInt}}, elems: map[string]column{
		"CHKC": {"desk_code", asText}, "CCLS": {"desk_class", asText}, "PCOT": {"planned_start_time", asTime}, "PCCT": {"planned_end_time", asTime},
		"COTM": {"actual_start_time", asTime}, "CCTM": {"actual_end_time", asTime}, "CTYP": {"checkin_indicator", asText}}},
	"CLDT": {name: "carousel", key: "CLNO", attrs: map[string]column{"CLNO": {"carousel_number", asInt}}, elems: map[string]column{
		"BELT": {"carousel_code", asText}, "BCLS": {"carousel_class", asText}, "PCOT": {"planned_start_time", asTime}, "PCCT": {"planned_end_time", asTime},
		"FBAG": {"first_bag_time", asTime}, "LBAG": {"last_bag_time", asTime}, "BTYP": {"carousel_indicator", asText}}},
	"CHDT": {name: "chute", key: "CHNO", attrs: map[string]column{"CHNO": {"chute_number", asInt}}, elems: map[string]column{
		"CHUT": {"chute_code", asText}, "CCLS": {"chute_class", asText}, "PCBT": {"planned_start_time", asTime}, "PCET": {"planned_end_time", asTime},
		"CBTM": {"actual_start_time", asTime}, "CETM": {"actual_end_time", asTime}, "CTYP": {"chute_indicator", asText}}},
	"CHOT": {name: "chock", key: "CSNO", attrs: map[string]column{"CSNO": {"chock_number", asInt}}, elems: map[string]column{
		"CHTM": {"chock_time", asTime}, "CHID": {"chock_indicator", asText}, "CHST": {"stand_code", asText}}},
	"ABTM": {name: "airbridge", key: "ASNO", attrs: map[string]column{"ASNO": {"airbridge_number", asInt}}, elems: map[string]column{
		"ABDG": {"airbridge_code", asText}, "ABOP": {"operation", asText}, "AOTM": {"operation_time", asTime}}},
	"DELY": {name: "delay", key: "CODE", keyed: true, text: "comment", attrs: map[string]column{
		"CODE": {"delay_code", asText}, "STRT": {"start_time", asTime}, "DURA": {"duration_minutes", asDuration}}},
	"SRVT": {name: "service", key: "SRTC", keyed: true, needs: "SRQT", elems: map[string]column{
		"SRTC": {"service_code", asText}, "SRQT": {"quantity", asInt}, "SRST": {"start_time", asTime}, "SRET": {"end_time", asTime},
		"SRPR": {"provider", asBig}, "SANR": {"abnormal_reason", asText}, "SARR": {"abnormal_remark", asText}}},
	"VIPF": {name: "vip", key: "VPCD", keyed: true, within: "VIPT", elems: map[string]column{
		"VPCD": {"vip_code", asText}, "VFES": {"entourage_size", asInt}},
		inner: &list{name: "services", key: "VSCD", keyed: true, elems: map[string]column{
			"VSCD": {"service_code", asText}, "VTQY": {"quantity", asBig}, "VTST": {"start_time", asTime}, "VTET": {"end_time", asTime}}}},
	"PSHT": {name: "push", key: "PUST", keyed: true, lasting: "PSTM", attrs: map[string]column{"PSHN": {"push_number", asInt}}, elems: map[string]column{
		"PUST": {"stand_code", asText}, "PSTM": {"push_time", asTime}, "PSID": {"push_indicator", asText}}},
	"TIPT": {name: "tractor", key: "TRST", keyed: true, lasting: "TRTM", elems: map[string]column{
		"TRST": {"stand_code", asText}, "TRTM": {"tractor_time", asTime}}},
	"ERUT": {name: "erut", key: "RTNO", needs: "APCD", attrs: map[string]column{"RTNO": {"rtno", asInt}}, elems: stops},
	"ROUT": {name: "rout", key: "RTNO", attrs: map[string]column{"RTNO": {"rtno", asInt}}, elems: stops},
}

var stops = map[string]column{"APCD": {"airport_code", asText}, "SCAT": {"arrival_time", asTime}, "SCDT": {"departure_time", asTime}}

// What a FLOP changes, by STYP (the classes of the wire format).
var (
	flopTimes = set("APPT", "BOTM", "CNCL", "COBT", "CTOT", "EGSR", "EGST", "EOBT", "FINT", "IEST", "LACL", "NAAT", "NEAT",
		"PADT", "PEDT", "TOBT", "ESTT", "ACTT") // absent or empty clears
	flopValues    = set("FTSS", "MAXP", "REMC", "RENO", "RUNW", "STND", "TRML", "LBNO", "LBWT", "PAXC") // must be there, empty clears
	flopMandatory = set("ACFT", "FLIN", "FLTY")                                                         // must have a value
	flopLists     = set("PSDT", "GTDT", "CKDT", "CLDT", "CHDT", "CHOT", "ABTM", "ERUT")                 // replaced by what is sent
	flopMembers   = set("DELY", "SRVT", "VIPF", "PSHT", "TIPT")                                         // added and replaced by key
	flopGroups    = map[string][]string{"HNAG": {"FHAG", "PHAG", "MHAG"}, "VIPP": {"VIPP", "VIPR"}}     // each for itself, absent clears
	flopLinks     = map[string][]string{                                                                // all three, or none
		"TAOP": {"TAOP", "TAFL", "TAID"}, "CSOP": {"CSOP", "CSFT", "MAID"}, "CSFT": {"CSOP", "CSFT", "MAID"}}
)

// skipped are the types that nobody wants, schedulings the subtypes of a schedule.
var (
	skipped      = set("LDM", "REGN", "RSTA", "EROR")
	schedulings  = set("DNLD", "RESP", "ADFT", "ADD", "UPD", "DEL")
	errUnfitting = errors.New("value does not fit its form")
)

func set(names ...string) map[string]bool {
	all := make(map[string]bool, len(names))
	for _, n := range names {
		all[n] = true
	}
	return all
}

// read turns the text of a value into what a document holds.
func (m *Model) read(f form, text string, sent time.Time) (any, error) {
	switch f {
	case asTime:
		t, err := m.time(text, sent)
		if err != nil {
			return nil, err
		}
		return t.Format(time.RFC3339), nil
	case asInt:
		n, err := strconv.ParseInt(text, 10, 32)
		return n, err
	case asBig:
		n, err := strconv.ParseInt(text, 10, 64)
		return n, err
	case asDecimal:
		n, err := strconv.ParseFloat(text, 64)
		return n, err
	case asDuration:
		n, err := strconv.ParseUint(text, 10, 16)
		if err != nil || len(text) != 4 || n%100 > 59 {
			return nil, errUnfitting
		}
		return int64(n/100*60 + n%100), nil
	}
	return text, nil
}

const monthNames = "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC"

// time reads ddMMMyyhhmm as wall clock of the airport. The year lies between 20
// years before and 79 after the one in which the message was sent.
func (m *Model) time(text string, sent time.Time) (time.Time, error) {
	if len(text) != 11 {
		return time.Time{}, errUnfitting
	}
	month := strings.Index(monthNames, strings.ToUpper(text[2:5]))
	if month < 0 || month%3 != 0 {
		return time.Time{}, errUnfitting
	}
	var n [4]int // day, year, hour, minute
	for i, part := range []string{text[:2], text[5:7], text[7:9], text[9:]} {
		for _, c := range part {
			if c < '0' || c > '9' {
				return time.Time{}, errUnfitting
			}
			n[i] = n[i]*10 + int(c-'0')
		}
	}
	low := sent.Year() - 20
	year := low + ((n[1]-low)%100+100)%100
	t := time.Date(year, time.Month(month/3+1), n[0], n[2], n[3], 0, 0, m.zone)
	if t.Day() != n[0] || t.Hour() != n[2] || t.Minute() != n[3] {
		return time.Time{}, errUnfitting
	}
	return t, nil
}

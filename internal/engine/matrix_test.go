package engine_test

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"msgexchange/internal/simulate"
	"msgexchange/internal/sis"
)

var updateMatrix = flag.Bool("update-matrix", false, "write docs/message-matrix.md anew")

// matrixRow is one TYPE/STYP: what a real message of it does.
type matrixRow struct {
	typ, styp string
	inside    string // of the record, behind FLID
	changes   string // for people
	path      string // into the document of the flight after it
	want      string // what stands there; "" nothing
	known     string // how it ends for a flight that is there
	unknown   string // … and for one that is not; %d is the FLID
	events    string // for people
	msg       int    // records on topic msg when the flight is known
}

const (
	eventsBoth = "msg changed, schd state"
	eventsNone = "none"
)

// matrixRows are all messages there are.
func matrixRows() []matrixRow {
	const full = "<ALCD>GJ</ALCD><FLNO>GJ8471</FLNO><MVIN>A</MVIN><SODT>17APR260705</SODT><FLTY>G</FLTY><FLIN>D</FLIN><ACFT>32Q</ACFT>"
	const at, iso = "17APR260744", "2026-04-17T07:44:00+08:00"
	var rows []matrixRow
	for _, styp := range []string{"DNLD", "RESP", "ADFT", "ADD", "UPD"} {
		rows = append(rows, matrixRow{"SCHD", styp, full + "<TRML>TB</TRML>", "creates or merges each flight: absent keeps, empty clears, a list that is there replaces the list", "terminal", "TB",
			"SUCCEEDED applied", "SUCCEEDED applied", "msg created or changed, schd state", 1})
	}
	rows = append(rows,
		matrixRow{"SCHD", "DEL", "", "deletes each flight that is there", "state", "DELETED", "SUCCEEDED applied", "SKIPPED no-flight:%d", "msg deleted, schd tombstone", 1},
		matrixRow{"ADFT", "ADFT", full + "<TRML>TB</TRML>", "as SCHD/ADFT, whatever its subtype", "terminal", "TB", "SUCCEEDED applied", "SUCCEEDED applied", "msg created or changed, schd state", 1},
		matrixRow{"FLOP", "FDEL", "<FDEL/>", "deletes the flight and its lists", "state", "DELETED", "SUCCEEDED applied", "SKIPPED no-flight:%d", "msg deleted, schd tombstone", 1})
	flop := func(styp, inside, changes, path, want string) {
		rows = append(rows, matrixRow{"FLOP", styp, inside, changes, path, want, "SUCCEEDED applied", "SKIPPED no-flight:%d", eventsBoth, 1})
	}
	element := func(name, value string) string { return "<" + name + ">" + value + "</" + name + ">" }
	for _, s := range [][2]string{{"ACFT", "aircraft_type"}, {"FLIN", "flight_indicator"}, {"FLTY", "flight_type"}} {
		flop(s[0], element(s[0], "7"), "sets "+s[1]+"; must have a value", s[1], "7")
	}
	for _, s := range [][2]string{
		{"FTSS", "status_code"}, {"MAXP", "max_pax"}, {"REMC", "remarks"}, {"RENO", "registration"}, {"RUNW", "runway"}, {"STND", "current_stand"},
		{"TRML", "terminal"}, {"LBNO", "local_bag_count"}, {"LBWT", "local_bag_weight"}, {"PAXC", "passenger_count"},
	} {
		flop(s[0], element(s[0], "7"), "sets "+s[1]+"; empty clears, absent is refused", s[1], "7")
	}
	for _, s := range [][2]string{
		{"ACTT", "actual_time"}, {"APPT", "approved_time"}, {"BOTM", "boarding_open"}, {"CNCL", "cancelled_at"}, {"COBT", "calculated_offblock"}, {"CTOT", "calculated_takeoff"},
		{"EGSR", "engine_start_request"}, {"EGST", "engine_start"}, {"EOBT", "estimated_offblock"}, {"ESTT", "estimated_time"}, {"FINT", "final_time"},
		{"IEST", "internal_estimated"}, {"LACL", "last_call"}, {"NAAT", "next_actual_arrival"}, {"NEAT", "next_estimated_arrival"},
		{"PADT", "previous_actual_departure"}, {"PEDT", "previous_estimated_departure"}, {"TOBT", "target_offblock"},
	} {
		flop(s[0], element(s[0], at), "sets "+s[1]+"; empty or absent clears", s[1], iso)
	}
	flop("EXSS", "<EXSC>PLAN</EXSC><EXSR>x</EXSR>", "sets external_status_code and its comment; an empty code clears both", "external_status_comment", "x")
	flop("HNAG", "<PHAG>7</PHAG>", "sets the three handling agents; one that is left out is cleared", "pax_agent", "7")
	flop("TAOP", "<TAOP>GJ</TAOP><TAFL>GJ1</TAFL><TAID>9</TAID>", "sets the turnaround link; one part empty or absent clears all", "linked_flid", "9")
	for _, styp := range []string{"CSOP", "CSFT"} {
		flop(styp, "<CSOP>GJ</CSOP><CSFT>GJ1</CSFT><MAID>9</MAID>", "sets the master flight; one part empty or absent clears all", "master_flid", "9")
	}
	flop("VIPP", "<VIPP>3</VIPP><VIPR>1</VIPR>", "sets vip_count and vip_rank, each for itself", "vip_count", "3")
	flop("FDIV", `<FDIV DDES="HAK" DDIR="TO">wind</FDIV>`, "sets the diversion; without DDES it is withdrawn", "diversion_reason", "wind")
	flop("FRET", `<FRET REID="A">bird</FRET>`, "sets the return; empty or absent withdraws it", "return_type", "A")
	flop("FLAB", `<FLAB ARES="G">wind</FLAB>`, "sets the aborted landing; empty or absent withdraws it", "landing_abort_indicator", "G")
	flop("PORT", "<PORT><POTM>"+at+"</POTM><POID>C</POID></PORT>", "sets door_open_time or door_close_time, by POID; an empty time clears it", "door_close_time", iso)
	for _, l := range []struct{ styp, inside, path, want string }{
		{"ABTM", `<ABTM ASNO="1"><ABDG>J31</ABDG></ABTM>`, "airbridge,0,airbridge_code", "J31"},
		{"CHDT", `<CHDT CHNO="1"><CHUT>K07</CHUT></CHDT>`, "chute,0,chute_code", "K07"},
		{"CHOT", `<CHOT CSNO="1"><CHID>ON</CHID></CHOT>`, "chock,0,chock_indicator", "ON"},
		{"CKDT", `<CKDT CKNO="1"><CHKC>08</CHKC></CKDT>`, "checkin,0,desk_code", "08"},
		{"CLDT", `<CLDT CLNO="1"><BELT>B2</BELT></CLDT>`, "carousel,0,carousel_code", "B2"},
		{"ERUT", `<ERUT RTNO="1"><APCD>NNG</APCD></ERUT>`, "erut,0,airport_code", "NNG"},
		{"GTDT", `<GTDT GTNO="1"><GATE>E5</GATE></GTDT>`, "gate,0,gate_code", "E5"},
		{"PSDT", `<PSDT PSNO="1"><PSST>N14</PSST></PSDT>`, "stand,0,stand_code", "N14"},
	} {
		flop(l.styp, l.inside, "replaces the list "+strings.Split(l.path, ",")[0]+"; no member clears it", l.path, l.want)
	}
	for _, l := range []struct{ styp, inside, path, want string }{
		{"DELY", `<DELY CODE="4F" DURA="0145">x</DELY>`, "delay,0,duration_minutes", "105"},
		{"PSHT", `<PSHT PSHN="1"><PSTM>` + at + `</PSTM><PUST>W07</PUST></PSHT>`, "push,0,push_time", iso},
		{"SRVT", `<SRVT><SRTC>GPU</SRTC><SRQT>1</SRQT></SRVT>`, "service,0,quantity", "1"},
		{"TIPT", `<TIPT><TRTM>` + at + `</TRTM><TRST>W07</TRST></TIPT>`, "tractor,0,tractor_time", iso},
		{"VIPF", `<VIPF><VPCD>P1</VPCD><VIPT><VSCD>CAR</VSCD></VIPT></VIPF>`, "vip,0,services,0,service_code", "CAR"},
	} {
		flop(l.styp, l.inside, "upserts members of "+strings.Split(l.path, ",")[0]+" by key; a wholly blank one clears it", l.path, l.want)
	}
	for _, typ := range sis.References() {
		for _, styp := range []string{"DNLD", "RESP", "ADD", "UPD", "DEL"} {
			ends := "DEAD EXHAUSTED (UNSUPPORTED)"
			if typ == "REGN" {
				ends = "SKIPPED ignored"
			}
			rows = append(rows, matrixRow{typ, styp, "", "read, not stored yet", "terminal", "", ends, "", eventsNone, 0})
		}
	}
	for _, styp := range []string{"DNLD", "RESP"} {
		rows = append(rows, matrixRow{"SCHS", styp, "", "read, not stored", "terminal", "", "DEAD EXHAUSTED (UNSUPPORTED)", "", eventsNone, 0})
	}
	for _, typ := range []string{"LDM", "RSTA", "EROR"} {
		rows = append(rows, matrixRow{typ, "ANY", "", "nothing: ignored on purpose (ignore_rule)", "terminal", "", "SKIPPED ignored", "", eventsNone, 0})
	}
	for _, r := range [][2]string{{"FLOP", "ZZZZ"}, {"SCHD", "ZZZZ"}, {"ZZZZ", "ADD"}, {"RQFD", "NONE"}, {"RQRD", "GLST"}} {
		rows = append(rows, matrixRow{r[0], r[1], "", "nothing: nobody handles it", "terminal", "", "DEAD EXHAUSTED (UNSUPPORTED)", "", eventsNone, 0})
	}
	return rows
}

// body is a message of a row for one flight.
func (r matrixRow) body(m *text, flid int) string {
	record := "<FLID>" + strconv.Itoa(flid) + "</FLID>" + r.inside
	inside := ""
	switch {
	case r.typ == "SCHD" || r.typ == "ADFT":
		inside = "<SCHD><RECS>1</RECS><FLTR>" + record + "</FLTR></SCHD>"
	case r.typ == "FLOP":
		inside = "<FLOP>" + record + "</FLOP>"
	default:
		if inside = simulate.Sample(r.typ, r.styp); inside == "" {
			inside = "<RECS>0</RECS>"
		}
	}
	return "<MSG>" + m.header(r.typ, r.styp) + inside + "</MSG>"
}

// TestMatrix runs a real message of every TYPE and STYP through the engine, for
// a flight that is there and one that is not.
func TestMatrix(t *testing.T) {
	w := newWorld(t, nil)
	m := &text{}
	rows := matrixRows()
	known, unknown := make([]int64, len(rows)), make([]int64, len(rows))
	var last int64
	for i, r := range rows {
		w.my.Insert(m.create(1000 + i))
		known[i] = w.my.Insert(r.body(m, 1000+i))
		last = known[i]
		if r.unknown != "" {
			unknown[i] = w.my.Insert(r.body(m, 5000+i))
			last = unknown[i]
		}
	}
	w.start()
	w.idle(last)
	for i, r := range rows {
		t.Run(r.typ+"/"+r.styp, func(t *testing.T) {
			if got := w.stands(known[i]); got != r.known {
				t.Errorf("known flight: %s, want %s: %s", got, r.known, w.get("SELECT last_error FROM msgx.proc_state WHERE msg_id = $1", known[i]))
			}
			if got := w.get("SELECT last_error FROM msgx.proc_state WHERE msg_id = $1", known[i]); strings.HasPrefix(r.changes, "read,") && strings.HasPrefix(r.known, "DEAD") &&
				got != "messages of type "+r.typ+" are understood, but not stored yet" {
				t.Errorf("refused because: %s", got)
			}
			if got := w.get("SELECT document #>> string_to_array($1, ',') FROM msgx.flight_document(ARRAY[$2::bigint])", r.path, 1000+i); got != r.want {
				t.Errorf("%s is %q, want %q", r.path, got, r.want)
			}
			if got := w.get("SELECT count(*) FROM msgx.msg_event WHERE target = 'KAFKA:msg' AND msg_id = $1", known[i]); got != strconv.Itoa(r.msg) {
				t.Errorf("%s events, want %d", got, r.msg)
			}
			if want := r.unknown; want != "" {
				if strings.Contains(want, "%d") {
					want = fmt.Sprintf(want, 5000+i)
				}
				if got := w.stands(unknown[i]); got != want {
					t.Errorf("unknown flight: %s, want %s", got, want)
				}
			}
		})
	}
}

// TestMatrixDocument: docs/message-matrix.md is this table.
func TestMatrixDocument(t *testing.T) {
	var b strings.Builder
	b.WriteString(`# Every message

Generated from the table in internal/engine/matrix_test.go, which runs a real message of each row through the real
pump (` + "`go test ./internal/engine -run Matrix -update-matrix`" + `). A FLOP that changes nothing is SUCCEEDED no-change and makes no event.
A change for a flight that is not there is kept: it counts when the flight turns out to have existed by then.

| TYPE/STYP | what it changes | outcome | when the flight is unknown | events |
|---|---|---|---|---|
`)
	for _, r := range matrixRows() {
		unknown := strings.ReplaceAll(r.unknown, "%d", "<flid>")
		if unknown == "" {
			unknown = "–"
		}
		fmt.Fprintf(&b, "| %s/%s | %s | %s | %s | %s |\n", r.typ, r.styp, r.changes, r.known, unknown, r.events)
	}
	const file = "../../docs/message-matrix.md"
	if *updateMatrix {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(have), b.String()); d != "" {
		t.Errorf("docs/message-matrix.md is stale (-update-matrix): %s", d)
	}
}

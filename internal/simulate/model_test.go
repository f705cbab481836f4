package simulate

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const (
	full = `<FLID>7</FLID><ALCD>GJ</ALCD><FLNO>GJ8472</FLNO><MVIN>D</MVIN><SODT>17APR260820</SODT><FLTY>G</FLTY><FLIN>D</FLIN><ACFT>32Q</ACFT>`
	base = `"aircraft_type":"32Q","airline_code":"GJ","direction":"D","flid":7,"flight_indicator":"D","flight_number":"GJ8472","flight_type":"G","operation_day":"2026-04-17","sodt":"2026-04-17T08:20:00+08:00"`
)

// create makes flight 7 with more elements than it needs.
func create(more string) string { return "SCHD/DNLD " + sched(full+more) }

func sched(record string) string {
	return `<SCHD><RECS>1</RECS><FLTR>` + record + `</FLTR></SCHD>`
}

func adft(more string) string {
	return "SCHD/ADFT " + sched(`<FLID>7</FLID><SODT>17APR260820</SODT>`+more)
}

func flop(styp, body string) string {
	return "FLOP/" + styp + " <FLOP><FLID>7</FLID>" + body + "</FLOP>"
}

func TestModel(t *testing.T) {
	sent := time.Date(2026, time.April, 17, 7, 0, 0, 0, shanghai(t))
	for _, c := range []struct {
		name     string
		messages []string // TYPE/STYP, blank, body; ids 1, 2, 3 …
		ends     string
		doc      string // what flight 7 shows beside base; "" is not compared
		events   int
	}{
		{"a record creates a flight", []string{create("")}, "applied", `"created_msg_id":1,"last_msg_id":1,"state":"ACTIVE"`, 1},
		{"the same record again changes nothing", []string{create(""), create("")}, "applied|no-change", `"created_msg_id":1,"last_msg_id":1,"state":"ACTIVE"`, 1},
		{"absent keeps, empty clears, a value sets", []string{create(`<REMC>a</REMC><STND>N1</STND>`), adft(`<STND/><TRML> TB </TRML>`)}, "applied|applied",
			`"created_msg_id":1,"last_msg_id":2,"state":"ACTIVE","remarks":"a","terminal":"TB"`, 2},
		{"a list in a record replaces, a blank member clears", []string{
			create(`<PSDT PSNO="1"><PSST>N1</PSST></PSDT><PSDT PSNO="2"><PSST>N2</PSST></PSDT><GTDT GTNO="1"><GATE>A1</GATE><GTYP>D</GTYP></GTDT>`),
			adft(`<PSDT PSNO="2"><PSST>N3</PSST><STET/></PSDT><GTDT/>`)}, "applied|applied",
			`"created_msg_id":1,"last_msg_id":2,"state":"ACTIVE","stand":[{"stand_number":2,"stand_code":"N3"}]`, 2},
		{"members are ordered by number", []string{create(`<CKDT CKNO="10"><CHKC>10</CHKC></CKDT><CKDT CKNO="2"><CHKC>02</CHKC></CKDT>`)}, "applied",
			`"created_msg_id":1,"last_msg_id":1,"state":"ACTIVE","checkin":[{"checkin_number":2,"desk_code":"02"},{"checkin_number":10,"desk_code":"10"}]`, 1},
		{"delays in a record replace", []string{create(`<DELY CODE="4F" DURA="0145">雷雨</DELY>`), adft(`<DELY CODE="8C" STRT="17APR260820"/>`)}, "applied|applied",
			`"created_msg_id":1,"last_msg_id":2,"state":"ACTIVE","delay":[{"delay_code":"8C","start_time":"2026-04-17T08:20:00+08:00"}]`, 2},
		{"both doors in one record", []string{create(`<PORT><POTM>17APR260800</POTM><POID>O</POID></PORT><PORT><POTM/><POID>C</POID></PORT>`)}, "applied",
			`"created_msg_id":1,"last_msg_id":1,"state":"ACTIVE","door_open_time":"2026-04-17T08:00:00+08:00"`, 1},
		{"unknown elements go to extra", []string{create(`<XA>a</XA><XC CHNO="1"><CHUT>K1</CHUT></XC><XC CHNO="2"><CHUT>K2</CHUT></XC><XB A="1">b</XB>`)}, "applied",
			`"created_msg_id":1,"last_msg_id":1,"state":"ACTIVE","extra":{"XA":"a","XB":{"@A":"1","#text":"b"},"XC":[{"@CHNO":"1","CHUT":"K1"},{"@CHNO":"2","CHUT":"K2"}]}`, 1},

		{"a time event sets", []string{create(""), flop("BOTM", `<BOTM>17Apr260744</BOTM>`)}, "applied|applied",
			`"created_msg_id":1,"last_msg_id":2,"state":"ACTIVE","boarding_open":"2026-04-17T07:44:00+08:00"`, 2},
		{"a time event without its element clears", []string{create(`<BOTM>17APR260744</BOTM>`), flop("BOTM", "")}, "applied|applied", `"created_msg_id":1,"last_msg_id":2,"state":"ACTIVE"`, 2},
		{"clearing what is clear changes nothing", []string{create(""), flop("BOTM", "<BOTM/>")}, "applied|no-change", `"created_msg_id":1,"last_msg_id":1,"state":"ACTIVE"`, 1},
		{"an event minds only its own element", []string{create(""), flop("RUNW", `<REMC>x</REMC><RUNW>05</RUNW>`)}, "applied|applied", `"created_msg_id":1,"last_msg_id":2,"state":"ACTIVE","runway":"05"`, 2},
		{"a value event without its element is refused", []string{create(""), flop("REMC", "")}, "applied|PROTOCOL", `"created_msg_id":1,"last_msg_id":1,"state":"ACTIVE"`, 1},
		{"an aircraft type is never empty", []string{create(""), flop("ACFT", "<ACFT/>")}, "applied|PROTOCOL", `"created_msg_id":1,"last_msg_id":1,"state":"ACTIVE"`, 1},
		{"agents left out are cleared", []string{create(`<PHAG>1</PHAG><FHAG>2</FHAG>`), flop("HNAG", `<PHAG>3</PHAG>`)}, "applied|applied", `"created_msg_id":1,"last_msg_id":2,"state":"ACTIVE","pax_agent":3`, 2},
		{"half a turnaround link is none", []string{create(`<TAOP>GJ</TAOP><TAFL>GJ1</TAFL><TAID>8</TAID>`), flop("TAOP", `<TAOP>GJ</TAOP><TAID>9</TAID>`)}, "applied|applied", `"created_msg_id":1,"last_msg_id":2,"state":"ACTIVE"`, 2},
		{"a diversion and its end", []string{create(""), flop("FDIV", `<FDIV DDES="HAK" DDIR="TO">fog</FDIV>`)}, "applied|applied",
			`"created_msg_id":1,"last_msg_id":2,"state":"ACTIVE","diversion_airport":"HAK","diversion_direction":"TO","diversion_reason":"fog"`, 2},
		{"a diversion to nowhere is none", []string{create(`<FDIV DDES="HAK" DDIR="TO">fog</FDIV>`), flop("FDIV", `<FDIV DDES="" DDIR="TO">x</FDIV>`)}, "applied|applied", `"created_msg_id":1,"last_msg_id":2,"state":"ACTIVE"`, 2},
		{"an empty external status takes its remark along", []string{create(`<EXSC>A</EXSC><EXSR>b</EXSR>`), flop("EXSS", `<EXSC/><EXSR>c</EXSR>`)}, "applied|applied", `"created_msg_id":1,"last_msg_id":2,"state":"ACTIVE"`, 2},
		{"a list event without members clears", []string{create(`<GTDT GTNO="1"><GATE>A1</GATE></GTDT>`), flop("GTDT", "")}, "applied|applied", `"created_msg_id":1,"last_msg_id":2,"state":"ACTIVE"`, 2},
		{"a route event replaces the route", []string{create(`<ERUT RTNO="1"><APCD>NNG</APCD></ERUT><ERUT RTNO="2"><APCD>SGN</APCD></ERUT>`), flop("ERUT", `<ERUT RTNO="1"><APCD>NNG</APCD></ERUT>`)}, "applied|applied",
			`"created_msg_id":1,"last_msg_id":2,"state":"ACTIVE","erut":[{"rtno":1,"airport_code":"NNG"}]`, 2},
		{"a delay event adds and replaces by code", []string{create(`<DELY CODE="4F">a</DELY><DELY CODE="8C">b</DELY>`), flop("DELY", `<DELY CODE="8C" DURA="0010"/><DELY CODE="41"/>`)}, "applied|applied",
			`"created_msg_id":1,"last_msg_id":2,"state":"ACTIVE","delay":[{"delay_code":"41"},{"delay_code":"4F","comment":"a"},{"delay_code":"8C","duration_minutes":10}]`, 2},
		{"a blank delay event clears", []string{create(`<DELY CODE="4F">a</DELY>`), flop("DELY", `<DELY/>`)}, "applied|applied", `"created_msg_id":1,"last_msg_id":2,"state":"ACTIVE"`, 2},
		{"a blank delay beside others is refused", []string{create(""), flop("DELY", `<DELY CODE="4F"/><DELY/>`)}, "applied|PROTOCOL", "", 1},
		{"an event of members without any is refused", []string{create(""), flop("DELY", ""), flop("SRVT", ""), flop("PSHT", "")}, "applied|PROTOCOL|PROTOCOL|PROTOCOL", "", 1},
		{"a blank member of a list beside others is dropped", []string{create(`<DELY CODE="4F"/><DELY/>`), flop("GTDT", `<GTDT/><GTDT GTNO="2"><GATE>A2</GATE></GTDT>`)}, "applied|applied",
			`"created_msg_id":1,"last_msg_id":2,"state":"ACTIVE","delay":[{"delay_code":"4F"}],"gate":[{"gate_number":2,"gate_code":"A2"}]`, 2},
		{"a service needs a quantity in an event", []string{create(`<SRVT><SRTC>GPU</SRTC></SRVT>`), flop("SRVT", `<SRVT><SRTC>ACU</SRTC></SRVT>`)}, "applied|PROTOCOL",
			`"created_msg_id":1,"last_msg_id":1,"state":"ACTIVE","service":[{"service_code":"GPU"}]`, 1},
		{"services add and replace by code, none is a quantity", []string{create(""), flop("SRVT", `<SRVT><SRTC>GPU</SRTC><SRQT>0</SRQT></SRVT><SRVT><SRTC>ACU</SRTC><SRQT>2</SRQT><SRPR>300127</SRPR></SRVT>`),
			flop("SRVT", `<SRVT><SRTC>ACU</SRTC><SRQT>1</SRQT></SRVT>`)}, "applied|applied|applied",
			`"created_msg_id":1,"last_msg_id":3,"state":"ACTIVE","service":[{"service_code":"ACU","quantity":1},{"service_code":"GPU","quantity":0}]`, 3},
		{"persons keep services that are not sent again", []string{
			create(`<VIPF><VPCD>P2</VPCD><VIPT><VSCD>LNGE</VSCD></VIPT><VIPT><VSCD>CAR</VSCD><VTQY>2</VTQY></VIPT></VIPF><VIPF><VPCD>P1</VPCD><VIPT><VSCD>CAR</VSCD></VIPT></VIPF>`),
			flop("VIPF", `<VIPF><VPCD>P2</VPCD><VFES>3</VFES></VIPF><VIPF><VPCD>P1</VPCD><VIPT/></VIPF>`)}, "applied|applied",
			`"created_msg_id":1,"last_msg_id":2,"state":"ACTIVE","vip":[{"vip_code":"P1"},{"vip_code":"P2","entourage_size":3,"services":[{"service_code":"CAR","quantity":2},{"service_code":"LNGE"}]}]`, 2},
		{"persons in a record keep nothing", []string{create(`<VIPF><VPCD>P2</VPCD><VIPT><VSCD>CAR</VSCD></VIPT></VIPF>`), adft(`<VIPF><VPCD>P2</VPCD></VIPF>`)}, "applied|applied",
			`"created_msg_id":1,"last_msg_id":2,"state":"ACTIVE","vip":[{"vip_code":"P2"}]`, 2},
		{"push and tractor are told with their stand, and for themselves", []string{create(`<PSDT PSNO="1"><PSST>N1</PSST></PSDT>`),
			flop("PSHT", `<PSHT PSHN="1"><PSTM>17APR260800</PSTM><PSID>IN</PSID><PUST>N1</PUST></PSHT><PSHT PSHN="2"><PSTM>17APR260810</PSTM><PUST>W7</PUST></PSHT>`),
			flop("TIPT", `<TIPT><TRTM>17APR260750</TRTM><TRST>N1</TRST></TIPT>`)}, "applied|applied|applied",
			`"created_msg_id":1,"last_msg_id":3,"state":"ACTIVE",
			"stand":[{"stand_number":1,"stand_code":"N1","push_time":"2026-04-17T08:00:00+08:00","push_indicator":"IN","tractor_time":"2026-04-17T07:50:00+08:00"}],
			"push":[{"push_number":1,"stand_code":"N1","push_time":"2026-04-17T08:00:00+08:00","push_indicator":"IN"},{"push_number":2,"stand_code":"W7","push_time":"2026-04-17T08:10:00+08:00"}],
			"tractor":[{"stand_code":"N1","tractor_time":"2026-04-17T07:50:00+08:00"}]`, 3},
		{"a push without time is taken back", []string{create(`<PSHT><PUST>N1</PUST></PSHT><PSHT PSHN="1"><PSTM>17APR260800</PSTM><PUST>W7</PUST></PSHT>`), flop("PSHT", `<PSHT PSHN="1"><PSTM/><PUST>W7</PUST></PSHT>`)},
			"applied|applied", `"created_msg_id":1,"last_msg_id":2,"state":"ACTIVE"`, 2},
		{"writes that cancel one another change nothing", []string{create(`<REMC>a</REMC>`), `FLOP/REMC <FLOP><FLID>7</FLID><REMC>b</REMC></FLOP><FLOP><FLID>7</FLID><REMC>a</REMC></FLOP>`}, "applied|no-change",
			`"created_msg_id":1,"last_msg_id":1,"state":"ACTIVE","remarks":"a"`, 1},
		{"a number twice is refused", []string{create(""), flop("PSDT", `<PSDT PSNO="1"><PSST>A</PSST></PSDT><PSDT PSNO="01"><PSST>B</PSST></PSDT>`)}, "applied|PROTOCOL", "", 1},

		{"deletion keeps the last scalars and no lists", []string{create(`<REMC>a</REMC><XA>x</XA><PSDT PSNO="1"><PSST>N1</PSST></PSDT>`), flop("FDEL", "<FDEL/>")}, "applied|applied",
			`"created_msg_id":1,"last_msg_id":2,"state":"DELETED","remarks":"a","extra":{"XA":"x"}`, 2},
		{"an event for a deleted flight finds none", []string{create(""), flop("FDEL", ""), flop("REMC", "<REMC>x</REMC>"), flop("FDEL", "")}, "applied|applied|no-flight:7|no-flight:7", "", 2},
		{"a revival starts fresh", []string{create(`<REMC>a</REMC><XA>x</XA>`), "SCHD/DEL " + sched("<FLID>7</FLID>"), create(`<STND>N1</STND>`)}, "applied|applied|applied",
			`"created_msg_id":3,"last_msg_id":3,"state":"ACTIVE","current_stand":"N1"`, 3},
		{"a revival needs what a new flight needs", []string{create(""), flop("FDEL", ""), adft("<REMC>a</REMC>")}, "applied|applied|PROTOCOL", "", 2},
		{"a revival stays in its operation day", []string{create(""), flop("FDEL", ""), strings.ReplaceAll(create(""), "17APR", "18APR")}, "applied|applied|PROTOCOL", "", 2},
		{"a flight stays in its operation day", []string{create(""), "SCHD/ADFT " + sched(`<FLID>7</FLID><SODT>18APR260820</SODT>`)}, "applied|PROTOCOL", "", 1},
		{"a new flight lacks an element", []string{"SCHD/ADFT " + sched(strings.ReplaceAll(full, "<FLTY>G</FLTY>", ""))}, "PROTOCOL", "", 0},
		{"a record without schedule is refused", []string{create(""), "SCHD/ADFT " + sched(`<FLID>7</FLID>`)}, "applied|PROTOCOL", "", 1},
		{"nothing of a refused message lands", []string{create(""), `SCHD/ADFT <SCHD><RECS>2</RECS><FLTR><FLID>7</FLID><SODT>17APR260820</SODT><REMC>x</REMC></FLTR><FLTR><FLID>8</FLID><SODT>17APR260820</SODT></FLTR></SCHD>`},
			"applied|PROTOCOL", `"created_msg_id":1,"last_msg_id":1,"state":"ACTIVE"`, 1},
		{"a flight twice in a schedule is refused", []string{create(""), `SCHD/DEL <SCHD><RECS>2</RECS><FLTR><FLID>7</FLID></FLTR><FLTR><FLID>007</FLID></FLTR></SCHD>`}, "applied|PROTOCOL", "", 1},
		{"a wrong count is refused", []string{create(""), "SCHD/DEL <SCHD><RECS>2</RECS><FLTR><FLID>7</FLID></FLTR></SCHD>"}, "applied|PROTOCOL", "", 1},
		{"deleting an unknown flight finds none", []string{`SCHD/DEL <SCHD><RECS>2</RECS><FLTR><FLID>9</FLID></FLTR><FLTR><FLID>8</FLID></FLTR></SCHD>`}, "no-flight:9", "", 0},

		{"an unknown flight does not stop the others", []string{create(""), `FLOP/REMC <FLOP><FLID>9</FLID><REMC>x</REMC></FLOP><FLOP><FLID>7</FLID><REMC>x</REMC></FLOP>`}, "applied|applied",
			`"created_msg_id":1,"last_msg_id":2,"state":"ACTIVE","remarks":"x"`, 2},
		{"a flight twice in an event applies in order and is one event", []string{create(""), `FLOP/REMC <FLOP><FLID>7</FLID><REMC>x</REMC></FLOP><FLOP><FLID>7</FLID><REMC>y</REMC></FLOP>`}, "applied|applied",
			`"created_msg_id":1,"last_msg_id":2,"state":"ACTIVE","remarks":"y"`, 2},
		{"a bad value refuses the whole message", []string{create(""), `FLOP/BOTM <FLOP><FLID>7</FLID><BOTM>17APR260700</BOTM></FLOP><FLOP><FLID>7</FLID><BOTM>31FEB260700</BOTM></FLOP>`}, "applied|CODEC_ERROR", `"created_msg_id":1,"last_msg_id":1,"state":"ACTIVE"`, 1},
		{"a FLID that is no number", []string{`FLOP/SCHD <FLOP/>`, `FLOP/BOTM <FLOP><FLID>0</FLID></FLOP>`, `FLOP/BOTM <FLOP><FLID>1234567890123456789</FLID></FLOP>`}, "UNSUPPORTED|MALFORMED|MALFORMED", "", 0},
		{"types that are skipped", []string{"REGN/UPD <REGN/>", "LDM/ADD <LDM/>"}, "ignored|ignored", "", 0},
		{"types that nobody handles", []string{"GLST/UPD <GLST/>", "FLOP/SRVX <FLOP><FLID>7</FLID></FLOP>", "SCHD/ODD <SCHD/>"}, "UNSUPPORTED|UNSUPPORTED|UNSUPPORTED", "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := NewModel(shanghai(t))
			var ends []string
			for i, text := range c.messages {
				kind, body, _ := strings.Cut(text, " ")
				it, err := item(kind, body, i+1, sent)
				if err != nil {
					t.Fatal(err)
				}
				ends = append(ends, brief(m.Apply(int64(i+1), it)))
			}
			if got := strings.Join(ends, "|"); got != c.ends {
				t.Errorf("ends %s, want %s", got, c.ends)
			}
			e, err := m.Expected()
			if err != nil {
				t.Fatal(err)
			}
			if e.MsgEvents != c.events {
				t.Errorf("%d events, want %d", e.MsgEvents, c.events)
			}
			if c.doc == "" {
				return
			}
			var want, got any
			if err := json.Unmarshal([]byte("{"+base+","+c.doc+"}"), &want); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(e.Flights[7], &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// brief is the first class of an error, or else the outcome.
func brief(o Outcome) string {
	if o.FirstClass != "" {
		return o.FirstClass
	}
	return o.Outcome
}

func TestIdentities(t *testing.T) {
	sent := time.Date(2026, time.April, 17, 7, 0, 0, 0, shanghai(t))
	m := NewModel(shanghai(t))
	apply := func(id int64, kind, body string, seqn int, sent time.Time, want string) {
		t.Helper()
		it, err := item(kind, body, seqn, sent)
		if err != nil {
			t.Fatal(err)
		}
		if got := brief(m.Apply(id, it)); got != want {
			t.Errorf("message %d: %s, want %s", id, got, want)
		}
	}
	kind, record, _ := strings.Cut(create(""), " ")
	remark := func(text string) string { return "<FLOP><FLID>7</FLID><REMC>" + text + "</REMC></FLOP>" }
	apply(1, kind, record, 1, sent, "applied")
	apply(2, "FLOP/REMC", remark("a"), 1, sent, "applied")
	apply(3, "FLOP/REMC", remark("a"), 1, sent, "duplicate-of:2")
	apply(4, "FLOP/REMC", remark("b"), 1, sent.Add(24*time.Hour), "identity-conflict:2")
	apply(5, "FLOP/REMC", remark("b"), 1, sent.Add(-48*time.Hour), "identity-conflict:2")
	apply(6, "FLOP/REMC", remark("c"), 1, sent.Add(24*time.Hour+time.Second), "applied")
	apply(7, "FLOP/REMC", remark("c"), 1, sent, "duplicate-of:6")
	apply(8, "FLOP/BOTM", "<FLOP><FLID>7</FLID><BOTM>31FEB260700</BOTM></FLOP>", 2, sent, "CODEC_ERROR")
	apply(9, "FLOP/BOTM", "<FLOP><FLID>7</FLID><BOTM>31FEB260700</BOTM></FLOP>", 2, sent, "duplicate-of:8")
	apply(10, "REGN/UPD", "<REGN/>", 3, sent, "ignored")
	apply(11, "REGN/UPD", "<REGN/>", 3, sent, "duplicate-of:10")
	apply(12, "FLOP/BOTM", "<FLOP><FLID>x</FLID></FLOP>", 4, sent, "MALFORMED")
	apply(13, "FLOP/BOTM", "<FLOP><FLID>7</FLID><BOTM>17APR260700</BOTM></FLOP>", 4, sent, "applied")
}

func TestTimes(t *testing.T) {
	m := NewModel(shanghai(t))
	sent := time.Date(2026, time.April, 17, 7, 0, 0, 0, shanghai(t))
	for text, want := range map[string]string{
		"17APR260705": "2026-04-17T07:05:00+08:00", "29FEB282359": "2028-02-29T23:59:00+08:00", "01jan060000": "2006-01-01T00:00:00+08:00",
		"01JAN050000": "2105-01-01T00:00:00+08:00",
		"31FEB261130": "", "29FEB261130": "", "01DEC262400": "", "01DEC261260": "", "1DEC261130": "", "00DEC261130": "", "01DEZ261130": "", "01ANF261130": "", "": "", "01DEC26+1+2": "",
	} {
		got, err := m.time(text, sent)
		if want == "" {
			if err == nil {
				t.Errorf("%s read as %s", text, got)
			}
			continue
		}
		if err != nil || got.Format(time.RFC3339) != want {
			t.Errorf("%s read as %s, %v", text, got, err)
		}
	}
}

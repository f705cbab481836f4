package engine_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"msgexchange/internal/kafka"
)

var updateExamples = flag.Bool("update-examples", false, "write docs/events/examples anew")

const eventsDir = "../../docs/events"

// fullFlight is a record with every element there is, and in each place one that
// nobody knows; ~ stands for a digit, so that two of them differ everywhere.
const fullFlight = `<FLTR NEWA="~"><FLID>%d</FLID><ALCD>G~</ALCD><ALSC>S~</ALSC><FLNO>GJ847~</FLNO><MVIN>%s</MVIN><SODT>17APR2608~0</SODT><FLTY>~</FLTY><FLIN>%[3]s</FLIN>
<ACFT>32~</ACFT><RENO>B300~</RENO><TAOP>C~</TAOP><TAFL>CA~</TAFL><TAID>90~</TAID><TRML>T~</TRML><MAXP>18~</MAXP><CSOP>M~</CSOP><CSFT>MU~</CSFT><MAID>80~</MAID>
<ESTT>17APR2608~1</ESTT><ACTT>17APR2608~2</ACTT><STND>N1~</STND><PHAG>1~</PHAG><FHAG>2~</FHAG><MHAG>3~</MHAG><CNCL>17APR2608~3</CNCL><REMC>note ~</REMC>
<BOTM>17APR2607~1</BOTM><LACL>17APR2607~2</LACL><FINT>17APR2607~3</FINT><APPT>17APR2607~4</APPT><EGSR>17APR2607~5</EGSR><EGST>17APR2607~6</EGST>
<VIPP>~</VIPP><VIPR>~</VIPR><LBNO>4~</LBNO><LBWT>512.~0</LBWT><PAXC>16~</PAXC><EXSC>E~</EXSC><EXSR>seen ~</EXSR><FTSS>F~</FTSS>
<PEDT>17APR2606~1</PEDT><PADT>17APR2606~2</PADT><NEAT>17APR2610~1</NEAT><NAAT>17APR2610~2</NAAT><EOBT>17APR2608~4</EOBT><COBT>17APR2608~5</COBT>
<TOBT>17APR2608~6</TOBT><CTOT>17APR2608~7</CTOT><IEST>17APR2608~8</IEST><RUNW>0~L</RUNW>
<FDIV DDES="HA~" DDIR="%[4]s">wind ~</FDIV><FRET REID="%[2]s">bird ~</FRET><FLAB ARES="%[2]s">gusts ~</FLAB>
<PORT><POTM>17APR2607~7</POTM><POID>O</POID></PORT><PORT><POTM>17APR2607~8</POTM><POID>C</POID></PORT>
<PSDT PSNO="1" NEWA="~"><PSST>N1~</PSST><STST>17APR2606~0</STST><STET>17APR2608~0</STET></PSDT><PSDT PSNO="2"><PSST>N2~</PSST></PSDT>
<GTDT GTNO="1" NEWA="~"><GATE>E~</GATE><PGOT>17APR2607~0</PGOT><PGCT>17APR2608~0</PGCT><GOTM>17APR2607~1</GOTM><GCTM>17APR2608~1</GCTM><GTYP>D</GTYP></GTDT>
<CKDT CKNO="1" NEWA="~"><CHKC>0~</CHKC><CCLS>Y</CCLS><PCOT>17APR2606~0</PCOT><PCCT>17APR2607~0</PCCT><COTM>17APR2606~1</COTM><CCTM>17APR2607~1</CCTM><CTYP>D</CTYP></CKDT>
<CLDT CLNO="1" NEWA="~"><BELT>B~</BELT><BCLS>Y</BCLS><PCOT>17APR2608~0</PCOT><PCCT>17APR2609~0</PCCT><FBAG>17APR2608~1</FBAG><LBAG>17APR2609~1</LBAG><BTYP>D</BTYP></CLDT>
<CHDT CHNO="1" NEWA="~"><CHUT>K~</CHUT><CCLS>Y</CCLS><PCBT>17APR2606~0</PCBT><PCET>17APR2607~0</PCET><CBTM>17APR2606~1</CBTM><CETM>17APR2607~1</CETM><CTYP>D</CTYP></CHDT>
<CHOT CSNO="1" NEWA="~"><CHTM>17APR2606~0</CHTM><CHID>ON</CHID><CHST>N1~</CHST></CHOT>
<ABTM ASNO="1" NEWA="~"><ABDG>J~</ABDG><ABOP>A</ABOP><AOTM>17APR2606~0</AOTM></ABTM>
<DELY CODE="4~" STRT="17APR2608~0" DURA="01~5" NEWA="~">late ~</DELY>
<SRVT NEWA="~"><SRTC>GP~</SRTC><SRQT>~</SRQT><SRST>17APR2606~0</SRST><SRET>17APR2607~0</SRET><SRPR>7~</SRPR><SANR>R~</SANR><SARR>slow ~</SARR></SRVT>
<VIPF NEWA="~"><VPCD>P~</VPCD><VFES>~</VFES><VIPT NEWA="~"><VSCD>CA~</VSCD><VTQY>~</VTQY><VTST>17APR2606~0</VTST><VTET>17APR2607~0</VTET></VIPT></VIPF>
<PSHT PSHN="~" NEWA="~"><PUST>N1~</PUST><PSTM>17APR2608~0</PSTM><PSID>IN</PSID></PSHT><TIPT NEWA="~"><TRST>N1~</TRST><TRTM>17APR2608~0</TRTM></TIPT>
<ERUT RTNO="1" NEWA="~"><APCD>HA~</APCD><SCAT>17APR2608~0</SCAT><SCDT>17APR2608~0</SCDT></ERUT><ERUT RTNO="2"><APCD>NN~</APCD></ERUT>
<ROUT RTNO="1" NEWA="~"><APCD>NN~</APCD><SCAT>17APR2610~0</SCAT><SCDT>17APR2611~0</SCDT></ROUT></FLTR>`

// full is a record of a flight with everything; two digits make two that differ
// in every value.
func full(flid int64, digit int) string {
	letters := [][3]string{1: {"A", "D", "TO"}, 2: {"D", "I", "FROM"}}[digit]
	return strings.ReplaceAll(fmt.Sprintf(fullFlight, flid, letters[0], letters[1], letters[2]), "~", strconv.Itoa(digit))
}

// cleared is the record that takes away again what full sets.
func cleared(t *testing.T, flid int64) string {
	t.Helper()
	out := "<FLTR><FLID>" + strconv.FormatInt(flid, 10) + "</FLID><SODT>17APR260820</SODT>"
	done := map[string]bool{"FLID": true, "SODT": true}
	depth := 0
	for d := xml.NewDecoder(strings.NewReader(full(flid, 1))); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return out + "</FLTR>"
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			if depth++; depth == 2 && !done[e.Name.Local] {
				done[e.Name.Local] = true
				out += "<" + e.Name.Local + "/>"
			}
		case xml.EndElement:
			depth--
		}
	}
}

// schedule is a message of such records.
func (m *text) schedule(records ...string) string {
	return "<MSG>" + m.header("SCHD", "ADFT") + "<SCHD><RECS>" + strconv.Itoa(len(records)) + "</RECS>" + strings.Join(records, "") + "</SCHD></MSG>"
}

// example is a file of docs/events/examples and how its record is found.
type example struct {
	file, topic, key string
	msg              int64 // message it tells of; 0 = the last record of the key
}

// tell sends the messages behind the examples.
func tell(w *world, m *text) []example {
	const flight, share, gone = "88120432", "88120433", "88120434"
	created := w.my.Insert(m.schedule(
		"<FLTR><FLID>" + flight + "</FLID><ALCD>GJ</ALCD><FLNO>GJ8472</FLNO><MVIN>D</MVIN><SODT>17APR260820</SODT><FLTY>G</FLTY><FLIN>D</FLIN><ACFT>32Q</ACFT>" +
			"<RENO>B32AB</RENO><TAOP>GJ</TAOP><TAFL>GJ8471</TAFL><TAID>88120431</TAID><TRML>T3</TRML>" +
			`<PSDT PSNO="1"><PSST>N14</PSST><STST>17APR260640</STST><STET>17APR260820</STET></PSDT>` +
			`<CKDT CKNO="1"><CHKC>08</CHKC><CCLS>Y</CCLS><PCOT>17APR260620</PCOT><PCCT>17APR260735</PCCT><CTYP>D</CTYP></CKDT>` +
			`<ROUT RTNO="1"><APCD>NNG</APCD><SCAT>17APR260945</SCAT></ROUT>` +
			`<ERUT RTNO="1"><APCD>HGH</APCD><SCDT>17APR260820</SCDT></ERUT><ERUT RTNO="2"><APCD>NNG</APCD><SCAT>17APR260945</SCAT></ERUT>` +
			"<NEWX>kept as it came</NEWX></FLTR>"))
	w.my.Insert(m.schedule(
		"<FLTR><FLID>" + share + "</FLID><ALCD>MU</ALCD><FLNO>MU3312</FLNO><MVIN>D</MVIN><SODT>17APR260820</SODT><FLTY>G</FLTY><FLIN>D</FLIN><ACFT>32Q</ACFT>" +
			"<CSOP>GJ</CSOP><CSFT>GJ8472</CSFT><MAID>" + flight + "</MAID></FLTR>"))
	w.my.Insert(m.schedule(
		"<FLTR><FLID>" + gone + "</FLID><ALCD>GJ</ALCD><FLNO>GJ8001</FLNO><MVIN>A</MVIN><SODT>17APR260900</SODT><FLTY>G</FLTY><FLIN>D</FLIN><ACFT>32Q</ACFT></FLTR>"))
	flop := func(styp, inside string) int64 { return w.my.Insert(m.event(styp, 88120432, inside)) }
	gate := flop("GTDT", `<GTDT GTNO="1"><GATE>E5</GATE><PGOT>17APR260730</PGOT><PGCT>17APR260810</PGCT><GTYP>D</GTYP></GTDT>`)
	boarding := flop("BOTM", "<BOTM>17APR260744</BOTM>")
	flop("DELY", `<DELY CODE="41" STRT="17APR260820" DURA="0025">aircraft defect</DELY>`)
	flop("PSHT", `<PSHT PSHN="1"><PSTM>17APR260845</PSTM><PSID>IN</PSID><PUST>N14</PUST></PSHT>`)
	deleted := w.my.Insert(m.event("FDEL", 88120434, "<FDEL/>"))
	return []example{
		{"msg-created.json", "msg", flight, created},
		{"msg-changed.json", "msg", flight, boarding},
		{"msg-changed-list.json", "msg", flight, gate},
		{"msg-deleted.json", "msg", gone, deleted},
		{"schd-state.json", "schd", flight, 0},
		{"schd-state-code-share.json", "schd", share, 0},
		{"schd-tombstone.json", "schd", gone, 0},
	}
}

// sent is a record of a topic, read back.
type sent struct {
	kafka.Consumed
	topic string
	value any // as jsonschema has it; nil for a tombstone
}

// version is the state_version a record stands for.
func (s *sent) version(t *testing.T) int64 {
	t.Helper()
	text := s.Header("ce_id")
	if object, ok := s.value.(map[string]any); ok {
		text = string(object["state_version"].(json.Number))
	} else {
		_, text, _ = strings.Cut(text, ":")
	}
	version, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return version
}

// form is what asyncapi.yaml says of one kind of record.
type form struct {
	topic, kind           string
	headers, key, payload *jsonschema.Schema
	examples              []string // their files
}

// validate says what is wrong with a record.
func (f *form) validate(s *sent) error {
	headers := map[string]any{}
	for _, h := range s.Headers {
		if _, twice := headers[h.Key]; twice {
			return fmt.Errorf("header %s stands in it twice", h.Key)
		}
		headers[h.Key] = h.Value
	}
	return errors.Join(f.headers.Validate(headers), f.key.Validate(string(s.Key)), f.payload.Validate(s.value))
}

// forms reads asyncapi.yaml, by kind; the schemas come with it.
func forms(t *testing.T) map[string]*form {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(eventsDir, "asyncapi.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var raw any
	if err := yaml.Unmarshal(text, &raw); err != nil {
		t.Fatal(err)
	}
	asJSON, err := json.Marshal(raw)
	if err != nil {
		t.Fatal(err)
	}
	var api struct {
		Channels map[string]struct {
			Address  string
			Messages map[string]struct {
				Ref string `json:"$ref"`
			}
		}
		Components struct {
			Messages map[string]struct {
				Name    string
				Headers struct {
					Properties struct {
						Type struct{ Const string } `json:"ce_type"`
					}
				}
				Examples []struct {
					Headers, Payload struct {
						Ref string `json:"$ref"`
					}
				}
			}
		}
	}
	if err := json.Unmarshal(asJSON, &api); err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(asJSON))
	if err != nil {
		t.Fatal(err)
	}
	url := "file://" + path
	if err := c.AddResource(url, doc); err != nil {
		t.Fatal(err)
	}
	compile := func(pointer string) *jsonschema.Schema {
		s, err := c.Compile(url + pointer)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	out := map[string]*form{}
	for topic, channel := range api.Channels {
		if channel.Address != "{prefix}"+topic {
			t.Errorf("the address of %s is %s", topic, channel.Address)
		}
		for _, use := range channel.Messages {
			name := strings.TrimPrefix(use.Ref, "#/components/messages/")
			m, known := api.Components.Messages[name]
			if !known || m.Name != m.Headers.Properties.Type.Const {
				t.Fatalf("%s: its name is %q, its ce_type %q", use.Ref, m.Name, m.Headers.Properties.Type.Const)
			}
			f := &form{topic: topic, kind: m.Name,
				headers: compile(use.Ref + "/headers"), key: compile(use.Ref + "/bindings/kafka/key"), payload: compile(use.Ref + "/payload/schema")}
			for _, e := range m.Examples {
				file := strings.TrimPrefix(strings.TrimSuffix(e.Payload.Ref, "#/value"), "./examples/")
				if e.Headers.Ref != "./examples/"+file+"#/headers" || e.Payload.Ref != "./examples/"+file+"#/value" {
					t.Errorf("%s: example of %s and %s", name, e.Headers.Ref, e.Payload.Ref)
				}
				f.examples = append(f.examples, file)
			}
			out[m.Name] = f
		}
	}
	if len(out) != len(api.Components.Messages) {
		t.Errorf("%d messages are on channels, %d are described", len(out), len(api.Components.Messages))
	}
	return out
}

// named collects what a schema names below a path: properties, that one may be
// null, and values of a closed set. It fails for an object that is open without
// being extra, and for a property without a description.
func named(t *testing.T, out map[string]bool, s *jsonschema.Schema, path string) {
	t.Helper()
	if s.Ref != nil {
		named(t, out, s.Ref, path)
	}
	for _, either := range s.AnyOf {
		named(t, out, either, path)
	}
	if s.Types != nil && slices.Contains(s.Types.ToStrings(), "null") {
		out[path+" null"] = true
	}
	if s.Enum != nil {
		for _, v := range s.Enum.Values {
			out[fmt.Sprint(path, " ", v)] = true
		}
	}
	if s.Types != nil && slices.Contains(s.Types.ToStrings(), "object") {
		if closed := s.AdditionalProperties == any(false); closed == (s.Properties == nil) || !closed && !unclosed(path) {
			t.Errorf("%s: an object that is not extra is not closed, or extra is", path)
		}
	}
	for name, p := range s.Properties {
		if p.Description == "" {
			t.Errorf("%s.%s has no description", path, name)
		}
		out[path+"."+name] = true
		named(t, out, p, path+"."+name)
	}
	if s.Items2020 != nil {
		named(t, out, s.Items2020, path+"[]")
	}
}

// unclosed tells whether anything may stand in the object at that path.
func unclosed(path string) bool {
	return regexp.MustCompile(`^msg\.extra\.(old|new)$|^schd\.extra$|\]\.extra$`).MatchString(path)
}

// visit calls each for a value and all that is in it, but not for what is in
// an open object.
func visit(value any, path string, each func(path string, value any)) {
	each(path, value)
	switch v := value.(type) {
	case map[string]any:
		if !unclosed(path) {
			for name, in := range v {
				visit(in, path+"."+name, each)
			}
		}
	case []any:
		for _, in := range v {
			visit(in, path+"[]", each)
		}
	}
}

// missing lists what is in all and not in some.
func missing(all, some map[string]bool) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(all)), func(s string) bool { return some[s] })
}

// TestContract: every record that is really sent is what docs/events says, and
// docs/events says nothing that is not sent. Each row of the matrix runs
// through the engine, beside records in which everything stands.
func TestContract(t *testing.T) {
	const huge = 999_999_999_999_999_999 // the highest FLID
	w := newWorld(t, map[string]string{"kafka.max-record-bytes": "20000", "instance": "msgx-1"})
	m := &text{}
	examples := tell(w, m)
	w.my.Insert(m.schedule(full(1, 1)))
	w.my.Insert(m.schedule(full(2, 2)))
	w.my.Insert(m.schedule(full(huge, 1)))
	w.my.Insert(m.schedule(full(huge, 2)))
	w.my.Insert(m.schedule(cleared(t, huge)))
	// One message that changes a flight and changes it back: nothing is sent.
	w.my.Insert("<MSG>" + m.header("FLOP", "TRML") + "<FLOP><FLID>1</FLID><TRML>X</TRML></FLOP><FLOP><FLID>1</FLID><TRML>T1</TRML></FLOP></MSG>")
	w.my.Insert(m.create(3))
	w.my.Insert(m.event("FDEL", 3, "<FDEL/>"))
	w.my.Insert(m.create(3))
	w.my.Insert(m.create(4))
	w.my.Insert(m.event("REMC", 4, "<REMC>"+strings.Repeat("x", 30000)+"</REMC>"))
	last := w.my.Insert(m.event("REMC", 4, "<REMC>short</REMC>"))
	changes := 0
	for i, r := range matrixRows() {
		w.my.Insert(m.create(1000 + i))
		last = w.my.Insert(r.body(m, 1000+i))
		changes += 1 + r.msg
		if r.unknown != "" {
			last = w.my.Insert(r.body(m, 5000+i))
			if r.unknown == "SUCCEEDED applied" {
				changes++
			}
		}
	}
	r := w.start()
	w.idle(last)
	if _, err := r.stop(); err != nil {
		t.Fatal(err)
	}
	w.env["kafka.max-record-bytes"] = "1000000"
	w.exec("SELECT msgx.outbox_requeue(array_agg(event_id), 'test', 'the limit was raised', now()) FROM msgx.msg_event WHERE state = 'DEAD'")
	w.start()
	w.idle(last)
	if dead := w.get("SELECT count(*) FROM msgx.v_dead_letters"); dead != w.get("SELECT count(*) FROM msgx.proc_state WHERE state = 'DEAD'") {
		t.Errorf("%s dead letters", dead)
	}

	var all []*sent
	for _, topic := range []string{"msg", "schd"} {
		for _, c := range w.records(topic) {
			s := &sent{Consumed: c, topic: topic}
			if c.Value != nil {
				value, err := jsonschema.UnmarshalJSON(bytes.NewReader(c.Value))
				if err != nil {
					t.Fatalf("%s %s: %v", topic, c.Key, err)
				}
				s.value = value
			}
			all = append(all, s)
		}
	}
	of := func(topic string) []*sent {
		return slices.DeleteFunc(slices.Clone(all), func(s *sent) bool { return s.topic != topic })
	}
	if n, want := len(of("msg")), 19+changes; n != want || w.get("SELECT count(*) FROM msgx.msg_event WHERE target = 'KAFKA:msg'") != strconv.Itoa(n) {
		t.Fatalf("%d records on topic msg, want %d", n, want)
	}
	kinds := forms(t)
	if t.Failed() {
		return
	}

	t.Run("records", func(t *testing.T) {
		seen := map[string]int{}
		for _, s := range all {
			kind := s.Header("ce_type")
			f := kinds[kind]
			if f == nil || f.topic != s.topic {
				t.Errorf("topic %s has a record of type %q", s.topic, kind)
				continue
			}
			if err := f.validate(s); err != nil {
				t.Errorf("topic %s, key %s: %v\n%s", s.topic, s.Key, err, s.Value)
			}
			seen[kind]++
			for _, h := range s.Headers {
				seen[kind+" "+h.Key]++
			}
		}
		for kind, f := range kinds {
			if seen[kind] == 0 {
				t.Errorf("no record of type %s was sent", kind)
			}
			for name, p := range f.headers.Properties {
				if seen[kind+" "+name] == 0 {
					t.Errorf("no record of type %s has the header %s", kind, name)
				}
				for q := p; p.Description == "" && q.Ref != nil; q = q.Ref {
					p = q.Ref
				}
				if p.Description == "" {
					t.Errorf("the header %s of %s has no description", name, kind)
				}
			}
		}
	})

	t.Run("everything named is sent", func(t *testing.T) {
		for _, kind := range []kafka.Kind{kafka.Change, kafka.State} {
			f := kinds[string(kind)]
			names, seen := map[string]bool{}, map[string]bool{}
			named(t, names, f.payload, f.topic)
			for _, s := range of(f.topic) {
				visit(s.value, f.topic, func(path string, value any) {
					seen[path] = true
					switch v := value.(type) {
					case nil:
						seen[path+" null"] = true
					case string:
						seen[path+" "+v] = true
					}
				})
			}
			for _, path := range missing(names, seen) {
				t.Errorf("the schema names %s, nothing like it was sent", path)
			}
			if len(names) < 90 {
				t.Errorf("%s: only %d names", f.topic, len(names))
			}
		}
	})

	t.Run("nothing else passes", func(t *testing.T) {
		variants := 0
		for _, s := range all {
			if key := string(s.Key); s.value == nil || key != "1" && key != "2" && key != strconv.Itoa(huge) {
				continue
			}
			f, tried := kinds[s.Header("ce_type")], 0
			try := func(path, what string, valid bool) {
				tried++
				if err := f.payload.Validate(s.value); (err == nil) != valid {
					t.Errorf("%s with %s: %v, want valid %t", path, what, err, valid)
				}
			}
			visit(s.value, s.topic, func(path string, value any) {
				switch v := value.(type) {
				case map[string]any:
					v["surprise"] = "x"
					fresh, _ := s.value.(map[string]any)["change"].(string)
					try(path, "an unknown property", unclosed(path) && !(fresh == "created" && path == "msg.extra.old"))
					delete(v, "surprise")
					for name, in := range v {
						if unclosed(path) {
							break
						}
						v[name] = true
						try(path+"."+name, "a boolean", false)
						if at, ok := in.(string); ok && len(at) == len(time.RFC3339) {
							for _, bad := range []string{at[:19], at[:19] + "Z", strings.Replace(at, "T", " ", 1), strings.Replace(at, ":", "9", 1)} {
								v[name] = bad
								try(path+"."+name, bad, false)
							}
						}
						v[name] = in
					}
				}
			})
			try(s.topic, "nothing changed", true)
			variants += tried
		}
		if variants < 4000 {
			t.Errorf("only %d variants were tried", variants)
		}
	})

	t.Run("keys and order", func(t *testing.T) {
		partition, id, version := map[string]int32{}, map[string]int64{}, map[string]int64{}
		requeued := 0
		for _, s := range all {
			key := string(s.Key)
			if have, known := partition[key]; known && have != s.Partition {
				t.Errorf("key %s is in partitions %d and %d", key, have, s.Partition)
			}
			partition[key] = s.Partition
			if s.Header("ce_subject") != key {
				t.Errorf("the record of key %s is about %s", key, s.Header("ce_subject"))
			}
			now := s.version(t)
			flight, _ := s.value.(map[string]any)
			switch {
			case s.topic == "schd" && s.Header("ce_id") != fmt.Sprintf("%s:%d", key, now):
				t.Errorf("key %s, version %d has the id %s", key, now, s.Header("ce_id"))
			case s.topic == "msg":
				flight = flight["flight"].(map[string]any)
			}
			if flight != nil && fmt.Sprint(flight["flid"]) != key {
				t.Errorf("the value of key %s is of %s", key, flight["flid"])
			}
			if s.Header("msgx_requeued") != "" {
				requeued++
				version[s.topic+key] = max(version[s.topic+key], now)
				continue
			}
			if s.topic == "msg" {
				next, err := strconv.ParseInt(s.Header("ce_id"), 10, 64)
				if err != nil || next <= id[key] {
					t.Errorf("key %s: id %s behind %d: %v", key, s.Header("ce_id"), id[key], err)
				}
				id[key] = next
			}
			if now <= version[s.topic+key] {
				t.Errorf("topic %s, key %s: version %d behind %d", s.topic, key, now, version[s.topic+key])
			}
			version[s.topic+key] = now
		}
		if requeued != 2 { // the long remark comes, and goes
			t.Errorf("%d records are requeued", requeued)
		}
		for _, s := range of("msg") {
			if key := string(s.Key); version["schd"+key] != version["msg"+key] {
				t.Errorf("key %s ends with version %d on topic msg, %d on schd", key, version["msg"+key], version["schd"+key])
			}
		}
	})

	t.Run("changes add up to states", func(t *testing.T) {
		states := map[string]map[string]any{}
		for _, s := range of("schd") {
			states[string(s.Key)], _ = s.value.(map[string]any)
		}
		built := map[string]map[string]any{}
		msg := of("msg")
		slices.SortStableFunc(msg, func(a, b *sent) int { return int(a.version(t) - b.version(t)) })
		for _, s := range msg {
			change := s.value.(map[string]any)
			built[string(s.Key)] = apply(built[string(s.Key)], change)
		}
		if len(states) != len(built) || len(states) < 100 {
			t.Errorf("%d flights on topic schd, %d on msg", len(states), len(built))
		}
		for key, state := range states {
			for _, name := range []string{"flid", "operation_day", "state", "state_version", "created_msg_id", "last_msg_id"} {
				delete(state, name)
			}
			stands, _ := state["stand"].([]any)
			for _, stand := range stands {
				for _, name := range []string{"push_time", "push_indicator", "tractor_time"} {
					delete(stand.(map[string]any), name)
				}
			}
			if d := cmp.Diff(state, built[key]); d != "" {
				t.Errorf("flight %s: topic schd has -, the changes add up to +: %s", key, d)
			}
		}
	})

	t.Run("examples", func(t *testing.T) {
		files := map[string]bool{}
		for _, e := range examples {
			files[e.file] = true
			var record *sent
			for _, s := range all {
				if e.is(s) {
					record = s
				}
			}
			if record == nil {
				t.Errorf("no record for %s was sent", e.file)
				continue
			}
			if kind := record.Header("ce_type"); !slices.Contains(kinds[kind].examples, e.file) {
				t.Errorf("asyncapi.yaml does not name %s for records of type %s", e.file, kind)
			}
			path := filepath.Join(eventsDir, "examples", e.file)
			if *updateExamples {
				if err := os.WriteFile(path, record.document(t), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			have, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(steady(string(have)), steady(string(record.document(t)))); d != "" {
				t.Errorf("%s is not what is sent; write it anew with -update-examples: %s", e.file, d)
			}
		}
		kept, err := filepath.Glob(filepath.Join(eventsDir, "examples", "*.json"))
		if err != nil || len(kept) != len(examples) {
			t.Errorf("%d examples are kept, %d are sent: %v", len(kept), len(examples), err)
		}
		for kind, f := range kinds {
			if len(f.examples) == 0 {
				t.Errorf("%s has no example", kind)
			}
			for _, file := range f.examples {
				if !files[file] {
					t.Errorf("asyncapi.yaml names %s, which no test writes", file)
				}
			}
		}
	})
}

// is tells whether a record is that of the example.
func (e example) is(s *sent) bool {
	if s.topic != e.topic || string(s.Key) != e.key || e.msg == 0 {
		return s.topic == e.topic && string(s.Key) == e.key
	}
	message, _ := s.value.(map[string]any)["message"].(map[string]any)
	return fmt.Sprint(message["msg_id"]) == strconv.FormatInt(e.msg, 10)
}

// document is the record as an example shows it.
func (s *sent) document(t *testing.T) []byte {
	t.Helper()
	headers := map[string]string{}
	for _, h := range s.Headers {
		headers[h.Key] = h.Value
	}
	value := json.RawMessage("null")
	if s.Value != nil {
		value = s.Value
	}
	out, err := json.MarshalIndent(struct {
		Key     string            `json:"key"`
		Headers map[string]string `json:"headers"`
		Value   json.RawMessage   `json:"value"`
	}{string(s.Key), headers, value}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(out, '\n')
}

// steady is an example without what differs from one run to the next: numbers
// from sequences, and the time.
func steady(text string) string {
	return regexp.MustCompile(`("(?:ce_id|ce_time|state_version)": )[^\n,]*`).ReplaceAllString(text, "$1…")
}

// apply is what a consumer of topic msg does to have flights as topic schd
// tells them.
func apply(flight, change map[string]any) map[string]any {
	switch change["change"] {
	case "deleted":
		return nil
	case "created":
		flight = map[string]any{}
	}
	for _, part := range []string{"fields", "lists"} {
		differ, _ := change[part].(map[string]any)
		for name, d := range differ {
			now := d.(map[string]any)["new"]
			if list, _ := now.([]any); now == nil || part == "lists" && len(list) == 0 {
				delete(flight, name)
				continue
			}
			flight[name] = now
		}
	}
	if extra, ok := change["extra"].(map[string]any); ok {
		flight["extra"] = extra["new"]
	}
	return flight
}

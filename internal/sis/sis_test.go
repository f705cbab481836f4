package sis_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"msgexchange/internal/sis"
)

var update = flag.Bool("update", false, "write the golden files anew")

func codec(t testing.TB, change ...func(*sis.Options)) *sis.Codec {
	t.Helper()
	zone, err := time.LoadLocation("Asia/Shanghai")
	if err != nil {
		t.Fatal(err)
	}
	o := sis.Options{Zone: zone, MaxBytes: 1 << 20, MaxDepth: 32}
	for _, c := range change {
		c(&o)
	}
	return sis.New(o)
}

// now is far from the messages' years, so that a test sees which of both counts.
var now = time.Date(2050, 1, 1, 0, 0, 0, 0, time.UTC)

// TestExamples decodes the examples of the protocol's description and compares
// what pump_apply would get with golden files.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("testdata/*.xml")
	if err != nil || len(files) < 14 {
		t.Fatalf("found %d examples: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			m, derr := codec(t).Decode(text, now)
			var got bytes.Buffer
			if err := json.Indent(&got, m.AppendBatch(nil, 1, "00", derr), "", "  "); err != nil {
				t.Fatalf("not JSON: %v", err)
			}
			got.WriteByte('\n')
			golden := strings.TrimSuffix(file, ".xml") + ".json"
			if *update {
				if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), got.String()); d != "" {
				t.Error(d)
			}
		})
	}
}

const meta = `<META><SNDR>AODB</SNDR><SEQN>7</SEQN><DTTM>20260417074418</DTTM><TYPE>%T</TYPE><STYP>%S</STYP></META>`

// message wraps a body.
func message(typ, styp, body string) string {
	return "<MSG>" + strings.NewReplacer("%T", typ, "%S", styp).Replace(meta) + body + "</MSG>"
}

func flop(styp, inside string) string {
	return message("FLOP", styp, "<FLOP><FLID>1</FLID>"+inside+"</FLOP>")
}

func fltr(inside string) string {
	return message("SCHD", "DNLD", "<SCHD><RECS>1</RECS><FLTR><FLID>1</FLID>"+inside+"</FLTR></SCHD>")
}

// TestPatch: what one record says becomes this patch.
func TestPatch(t *testing.T) {
	for name, c := range map[string]struct{ text, patch string }{
		"time set":                     {flop("BOTM", "<BOTM>17APR260744</BOTM>"), `{"set":{"boarding_open":"2026-04-17T07:44:00+08:00"}}`},
		"time empty":                   {flop("BOTM", "<BOTM></BOTM>"), `{"set":{"boarding_open":null}}`},
		"time self-closed":             {flop("BOTM", "<BOTM/>"), `{"set":{"boarding_open":null}}`},
		"time absent":                  {flop("TOBT", ""), `{"set":{"target_offblock":null}}`},
		"time nil":                     {flop("BOTM", `<BOTM xsi:nil="true">17APR260744</BOTM>`), `{"set":{"boarding_open":null}}`},
		"month in any case":            {flop("BOTM", "<BOTM>17apr260744</BOTM>"), `{"set":{"boarding_open":"2026-04-17T07:44:00+08:00"}}`},
		"day without time":             {flop("BOTM", "<BOTM>17APR26</BOTM>"), `{"set":{"boarding_open":"2026-04-17T00:00:00+08:00"}}`},
		"leap day":                     {flop("BOTM", "<BOTM>29FEB280000</BOTM>"), `{"set":{"boarding_open":"2028-02-29T00:00:00+08:00"}}`},
		"year 20 back":                 {flop("BOTM", "<BOTM>17APR060744</BOTM>"), `{"set":{"boarding_open":"2006-04-17T07:44:00+08:00"}}`},
		"year 79 on":                   {flop("BOTM", "<BOTM>17APR050744</BOTM>"), `{"set":{"boarding_open":"2105-04-17T07:44:00+08:00"}}`},
		"year by the clock":            {strings.Replace(flop("BOTM", "<BOTM>17APR310744</BOTM>"), "20260417074418", "", 1), `{"set":{"boarding_open":"2031-04-17T07:44:00+08:00"}}`},
		"zero is a value":              {flop("MAXP", "<MAXP>0</MAXP>"), `{"set":{"max_pax":0}}`},
		"empty number":                 {flop("MAXP", "<MAXP/>"), `{"set":{"max_pax":null}}`},
		"leading zeros":                {flop("PAXC", "<PAXC>007</PAXC>"), `{"set":{"passenger_count":7}}`},
		"decimal":                      {flop("LBWT", "<LBWT>0012.50</LBWT>"), `{"set":{"local_bag_weight":12.50}}`},
		"text trimmed":                 {flop("REMC", "<REMC>\n  雷雨 \"x\" \\ 𠮷 </REMC>"), `{"set":{"remarks":"雷雨 \"x\" \\ 𠮷"}}`},
		"entities and CDATA":           {flop("REMC", "<REMC>a&amp;b<![CDATA[<c>]]></REMC>"), `{"set":{"remarks":"a&b<c>"}}`},
		"only its own element counts":  {flop("TRML", "<TRML>TB</TRML><GATE>E5</GATE><BOTM>rubbish</BOTM>"), `{"set":{"terminal":"TB"}}`},
		"group, each cleared":          {flop("HNAG", "<PHAG>5</PHAG><MHAG/>"), `{"set":{"field_agent":null,"pax_agent":5,"maintenance_agent":null}}`},
		"group, all or none":           {flop("TAOP", "<TAOP>GJ</TAOP><TAFL>GJ1</TAFL>"), `{"set":{"linked_airline_code":null,"linked_flight_number":null,"linked_flid":null}}`},
		"group, all":                   {flop("TAOP", "<TAOP>GJ</TAOP><TAFL>GJ1</TAFL><TAID> 0012 </TAID>"), `{"set":{"linked_airline_code":"GJ","linked_flight_number":"GJ1","linked_flid":12}}`},
		"status without comment":       {flop("EXSS", "<EXSC>PLAN</EXSC>"), `{"set":{"external_status_code":"PLAN","external_status_comment":null}}`},
		"status empty clears both":     {flop("EXSS", "<EXSC/><EXSR>x</EXSR>"), `{"set":{"external_status_code":null,"external_status_comment":null}}`},
		"diversion":                    {flop("FDIV", `<FDIV DDES="HAK" DDIR="TO">wind</FDIV>`), `{"set":{"diversion_airport":"HAK","diversion_direction":"TO","diversion_reason":"wind"}}`},
		"diversion withdrawn":          {flop("FDIV", `<FDIV DDES="" DDIR="TO">wind</FDIV>`), `{"set":{"diversion_airport":null,"diversion_direction":null,"diversion_reason":null}}`},
		"diversion absent":             {flop("FDIV", ""), `{"set":{"diversion_airport":null,"diversion_direction":null,"diversion_reason":null}}`},
		"return without reason":        {flop("FRET", `<FRET REID="A"/>`), `{"set":{"return_type":"A","return_reason":null}}`},
		"abort with empty attribute":   {flop("FLAB", `<FLAB ARES=""></FLAB>`), `{"set":{"landing_abort_indicator":null,"landing_abort_reason":null}}`},
		"doors":                        {flop("PORT", "<PORT><POTM>17APR261012</POTM><POID>O</POID></PORT><PORT><POTM/><POID>C</POID></PORT>"), `{"set":{"door_open_time":"2026-04-17T10:12:00+08:00","door_close_time":null}}`},
		"list":                         {flop("GTDT", `<GTDT GTNO = "02" ><GATE>E5</GATE><GTYP/></GTDT>`), `{"lists":{"gate":{"2":{"gate_number":2,"gate_code":"E5"}}}}`},
		"list with a blank member":     {flop("GTDT", `<GTDT/><GTDT GTNO="1"><GATE>E5</GATE></GTDT>`), `{"lists":{"gate":{"1":{"gate_number":1,"gate_code":"E5"}}}}`},
		"list wholly blank":            {flop("GTDT", `<GTDT GTNO=""><GATE> </GATE></GTDT>`), `{"lists":{"gate":{}}}`},
		"list without members":         {flop("PSDT", ""), `{"lists":{"stand":{}}}`},
		"list member with more":        {flop("CKDT", `<CKDT CKNO="1" NEW="x"><CHKC>08</CHKC><MORE>y</MORE></CKDT>`), `{"lists":{"checkin":{"1":{"checkin_number":1,"desk_code":"08","extra":{"@NEW":"x","MORE":"y"}}}}}`},
		"upsert":                       {flop("DELY", `<DELY CODE="4F" DURA="0145">x</DELY>`), `{"upsert":{"delay":{"4F":{"delay_code":"4F","duration_minutes":105,"comment":"x"}}}}`},
		"upsert wholly blank":          {flop("DELY", `<DELY CODE=""></DELY>`), `{"upsert":{"delay":null}}`},
		"route replaced":               {flop("ERUT", `<ERUT RTNO="1"><APCD>NNG</APCD></ERUT>`), `{"lists":{"erut":{"1":{"rtno":1,"airport_code":"NNG"}}}}`},
		"record keeps what is absent":  {fltr("<TRML>TB</TRML><BOTM/>"), `{"set":{"terminal":"TB","boarding_open":null}}`},
		"record with keyed list":       {fltr(`<DELY CODE="4F"/><DELY CODE="8C"/>`), `{"lists":{"delay":{"4F":{"delay_code":"4F"},"8C":{"delay_code":"8C"}}}}`},
		"record clears a list":         {fltr("<GTDT/>"), `{"lists":{"gate":{}}}`},
		"record with unknown elements": {fltr(`<ZZZZ>1</ZZZZ><YYYY A="b">t<C>d</C></YYYY><XXXX>1</XXXX><XXXX/>`), `{"extra":{"ZZZZ":"1","YYYY":{"@A":"b","#text":"t","C":"d"},"XXXX":["1",""]}}`},
		"record with a later list":     {fltr(`<CLDT CLNO="1"><BELT>b3</BELT></CLDT>`), `{"extra":{"CLDT":{"@CLNO":"1","BELT":"b3"}}}`},
		"deletion":                     {flop("FDEL", "<FDEL></FDEL>"), `{}`},
		"deletion by schedule":         {message("SCHD", "DEL", "<SCHD><FLTR><FLID>1</FLID><SODT>bad</SODT></FLTR></SCHD>"), `{}`},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := codec(t).Decode([]byte(c.text), now)
			if err != nil {
				t.Fatal(err)
			}
			if len(m.Records) != 1 {
				t.Fatalf("%d records", len(m.Records))
			}
			if d := cmp.Diff(c.patch, string(m.Records[0].Patch)); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestRefused: what cannot be read has this class, and says where and why.
func TestRefused(t *testing.T) {
	deep := strings.Repeat("<A>", 100_000)
	for name, c := range map[string]struct {
		text  string
		class sis.Class
		says  string
	}{
		"empty":                       {"", sis.Malformed, "empty"},
		"blanks":                      {" \n", sis.Malformed, "empty"},
		"not XML":                     {"hello", sis.Malformed, "not XML"},
		"truncated":                   {flop("BOTM", "<BOTM>17APR26")[:120], sis.Malformed, "unexpected EOF"},
		"stray end":                   {flop("BOTM", "") + "</MSG>", sis.Malformed, "ends nothing"},
		"second root":                 {flop("BOTM", "") + "<MSG/>", sis.Malformed, "second root"},
		"text behind":                 {flop("BOTM", "") + "x", sis.Malformed, "after the root"},
		"wrong nesting":               {"<MSG><A><B></A></B></MSG>", sis.Malformed, "<B> is ended by </A>"},
		"document type":               {"<!DOCTYPE MSG [<!ENTITY x 'y'>]>" + flop("BOTM", ""), sis.Malformed, "document type"},
		"unknown entity":              {flop("REMC", "<REMC>&x;</REMC>"), sis.Malformed, "not well-formed"},
		"not UTF-8":                   {flop("REMC", "<REMC>\xff</REMC>"), sis.Malformed, "is not UTF-8"},
		"control character":           {flop("REMC", "<REMC>\x01</REMC>"), sis.Malformed, "not well-formed"},
		"100,000 levels":              {"<MSG>" + deep, sis.CodecError, "nested deeper"},
		"too long":                    {strings.Repeat(" ", 1<<20) + "<MSG/>", sis.CodecError, "1048582 bytes"},
		"another root":                {"<X/>", sis.Malformed, "MSG as root"},
		"no META":                     {"<MSG><FLOP/></MSG>", sis.Malformed, "META must come first"},
		"nothing":                     {"<MSG/>", sis.Malformed, "META is missing"},
		"META twice":                  {strings.Replace(flop("BOTM", ""), "<FLOP>", "<META/><FLOP>", 1), sis.Malformed, "META stands in it twice"},
		"no SEQN":                     {strings.Replace(flop("BOTM", ""), "<SEQN>7</SEQN>", "", 1), sis.Malformed, "SEQN is missing"},
		"SEQN not a number":           {strings.Replace(flop("BOTM", ""), ">7<", ">x7<", 1), sis.Malformed, `MSG/META/SEQN: "x7"`},
		"no TYPE":                     {strings.Replace(flop("BOTM", ""), "<TYPE>FLOP</TYPE>", "", 1), sis.Malformed, "TYPE is missing"},
		"no body":                     {message("FLOP", "BOTM", ""), sis.Malformed, "FLOP is missing"},
		"no FLID":                     {message("FLOP", "BOTM", "<FLOP/>"), sis.Malformed, "MSG/FLOP/FLID: FLID is missing"},
		"FLID not a number":           {strings.Replace(flop("BOTM", ""), "<FLID>1<", "<FLID>A1<", 1), sis.Malformed, `"A1"`},
		"FLID zero":                   {strings.Replace(flop("BOTM", ""), "<FLID>1<", "<FLID>0<", 1), sis.Malformed, "positive"},
		"FLID too long":               {strings.Replace(flop("BOTM", ""), "<FLID>1<", "<FLID>1234567890123456789<", 1), sis.Malformed, "18 digits"},
		"FLID twice":                  {flop("BOTM", "<FLID>2</FLID>"), sis.Protocol, "twice"},
		"namespace":                   {strings.Replace(flop("BOTM", ""), "<FLOP>", `<FLOP xmlns="urn:x">`, 1), sis.Protocol, "no namespace"},
		"prefix":                      {flop("BOTM", "<a:BOTM/>"), sis.Protocol, "no namespace"},
		"foreign body":                {message("FLOP", "BOTM", "<SCHD/>"), sis.Protocol, "has no such element"},
		"unknown type":                {message("ABCD", "EFGH", "<ABCD/>"), sis.Unsupported, `"ABCD/EFGH"`},
		"unknown subtype":             {flop("ZZZZ", ""), sis.Unsupported, `"ZZZZ"`},
		"a subtype for later":         {flop("SRVT", "<SRVT/>"), sis.Unsupported, `"SRVT"`},
		"schedule of unknown subtype": {message("SCHD", "ZZZZ", "<SCHD/>"), sis.Unsupported, `"ZZZZ"`},
		"scalar twice":                {flop("BOTM", "<BOTM/><BOTM/>"), sis.Protocol, "MSG/FLOP/BOTM: it stands in the record twice"},
		"scalar twice in a record":    {fltr("<TRML>A</TRML><TRML>A</TRML>"), sis.Protocol, "MSG/SCHD/FLTR[1]/TRML"},
		"mandatory empty":             {flop("ACFT", "<ACFT/>"), sis.Protocol, "must have a value"},
		"mandatory absent":            {flop("FLTY", ""), sis.Protocol, "FLTY is missing"},
		"optional absent":             {flop("REMC", ""), sis.Protocol, "REMC is missing"},
		"impossible day":              {flop("BOTM", "<BOTM>31APR260744</BOTM>"), sis.CodecError, `MSG/FLOP/BOTM: "31APR260744": expected a date and time that exist`},
		"no leap year":                {flop("BOTM", "<BOTM>29FEB260000</BOTM>"), sis.CodecError, "that exist"},
		"24 hours":                    {flop("BOTM", "<BOTM>17APR262400</BOTM>"), sis.CodecError, "that exist"},
		"60 minutes":                  {flop("BOTM", "<BOTM>17APR260060</BOTM>"), sis.CodecError, "that exist"},
		"one-digit day":               {flop("BOTM", "<BOTM>7APR260744</BOTM>"), sis.CodecError, "DDMONYYHHMM"},
		"no month":                    {flop("BOTM", "<BOTM>17ABC260744</BOTM>"), sis.CodecError, "DDMONYYHHMM"},
		"month across two":            {flop("BOTM", "<BOTM>17ANF260744</BOTM>"), sis.CodecError, "DDMONYYHHMM"},
		"number with letters":         {flop("MAXP", "<MAXP>12a</MAXP>"), sis.CodecError, "whole number"},
		"number too large":            {flop("MAXP", "<MAXP>3000000000</MAXP>"), sis.CodecError, "32 bits"},
		"decimal comma":               {flop("LBWT", "<LBWT>1,5</LBWT>"), sis.CodecError, "decimal point"},
		"duration of 60 minutes":      {flop("DELY", `<DELY CODE="4F" DURA="0060"/>`), sis.CodecError, "MSG/FLOP/DELY[1]@DURA"},
		"diversion nowhere":           {flop("FDIV", `<FDIV DDES="HAK" DDIR="AT"/>`), sis.CodecError, "TO or FROM"},
		"reason without return":       {flop("FRET", "<FRET>x</FRET>"), sis.Protocol, "needs REID"},
		"door absent":                 {flop("PORT", ""), sis.Protocol, "PORT is missing"},
		"door of no kind":             {flop("PORT", "<PORT><POTM/><POID>X</POID></PORT>"), sis.CodecError, "O or C"},
		"same number twice":           {flop("GTDT", `<GTDT GTNO="1"><GATE>A</GATE></GTDT><GTDT GTNO="01"><GATE>B</GATE></GTDT>`), sis.Protocol, "MSG/FLOP/GTDT[2]"},
		"no number":                   {flop("GTDT", "<GTDT><GATE>A</GATE></GTDT>"), sis.Protocol, "GTNO is missing"},
		"route without airport":       {flop("ERUT", `<ERUT RTNO="1"/>`), sis.Protocol, "APCD is missing"},
		"same code twice":             {flop("DELY", `<DELY CODE="4F"/><DELY CODE="4F"/>`), sis.Protocol, "same CODE twice"},
		"delay without code":          {flop("DELY", "<DELY>x</DELY>"), sis.Protocol, "CODE is missing"},
		"blank beside keyed":          {flop("DELY", `<DELY CODE="4F"/><DELY/>`), sis.Protocol, "blank member"},
		"delays absent":               {flop("DELY", ""), sis.Protocol, "DELY is missing"},
		"deletion with text":          {flop("FDEL", "<FDEL>x</FDEL>"), sis.Protocol, "must be empty"},
		"RECS not a number":           {message("SCHD", "DNLD", "<SCHD><RECS>x</RECS></SCHD>"), sis.CodecError, "MSG/SCHD/RECS"},
		"fault before bad XML":        {strings.Replace(flop("BOTM", "<BOTM>bad</BOTM>"), "</MSG>", "", 1), sis.Malformed, "ends inside"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := codec(t).Decode([]byte(c.text), now)
			var e *sis.Error
			if !errors.As(err, &e) {
				t.Fatalf("error %v", err)
			}
			if e.Class != c.class || !strings.Contains(e.Error(), c.says) {
				t.Errorf("%s: %s; want %s with %q", e.Class, e, c.class, c.says)
			}
		})
	}
}

// TestAccepted: oddities that must not keep a message out.
func TestAccepted(t *testing.T) {
	plain := flop("TRML", "<TRML>中</TRML>")
	for name, text := range map[string]string{
		"declared GBK":            `<?xml version="1.0" encoding="GBK"?>` + plain,
		"declared latin-1":        `<?xml version='1.0' encoding='ISO-8859-1'?>` + plain,
		"spelled utf8":            `<?xml version="1.0" encoding="utf8"?>` + plain,
		"version 1.1":             `<?xml version="1.1"?>` + plain,
		"byte order mark":         "\uFEFF" + `<?xml version="1.0"?>` + plain,
		"blank line first":        "\n" + `<?xml version="1.0"?>` + plain,
		"blank lines last":        plain + "\n\n\t",
		"comment, instruction":    "<!-- a --><?pi x?>" + plain + "<!-- b -->",
		"text between elements":   strings.Replace(plain, "<FLOP>", "stray<FLOP>", 1),
		"lower-case type":         strings.Replace(plain, ">FLOP<", "> flop <", 1),
		"header in another order": strings.Replace(plain, "<SNDR>AODB</SNDR><SEQN>7</SEQN>", "<SEQN>0007</SEQN><SNDR>AODB</SNDR>", 1),
	} {
		t.Run(name, func(t *testing.T) {
			m, err := codec(t).Decode([]byte(text), now)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := string(m.Records[0].Patch), `{"set":{"terminal":"中"}}`; got != want || *m.Meta.Seqn != 7 || m.Meta.Type != "FLOP" {
				t.Errorf("%s, meta %+v", got, m.Meta)
			}
		})
	}
}

// TestMetaOfRefused: a refused message is known by its header all the same.
func TestMetaOfRefused(t *testing.T) {
	m, err := codec(t).Decode([]byte(flop("BOTM", "<BOTM>bad</BOTM>")), now)
	if err == nil || m.Meta.Sender != "AODB" || m.Meta.Subtype != "BOTM" || m.Meta.Seqn == nil || m.Meta.Dttm == nil || len(m.Records) != 0 {
		t.Errorf("%+v, %v", m, err)
	}
	var object map[string]any
	if err := json.Unmarshal(m.AppendBatch(nil, 5, "ab", err), &object); err != nil {
		t.Fatal(err)
	}
	if object["error_class"] != "CODEC_ERROR" || object["seqn"] != 7.0 || object["msg_id"] != 5.0 || object["records"] != nil {
		t.Errorf("%v", object)
	}
}

// TestSettings: what the protocol leaves open follows the options.
func TestSettings(t *testing.T) {
	merge := codec(t, func(o *sis.Options) { o.ErutMerge = true })
	m, err := merge.Decode([]byte(flop("ERUT", `<ERUT RTNO="1"><APCD>NNG</APCD></ERUT>`)), now)
	if err != nil || string(m.Records[0].Patch) != `{"upsert":{"erut":{"1":{"rtno":1,"airport_code":"NNG"}}}}` {
		t.Errorf("route merged: %+v, %v", m.Records, err)
	}
	strict := codec(t, func(o *sis.Options) { o.RefuseEmptyList = true })
	for _, inside := range []string{"", "<GTDT/>"} {
		var e *sis.Error
		if _, err := strict.Decode([]byte(flop("GTDT", inside)), now); !errors.As(err, &e) || e.Class != sis.Protocol {
			t.Errorf("empty list %q: %v", inside, err)
		}
	}
}

// TestSeveralEvents: FLOP elements of one message are records in order.
func TestSeveralEvents(t *testing.T) {
	m, err := codec(t).Decode([]byte(message("FLOP", "TRML",
		"<FLOP><FLID>2</FLID><TRML>A</TRML></FLOP><FLOP><FLID>1</FLID><TRML>B</TRML></FLOP>")), now)
	if err != nil || len(m.Records) != 2 || m.Records[0].FLID != 2 || m.Records[1].FLID != 1 {
		t.Fatalf("%+v, %v", m, err)
	}
	_, err = codec(t).Decode([]byte(message("FLOP", "TRML", "<FLOP><FLID>2</FLID><TRML>A</TRML></FLOP><FLOP><FLID>1</FLID></FLOP>")), now)
	if err == nil || !strings.Contains(err.Error(), "MSG/FLOP[2]/TRML") {
		t.Errorf("one refused record refuses the message and is named: %v", err)
	}
}

// FuzzDecode: no text breaks the decoder, and what it gives is JSON.
func FuzzDecode(f *testing.F) {
	files, err := filepath.Glob("testdata/*.xml")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	c := codec(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := c.Decode(text, now)
		if object := m.AppendBatch(nil, 1, "", err); !json.Valid(object) {
			t.Errorf("not JSON: %s", object)
		}
		var e *sis.Error
		if err != nil && (!errors.As(err, &e) || e.Reason == "") {
			t.Errorf("an error without class or reason: %v", err)
		}
	})
}

func BenchmarkDecodeFLOP(b *testing.B) {
	text := []byte(flop("REMC", "<REMC>"+strings.Repeat("雷雨绕飞 ", 140)+"</REMC>"))
	benchmark(b, text)
}

func BenchmarkDecodeDNLD1000(b *testing.B) {
	example, err := os.ReadFile("testdata/schd-dnld.xml")
	if err != nil {
		b.Fatal(err)
	}
	from, to := bytes.Index(example, []byte("<FLTR>")), bytes.LastIndex(example, []byte("</FLTR>"))+len("</FLTR>")
	text := append(append(example[:from:from], bytes.Repeat(example[from:to], 500)...), example[to:]...)
	benchmark(b, text)
}

func benchmark(b *testing.B, text []byte) {
	c := codec(b, func(o *sis.Options) { o.MaxBytes = 16 << 20 })
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Decode(text, now); err != nil {
			b.Fatal(err)
		}
	}
}

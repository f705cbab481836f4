package sis_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

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
	if err != nil || len(files) < 13 {
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
		"time nil by 1":                {flop("BOTM", `<BOTM xsi:nil=" 1 "/>`), `{"set":{"boarding_open":null}}`},
		"time not nil":                 {flop("BOTM", `<BOTM xsi:nil="false">17APR260744</BOTM>`), `{"set":{"boarding_open":"2026-04-17T07:44:00+08:00"}}`},
		"time in pieces":               {flop("BOTM", "<BOTM>17<!-- x -->APR<![CDATA[26]]>0744</BOTM>"), `{"set":{"boarding_open":"2026-04-17T07:44:00+08:00"}}`},
		"zero is a value":              {flop("MAXP", "<MAXP>0</MAXP>"), `{"set":{"max_pax":0}}`},
		"empty number":                 {flop("MAXP", "<MAXP/>"), `{"set":{"max_pax":null}}`},
		"leading zeros":                {flop("PAXC", "<PAXC>007</PAXC>"), `{"set":{"passenger_count":7}}`},
		"negative number":              {flop("PAXC", "<PAXC>-7</PAXC>"), `{"set":{"passenger_count":-7}}`},
		"largest number":               {flop("MAXP", "<MAXP>2147483647</MAXP>"), `{"set":{"max_pax":2147483647}}`},
		"agent beyond 32 bits":         {flop("HNAG", "<PHAG>2147483648</PHAG>"), `{"set":{"pax_agent":2147483648,"field_agent":null,"maintenance_agent":null}}`},
		"decimal without fraction":     {flop("LBWT", "<LBWT>-0.5</LBWT>"), `{"set":{"local_bag_weight":-0.5}}`},
		"decimal":                      {flop("LBWT", "<LBWT>0012.50</LBWT>"), `{"set":{"local_bag_weight":12.50}}`},
		"text too long":                {flop("TRML", "<TRML>TERMINAL</TRML>"), `{"set":{"terminal":"TERMINAL"}}`},
		"case kept":                    {flop("RENO", "<RENO>b30kX</RENO>"), `{"set":{"registration":"b30kX"}}`},
		"leading zeros of a code kept": {flop("STND", "<STND>007</STND>"), `{"set":{"current_stand":"007"}}`},
		"control characters":           {flop("REMC", "<REMC>a&#9;b&#xA;c&#xD;d\u007f</REMC>"), `{"set":{"remarks":"a\u0009b\nc\u000dd` + "\u007f" + `"}}`},
		"a replacement character":      {flop("REMC", "<REMC>\uFFFD&#65;</REMC>"), `{"set":{"remarks":"` + "\uFFFD" + `A"}}`},
		"text trimmed":                 {flop("REMC", "<REMC>\n  雷雨 \"x\" \\ 𠮷 </REMC>"), `{"set":{"remarks":"雷雨 \"x\" \\ 𠮷"}}`},
		"entities and CDATA":           {flop("REMC", "<REMC>a&amp;b<![CDATA[<c>]]></REMC>"), `{"set":{"remarks":"a&b<c>"}}`},
		"only its own element counts":  {flop("TRML", "<TRML>TB</TRML><GATE>E5</GATE><BOTM>rubbish</BOTM>"), `{"set":{"terminal":"TB"},"extra":{"GATE":"E5"}}`},
		"group, each cleared":          {flop("HNAG", "<PHAG>5</PHAG><MHAG/>"), `{"set":{"pax_agent":5,"field_agent":null,"maintenance_agent":null}}`},
		"group, all or none":           {flop("TAOP", "<TAOP>GJ</TAOP><TAFL>GJ1</TAFL>"), `{"set":{"linked_airline_code":null,"linked_flight_number":null,"linked_flid":null}}`},
		"group, all":                   {flop("TAOP", "<TAOP>GJ</TAOP><TAFL>GJ1</TAFL><TAID> 0012 </TAID>"), `{"set":{"linked_airline_code":"GJ","linked_flight_number":"GJ1","linked_flid":12}}`},
		"status without comment":       {flop("EXSS", "<EXSC>PLAN</EXSC>"), `{"set":{"external_status_code":"PLAN","external_status_comment":null}}`},
		"status empty clears both":     {flop("EXSS", "<EXSC/><EXSR>x</EXSR>"), `{"set":{"external_status_code":null,"external_status_comment":null}}`},
		"master, all":                  {flop("CSFT", "<CSOP>GJ</CSOP><CSFT>GJ1</CSFT><MAID>9</MAID>"), `{"set":{"master_airline_code":"GJ","master_flight_number":"GJ1","master_flid":9}}`},
		"master, one empty":            {flop("CSOP", "<CSOP>GJ</CSOP><CSFT/><MAID>9</MAID>"), `{"set":{"master_airline_code":null,"master_flight_number":null,"master_flid":null}}`},
		"vip, each for itself":         {flop("VIPP", "<VIPR>1</VIPR>"), `{"set":{"vip_count":null,"vip_rank":1}}`},
		"status and comment":           {flop("EXSS", "<EXSC>A</EXSC><EXSR>b</EXSR>"), `{"set":{"external_status_code":"A","external_status_comment":"b"}}`},
		"diversion without reason":     {flop("FDIV", `<FDIV DDES="HAK" DDIR="FROM"/>`), `{"set":{"diversion_airport":"HAK","diversion_direction":"FROM","diversion_reason":null}}`},
		"return withdrawn":             {flop("FRET", `<FRET REID=""/>`), `{"set":{"return_type":null,"return_reason":null}}`},
		"return of unknown kind":       {flop("FRET", `<FRET REID="Z">x</FRET>`), `{"set":{"return_type":"Z","return_reason":"x"}}`},
		"abort":                        {flop("FLAB", `<FLAB ARES="G">wind</FLAB>`), `{"set":{"landing_abort_indicator":"G","landing_abort_reason":"wind"}}`},
		"abort absent":                 {flop("FLAB", ""), `{"set":{"landing_abort_indicator":null,"landing_abort_reason":null}}`},
		"diversion":                    {flop("FDIV", `<FDIV DDES="HAK" DDIR="TO">wind</FDIV>`), `{"set":{"diversion_airport":"HAK","diversion_direction":"TO","diversion_reason":"wind"}}`},
		"diversion withdrawn":          {flop("FDIV", `<FDIV DDES="" DDIR="TO">wind</FDIV>`), `{"set":{"diversion_airport":null,"diversion_direction":null,"diversion_reason":null}}`},
		"diversion absent":             {flop("FDIV", ""), `{"set":{"diversion_airport":null,"diversion_direction":null,"diversion_reason":null}}`},
		"return without reason":        {flop("FRET", `<FRET REID="A"/>`), `{"set":{"return_type":"A","return_reason":null}}`},
		"abort with empty attribute":   {flop("FLAB", `<FLAB ARES=""></FLAB>`), `{"set":{"landing_abort_indicator":null,"landing_abort_reason":null}}`},
		"doors":                        {flop("PORT", "<PORT><POTM>17APR261012</POTM><POID>O</POID></PORT><PORT><POTM/><POID>C</POID></PORT>"), `{"set":{"door_open_time":"2026-04-17T10:12:00+08:00","door_close_time":null}}`},
		"doors, a blank one beside":    {flop("PORT", "<PORT/><PORT><POID>C</POID></PORT>"), `{"set":{"door_close_time":null}}`},
		"stray text in a list":         {flop("GTDT", `<GTDT GTNO="1">x<GATE>E5</GATE>y</GTDT>`), `{"lists":{"gate":{"1":{"gate_number":1,"gate_code":"E5"}}}}`},
		"members in any order":         {flop("GTDT", `<GTDT GTNO="10"><GATE>A</GATE></GTDT><FFID>x</FFID><GTDT GTNO="2"><GATE>B</GATE></GTDT>`), `{"lists":{"gate":{"10":{"gate_number":10,"gate_code":"A"},"2":{"gate_number":2,"gate_code":"B"}}}}`},
		"member of a number alone":     {flop("PSDT", `<PSDT PSNO="1"/>`), `{"lists":{"stand":{"1":{"stand_number":1}}}}`},
		"FFID goes nowhere":            {flop("BOTM", "<FFID>GJ-GJ8472-D-17APR260820-D</FFID>"), `{"set":{"boarding_open":null}}`},
		"other elements twice":         {flop("TRML", "<TRML>TB</TRML><BOTM>a</BOTM><BOTM>b</BOTM>"), `{"set":{"terminal":"TB"}}`},
		"list":                         {flop("GTDT", `<GTDT GTNO = "02" ><GATE>E5</GATE><GTYP/></GTDT>`), `{"lists":{"gate":{"2":{"gate_number":2,"gate_code":"E5"}}}}`},
		"list with a blank member":     {flop("GTDT", `<GTDT/><GTDT GTNO="1"><GATE>E5</GATE></GTDT>`), `{"lists":{"gate":{"1":{"gate_number":1,"gate_code":"E5"}}}}`},
		"list wholly blank":            {flop("GTDT", `<GTDT GTNO=""><GATE> </GATE></GTDT>`), `{"lists":{"gate":{}}}`},
		"list without members":         {flop("PSDT", ""), `{"lists":{"stand":{}}}`},
		"list member with more":        {flop("CKDT", `<CKDT CKNO="1" NEW="x"><CHKC>08</CHKC><MORE>y</MORE></CKDT>`), `{"lists":{"checkin":{"1":{"checkin_number":1,"desk_code":"08","extra":{"@NEW":"x","MORE":"y"}}}}}`},
		"upsert":                       {flop("DELY", `<DELY CODE="4F" DURA="0145">x</DELY>`), `{"upsert":{"delay":{"4F":{"delay_code":"4F","duration_minutes":105,"comment":"x"}}}}`},
		"upsert wholly blank":          {flop("DELY", `<DELY CODE=""></DELY>`), `{"upsert":{"delay":null}}`},
		"upsert of several":            {flop("DELY", `<DELY CODE="4F"/><DELY CODE="4f" STRT="17APR260820"/>`), `{"upsert":{"delay":{"4F":{"delay_code":"4F"},"4f":{"delay_code":"4f","start_time":"2026-04-17T08:20:00+08:00"}}}}`},
		"upsert, all blank":            {flop("DELY", "<DELY/><DELY> </DELY>"), `{"upsert":{"delay":null}}`},
		"code that needs escaping":     {flop("DELY", `<DELY CODE='"\'/>`), `{"upsert":{"delay":{"\"\\":{"delay_code":"\"\\"}}}}`},
		"99 hours":                     {flop("DELY", `<DELY CODE="4F" DURA="9959"/>`), `{"upsert":{"delay":{"4F":{"delay_code":"4F","duration_minutes":5999}}}}`},
		"route cleared":                {flop("ERUT", "<ERUT/>"), `{"lists":{"erut":{}}}`},
		"route absent":                 {flop("ERUT", ""), `{"lists":{"erut":{}}}`},
		"route replaced":               {flop("ERUT", `<ERUT RTNO="1"><APCD>NNG</APCD></ERUT>`), `{"lists":{"erut":{"1":{"rtno":1,"airport_code":"NNG"}}}}`},
		"record keeps what is absent":  {fltr("<TRML>TB</TRML><BOTM/>"), `{"set":{"terminal":"TB","boarding_open":null}}`},
		"record with keyed list":       {fltr(`<DELY CODE="4F"/><DELY CODE="8C"/>`), `{"lists":{"delay":{"4F":{"delay_code":"4F"},"8C":{"delay_code":"8C"}}}}`},
		"record of nothing":            {fltr(""), `{}`},
		"record, mandatory empty":      {fltr("<ALCD/><SODT></SODT><ACFT> </ACFT>"), `{"set":{"airline_code":null,"sodt":null,"aircraft_type":null}}`},
		"record, blank beside keyed":   {fltr(`<DELY/><DELY CODE="4F"/>`), `{"lists":{"delay":{"4F":{"delay_code":"4F"}}}}`},
		"record clears a keyed list":   {fltr(`<DELY CODE=""/>`), `{"lists":{"delay":{}}}`},
		"record, stop without airport": {fltr(`<ROUT RTNO="1"><APCD/></ROUT>`), `{"lists":{"rout":{"1":{"rtno":1}}}}`},
		"record with both routes":      {fltr(`<ERUT RTNO="1"><APCD>NNG</APCD></ERUT><ROUT RTNO="1"><APCD>SYX</APCD></ROUT>`), `{"lists":{"erut":{"1":{"rtno":1,"airport_code":"NNG"}},"rout":{"1":{"rtno":1,"airport_code":"SYX"}}}}`},
		"record with one door":         {fltr("<PORT><POID>O</POID><POTM>17APR261012</POTM></PORT>"), `{"set":{"door_open_time":"2026-04-17T10:12:00+08:00"}}`},
		"record clears the doors":      {fltr("<PORT><POTM/></PORT>"), `{"set":{"door_open_time":null,"door_close_time":null}}`},
		"record with what FLOP has":    {fltr("<CTOT>17APR261012</CTOT><FFID>f</FFID>"), `{"set":{"calculated_takeoff":"2026-04-17T10:12:00+08:00"},"extra":{"FFID":"f"}}`},
		"record with mixed unknowns":   {fltr(`<A> x<B/> y <B><C D=" 1 "/></B>z </A><A xsi:nil="1">q</A>`), `{"extra":{"A":[{"#text":"x y z","B":["",{"C":{"@D":"1"}}]},""]}}`},
		"record clears a list":         {fltr("<GTDT/>"), `{"lists":{"gate":{}}}`},
		"record with unknown elements": {fltr(`<ZZZZ>1</ZZZZ><YYYY A="b">t<C>d</C></YYYY><XXXX>1</XXXX><XXXX/>`), `{"extra":{"ZZZZ":"1","YYYY":{"@A":"b","#text":"t","C":"d"},"XXXX":["1",""]}}`},
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
		"truncated":                   {flop("BOTM", "<BOTM>17APR26")[:120], sis.Malformed, "the text ends inside"},
		"stray end":                   {flop("BOTM", "") + "</MSG>", sis.Malformed, "ends nothing"},
		"second root":                 {flop("BOTM", "") + "<MSG/>", sis.Malformed, "second root"},
		"text behind":                 {flop("BOTM", "") + "x", sis.Malformed, "after the root"},
		"wrong nesting":               {"<MSG><A><B></A></B></MSG>", sis.Malformed, "<B> is ended by </A>"},
		"document type":               {"<!DOCTYPE MSG [<!ENTITY x 'y'>]>" + flop("BOTM", ""), sis.Malformed, "document type"},
		"unknown entity":              {flop("REMC", "<REMC>&x;</REMC>"), sis.Malformed, "&x; is not known"},
		"not UTF-8":                   {flop("REMC", "<REMC>\xff</REMC>"), sis.Malformed, "is not UTF-8"},
		"external entity":             {`<!DOCTYPE MSG SYSTEM "http://127.0.0.1/x.dtd">` + flop("BOTM", ""), sis.Malformed, "document type"},
		"directive inside":            {flop("BOTM", "<!ELEMENT BOTM ANY>"), sis.Malformed, "directive"},
		"entity of HTML":              {flop("REMC", "<REMC>&nbsp;</REMC>"), sis.Malformed, "&nbsp; is not known"},
		"bare ampersand":              {flop("REMC", "<REMC>a & b</REMC>"), sis.Malformed, "& begins no reference"},
		"reference to NUL":            {flop("REMC", "<REMC>&#0;</REMC>"), sis.Malformed, "reference to no character"},
		"reference to half a pair":    {flop("REMC", "<REMC>&#xD83D;</REMC>"), sis.Malformed, "a reference to no character"},
		"the same in an attribute":    {flop("DELY", `<DELY CODE="&#xDC00;"/>`), sis.Malformed, "a reference to no character"},
		"attribute twice":             {flop("GTDT", `<GTDT GTNO="1" GTNO="2"/>`), sis.Malformed, "attribute GTNO stands twice in <GTDT>"},
		"attributes run together":     {flop("DELY", `<DELY CODE="1"DURA="0010"/>`), sis.Malformed, "no blank between the attributes of <DELY>"},
		"attribute without quotes":    {flop("GTDT", `<GTDT GTNO=1/>`), sis.Malformed, "in quotes"},
		"attribute without value":     {flop("GTDT", `<GTDT GTNO/>`), sis.Malformed, "expected ="},
		"< in an attribute":           {flop("GTDT", `<GTDT GTNO="<"/>`), sis.Malformed, "< in the value of GTNO"},
		"]]> in a text":               {flop("REMC", "<REMC>]]></REMC>"), sis.Malformed, "]]> outside CDATA"},
		"-- in a comment":             {"<!-- a -- b -->" + flop("BOTM", ""), sis.Malformed, "-- in a comment"},
		"declaration in the middle":   {flop("BOTM", `<?xml version="1.0"?>`), sis.Malformed, "declaration in the middle"},
		"declaration without end":     {`<?xml version="1.0" <MSG/>`, sis.Malformed, "declaration does not end"},
		"two byte order marks":        {"\uFEFF\uFEFF" + flop("BOTM", ""), sis.Malformed, "before the root"},
		"only a declaration":          {`<?xml version="1.0"?>`, sis.Malformed, "there is no element"},
		"entity behind":               {flop("BOTM", "") + "&#32;", sis.Malformed, "after the root"},
		"CDATA behind":                {flop("BOTM", "") + "<![CDATA[ ]]>", sis.Malformed, "after the root"},
		"end of another element":      {strings.Replace(flop("BOTM", ""), "</FLOP>", "</a:FLOP>", 1), sis.Malformed, "is ended by"},
		"control character":           {flop("REMC", "<REMC>\x01</REMC>"), sis.Malformed, "U+0001"},
		"100,000 levels":              {"<MSG>" + deep, sis.CodecError, "depth limit: elements are nested deeper"},
		"100,000 levels in a record":  {fltr(deep), sis.CodecError, "depth limit"},
		"100,000 levels unsupported":  {message("GLST", "DNLD", deep), sis.CodecError, "depth limit"},
		"too long":                    {strings.Repeat(" ", 1<<20) + "<MSG/>", sis.CodecError, "1048582 bytes"},
		"another root":                {"<X/>", sis.Malformed, "MSG as root"},
		"no META":                     {"<MSG><FLOP/></MSG>", sis.Malformed, "META must come first"},
		"nothing":                     {"<MSG/>", sis.Malformed, "META is missing"},
		"META twice":                  {strings.Replace(flop("BOTM", ""), "<FLOP>", "<META/><FLOP>", 1), sis.Malformed, "META stands in the message twice"},
		"META last":                   {strings.Replace(message("FLOP", "BOTM", ""), "<META>", "<FLOP><FLID>1</FLID></FLOP><META>", 1), sis.Malformed, "MSG/FLOP: META must come first"},
		"META twice, not supported":   {strings.Replace(message("GLST", "DNLD", ""), "</MSG>", "<META/></MSG>", 1), sis.Malformed, "META stands in the message twice"},
		"SEQN empty":                  {strings.Replace(flop("BOTM", ""), ">7<", "><", 1), sis.Malformed, "MSG/META/SEQN"},
		"SEQN with a sign":            {strings.Replace(flop("BOTM", ""), ">7<", ">+7<", 1), sis.Malformed, "MSG/META/SEQN"},
		"SEQN negative":               {strings.Replace(flop("BOTM", ""), ">7<", ">-7<", 1), sis.Malformed, "MSG/META/SEQN"},
		"SEQN beyond 64 bits":         {strings.Replace(flop("BOTM", ""), ">7<", ">99999999999999999999<", 1), sis.Malformed, "MSG/META/SEQN"},
		"SEQN twice":                  {strings.Replace(flop("BOTM", ""), "<SEQN>", "<SEQN/><SEQN>", 1), sis.Malformed, "SEQN: \"7\": it stands in META twice"},
		"SEQN of elements":            {strings.Replace(flop("BOTM", ""), ">7<", ">7<A/><", 1), sis.Malformed, "not elements"},
		"SNDR twice":                  {strings.Replace(flop("BOTM", ""), "<SEQN>", "<SNDR>X</SNDR><SEQN>", 1), sis.Malformed, "twice"},
		"TYPE twice, one empty":       {strings.Replace(flop("BOTM", ""), "<TYPE>", "<TYPE/><TYPE>", 1), sis.Malformed, "twice"},
		"DTTM twice":                  {strings.Replace(flop("BOTM", ""), "<TYPE>", "<DTTM/><TYPE>", 1), sis.Malformed, "twice"},
		"no SNDR":                     {strings.Replace(flop("BOTM", ""), "AODB", " ", 1), sis.Malformed, "SNDR is missing"},
		"no STYP":                     {message("FLOP", "", "<FLOP/>"), sis.Malformed, "STYP is missing"},
		"SNDR too long for a key":     {strings.Replace(flop("BOTM", ""), "AODB", strings.Repeat("中", 34), 1), sis.Malformed, "at most 100 bytes"},
		"no SEQN":                     {strings.Replace(flop("BOTM", ""), "<SEQN>7</SEQN>", "", 1), sis.Malformed, "SEQN is missing"},
		"SEQN not a number":           {strings.Replace(flop("BOTM", ""), ">7<", ">x7<", 1), sis.Malformed, `MSG/META/SEQN: "x7"`},
		"no TYPE":                     {strings.Replace(flop("BOTM", ""), "<TYPE>FLOP</TYPE>", "", 1), sis.Malformed, "TYPE is missing"},
		"no body":                     {message("FLOP", "BOTM", ""), sis.Protocol, "MSG/FLOP: FLOP is missing"},
		"no schedule":                 {message("SCHD", "DNLD", "<XXXX/>"), sis.Protocol, "MSG/SCHD: SCHD is missing"},
		"no FLID":                     {message("FLOP", "BOTM", "<FLOP/>"), sis.Malformed, "MSG/FLOP/FLID: FLID is missing"},
		"FLID not a number":           {strings.Replace(flop("BOTM", ""), "<FLID>1<", "<FLID>A1<", 1), sis.Malformed, `"A1"`},
		"FLID zero":                   {strings.Replace(flop("BOTM", ""), "<FLID>1<", "<FLID>0<", 1), sis.Malformed, "positive"},
		"FLID too long":               {strings.Replace(flop("BOTM", ""), "<FLID>1<", "<FLID>1234567890123456789<", 1), sis.Malformed, "18 digits"},
		"FLID twice":                  {flop("BOTM", "<FLID>2</FLID>"), sis.Protocol, "twice"},
		"FLID missing in the second":  {message("FLOP", "BOTM", "<FLOP><FLID>1</FLID><BOTM>bad</BOTM></FLOP><FLOP/>"), sis.Malformed, "MSG/FLOP[2]/FLID"},
		"FLID negative":               {strings.Replace(flop("BOTM", ""), "<FLID>1<", "<FLID>-1<", 1), sis.Malformed, "positive"},
		"FLID empty":                  {strings.Replace(flop("BOTM", ""), "<FLID>1<", "<FLID><", 1), sis.Malformed, "positive"},
		"FLID of elements":            {strings.Replace(flop("BOTM", ""), "<FLID>1<", "<FLID>1<A/><", 1), sis.Malformed, "positive"},
		"FLID of wide digits":         {strings.Replace(flop("BOTM", ""), "<FLID>1<", "<FLID>１<", 1), sis.Malformed, "positive"},
		"FLID missing in a deletion":  {message("SCHD", "DEL", "<SCHD><FLTR/></SCHD>"), sis.Malformed, "MSG/SCHD/FLTR[1]/FLID"},
		"root in a namespace":         {strings.Replace(flop("BOTM", ""), "<MSG>", `<MSG xmlns="urn:x">`, 1), sis.Protocol, "MSG: \"urn:x\": elements have no namespace"},
		"root with a prefix":          {strings.ReplaceAll(flop("BOTM", ""), "MSG>", "x:MSG>"), sis.Protocol, "x:MSG: \"x\": elements have no namespace"},
		"prefix in META":              {strings.Replace(flop("BOTM", ""), "<SEQN>7</SEQN>", "<SEQN>7</SEQN><a:X/>", 1), sis.Protocol, "MSG/META/a:X"},
		"prefix in a list":            {fltr(`<GTDT GTNO="1"><a:GATE>E5</a:GATE></GTDT>`), sis.Protocol, "MSG/SCHD/FLTR[1]/GTDT/a:GATE"},
		"prefix beside the body":      {message("FLOP", "BOTM", "<a:X/><FLOP><FLID>1</FLID></FLOP>"), sis.Protocol, "MSG/a:X"},
		"prefix in a schedule":        {message("SCHD", "DNLD", "<SCHD><a:X/></SCHD>"), sis.Protocol, "MSG/SCHD/a:X"},
		"namespace deep inside":       {fltr(`<A><B><C xmlns="urn:y"/></B></A>`), sis.Protocol, "MSG/SCHD/FLTR[1]/A/B/C"},
		"empty prefix":                {flop("BOTM", "<:X/>"), sis.Protocol, "no namespace"},
		"namespace":                   {strings.Replace(flop("BOTM", ""), "<FLOP>", `<FLOP xmlns="urn:x">`, 1), sis.Protocol, "no namespace"},
		"prefix":                      {flop("BOTM", "<a:BOTM/>"), sis.Protocol, "no namespace"},
		"foreign body":                {message("FLOP", "BOTM", "<SCHD/>"), sis.Protocol, "has no such element"},
		"foreign body beside its own": {message("FLOP", "BOTM", "<FLOP><FLID>1</FLID></FLOP><GLST/>"), sis.Protocol, "MSG/GLST"},
		"two schedules":               {message("SCHD", "DNLD", "<SCHD/><SCHD/>"), sis.Protocol, "SCHD stands in the message twice"},
		"type ADFT, a FLOP in it":     {message("ADFT", "ADFT", "<FLOP><FLID>1</FLID></FLOP>"), sis.Protocol, "MSG/FLOP"},
		"type ADFT that deletes":      {message("ADFT", "DEL", "<SCHD/>"), sis.Unsupported, "DEL"},
		"unknown subtype, no FLID":    {message("FLOP", "ZZZZ", "<FLOP/>"), sis.Unsupported, `"ZZZZ"`},
		"unknown subtype, no body":    {message("FLOP", "ZZZZ", ""), sis.Unsupported, `"ZZZZ"`},
		"not supported, not XML":      {strings.Replace(message("GLST", "DNLD", "<GLST>"), "</MSG>", "", 1), sis.Malformed, "ends inside"},
		"unknown type":                {message("ABCD", "EFGH", "<ABCD/>"), sis.Unsupported, `"ABCD/EFGH"`},
		"unknown subtype":             {flop("ZZZZ", ""), sis.Unsupported, `"ZZZZ"`},
		"schedule of unknown subtype": {message("SCHD", "ZZZZ", "<SCHD/>"), sis.Unsupported, `"ZZZZ"`},
		"scalar twice":                {flop("BOTM", "<BOTM/><BOTM/>"), sis.Protocol, "MSG/FLOP/BOTM: it stands in the record twice"},
		"scalar twice in a record":    {fltr("<TRML>A</TRML><TRML>A</TRML>"), sis.Protocol, "MSG/SCHD/FLTR[1]/TRML"},
		"composite twice":             {fltr(`<FDIV/><FDIV/>`), sis.Protocol, "MSG/SCHD/FLTR[1]/FDIV: it stands"},
		"composite twice in an event": {flop("FRET", `<FRET/><FRET/>`), sis.Protocol, "MSG/FLOP/FRET: it stands"},
		"group part twice":            {flop("HNAG", "<PHAG>1</PHAG><PHAG>2</PHAG>"), sis.Protocol, "MSG/FLOP/PHAG: \"2\": it stands"},
		"scalar of elements":          {flop("TRML", "<TRML><X>TB</X></TRML>"), sis.CodecError, "MSG/FLOP/TRML: \"X\": expected a text, not elements"},
		"scalar of elements, record":  {fltr("<RENO>B<X/></RENO>"), sis.CodecError, "MSG/SCHD/FLTR[1]/RENO"},
		"composite of elements":       {flop("FDIV", `<FDIV DDES="HAK" DDIR="TO"><X/></FDIV>`), sis.CodecError, "MSG/FLOP/FDIV"},
		"member of elements":          {flop("GTDT", `<GTDT GTNO="1"><GATE><X/></GATE></GTDT>`), sis.CodecError, "MSG/FLOP/GTDT[1]/GATE"},
		"member part twice":           {flop("GTDT", `<GTDT GTNO="1"><GATE>A</GATE><GTYP/><GATE>A</GATE></GTDT>`), sis.Protocol, "MSG/FLOP/GTDT[1]/GATE"},
		"mandatory blank":             {flop("FLIN", "<FLIN> <!-- x --> </FLIN>"), sis.Protocol, "must have a value"},
		"mandatory nil":               {flop("ACFT", `<ACFT xsi:nil="true"/>`), sis.Protocol, "must have a value"},
		"status code absent":          {flop("EXSS", "<EXSR>x</EXSR>"), sis.Protocol, "EXSC is missing"},
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
		"day zero":                    {flop("BOTM", "<BOTM>00APR260744</BOTM>"), sis.CodecError, "that exist"},
		"a month that looks like one": {flop("BOTM", "<BOTM>01ſE261745</BOTM>"), sis.CodecError, "DDMONYYHHMM"},
		"seconds":                     {flop("BOTM", "<BOTM>17APR26074400</BOTM>"), sis.CodecError, "DDMONYYHHMM"},
		"hour without minutes":        {flop("BOTM", "<BOTM>17APR2607</BOTM>"), sis.CodecError, "DDMONYYHHMM"},
		"ISO date":                    {flop("BOTM", "<BOTM>2026-04-17</BOTM>"), sis.CodecError, "DDMONYYHHMM"},
		"a blank in a date":           {flop("BOTM", "<BOTM>17APR26 744</BOTM>"), sis.CodecError, "DDMONYYHHMM"},
		"bad date in a list":          {flop("GTDT", `<GTDT GTNO="1"/><GTDT GTNO="2"><PGOT>17APR262500</PGOT></GTDT>`), sis.CodecError, `MSG/FLOP/GTDT[2]/PGOT: "17APR262500"`},
		"bad date in a record":        {message("SCHD", "RESP", "<SCHD><FLTR><FLID>1</FLID></FLTR><FLTR><FLID>2</FLID><SODT>31JUN261200</SODT></FLTR></SCHD>"), sis.CodecError, `MSG/SCHD/FLTR[2]/SODT: "31JUN261200"`},
		"bad date in an attribute":    {fltr(`<DELY CODE="4F" STRT="x"/>`), sis.CodecError, `MSG/SCHD/FLTR[1]/DELY[1]@STRT: "x"`},
		"bad time of a door":          {flop("PORT", "<PORT><POTM>x</POTM><POID>O</POID></PORT>"), sis.CodecError, "MSG/FLOP/PORT[1]/POTM"},
		"bad link":                    {fltr("<TAID>x1</TAID>"), sis.CodecError, "MSG/SCHD/FLTR[1]/TAID"},
		"link zero":                   {fltr("<MAID>0</MAID>"), sis.CodecError, "positive"},
		"number with a plus":          {flop("MAXP", "<MAXP>+5</MAXP>"), sis.CodecError, "whole number"},
		"number with a fraction":      {flop("MAXP", "<MAXP>5.0</MAXP>"), sis.CodecError, "whole number"},
		"number of wide digits":       {flop("MAXP", "<MAXP>５</MAXP>"), sis.CodecError, "whole number"},
		"agent beyond 64 bits":        {flop("HNAG", "<PHAG>9223372036854775808</PHAG>"), sis.CodecError, "64 bits"},
		"decimal without digits":      {flop("LBWT", "<LBWT>.5</LBWT>"), sis.CodecError, "decimal point"},
		"decimal with an exponent":    {flop("LBWT", "<LBWT>1e5</LBWT>"), sis.CodecError, "decimal point"},
		"decimal without end":         {flop("LBWT", "<LBWT>1"+strings.Repeat("0", 40)+"</LBWT>"), sis.CodecError, "decimal point"},
		"duration of three digits":    {flop("DELY", `<DELY CODE="4F" DURA="130"/>`), sis.CodecError, "HHMM"},
		"duration with a colon":       {flop("DELY", `<DELY CODE="4F" DURA="1:30"/>`), sis.CodecError, "HHMM"},
		"code too long for a key":     {flop("DELY", `<DELY CODE="`+strings.Repeat("4", 101)+`"/>`), sis.CodecError, "MSG/FLOP/DELY[1]@CODE"},
		"list number negative":        {flop("GTDT", `<GTDT GTNO="-1"/>`), sis.CodecError, "MSG/FLOP/GTDT[1]@GTNO"},
		"list number not a number":    {flop("GTDT", `<GTDT GTNO="A"/>`), sis.CodecError, `"A"`},
		"list number beyond 32 bits":  {flop("GTDT", `<GTDT GTNO="2147483648"/>`), sis.CodecError, "@GTNO"},
		"direction missing":           {flop("FDIV", `<FDIV DDES="HAK">x</FDIV>`), sis.CodecError, "MSG/FLOP/FDIV@DDIR"},
		"bad direction in a record":   {fltr(`<FDIV DDES="HAK" DDIR="to"/>`), sis.CodecError, "MSG/SCHD/FLTR[1]/FDIV@DDIR: \"to\": expected TO or FROM"},
		"number with letters":         {flop("MAXP", "<MAXP>12a</MAXP>"), sis.CodecError, "whole number"},
		"number too large":            {flop("MAXP", "<MAXP>3000000000</MAXP>"), sis.CodecError, "32 bits"},
		"decimal comma":               {flop("LBWT", "<LBWT>1,5</LBWT>"), sis.CodecError, "decimal point"},
		"duration of 60 minutes":      {flop("DELY", `<DELY CODE="4F" DURA="0060"/>`), sis.CodecError, "MSG/FLOP/DELY[1]@DURA"},
		"diversion nowhere":           {flop("FDIV", `<FDIV DDES="HAK" DDIR="AT"/>`), sis.CodecError, "TO or FROM"},
		"reason without return":       {flop("FRET", "<FRET>x</FRET>"), sis.Protocol, "needs REID"},
		"door absent":                 {flop("PORT", ""), sis.Protocol, "PORT is missing"},
		"door of no kind":             {flop("PORT", "<PORT><POTM/><POID>X</POID></PORT>"), sis.CodecError, "O or C"},
		"door blank":                  {flop("PORT", "<PORT/>"), sis.Protocol, "MSG/FLOP/PORT[1]/POID: POID is missing"},
		"door of no kind, record":     {fltr("<PORT><POTM>17APR261012</POTM></PORT>"), sis.Protocol, "POID is missing"},
		"the same door twice":         {flop("PORT", "<PORT><POID>O</POID></PORT><PORT><POID>O</POID></PORT>"), sis.Protocol, "MSG/FLOP/PORT[2]/POID: \"O\": the same door twice"},
		"door kind twice":             {flop("PORT", "<PORT><POID>O</POID><POID>O</POID></PORT>"), sis.Protocol, "MSG/FLOP/PORT[1]/POID"},
		"same number in a record":     {fltr(`<PSDT PSNO="1"/><PSDT PSNO="2"/><PSDT PSNO="1"/>`), sis.Protocol, "MSG/SCHD/FLTR[1]/PSDT[3]@PSNO: \"1\": the same PSNO twice"},
		"no number in a record":       {fltr(`<CKDT><CHKC>08</CHKC></CKDT>`), sis.Protocol, "MSG/SCHD/FLTR[1]/CKDT[1]@CKNO: CKNO is missing"},
		"same code in a record":       {fltr(`<DELY CODE="4F"/><DELY CODE=" 4F "/>`), sis.Protocol, "same CODE twice"},
		"same number twice":           {flop("GTDT", `<GTDT GTNO="1"><GATE>A</GATE></GTDT><GTDT GTNO="01"><GATE>B</GATE></GTDT>`), sis.Protocol, "MSG/FLOP/GTDT[2]"},
		"no number":                   {flop("GTDT", "<GTDT><GATE>A</GATE></GTDT>"), sis.Protocol, "GTNO is missing"},
		"route without airport":       {flop("ERUT", `<ERUT RTNO="1"/>`), sis.Protocol, "APCD is missing"},
		"same code twice":             {flop("DELY", `<DELY CODE="4F"/><DELY CODE="4F"/>`), sis.Protocol, "same CODE twice"},
		"delay without code":          {flop("DELY", "<DELY>x</DELY>"), sis.Protocol, "CODE is missing"},
		"blank beside keyed":          {flop("DELY", `<DELY CODE="4F"/><DELY/>`), sis.Protocol, "blank member"},
		"delays absent":               {flop("DELY", ""), sis.Protocol, "DELY is missing"},
		"deletion with text":          {flop("FDEL", "<FDEL>x</FDEL>"), sis.Protocol, "must be empty"},
		"deletion with an element":    {flop("FDEL", "<FDEL><X>1</X></FDEL>"), sis.Protocol, "must be empty"},
		"deletion with an attribute":  {flop("FDEL", `<FDEL X="1"/>`), sis.Protocol, "must be empty"},
		"deletion twice":              {flop("FDEL", "<FDEL/><FDEL/>"), sis.Protocol, "MSG/FLOP/FDEL"},
		"reason without abort":        {fltr("<FLAB>x</FLAB>"), sis.Protocol, "MSG/SCHD/FLTR[1]/FLAB@ARES"},
		"RECS not a number":           {message("SCHD", "DNLD", "<SCHD><RECS>x</RECS></SCHD>"), sis.CodecError, "MSG/SCHD/RECS"},
		"RECS empty":                  {message("SCHD", "DNLD", "<SCHD><RECS/></SCHD>"), sis.CodecError, "MSG/SCHD/RECS"},
		"RECS negative":               {message("SCHD", "DNLD", "<SCHD><RECS>-1</RECS></SCHD>"), sis.CodecError, "MSG/SCHD/RECS"},
		"RECS of elements":            {message("SCHD", "DNLD", "<SCHD><RECS>1<A/></RECS></SCHD>"), sis.CodecError, "MSG/SCHD/RECS"},
		"RECS twice":                  {message("SCHD", "DNLD", "<SCHD><RECS>0</RECS><RECS>0</RECS></SCHD>"), sis.Protocol, "RECS stands in the message twice"},
		"the first fault counts":      {message("FLOP", "BOTM", "<FLOP><FLID>1</FLID><BOTM>bad</BOTM></FLOP><FLOP><FLID>1</FLID><BOTM/><BOTM/></FLOP>"), sis.CodecError, `MSG/FLOP/BOTM: "bad"`},
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
		"declared in capitals":    `<?xml version="1.0" encoding="Gb18030" standalone="yes"?>` + plain,
		"declared UTF-16":         `<?xml version="1.0" encoding="UTF-16"?>` + plain,
		"declared nothing known":  `<?xml version="1.0" encoding="x-none"?>` + plain,
		"mark and blanks":         "\uFEFF \r\n" + plain,
		"no declaration":          plain,
		"CR LF":                   strings.ReplaceAll(plain, "><", ">\r\n<"),
		"blanks around =":         strings.Replace(plain, "<MSG>", "<MSG xmlns:xsi =\t\"http://www.w3.org/2001/XMLSchema-instance\" >", 1),
		"schema location":         strings.Replace(plain, "<MSG>", `<MSG xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:noNamespaceSchemaLocation="unisysaodbsis.xsd">`, 1),
		"no namespace, said so":   strings.Replace(plain, "<MSG>", `<MSG xmlns="">`, 1),
		"quotes in attributes":    strings.Replace(plain, "<META>", `<META a='"' b="'" >`, 1),
		"unknown element in META": strings.Replace(plain, "</META>", "<XXXX><Y/></XXXX></META>", 1),
		"unknown element in MSG":  strings.Replace(plain, "<FLOP>", "<XXXX><FLID>1</FLID></XXXX><RECS>1</RECS><FLOP>", 1),
		"blanks around FLID":      strings.Replace(plain, "<FLID>1<", "<FLID>\n 0001 <", 1),
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
	for inside, want := range map[string]string{
		"<ERUT/>": `{"upsert":{"erut":null}}`,
		`<ERUT RTNO="2"><APCD>A</APCD></ERUT><ERUT RTNO="1"><APCD>B</APCD></ERUT>`: `{"upsert":{"erut":{"2":{"rtno":2,"airport_code":"A"},"1":{"rtno":1,"airport_code":"B"}}}}`,
	} {
		m, err := merge.Decode([]byte(flop("ERUT", inside)), now)
		if err != nil || string(m.Records[0].Patch) != want {
			t.Errorf("route merged: %+v, %v", m.Records, err)
		}
	}
	for _, inside := range []string{"", `<ERUT/><ERUT RTNO="1"><APCD>A</APCD></ERUT>`} {
		var e *sis.Error
		if _, err := merge.Decode([]byte(flop("ERUT", inside)), now); !errors.As(err, &e) || e.Class != sis.Protocol {
			t.Errorf("route merged with %q: %v", inside, err)
		}
	}
	if m, err := merge.Decode([]byte(fltr(`<ERUT RTNO="1"/><ERUT/>`)), now); err != nil || string(m.Records[0].Patch) != `{"lists":{"erut":{"1":{"rtno":1}}}}` {
		t.Errorf("the route of a record replaces all the same: %+v, %v", m.Records, err)
	}
	strict := codec(t, func(o *sis.Options) { o.RefuseEmptyList = true })
	if m, err := strict.Decode([]byte(fltr("<GTDT/>")), now); err != nil || string(m.Records[0].Patch) != `{"lists":{"gate":{}}}` {
		t.Errorf("the empty list of a record clears all the same: %+v, %v", m.Records, err)
	}
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

// FuzzDecode: no text breaks the decoder, what it gives is JSON of the shape
// that pump_apply takes, and what it accepts is XML to another reader too.
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
	for _, seed := range []string{
		"", "\uFEFF<MSG/>", "<?xml version='1.1'?><MSG>&#xD800;</MSG>", fltr("<PORT/><A B='1' C='2'><D/>x<D/></A><DELY/>"),
		flop("DELY", `<DELY CODE="\"/>`), flop("HNAG", "<PHAG>1</PHAG>"), flop("FDIV", `<FDIV DDES="A" DDIR="TO"/>`), message("ADFT", "X", "<SCHD/>"),
	} {
		f.Add([]byte(seed))
	}
	c := codec(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := c.Decode(text, now)
		object := m.AppendBatch(nil, 1, "", err)
		if !json.Valid(object) || !utf8.Valid(object) || bytes.Contains(object, []byte(`\u0000`)) {
			t.Fatalf("nothing that jsonb takes: %s", object)
		}
		again, err2 := c.Decode(text, now)
		if !bytes.Equal(object, again.AppendBatch(nil, 1, "", err2)) {
			t.Error("another answer the second time")
		}
		if err != nil {
			var e *sis.Error
			if !errors.As(err, &e) || e.Reason == "" || len(m.Records) > 0 || len(err.Error()) > 4000 {
				t.Errorf("%T %d records: %v", err, len(m.Records), err)
			}
			return
		}
		wellFormed(t, text)
		for _, r := range m.Records {
			if r.FLID < 1 || r.FLID > 999_999_999_999_999_999 || (r.Op != "create" && r.Op != "change" && r.Op != "delete") {
				t.Errorf("%s of flight %d", r.Op, r.FLID)
			}
			for key, part := range keysOnce(t, r.Patch) {
				if key != "set" && key != "lists" && key != "upsert" && key != "extra" || part == nil {
					t.Errorf("part %s: %v", key, part)
				}
			}
		}
	})
}

// wellFormed reads the text with the checks of encoding/xml's own parser.
func wellFormed(t *testing.T, text []byte) {
	t.Helper()
	text = bytes.TrimLeft(bytes.TrimPrefix(text, []byte("\uFEFF")), " \t\r\n")
	if bytes.HasPrefix(text, []byte("<?xml")) { // whose version and encoding do not count
		text = text[bytes.Index(text, []byte("?>"))+2:]
	}
	d := xml.NewDecoder(bytes.NewReader(text))
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("accepted, but %v", err)
		}
	}
}

// keysOnce reads a JSON object and makes sure that no object in it has a key
// twice, of which jsonb would keep the last only.
func keysOnce(t *testing.T, object []byte) map[string]any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(object))
	var read func() any
	next := func() json.Token {
		token, err := d.Token()
		if err != nil {
			t.Fatalf("%v in %s", err, object)
		}
		return token
	}
	read = func() any {
		switch token := next(); token {
		case json.Delim('{'):
			out := map[string]any{}
			for d.More() {
				key := next().(string)
				if _, twice := out[key]; twice {
					t.Fatalf("key %q twice in %s", key, object)
				}
				out[key] = read()
			}
			next()
			return out
		case json.Delim('['):
			out := []any{}
			for d.More() {
				out = append(out, read())
			}
			next()
			return out
		default:
			return token
		}
	}
	return read().(map[string]any)
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

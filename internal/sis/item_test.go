package sis_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"

	"msgexchange/internal/sis"
)

// TestItems decodes reference data and a seasonal schedule, and compares the
// items with golden files.
func TestItems(t *testing.T) {
	files, err := filepath.Glob("testdata/items/*.xml")
	if err != nil || len(files) < 4 {
		t.Fatalf("found %d examples: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			m, err := codec(t).Decode(text, now)
			if err != nil {
				t.Fatal(err)
			}
			type item struct {
				Key  string
				Data json.RawMessage
			}
			out := struct {
				Declared *int64
				Season   json.RawMessage `json:",omitempty"`
				Items    []item
			}{m.Declared, m.Season, nil}
			for _, i := range m.Items {
				out.Items = append(out.Items, item{i.Key, i.Data})
			}
			got, err := json.MarshalIndent(out, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, '\n')
			golden := strings.TrimSuffix(file, ".xml") + ".json"
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), string(got)); d != "" {
				t.Error(d)
			}
			if object := m.AppendBatch(nil, 1, "", nil); !bytes.HasSuffix(object, []byte(`"records":[]}`)) {
				t.Errorf("pump_apply gets %s", object)
			}
		})
	}
}

// TestEveryReference: each of the 23 types is read with all its elements, and
// each required one is required, but not to delete a record.
func TestEveryReference(t *testing.T) {
	if n := len(sis.References()); n != 23 {
		t.Fatalf("%d types", n)
	}
	for _, typ := range sis.References() {
		for column, f := range sis.Reference(typ) {
			value := map[string]string{"text": "X", "integer": "7", "decimal": "1.5", "yesNo": "Y"}[f.Form]
			full := sis.ReferenceExample(typ)
			m, err := codec(t).Decode([]byte(message(typ, "UPD", full)), now)
			if err != nil {
				t.Fatalf("%s: %v", typ, err)
			}
			var data map[string]any
			if err := json.Unmarshal(m.Items[0].Data, &data); err != nil {
				t.Fatal(err)
			}
			if data[column] == nil {
				t.Errorf("%s: nothing in %s: %s", typ, column, m.Items[0].Data)
			}
			without := strings.Replace(full, "<"+f.Element+">"+value+"</"+f.Element+">", "", 1)
			_, err = codec(t).Decode([]byte(message(typ, "DNLD", without)), now)
			var e *sis.Error
			if missing := errors.As(err, &e) && e.Class == sis.Protocol; missing != f.Required {
				t.Errorf("%s without %s: %v", typ, f.Element, err)
			}
			_, err = codec(t).Decode([]byte(message(typ, "DEL", without)), now)
			if missing := errors.As(err, &e) && err != nil; missing != f.Key {
				t.Errorf("%s deleted without %s: %v", typ, f.Element, err)
			}
			if f.Form != "text" {
				bad := strings.Replace(full, "<"+f.Element+">"+value, "<"+f.Element+">bad", 1)
				if _, err = codec(t).Decode([]byte(message(typ, "ADD", bad)), now); !errors.As(err, &e) || e.Class != sis.CodecError {
					t.Errorf("%s with a bad %s: %v", typ, f.Element, err)
				}
			}
		}
	}
}

// TestItemsRefused: faults in reference data and seasonal schedules.
func TestItemsRefused(t *testing.T) {
	season := func(header, record string) string {
		return message("SCHS", "DNLD", "<SCHS>"+header+"<FLTR>"+record+"</FLTR></SCHS>")
	}
	const header = "<SNAM>W26</SNAM><SDAT>25OCT26</SDAT><EDAT>27MAR27</EDAT>"
	const record = "<ALCD>ZH</ALCD><FLNO>ZH9614</FLNO><MVIN>D</MVIN><STDT>26OCT26</STDT><EDDT>26MAR27</EDDT><DYOP>1030507</DYOP><SCHT>2240</SCHT><FLTY>G</FLTY><FLIN>I</FLIN><ACFT>7M8</ACFT>"
	if m, err := codec(t).Decode([]byte(season(header, record)), now); err != nil || len(m.Items) != 1 || m.Items[0].Key != "ZH|ZH9614|D|2026-10-26|2027-03-26|1030507" {
		t.Fatalf("%+v, %v", m, err)
	}
	for name, c := range map[string]struct {
		text  string
		class sis.Class
		says  string
	}{
		"season without a name":   {season("<SDAT>25OCT26</SDAT><EDAT>27MAR27</EDAT>", record), sis.Protocol, "SNAM is missing"},
		"season twice named":      {season(header+"<SNAM>X</SNAM>", record), sis.Protocol, "twice"},
		"season of no date":       {season(strings.Replace(header, "25OCT26", "2026", 1), record), sis.CodecError, "MSG/SCHS/SDAT"},
		"season, date and time":   {season(strings.Replace(header, "25OCT26", "25OCT260000", 1), record), sis.CodecError, "DDMONYY"},
		"day that is another":     {season(header, strings.Replace(record, "1030507", "1030570", 1)), sis.CodecError, "MSG/SCHS/FLTR[1]/DYOP"},
		"time 2400":               {season(header, strings.Replace(record, "2240", "2400", 1)), sis.CodecError, "MSG/SCHS/FLTR[1]/SCHT"},
		"time 0065":               {season(header, strings.Replace(record, "2240", "0065", 1)), sis.CodecError, "like 1745"},
		"record without time":     {season(header, strings.Replace(record, "<SCHT>2240</SCHT>", "", 1)), sis.Protocol, "SCHT is missing"},
		"stop twice":              {season(header, record+`<ERUT RTNO="1"><APCD>A</APCD></ERUT><ERUT RTNO="1"><APCD>B</APCD></ERUT>`), sis.Protocol, "ERUT[2]"},
		"no key":                  {message("GLST", "UPD", "<RECS>1</RECS><GLST><GTNM>x</GTNM></GLST>"), sis.Protocol, "MSG/GLST[1]/GCOD"},
		"second record is named":  {message("GLST", "DEL", "<GLST><GCOD>A</GCOD></GLST><GLST/>"), sis.Protocol, "MSG/GLST[2]/GCOD"},
		"element twice":           {message("GLST", "DEL", "<GLST><GCOD>A</GCOD><GCOD>B</GCOD></GLST>"), sis.Protocol, "twice"},
		"another type's record":   {message("GLST", "DEL", "<ABDG><ABCD>A</ABCD></ABDG>"), sis.Protocol, "no such element"},
		"subcompany twice":        {message("AIRL", "UPD", sis.ReferenceExample("AIRL")[:len(sis.ReferenceExample("AIRL"))-len("</AIRL>")]+"<SUBC><CODE>X</CODE><NAME>X</NAME><NAMC>X</NAMC></SUBC></AIRL>"), sis.Protocol, "twice"},
		"RECS twice":              {message("GLST", "DEL", "<RECS>1</RECS><RECS>1</RECS><GLST><GCOD>A</GCOD></GLST>"), sis.Protocol, "RECS"},
		"key too long":            {message("GLST", "DEL", "<GLST><GCOD>"+strings.Repeat("x", 101)+"</GCOD></GLST>"), sis.CodecError, "at most 100 bytes"},
		"a namespace in a record": {message("GLST", "DEL", `<GLST><a:GCOD xmlns:a="u">A</a:GCOD></GLST>`), sis.Protocol, "namespace"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := codec(t).Decode([]byte(c.text), now)
			var e *sis.Error
			if !errors.As(err, &e) || e.Class != c.class || !strings.Contains(e.Error(), c.says) {
				t.Errorf("%v; want %s with %q", err, c.class, c.says)
			}
		})
	}
}

// TestRequests: the examples of the protocol, byte for byte, and what is refused.
func TestRequests(t *testing.T) {
	zone, err := time.LoadLocation("Asia/Shanghai")
	if err != nil {
		t.Fatal(err)
	}
	at := func(day, hour, minute, second int) time.Time {
		return time.Date(2026, 4, day, hour, minute, second, 0, zone).UTC()
	}
	const root = `<?xml version="1.0" encoding="UTF-8"?><MSG xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:noNamespaceSchemaLocation="unisysaodbsis.xsd">`
	for want, r := range map[string]sis.Request{
		root + `<META><SNDR>OMMS</SNDR><SEQN>000417</SEQN><DTTM>20260417060211</DTTM><TYPE>RQRD</TYPE><STYP>GLST</STYP></META><RQRD><RTYP>GLST</RTYP></RQRD></MSG>`: {
			Sender: "OMMS", Seqn: 417, At: at(17, 6, 2, 11), Reference: "GLST"},
		root + `<META><SNDR>OMMS</SNDR><SEQN>000418</SEQN><DTTM>20260417060455</DTTM><TYPE>RQFD</TYPE><STYP>NONE</STYP></META><RQFD><STDB>17APR260000</STDB><STDE>18APR262359</STDE></RQFD></MSG>`: {
			Sender: "OMMS", Seqn: 418, At: at(17, 6, 4, 55), From: at(17, 0, 0, 0), To: at(18, 23, 59, 0)},
		root + `<META><SNDR>&lt;&amp;</SNDR><SEQN>999999</SEQN><DTTM>20260417060455</DTTM><TYPE>RQFD</TYPE><STYP>NONE</STYP></META><RQFD><STDE>18APR262359</STDE></RQFD></MSG>`: {
			Sender: "<&", Seqn: 999_999, At: at(17, 6, 4, 55), To: at(18, 23, 59, 0)},
	} {
		got, err := r.Encode(zone)
		if err != nil || string(got) != want {
			t.Errorf("%v\n%s\nwant\n%s", err, got, want)
		}
	}
	for says, r := range map[string]sis.Request{
		"1 to 4 characters":        {Seqn: 1, At: now, Reference: "GLST"},
		"sender \"OMMSX\"":         {Sender: "OMMSX", Seqn: 1, At: now, Reference: "GLST"},
		"number 0":                 {Sender: "OMMS", At: now, Reference: "GLST"},
		"number 1000000":           {Sender: "OMMS", Seqn: 1_000_000, At: now, Reference: "GLST"},
		"time of the request":      {Sender: "OMMS", Seqn: 1, Reference: "GLST"},
		"SLST, GLST":               {Sender: "OMMS", Seqn: 1, At: now, Reference: "SCHD"},
		"needs a beginning or":     {Sender: "OMMS", Seqn: 1, At: now},
		"has no period":            {Sender: "OMMS", Seqn: 1, At: now, Reference: "GLST", From: now},
		"before it begins":         {Sender: "OMMS", Seqn: 1, At: now, From: now, To: now.Add(-time.Second)},
		"1000000: expected 1 to 9": {Seqn: 1_000_000},
	} {
		if says == "SLST, GLST" {
			says = "expected one of ABDG, ABNR"
		}
		if _, err := r.Encode(zone); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: %v, want %q", r, err, says)
		}
	}
}

// TestUnicode: bytes of a binary column, by what their declaration says.
func TestUnicode(t *testing.T) {
	const text = "雷雨𠮷 a"
	gb, err := simplifiedchinese.GB18030.NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	wide := func(e unicode.Endianness) string {
		s, err := unicode.UTF16(e, unicode.UseBOM).NewEncoder().String("<X/>")
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	decl := func(label string) string { return `<?xml version="1.0" encoding="` + label + `"?>` }
	for name, c := range map[string]struct{ in, want string }{
		"no declaration":      {text, text},
		"UTF-8":               {decl("UTF-8") + text, decl("UTF-8") + text},
		"utf8":                {decl("utf8") + text, decl("utf8") + text},
		"mark goes first":     {"\xEF\xBB\xBF" + decl("GBK") + text, decl("GBK") + text},
		"GBK":                 {decl("GBK") + gb, decl("GBK") + text},
		"gb2312, spelled so":  {"\n" + `<?xml version='1.0' encoding = 'gb2312' ?>` + gb, "\n" + `<?xml version='1.0' encoding = 'gb2312' ?>` + text},
		"GB18030":             {decl("GB18030") + gb, decl("GB18030") + text},
		"UTF-16 big":          {wide(unicode.BigEndian), "<X/>"},
		"UTF-16 little":       {wide(unicode.LittleEndian), "<X/>"},
		"a replacement in it": {decl("GB18030") + "\x84\x31\xA4\x37", decl("GB18030") + "\uFFFD"},
	} {
		got, err := sis.Unicode([]byte(c.in))
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for name, in := range map[string]string{
		"unknown":       decl("HZ-GB-2312") + text,
		"bad bytes":     decl("GBK") + gb + "\xFF\xFF",
		"half a letter": decl("GBK") + gb[:len(gb)-3],
	} {
		got, err := sis.Unicode([]byte(in))
		var e *sis.Error
		if !errors.As(err, &e) || e.Class != sis.Malformed {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

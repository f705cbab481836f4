package sis_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"msgexchange/internal/sis"
)

// roundTrip decodes, encodes from the patches alone, and decodes again: nothing
// that a record says may get lost.
func roundTrip(t *testing.T, c *sis.Codec, text []byte) {
	t.Helper()
	m, err := c.Decode(text, now)
	if err != nil || len(m.Records) == 0 || m.Records[0].Op != "create" || m.Meta.Dttm == nil {
		return
	}
	zone := m.Meta.Dttm.Location()
	var b strings.Builder
	for _, r := range m.Records {
		b.WriteString(sis.EncodeRecord(zone, r))
	}
	text2 := "<MSG><META><SNDR>A</SNDR><SEQN>1</SEQN><DTTM>" + m.Meta.Dttm.Format("20060102150405") + "</DTTM><TYPE>SCHD</TYPE><STYP>DNLD</STYP></META><SCHD>" + b.String() + "</SCHD></MSG>"
	again, err := c.Decode([]byte(text2), now)
	if err != nil {
		t.Fatalf("encoded again: %v\n%s\nfrom\n%s", err, text2, text)
	}
	for i, r := range m.Records {
		var a, b any
		if err := json.Unmarshal(r.Patch, &a); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(again.Records[i].Patch, &b); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(a, b) || r.FLID != again.Records[i].FLID {
			t.Fatalf("record %d\n%s\nbecame\n%s\nby\n%s", i+1, r.Patch, again.Records[i].Patch, text2)
		}
	}
}

// FuzzRoundTrip: decode, encode, decode gives the same patches.
func FuzzRoundTrip(f *testing.F) {
	files, err := filepath.Glob("testdata/schd-*.xml")
	if err != nil || len(files) < 3 {
		f.Fatalf("%d examples, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	for _, inside := range []string{
		`<RENO X="1"/>`, `<NEWW A="b">c<D>e</D><D/></NEWW>`, `<PORT Q="1"><POID>O</POID></PORT>`, `<GTDT GTNO="1" Z="2"><GATE>&#13;&lt;</GATE><Y>1</Y></GTDT>`,
		`<VIPF><VPCD>P</VPCD><VIPT/></VIPF>`, `<DELY CODE="&#10;x&quot;"/>`, `<FDIV DDES="HAK" DDIR="TO" DX="3">w</FDIV>`, `<CKDT/>`, `<PSHT><PUST>A</PUST></PSHT>`,
	} {
		f.Add([]byte(fltr(inside)))
	}
	c := codec(f)
	f.Fuzz(func(t *testing.T, text []byte) { roundTrip(t, c, text) })
}

// FuzzUnicode: no bytes of a binary column break it, and what comes out is what
// the decoder may get.
func FuzzUnicode(f *testing.F) {
	for _, seed := range []string{"", "\xFE\xFF", "\xFF\xFE\x00", `<?xml version="1.0" encoding="GBK"?>` + "\xB0\xA1\x80", `<?xml encoding="`, `<?xml encoding=?>`} {
		f.Add([]byte(seed))
	}
	c := codec(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		out, err := sis.Unicode(raw)
		if err == nil {
			m, err := c.Decode(out, now)
			if object := m.AppendBatch(nil, 1, "", err); !json.Valid(object) {
				t.Errorf("nothing that jsonb takes: %s", object)
			}
		}
	})
}

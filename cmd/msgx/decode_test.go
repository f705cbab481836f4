package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDecode: what a message means in words, and where a bad one is bad.
func TestDecode(t *testing.T) {
	const head = "<MSG>\n<META><SNDR>AODB</SNDR><SEQN>7</SEQN><DTTM>20260417074418</DTTM><TYPE>FLOP</TYPE><STYP>"
	meta := func(styp, inside string) string { return head + styp + "</STYP></META>\n" + inside + "</MSG>" }
	for name, c := range map[string]struct{ text, out, err string }{
		"sets and clears": {
			meta("TRML", "<FLOP><FLID>5</FLID><TRML>T2</TRML></FLOP><FLOP B='y'><FLID>6</FLID><TRML/><NEWW>x</NEWW></FLOP>"),
			`FLOP/TRML from AODB, number 7, written 2026-04-17T07:44:18+08:00 change flight 5 sets terminal "T2" change flight 6 clears terminal keeps @B "y" keeps NEWW "x"`, "",
		},
		"replaces": {
			meta("GTDT", "<FLOP><FLID>5</FLID><GTDT GTNO='1'><GATE>A</GATE></GTDT></FLOP>"),
			`change flight 5 replaces gate by 1 members member gate 1 {"gate_number":1,"gate_code":"A"}`, "",
		},
		"changes": {
			meta("DELY", "<FLOP><FLID>5</FLID><DELY CODE='4F'>rain</DELY></FLOP>"), `change flight 5 changes delay 4F {"delay_code":"4F","comment":"rain"}`, "",
		},
		"removes": {
			meta("PSHT", "<FLOP><FLID>5</FLID><PSHT><PUST>A1</PUST><PSTM/></PSHT></FLOP>"), `change flight 5 removes push A1`, "",
		},
		"clears keyed": {meta("DELY", "<FLOP><FLID>5</FLID><DELY/></FLOP>"), "clears delay all members", ""},
		"creates": {
			strings.NewReplacer("FLOP", "SCHD", ">X<", ">DNLD<").Replace(meta("X", "<FLOP><RECS>1</RECS><FLTR><FLID>5</FLID></FLTR></FLOP>")),
			"RECS says 1 records, 1 are there create flight 5", "",
		},
		"reference data": {
			strings.NewReplacer("FLOP", "ABDG", ">X<", ">DEL<").Replace(meta("X", "<FLOP><ABCD>B1</ABCD></FLOP>")), "record B1, decoded and not stored", "",
		},
		"GBK": {
			`<?xml version="1.0" encoding="GBK"?>` + meta("TRML", "<FLOP><FLID>5</FLID><TRML>\xd6\xd0</TRML></FLOP>"), `sets terminal "中"`, "",
		},
		"not XML":         {"<MSG>\n<A></B>", "", "MALFORMED: line 2, column 4: <A> is ended by </B>"},
		"unknown charset": {`<?xml version="1.0" encoding="EBCDIC"?><MSG/>`, "", `MALFORMED: "EBCDIC"`},
		"bad value": {
			meta("BOTM", "<FLOP>\n  <FLID>5</FLID><BOTM>31FEB260744</BOTM></FLOP>"), "FLOP/BOTM from AODB",
			`CODEC_ERROR: line 4, column 17: MSG/FLOP/BOTM: "31FEB260744": expected a date and time that exist`,
		},
		"unsupported": {meta("ZZZZ", "<FLOP/>"), "FLOP/ZZZZ", "UNSUPPORTED: line 2, column "},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "message.xml")
			if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := msgx(t, "decode", file)
			if !strings.Contains(out, c.out) || (c.out == "" && out != "") {
				t.Errorf("prints %q, want %q", out, c.out)
			}
			if (err == nil) != (c.err == "") || (err != nil && !strings.Contains(err.Error(), c.err)) {
				t.Errorf("error %v, want %q", err, c.err)
			}
			asJSON, err2 := msgx(t, "decode", "--json", file)
			var object map[string]any
			if err := json.Unmarshal([]byte(asJSON), &object); err != nil || (object["error"] == nil) != (c.err == "") || (err2 == nil) != (c.err == "") {
				t.Errorf("as JSON %s, %v", asJSON, err2)
			}
		})
	}
	if _, err := msgx(t, "decode", filepath.Join(t.TempDir(), "none")); err == nil || !strings.Contains(err.Error(), "read the message") {
		t.Errorf("a file that is not there: %v", err)
	}
	long := filepath.Join(t.TempDir(), "long.xml")
	if err := os.WriteFile(long, []byte(strings.Repeat(" ", 3000)+"<MSG/>"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := msgx(t, "decode", "--sis.max-bytes=1KiB", long); err == nil || !strings.Contains(err.Error(), "CODEC_ERROR: the text has 3006 bytes, sis.max-bytes allows 1024") {
		t.Errorf("a file that is too long: %v", err)
	}
}

// TestDecodeStandardInput: - is standard input.
func TestDecodeStandardInput(t *testing.T) {
	root := newRootCmd()
	root.SetArgs([]string{"decode", "-"})
	root.SetIn(strings.NewReader("<MSG>\n<A>"))
	root.SetOut(io.Discard)
	if err := root.ExecuteContext(t.Context()); err == nil || err.Error() != "MALFORMED: line 2, column 4: the text ends inside A" {
		t.Errorf("%v", err)
	}
}

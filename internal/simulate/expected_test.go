package simulate

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSaveAndLoad(t *testing.T) {
	m, _ := fold(t, day(t, options(t)))
	want, err := m.Expected()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := want.Save(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	got, err := Load(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if want.MsgEvents == 0 || want.Deletes == 0 || want.Active == 0 || want.Deleted == 0 {
		t.Errorf("empty counts: %d events, %d deletes, %d active, %d deleted", want.MsgEvents, want.Deletes, want.Active, want.Deleted)
	}
	lines := strings.SplitAfter(text, "\n")
	for _, cut := range []string{"", text[:len(text)/2], strings.Join(lines[:len(lines)-2], "")} {
		if _, err := Load(strings.NewReader(cut)); err == nil {
			t.Errorf("loaded the first %d of %d bytes", len(cut), len(text))
		}
	}
}

func TestCompareFlights(t *testing.T) {
	want := map[int64]json.RawMessage{
		1: json.RawMessage(`{"flid":1,"local_bag_weight":12.5,"stand":[{"stand_number":1,"stand_code":"N1"}]}`),
		2: json.RawMessage(`{"flid":2,"remarks":"a","gate":[{"gate_number":1}]}`),
		3: json.RawMessage(`{"flid":3}`),
	}
	got := map[int64]json.RawMessage{
		1: json.RawMessage(`{"stand":[{"stand_code":"N1","stand_number":1}],"local_bag_weight":12.50,"flid":1,"state_version":99}`),
		2: json.RawMessage(`{"flid":2,"remarks":"b","gate":[{"gate_number":2},{"gate_number":3}],"runway":"05"}`),
		4: json.RawMessage(`{"flid":4}`),
	}
	diffs, err := CompareFlights(want, got)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, d := range diffs {
		lines = append(lines, d.String())
	}
	if diff := cmp.Diff([]string{
		`2 gate[0].gate_number: want 1, got 2`,
		`2 gate[1]: want -, got {"gate_number":3}`,
		`2 remarks: want "a", got "b"`,
		`2 runway: want -, got "05"`,
		`3 : want {"flid":3}, got -`,
		`4 : want -, got {"flid":4}`,
	}, lines); diff != "" {
		t.Error(diff)
	}
	if _, err := CompareFlights(want, map[int64]json.RawMessage{1: json.RawMessage(`{`)}); err == nil {
		t.Error("took half a document")
	}
}

func TestCompareMessages(t *testing.T) {
	ok := Outcome{State: "SUCCEEDED", Outcome: "applied"}
	diffs := CompareMessages(map[int64]Outcome{1: ok, 2: ok, 3: ok}, map[int64]Outcome{1: ok, 2: dead(codecError), 4: ok})
	var lines []string
	for _, d := range diffs {
		lines = append(lines, d.String())
	}
	if diff := cmp.Diff([]string{
		"2 outcome: want SUCCEEDED applied, got DEAD EXHAUSTED CODEC_ERROR",
		"3 outcome: want SUCCEEDED applied, got -",
		"4 outcome: want -, got SUCCEEDED applied",
	}, lines); diff != "" {
		t.Error(diff)
	}
}

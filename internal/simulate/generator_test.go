package simulate

import (
	"bytes"
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

func shanghai(t testing.TB) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("Asia/Shanghai")
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

func options(t testing.TB) Options {
	return Options{Seed: 1, Messages: 6000, Flights: 200, Zone: shanghai(t), Holes: 60, LateCommits: 7, BadPerMille: 60}
}

func day(t testing.TB, opts Options) []Item {
	t.Helper()
	items, err := Generate(opts)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Collect(items)
}

func digest(items []Item) string {
	h := sha256.New()
	for _, i := range items {
		fmt.Fprintf(h, "%s|%v|%d|%d|%s\n", i.Kind, i.Fault, i.Burn, i.Late, i.Text)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

func TestSameSeedSameBytes(t *testing.T) {
	opts := options(t)
	first := digest(day(t, opts))
	if again := digest(day(t, opts)); again != first {
		t.Error("the same options made other bytes")
	}
	opts.Seed++
	if other := digest(day(t, opts)); other == first {
		t.Error("another seed made the same bytes")
	}
}

// fold applies items with ids 1, 2, 3 … and leaves out burnt ones.
func fold(t testing.TB, items []Item) (*Model, []Outcome) {
	t.Helper()
	m := NewModel(shanghai(t))
	outcomes := make([]Outcome, len(items))
	id := int64(0)
	for i, it := range items {
		id += int64(it.Burn) + 1
		outcomes[i] = m.Apply(id, it)
	}
	return m, outcomes
}

func TestGoldenDay(t *testing.T) {
	opts := Options{Seed: 7, Messages: 60, Flights: 5, Zone: shanghai(t), Holes: 3, LateCommits: 2, BadPerMille: 250}
	items := day(t, opts)
	m, outcomes := fold(t, items)
	var b bytes.Buffer
	for i, it := range items {
		fmt.Fprintf(&b, "=== %d %s %s burn %d late %s -> %+v\n%s\n", i, it.Kind, it.Fault, it.Burn, it.Late, outcomes[i], it.Text)
	}
	e, err := m.Expected()
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Save(&b); err != nil {
		t.Fatal(err)
	}
	const file = "testdata/day.golden"
	if *update {
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("the day changed (run with -update when that is meant):\n%s", diff)
	}
}

func TestTextsSayWhatTheModelHears(t *testing.T) {
	quirks := map[string]int{}
	for _, it := range day(t, options(t)) {
		root, err := parse(it.Text)
		if it.msg.unreadable {
			continue
		}
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", it.Kind, it.Fault, err, it.Text)
		}
		want := outline(node{name: "MSG", kids: slices.Concat([]node{it.msg.head()}, it.msg.body)})
		root.attrs, root.text = nil, ""
		if got := outline(root); got != want {
			t.Fatalf("text and meaning differ:\n%s\n%s", want, got)
		}
		for _, q := range []string{` = "`, "/>", "></", "</MSG>\n", "\n\t</MSG>", "\n\t\t<", "\n    <", `" >`, "CDATA", "<!--", "𠮷"} {
			if strings.Contains(it.Text, q) {
				quirks[q]++
			}
		}
	}
	for _, q := range []string{` = "`, "/>", "></", "</MSG>\n", "\n\t\t<", "\n    <", `" >`, "CDATA", "<!--", "𠮷"} {
		if quirks[q] == 0 {
			t.Errorf("no text with %q", q)
		}
	}
}

func TestEachFaultEndsAsItsClassSays(t *testing.T) {
	opts := options(t)
	opts.BadPerMille = 200
	items := day(t, opts)
	_, outcomes := fold(t, items)
	seen := map[string]bool{}
	for i, it := range items {
		o := outcomes[i]
		ok := false
		switch it.Fault.Class {
		case "":
			ok = o.State == "SUCCEEDED" || o.State == "SKIPPED" && strings.HasPrefix(o.Outcome, "no-flight:")
		case Duplicate:
			ok = strings.HasPrefix(o.Outcome, "duplicate-of:")
		case Conflict:
			ok = strings.HasPrefix(o.Outcome, "identity-conflict:")
		case Malformed:
			ok = o == Outcome{State: "DEAD", ErrorClass: "MALFORMED", FirstClass: "MALFORMED"}
		case Codec:
			ok = o == Outcome{State: "DEAD", ErrorClass: "EXHAUSTED", FirstClass: "CODEC_ERROR"}
		case Protocol:
			ok = o == Outcome{State: "DEAD", ErrorClass: "PROTOCOL", FirstClass: "PROTOCOL"}
		case Unsupported:
			ok = o == Outcome{State: "DEAD", ErrorClass: "EXHAUSTED", FirstClass: "UNSUPPORTED"}
		case Ignored:
			ok = o == Outcome{State: "SKIPPED", Outcome: "ignored"}
		}
		if !ok {
			t.Errorf("message %d, %s: %+v\n%s", i, it.Fault, o, it.Text)
		}
		seen[it.Fault.String()] = true
	}
	for class, variants := range spoilers {
		for _, v := range variants {
			if f := (Fault{class, v.variant}); !seen[f.String()] {
				t.Errorf("no message with fault %s", f)
			}
		}
	}
}

func TestMalformedTextsAreNotWellFormedOrLackTheirHead(t *testing.T) {
	opts := options(t)
	opts.Faults, opts.BadPerMille = map[Class]int{Malformed: 500}, 0
	for _, it := range day(t, opts) {
		if !it.msg.unreadable {
			continue
		}
		root, err := parse(it.Text)
		if err != nil {
			continue
		}
		heads := root.all("META")
		if len(heads) == 1 && len(heads[0].all("SEQN")) == 1 && !strings.Contains(it.Text, "6O0402") {
			t.Errorf("%s is readable:\n%s", it.Fault, it.Text)
		}
	}
}

func TestTrafficHasEveryKind(t *testing.T) {
	opts := options(t)
	opts.Messages = 12000
	items := day(t, opts)
	_, outcomes := fold(t, items)
	kinds, ends := map[string]int{}, map[string]int{}
	for i, it := range items {
		if it.Fault.Sound() {
			kinds[it.Kind]++
			ends[outcomes[i].end()]++
		}
	}
	want := []string{"SCHD/DNLD", "SCHD/RESP", "SCHD/ADFT", "SCHD/ADD", "SCHD/UPD", "SCHD/DEL", "ADFT/ADFT"}
	for _, e := range events {
		want = append(want, "FLOP/"+e.styp)
	}
	for _, k := range want {
		if kinds[k] == 0 {
			t.Errorf("no %s", k)
		}
	}
	for _, e := range []string{"SUCCEEDED applied", "SUCCEEDED no-change", "SKIPPED no-flight"} {
		if ends[e] == 0 {
			t.Errorf("nothing ends %s", e)
		}
	}
}

func TestIdentitiesAreNeverUsedTwice(t *testing.T) {
	opts := options(t)
	opts.SEQN, opts.BadPerMille = maxSEQN-2000, 0
	seen := map[string]bool{}
	writers := map[bool]string{true: sender(0), false: sender(1)}
	for _, it := range day(t, opts) {
		m := it.msg
		if want := writers[m.seqn >= opts.SEQN]; m.sndr != want {
			t.Fatalf("%s sent number %d, want %s", m.sndr, m.seqn, want)
		}
		if m.seqn < 1 || m.seqn > maxSEQN {
			t.Fatalf("sequence number %d", m.seqn)
		}
		id := fmt.Sprint(m.sndr, m.typ, m.styp, m.seqn)
		if seen[id] {
			t.Fatalf("%s again", id)
		}
		seen[id] = true
	}
	if sender(0) == sender(1) || len(sender(1)) != 4 {
		t.Errorf("senders %q and %q", sender(0), sender(1))
	}
}

func TestHolesAndLateCommitsAreAsManyAsAskedFor(t *testing.T) {
	for _, holes := range []int{0, 1, 60, 20_000} {
		opts := options(t)
		opts.Holes = holes
		burnt, late := 0, 0
		for _, it := range day(t, opts) {
			burnt += it.Burn
			if it.Late > 0 {
				late++
			}
			if it.Late > 500*time.Millisecond {
				t.Errorf("late by %s", it.Late)
			}
		}
		if burnt != holes || late != opts.LateCommits {
			t.Errorf("%d holes and %d late commits, want %d and %d", burnt, late, holes, opts.LateCommits)
		}
	}
}

func TestDaysFollowOneAnother(t *testing.T) {
	opts := options(t)
	opts.Messages = 1500
	g, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	var items []Item
	for it := range g.Endless() {
		if items = append(items, it); len(items) == 4000 {
			break
		}
	}
	m, outcomes := fold(t, items)
	days := map[string]int{}
	for _, f := range m.flights {
		days[f.day]++
	}
	want := []string{"2026-12-01", "2026-12-02", "2026-12-03"}
	for _, d := range want {
		if days[d] < opts.Flights {
			t.Errorf("%d flights on %s", days[d], d)
		}
	}
	if len(days) != len(want) {
		t.Errorf("days %v", days)
	}
	for i, o := range outcomes {
		if items[i].Fault.Sound() && o.State == "DEAD" {
			t.Errorf("sound message %d: %+v\n%s", i, o, items[i].Text)
		}
	}
}

func TestOptionsAreCheckedAllAtOnce(t *testing.T) {
	_, err := New(Options{Messages: 0, Flights: 1, SEQN: 1_000_000, Holes: -1, LateCommits: 5, LateBound: 1, BadPerMille: 900, Faults: map[Class]int{Codec: 200, "odd": 1}})
	if err == nil {
		t.Fatal("accepted")
	}
	for _, part := range []string{"zone:", "flights:", "messages:", "seqn:", "holes:", "late-commits:", "late-bound:", `no class "odd"`, "faults: 1100 per 1000"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in:\n%v", part, err)
		}
	}
}

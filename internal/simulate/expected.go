package simulate

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/big"
	"slices"
	"strings"
)

// Expected is what must have come of all messages once they are finished.
type Expected struct {
	Messages map[int64]Outcome         // by mailbox id
	Flights  map[int64]json.RawMessage // documents by FLID, without state_version; deleted flights too

	MsgEvents int // events about changes: one for each message and flight it changed
	Deletes   int // of them, those that deleted the flight
	Active    int // flights that live
	Deleted   int // flights that were deleted and stayed so
}

// Expected gives what the messages so far came to.
func (m *Model) Expected() (*Expected, error) {
	e := &Expected{Messages: maps.Clone(m.outcomes), Flights: make(map[int64]json.RawMessage, len(m.flights)), MsgEvents: m.events, Deletes: m.deletes}
	for flid, f := range m.flights {
		doc, err := f.document()
		if err != nil {
			return nil, err
		}
		e.Flights[flid] = doc
		if f.deleted {
			e.Deleted++
		} else {
			e.Active++
		}
	}
	return e, nil
}

// Count is how many messages came to one end.
type Count struct {
	End string // "SUCCEEDED applied", "DEAD MALFORMED", "SKIPPED duplicate-of", …
	N   int
}

// Counts tells how the messages ended, the most frequent end first.
func (e *Expected) Counts() []Count {
	n := map[string]int{}
	for _, o := range e.Messages {
		n[o.end()]++
	}
	counts := make([]Count, 0, len(n))
	for end, times := range n {
		counts = append(counts, Count{end, times})
	}
	slices.SortFunc(counts, func(a, b Count) int {
		if a.N != b.N {
			return b.N - a.N
		}
		return strings.Compare(a.End, b.End)
	})
	return counts
}

func (o Outcome) end() string {
	switch {
	case o.ErrorClass == "":
		what, _, _ := strings.Cut(o.Outcome, ":")
		return o.State + " " + what
	case o.FirstClass != o.ErrorClass:
		return o.State + " " + o.ErrorClass + " (" + o.FirstClass + ")"
	}
	return o.State + " " + o.ErrorClass
}

// The file has one JSON object on each line: totals, then messages and flights
// by ascending id.
type line struct {
	Totals  *totals         `json:"totals,omitempty"`
	Message int64           `json:"message,omitempty"`
	Outcome *Outcome        `json:"outcome,omitempty"`
	Flight  int64           `json:"flight,omitempty"`
	Doc     json.RawMessage `json:"document,omitempty"`
}

type totals struct {
	Messages  int `json:"messages"`
	Flights   int `json:"flights"`
	MsgEvents int `json:"msg_events"`
	Deletes   int `json:"deletes"`
	Active    int `json:"active"`
	Deleted   int `json:"deleted"`
}

// Save writes the expectation as JSON lines.
func (e *Expected) Save(w io.Writer) error {
	b := bufio.NewWriter(w)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	put := func(l line) error {
		if err := enc.Encode(l); err != nil {
			return fmt.Errorf("write the expected result: %w", err)
		}
		return nil
	}
	if err := put(line{Totals: &totals{len(e.Messages), len(e.Flights), e.MsgEvents, e.Deletes, e.Active, e.Deleted}}); err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(e.Messages)) {
		o := e.Messages[id]
		if err := put(line{Message: id, Outcome: &o}); err != nil {
			return err
		}
	}
	for _, flid := range slices.Sorted(maps.Keys(e.Flights)) {
		if err := put(line{Flight: flid, Doc: e.Flights[flid]}); err != nil {
			return err
		}
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("write the expected result: %w", err)
	}
	return nil
}

// Load reads what Save wrote; a file that was cut short is an error.
func Load(r io.Reader) (*Expected, error) {
	dec := json.NewDecoder(bufio.NewReader(r))
	e := &Expected{Messages: map[int64]Outcome{}, Flights: map[int64]json.RawMessage{}}
	var t *totals
	for {
		var l line
		err := dec.Decode(&l)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read the expected result: %w", err)
		}
		switch {
		case l.Totals != nil:
			t = l.Totals
		case l.Outcome != nil:
			e.Messages[l.Message] = *l.Outcome
		case l.Doc != nil:
			e.Flights[l.Flight] = l.Doc
		}
	}
	if t == nil || t.Messages != len(e.Messages) || t.Flights != len(e.Flights) {
		return nil, fmt.Errorf("read the expected result: incomplete, %d messages and %d flights", len(e.Messages), len(e.Flights))
	}
	e.MsgEvents, e.Deletes, e.Active, e.Deleted = t.MsgEvents, t.Deletes, t.Active, t.Deleted
	return e, nil
}

// Diff is one place where what came out is not what must have.
type Diff struct {
	ID   int64  // flight or message
	Path string // "" for the whole
	Want string // JSON, "-" for nothing
	Got  string
}

func (d Diff) String() string {
	return fmt.Sprintf("%d %s: want %s, got %s", d.ID, d.Path, d.Want, d.Got)
}

// CompareFlights compares documents by FLID, and lists differences in order of
// FLID and path. state_version is not compared: only the database gives it.
func CompareFlights(want, got map[int64]json.RawMessage) ([]Diff, error) {
	var diffs []Diff
	for _, flid := range union(want, got) {
		w, err := decode(want[flid])
		if err != nil {
			return nil, fmt.Errorf("read the expected document of flight %d: %w", flid, err)
		}
		g, err := decode(got[flid])
		if err != nil {
			return nil, fmt.Errorf("read the document of flight %d: %w", flid, err)
		}
		if doc, ok := g.(map[string]any); ok {
			delete(doc, "state_version")
		}
		for _, d := range compare("", w, g) {
			d.ID = flid
			diffs = append(diffs, d)
		}
	}
	return diffs, nil
}

// CompareMessages compares how messages ended, in order of id.
func CompareMessages(want, got map[int64]Outcome) []Diff {
	var diffs []Diff
	show := func(all map[int64]Outcome, id int64) string {
		o, ok := all[id]
		if !ok {
			return "-"
		}
		return strings.Join(strings.Fields(strings.Join([]string{o.State, o.ErrorClass, o.FirstClass, o.Outcome}, " ")), " ")
	}
	for _, id := range union(want, got) {
		if w, g := show(want, id), show(got, id); w != g {
			diffs = append(diffs, Diff{ID: id, Path: "outcome", Want: w, Got: g})
		}
	}
	return diffs
}

func union[T any](a, b map[int64]T) []int64 {
	keys := slices.Collect(maps.Keys(a))
	for k := range b {
		if _, both := a[k]; !both {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return keys
}

// decode reads a document; none is nil.
func decode(doc json.RawMessage) (any, error) {
	if len(doc) == 0 {
		return nil, nil
	}
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber()
	var v any
	err := dec.Decode(&v)
	return v, err
}

func compare(path string, want, got any) []Diff {
	wo, wok := want.(map[string]any)
	gobj, gok := got.(map[string]any)
	if wok && gok {
		var diffs []Diff
		keys := slices.Collect(maps.Keys(wo))
		for k := range gobj {
			if _, both := wo[k]; !both {
				keys = append(keys, k)
			}
		}
		slices.Sort(keys)
		for _, k := range keys {
			diffs = append(diffs, compare(strings.TrimPrefix(path+"."+k, "."), wo[k], gobj[k])...)
		}
		return diffs
	}
	wl, wok := want.([]any)
	gl, gok := got.([]any)
	if wok && gok {
		var diffs []Diff
		for i := range max(len(wl), len(gl)) {
			diffs = append(diffs, compare(fmt.Sprintf("%s[%d]", path, i), at(wl, i), at(gl, i))...)
		}
		return diffs
	}
	if w, g := show(want), show(got); w != g {
		return []Diff{{Path: path, Want: w, Got: g}}
	}
	return nil
}

func at(all []any, i int) any {
	if i < len(all) {
		return all[i]
	}
	return nil
}

// show writes a value so that equal values look equal; numbers by what they are worth.
func show(v any) string {
	switch v := v.(type) {
	case nil:
		return "-"
	case json.Number:
		if r, ok := new(big.Rat).SetString(v.String()); ok {
			return r.RatString()
		}
		return v.String()
	case string:
		return fmt.Sprintf("%q", v)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

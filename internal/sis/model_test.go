package sis_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"msgexchange/internal/simulate"
	"msgexchange/internal/sis"
)

// TestSimulatedDay: what the simulator means, which has a reading of the
// protocol of its own, is what the codec reads.
func TestSimulatedDay(t *testing.T) {
	zone, err := time.LoadLocation("Asia/Shanghai")
	if err != nil {
		t.Fatal(err)
	}
	items, err := simulate.Generate(simulate.Options{Seed: 7, Messages: 6000, Flights: 300, Zone: zone, BadPerMille: 300})
	if err != nil {
		t.Fatal(err)
	}
	c := codec(t, func(o *sis.Options) { o.MaxBytes = 16 << 20 })
	seen := map[string]int{}
	for item := range items {
		m, err := c.Decode([]byte(item.Text), now)
		class := sis.Class("")
		var e *sis.Error
		if errors.As(err, &e) {
			class = e.Class
		}
		ok := false
		switch item.Fault.Class {
		case simulate.Duplicate, simulate.Conflict: // of a sound message or a faulty one
			ok = true
		case "":
			ok = class == "" && len(m.Records) > 0
		case simulate.Malformed:
			ok = class == sis.Malformed
		case simulate.Codec:
			ok = class == sis.CodecError
		case simulate.Unsupported, simulate.Ignored:
			ok = class == sis.Unsupported || class == ""
		case simulate.Protocol: // or a rule that is SQL's
			ok = class == sis.Protocol || class == ""
		}
		seen[item.Fault.String()]++
		if !ok {
			t.Errorf("%s is read as %q: %v\n%.1500s", item.Fault, class, err, item.Text)
		}
	}
	if len(seen) < 30 {
		t.Errorf("kinds of messages: %v", seen)
	}
}

// TestSamples: what the simulator writes of reference data and the season has
// every field of its type, and nothing else.
func TestSamples(t *testing.T) {
	for _, typ := range append(sis.References(), "SCHS") {
		for _, styp := range []string{"DNLD", "RESP", "ADD", "UPD", "DEL"} {
			if typ == "SCHS" && styp != "DNLD" && styp != "RESP" {
				continue
			}
			m, err := codec(t).Decode([]byte(message(typ, styp, simulate.Sample(typ, styp))), now)
			if err != nil {
				t.Errorf("%s/%s: %v", typ, styp, err)
				continue
			}
			if m.Declared == nil || int(*m.Declared) != len(m.Items) || len(m.Items) == 0 {
				t.Errorf("%s/%s has %d records", typ, styp, len(m.Items))
			}
			have := map[string]bool{}
			for _, i := range m.Items {
				var data map[string]any
				if err := json.Unmarshal(i.Data, &data); err != nil {
					t.Fatal(err)
				}
				for column := range data {
					have[column] = true
				}
			}
			if have["extra"] {
				t.Errorf("%s/%s has what nobody knows", typ, styp)
			}
			for column, f := range sis.Reference(typ) {
				if !have[column] && (styp != "DEL" || f.Key) {
					t.Errorf("%s/%s has no %s", typ, styp, f.Element)
				}
			}
		}
	}
}

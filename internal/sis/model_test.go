package sis_test

import (
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

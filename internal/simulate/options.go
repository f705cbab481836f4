package simulate

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Options say what a Generator makes. Equal options make equal bytes on every
// machine and at any time.
type Options struct {
	Seed     uint64
	Messages int            // messages of one operating day, downloads included
	Flights  int            // flights of one day's download
	Day      time.Time      // the first operating day; only its date counts
	Zone     *time.Location // the airport's; times on the wire are its wall clock
	SEQN     int            // sequence number of the first message, 1..999999

	Holes       int           // ids used up by rolled-back transactions, over the day
	LateCommits int           // messages that get their id and commit later, over the day
	LateBound   time.Duration // longest wait of a late commit, in whole ms

	BadPerMille int           // faulty messages per 1000, all classes alike
	Faults      map[Class]int // faulty messages per 1000 by class, beside BadPerMille
}

// DefaultDay is the first operating day unless another is asked for.
var DefaultDay = time.Date(2026, time.December, 1, 0, 0, 0, 0, time.UTC)

// Class is a kind of fault, by what must become of the message.
type Class string

// The classes of faults.
const (
	Duplicate   Class = "duplicate"   // an earlier text again
	Conflict    Class = "conflict"    // an earlier identity with another text
	Malformed   Class = "malformed"   // XML, META, SEQN or FLID unusable
	Codec       Class = "codec"       // a value that does not fit its form
	Protocol    Class = "protocol"    // a rule of the message broken
	Unsupported Class = "unsupported" // a type or subtype nobody handles
	Ignored     Class = "ignored"     // a type that is skipped on purpose
)

// Classes lists every class, in a fixed order.
func Classes() []Class {
	return []Class{Duplicate, Conflict, Malformed, Codec, Protocol, Unsupported, Ignored}
}

// Fault is one way to be faulty; the zero Fault is a sound message.
type Fault struct {
	Class   Class
	Variant string
}

// Sound tells whether there is no fault.
func (f Fault) Sound() bool { return f.Class == "" }

func (f Fault) String() string {
	switch {
	case f.Sound():
		return "sound"
	case f.Variant == "":
		return string(f.Class)
	}
	return string(f.Class) + "/" + f.Variant
}

const (
	maxSEQN    = 999_999
	maxFlights = 20_000 // a day's share of flight numbers, with room for additions
)

// withDefaults fills what was left out.
func (o Options) withDefaults() Options {
	if o.Day.IsZero() {
		o.Day = DefaultDay
	}
	if o.SEQN == 0 {
		o.SEQN = 1
	}
	if o.LateBound == 0 {
		o.LateBound = 500 * time.Millisecond
	}
	return o
}

// check lists everything that is wrong with the options.
func (o Options) check() error {
	var faults []error
	must := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	must(o.Zone != nil, "zone: missing")
	must(o.Flights >= 2 && o.Flights <= maxFlights, "flights: %d is not within 2..%d", o.Flights, maxFlights)
	must(o.Messages >= 1, "messages: %d is not positive", o.Messages)
	must(o.SEQN >= 1 && o.SEQN <= maxSEQN, "seqn: %d is not within 1..%d", o.SEQN, maxSEQN)
	must(o.Holes >= 0, "holes: %d is negative", o.Holes)
	must(o.LateCommits >= 0 && o.LateCommits <= o.Messages, "late-commits: %d is not within 0..messages", o.LateCommits)
	must(o.LateBound >= time.Millisecond, "late-bound: %s is less than a millisecond", o.LateBound)
	sum := o.BadPerMille
	must(o.BadPerMille >= 0, "bad-per-mille: %d is negative", o.BadPerMille)
	for _, class := range Classes() {
		must(o.Faults[class] >= 0, "faults: %s=%d is negative", class, o.Faults[class])
		sum += o.Faults[class]
	}
	for class := range o.Faults {
		must(slices.Contains(Classes(), class), "faults: no class %q", class)
	}
	must(sum <= 1000, "faults: %d per 1000 messages", sum)
	return errors.Join(faults...)
}

package bench

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// side is one way to do some work.
type side struct {
	what string
	run  func(upTo int) error // does what is still to do of units 1 to upTo
	rate []float64            // units a second, one for each turn
}

// race lets the sides do units from+1 to to in turns, so that the machine's
// moods hit all of them alike. What counts of a side is its median turn.
func (b *bench) race(sides []*side, from, to, turns int) error {
	for turn := range turns {
		start, end := from+(to-from)*turn/turns, from+(to-from)*(turn+1)/turns
		for _, s := range sides {
			began := b.o.Now()
			if err := s.run(end); err != nil {
				return fmt.Errorf("%s: %w", s.what, err)
			}
			s.rate = append(s.rate, float64(end-start)/b.o.Now().Sub(began).Seconds())
		}
	}
	return nil
}

// each makes a side's run of a step that does one unit; done units are behind it.
func each(done int, step func(unit int) error) func(int) error {
	return func(upTo int) error {
		for ; done < upTo; done++ {
			if err := step(done + 1); err != nil {
				return fmt.Errorf("unit %d: %w", done+1, err)
			}
		}
		return nil
	}
}

func median[T cmp.Ordered](values []T) T {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }

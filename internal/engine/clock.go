package engine

import (
	"sync"
	"time"
)

// Monotonic gives readings whose differences are elapsed time. time.Now is
// one; tests inject their own.
type Monotonic func() time.Time

// clock is the time of PostgreSQL, carried on between two readings by the
// local monotonic clock. Every p_now comes from it (design I10).
type clock struct {
	mono Monotonic

	mu   sync.Mutex
	base time.Time // PostgreSQL's time at the last reading
	at   time.Time // mono at the last reading
}

// set takes a reading of PostgreSQL's clock.
func (c *clock) set(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.base, c.at = now, c.mono()
}

// now returns PostgreSQL's time as far as it is known.
func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.base.Add(c.mono().Sub(c.at))
}

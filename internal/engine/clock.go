package engine

import (
	"fmt"
	"sync"
	"time"
)

// jumpAt is how far PostgreSQL's clock may be off what the local monotonic
// clock makes of its last reading; beyond it has jumped (design I10).
const jumpAt = 2 * time.Second

// Monotonic gives readings whose differences are elapsed time. time.Now is
// one; tests inject their own.
type Monotonic func() time.Time

// clockJump reports that PostgreSQL's clock jumped. The loops end on it: the
// next epoch fences every call that has the old time, and moves the waits.
type clockJump struct{ by time.Duration }

func (j clockJump) Error() string {
	return fmt.Sprintf("PostgreSQL's clock jumped by %s", j.by.Round(time.Millisecond))
}

// clock is the time of PostgreSQL, carried on between two readings by the
// local monotonic clock. Every p_now comes from it (design I10).
type clock struct {
	mono Monotonic

	mu   sync.Mutex
	base time.Time     // PostgreSQL's time at the last reading; zero: none yet
	at   time.Time     // mono at the end of the last reading
	took time.Duration // how long that reading took: base may lag behind by as much
}

// forget makes the next reading the first one.
func (c *clock) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.base = time.Time{}
}

// read takes a reading of PostgreSQL's clock by a call that began at began.
// Errors: clockJump; then the clock goes on as before.
func (c *clock) read(began, now time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	end := c.mono()
	if !c.base.IsZero() {
		earliest, latest := c.base.Add(began.Sub(c.at)), c.base.Add(end.Sub(c.at))
		if by := now.Sub(latest) - c.took; by > jumpAt {
			return clockJump{by: by}
		}
		if by := now.Sub(earliest); by < -jumpAt {
			return clockJump{by: by}
		}
	}
	c.base, c.at, c.took = now, end, end.Sub(began)
	return nil
}

// now returns PostgreSQL's time as far as it is known.
func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.base.Add(c.mono().Sub(c.at))
}

package engine

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"msgexchange/gen"
	"msgexchange/internal/dberr"
)

// round is what a loop's step says of itself.
type round struct {
	again  bool          // more is waiting: no pause
	wait   time.Duration // time until the next step unless woken; 0 = the loop's own idle time
	reason string        // why the loop stands still although nothing failed; "" = it does not
}

// loop runs one step again and again: the one place that decides between
// going on, pausing and stopping.
type loop struct {
	name string
	idle time.Duration // pause after a step that found nothing
	wake chan struct{} // shortens the pause; nil = nothing wakes it
	step func(context.Context) (round, error)

	braked func() // called while the brake is on; nil = nobody needs to know
}

// look holds the loops that name rows of the mailbox by id until the poller has
// looked, in this term, whether ids still mean what they meant. A poller that an
// operator braked looks at nothing: then they go on as they are.
type look struct {
	mono  Monotonic
	since time.Time
	done  atomic.Bool
}

func (l *look) taken() { l.done.Store(true) }

// by is the step that looks.
func (l *look) by(step func(context.Context) (round, error)) func(context.Context) (round, error) {
	return func(ctx context.Context) (round, error) {
		r, err := step(ctx)
		if err == nil {
			l.taken()
		}
		return r, err
	}
}

// before is a step that comes after it.
func (l *look) before(step func(context.Context) (round, error)) func(context.Context) (round, error) {
	return func(ctx context.Context) (round, error) {
		if l.done.Load() {
			return step(ctx)
		}
		r := round{wait: lookEvery}
		if l.mono().Sub(l.since) > time.Second {
			r.reason = "the poller has not looked at the mailbox yet"
		}
		return r, nil
	}
}

const (
	lookEvery   = 20 * time.Millisecond
	reportEvery = time.Second      // how often a loop writes its state while nothing changes
	retryFirst  = time.Second      // pause after the first failure in a row
	retryMost   = 10 * time.Second // longest pause after failures
	stepMost    = 10 * time.Second // most that one step counts as working time: a frozen process does not work
)

// poke wakes a loop without ever blocking the caller.
func poke(wake chan struct{}) {
	select {
	case wake <- struct{}{}:
	default:
	}
}

// runLoop runs l until ctx ends (nil) or the lease is lost. work outlives ctx
// a little, so that a step in flight can end cleanly.
func (e *Engine) runLoop(ctx, work context.Context, l loop) error {
	log := e.log.With("loop", l.name)
	st := loopState{e: e, loop: l.name, log: log}
	failures := 0
	// The brake counts before the first step.
	if err := st.report(work, ""); err != nil {
		return err
	}
	for {
		if !st.braked {
			began := e.mono()
			r, err := l.step(work)
			var jump clockJump
			switch {
			case ctx.Err() != nil:
				return nil
			case dberr.IsFenced(err), errors.As(err, &jump):
				return err
			case err != nil:
				failures++
				r = round{wait: min(retryFirst<<min(failures-1, 4), retryMost), reason: reason(err)}
			default:
				failures = 0
				st.work(began, stepMost)
			}
			if err := st.report(work, r.reason); err != nil {
				return err
			}
			if r.again && !st.braked {
				if ctx.Err() != nil {
					return nil
				}
				continue
			}
			began = e.mono()
			if !pause(ctx, l.wake, r.wait, l.idle) {
				return nil
			}
			if r.reason == "" {
				st.work(began, max(r.wait, l.idle)+time.Second)
			}
			continue
		}
		if l.braked != nil {
			l.braked()
		}
		if !pause(ctx, nil, reportEvery, 0) {
			return nil
		}
		if err := st.report(work, ""); err != nil {
			return err
		}
	}
}

// reason is why a loop pauses, in words for its operator.
func reason(err error) string {
	if why := dberr.Explain(err); why != "" {
		return err.Error() + " (" + why + ")"
	}
	return err.Error()
}

// pause waits for the time given, a wake, or the end; false at the end.
func pause(ctx context.Context, wake <-chan struct{}, wait, idle time.Duration) bool {
	if wait <= 0 {
		wait = idle
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-wake:
	case <-timer.C:
	}
	return true
}

// loopState keeps loop_state up to date without a write for every round.
type loopState struct {
	e        *Engine
	loop     string
	log      *slog.Logger
	worked   time.Duration
	reason   string
	since    time.Time // beginning of the pause
	braked   bool
	reported time.Time
}

// work counts the time since began as working time, but no more than most.
// Time in which the loop pauses for the environment or is braked is none.
func (s *loopState) work(began time.Time, most time.Duration) {
	s.worked += min(s.e.mono().Sub(began), most)
}

// report writes the loop's state when it changed or is due, and reads the
// brake. Only the loss of the lease is an error: what cannot be written now
// is written later.
func (s *loopState) report(ctx context.Context, reason string) error {
	now := s.e.mono()
	changed := reason != s.reason
	if changed {
		switch {
		case reason == "":
			s.log.InfoContext(ctx, "loop resumes", "after", now.Sub(s.since).Round(time.Millisecond), "was", s.reason)
		case s.reason == "":
			s.since = now
			fallthrough
		default:
			s.log.WarnContext(ctx, "loop pauses", "reason", reason, "since", s.since)
		}
		s.reason = reason
	}
	if !changed && now.Sub(s.reported) < reportEvery {
		return nil
	}
	s.reported = now
	call, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	st, err := s.e.q.LoopRound(call, gen.LoopRoundParams{
		Epoch: s.e.epoch, Loop: s.loop, Reason: reason, Worked: s.worked, Now: s.e.clock.now(),
	})
	switch {
	case dberr.IsFenced(err):
		return err
	case err != nil:
		if !errors.Is(err, context.Canceled) {
			s.log.DebugContext(ctx, "loop state not written", "err", err)
		}
		return nil
	}
	s.worked = 0
	if braked := st.Wanted == "off"; braked != s.braked {
		s.braked = braked
		s.log.WarnContext(ctx, "brake", "on", braked)
	}
	return nil
}

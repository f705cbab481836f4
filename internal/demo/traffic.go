package demo

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"msgexchange/internal/simulate"
)

const tick = 250 * time.Millisecond // how often the progress line is written

// write puts the day into the mailbox while the daemon runs, and folds the
// same messages in the model.
func (p *place) write(ctx context.Context, day *simulate.Generator, alive func() error, parked *parking) (*simulate.Expected, simulate.Stats, error) {
	model := simulate.NewModel(p.zone)
	var written atomic.Int64
	watch, cancel := context.WithCancel(ctx)
	shown := make(chan error, 1)
	go func() { shown <- p.progress(watch, &written, alive, nil) }()
	stats, err := p.writer.Write(ctx, day.Day(), func(id int64, item simulate.Item) error {
		model.Apply(id, item)
		written.Add(1)
		parked.pass()
		return nil
	})
	parked.end()
	cancel()
	if perr := <-shown; err == nil && perr != nil && !errors.Is(perr, context.Canceled) {
		err = perr
	}
	if err != nil {
		return nil, stats, fmt.Errorf("write the day into the mailbox: %w", err)
	}
	expected, err := model.Expected()
	return expected, stats, err
}

// settle waits until every message is finished, delivered and marked.
func (p *place) settle(ctx context.Context, stats simulate.Stats, alive func() error, began time.Time) (time.Duration, error) {
	wait, cancel := context.WithTimeout(ctx, p.o.Timeout)
	defer cancel()
	var written atomic.Int64
	written.Store(int64(stats.Rows))
	err := p.progress(wait, &written, alive, func(s state) (bool, error) {
		if s.done < stats.LastID {
			return false, nil
		}
		return p.idle(wait)
	})
	fmt.Fprintln(p.o.Out)
	if err != nil {
		return 0, fmt.Errorf("wait until all is done, delivered and marked: %w", err)
	}
	return p.o.Now().Sub(began), nil
}

// steady goes on with traffic until ctx ends.
func (p *place) steady(ctx context.Context, day *simulate.Generator, d *daemon) error {
	fmt.Fprintf(p.o.Out, "\nsteady traffic of %d messages a second until it is stopped\n", steadyRate)
	p.writer.Rate = steadyRate
	_, err := p.writer.Write(ctx, day.Endless(), func(int64, simulate.Item) error { return d.alive() })
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// state is what the progress line shows: all by primary key, whatever the history.
type state struct {
	watermark, seen, done, events, sent, marked int64
	holes                                       int64
}

func (p *place) state(ctx context.Context) (s state, err error) {
	err = p.pool.QueryRow(ctx, `
		SELECT c.committed_up_to, c.seen_to, l.done_up_to,
		       coalesce((SELECT max(event_id) FROM msgx.msg_event), 0),
		       (SELECT min(sent_up_to) FROM msgx.outbox_cursor),
		       b.settled_up_to,
		       (SELECT count(*) FROM msgx.inbox_hole WHERE state = 'OPEN')
		  FROM msgx.inbox_cursor AS c, msgx.pipeline_lock AS l, msgx.backfill_cursor AS b`).
		Scan(&s.watermark, &s.seen, &s.done, &s.events, &s.sent, &s.marked, &s.holes)
	if err != nil {
		err = fmt.Errorf("read the state: %w", err)
	}
	return s, err
}

// idle tells whether nothing is owed any more: no event, no mark.
func (p *place) idle(ctx context.Context) (idle bool, err error) {
	err = p.pool.QueryRow(ctx, `
		SELECT NOT EXISTS (SELECT FROM msgx.msg_event WHERE state = 'PENDING')
		   AND NOT EXISTS (SELECT FROM msgx.proc_state WHERE backfill_next_at IS NOT NULL OR finished_at IS NULL)`).Scan(&idle)
	if err != nil {
		err = fmt.Errorf("read what is owed: %w", err)
	}
	return idle, err
}

// progress writes the progress line until ctx ends or until says so.
func (p *place) progress(ctx context.Context, written *atomic.Int64, alive func() error, until func(state) (bool, error)) error {
	last, lastAt := int64(0), p.o.Now()
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
		if err := alive(); err != nil {
			return err
		}
		s, err := p.state(ctx)
		if err != nil && p.o.Trouble.any() && ctx.Err() == nil {
			continue // PostgreSQL is away: that is the trouble
		}
		if err != nil {
			return err
		}
		now := p.o.Now()
		rate := float64(s.done-last) / now.Sub(lastAt).Seconds()
		last, lastAt = s.done, now
		fmt.Fprintf(p.o.Out, "\rwritten %6d  watermark %6d  holes %3d  done %6d  %6.0f/s  lag %5d  backlog %5d  events %6d/%-6d  marks %6d   ",
			written.Load(), s.watermark, s.holes, s.done, rate, max(s.seen-s.watermark, 0), s.watermark-s.done, s.sent, s.events, s.marked)
		if until != nil {
			ok, err := until(s)
			if err != nil && p.o.Trouble.any() && ctx.Err() == nil {
				continue
			}
			if ok || err != nil {
				return err
			}
		}
	}
}

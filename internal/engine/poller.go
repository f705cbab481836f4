package engine

import (
	"context"
	"fmt"
	"time"

	"msgexchange/gen"
	"msgexchange/internal/mailbox"
)

const (
	frontierRounds = 20               // frontier pages in one step, so that polling goes on meanwhile
	unreadableAt   = 30 * time.Second // a longer spell of an unreadable mailbox restarts hole windows (design §4)
)

// poller reads mailbox positions behind the watermark and hands them to
// inbox_advance, which alone decides how far the watermark moves.
type poller struct {
	e          *Engine
	watermark  int64
	seenTo     int64
	seq        int64 // -1 = unknown: ask
	unreadable time.Time
}

func (p *poller) step(ctx context.Context) (round, error) {
	if p.seq < 0 {
		if err := p.resync(ctx); err != nil {
			return round{}, err
		}
	}
	if err := p.e.syncClock(ctx); err != nil {
		return round{}, err
	}
	started := p.e.clock.now()
	limit := p.e.cfg.Pipeline.ClaimBatch
	page, err := p.e.box.Positions(ctx, p.watermark, limit)
	if err != nil {
		if p.unreadable.IsZero() {
			p.unreadable = p.e.mono()
		}
		return round{}, fmt.Errorf("poll the mailbox above %d: %w", p.watermark, err)
	}
	if err := p.readable(ctx); err != nil {
		return round{}, err
	}
	moved, err := p.advance(ctx, page, started)
	if err != nil {
		p.seq = -1
		return round{}, err
	}
	if len(page) == limit || (len(page) > 0 && page[len(page)-1].ID > p.watermark) {
		if err := p.frontier(ctx); err != nil {
			return round{}, err
		}
	}
	return round{again: moved && len(page) == limit}, nil
}

// resync reads the cursor as it stands: a call with an unexpected number
// changes nothing and tells.
func (p *poller) resync(ctx context.Context) error {
	r, err := p.call(ctx, gen.InboxAdvanceParams{Epoch: p.e.epoch, PollSeq: -1, ReadStarted: p.e.clock.now(), Now: p.e.clock.now()})
	if err != nil {
		return err
	}
	p.watermark, p.seenTo, p.seq = r.Watermark, r.SeenTo, r.PollSeq
	return nil
}

// readable ends a spell in which the mailbox could not be read.
func (p *poller) readable(ctx context.Context) error {
	if p.unreadable.IsZero() {
		return nil
	}
	if p.e.mono().Sub(p.unreadable) > unreadableAt {
		call, cancel := context.WithTimeout(ctx, callTimeout)
		defer cancel()
		if _, err := p.e.q.InboxReadable(call, gen.InboxReadableParams{Epoch: p.e.epoch, Now: p.e.clock.now()}); err != nil {
			return fmt.Errorf("record that the mailbox is readable again: %w", err)
		}
	}
	p.unreadable = time.Time{}
	return nil
}

func (p *poller) advance(ctx context.Context, page []mailbox.Position, started time.Time) (moved bool, err error) {
	ids := make([]int64, len(page))
	received := make([]string, len(page))
	for i, pos := range page {
		ids[i] = pos.ID
		if pos.ReceivedAt != nil {
			received[i] = pos.ReceivedAt.Format(time.RFC3339Nano)
		}
	}
	r, err := p.call(ctx, gen.InboxAdvanceParams{
		Epoch: p.e.epoch, PollSeq: p.seq, Ids: ids, Received: received, ReadStarted: started, Now: p.e.clock.now(),
	})
	if err != nil {
		return false, err
	}
	before := p.watermark
	p.watermark, p.seenTo, p.seq = r.Watermark, max(p.seenTo, r.SeenTo), r.PollSeq
	if r.Enqueued > 0 {
		p.e.log.InfoContext(ctx, "enqueued", "messages", r.Enqueued, "from", before+1, "watermark", r.Watermark)
		poke(p.e.pumpWake)
	}
	if r.ReleasedHoles > 0 {
		p.e.log.WarnContext(ctx, "holes aged out", "ranges", r.ReleasedHoles, "ids", r.ReleasedIds, "watermark", r.Watermark)
	}
	return r.Watermark > before, nil
}

// frontier looks ahead by ids only, so that every hole is first seen as early
// as it is visible, however far it lies beyond the page.
func (p *poller) frontier(ctx context.Context) error {
	limit := p.e.cfg.Pipeline.FrontierBatch
	for range frontierRounds {
		started := p.e.clock.now()
		ids, err := p.e.box.IDs(ctx, p.seenTo, limit)
		if err != nil {
			return fmt.Errorf("look ahead in the mailbox above %d: %w", p.seenTo, err)
		}
		if len(ids) == 0 {
			return nil
		}
		call, cancel := context.WithTimeout(ctx, callTimeout)
		c, err := p.e.q.InboxFrontier(call, gen.InboxFrontierParams{
			Epoch: p.e.epoch, From: p.seenTo, Ids: ids, ReadStarted: started, Now: p.e.clock.now(),
		})
		cancel()
		if err != nil {
			return fmt.Errorf("record the frontier above %d: %w", p.seenTo, err)
		}
		p.seenTo = c.SeenTo
		if len(ids) < limit {
			return nil
		}
	}
	return nil
}

func (p *poller) call(ctx context.Context, arg gen.InboxAdvanceParams) (gen.InboxRound, error) {
	call, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	r, err := p.e.q.InboxAdvance(call, arg)
	if err != nil {
		return r, fmt.Errorf("advance the watermark with %d ids above %d: %w", len(arg.Ids), p.watermark, err)
	}
	return r, nil
}

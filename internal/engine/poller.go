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
	refused    string // why nothing is taken from the mailbox, as PostgreSQL said
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
	page, err := p.e.box.Page(ctx, p.watermark, limit)
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
	if p.refused != "" {
		return round{reason: p.refused}, nil
	}
	found := len(page.Positions)
	if found == limit || (found > 0 && page.Positions[found-1].ID > p.watermark) {
		if err := p.frontier(ctx); err != nil {
			return round{}, err
		}
	}
	return round{again: moved && found == limit}, nil
}

// resync reads the cursor as it stands: a call with an unexpected number
// changes nothing and tells.
func (p *poller) resync(ctx context.Context) error {
	r, err := p.call(ctx, gen.InboxAdvanceParams{Epoch: p.e.epoch, PollSeq: -1, ReadStarted: p.e.clock.now(), Now: p.e.clock.now()})
	if err != nil {
		return err
	}
	p.watermark, p.seenTo, p.seq = r.Watermark, r.SeenTo, r.PollSeq
	p.refuse(ctx, r.RefusedWhy)
	return nil
}

// refuse notes whether PostgreSQL takes anything from this mailbox. While it
// does not, an id may name another row than it did: none is read or marked.
func (p *poller) refuse(ctx context.Context, why *string) {
	reason := ""
	if why != nil {
		reason = *why
	}
	p.e.box.Hold(reason)
	switch {
	case reason == p.refused:
	case reason == "":
		p.e.log.WarnContext(ctx, "the mailbox was accepted", "was", p.refused, "watermark", p.watermark)
	default:
		p.e.log.ErrorContext(ctx, "the mailbox is refused: nothing is taken from it until an operator accepts it (docs/runbooks/mailbox-refused.md)",
			"reason", reason, "watermark", p.watermark)
	}
	p.refused = reason
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

func (p *poller) advance(ctx context.Context, page mailbox.Page, started time.Time) (moved bool, err error) {
	arg := gen.InboxAdvanceParams{
		Epoch: p.e.epoch, PollSeq: p.seq, ReadStarted: started, Now: p.e.clock.now(), Server: &page.Server, Max: &page.Max,
	}
	arg.Ids, arg.Received = rows(page.Positions)
	arg.BelowIds, arg.BelowReceived = rows(page.Below)
	if page.Next > 0 {
		arg.Next = &page.Next
	}
	r, err := p.call(ctx, arg)
	if err != nil {
		return false, err
	}
	p.refuse(ctx, r.RefusedWhy)
	if r.WindowsAnew != nil {
		p.e.log.WarnContext(ctx, "hole windows count from now", "why", *r.WindowsAnew, "watermark", r.Watermark)
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

// rows returns ids and received times as inbox_advance takes them.
func rows(positions []mailbox.Position) (ids []int64, received []string) {
	ids, received = make([]int64, len(positions)), make([]string, len(positions))
	for i, pos := range positions {
		ids[i] = pos.ID
		if pos.ReceivedAt != nil {
			received[i] = pos.ReceivedAt.Format(time.RFC3339Nano)
		}
	}
	return ids, received
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

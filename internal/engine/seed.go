package engine

import (
	"context"
	"fmt"
	"time"

	"msgexchange/gen"
	"msgexchange/internal/dberr"
	"msgexchange/internal/mailbox"
)

// seedPage is how many ids one read takes while the recent ones are listed.
const seedPage = 10_000

// Seed sets the watermark of an instance that never ran: mode is min, zero,
// max or an id. Ids missing among recent rows, which may still be committed,
// are handed on to be watched (design §4).
// Errors: MX002 when the instance was used before; the mailbox's.
func Seed(ctx context.Context, q *gen.Queries, box *mailbox.Mailbox, epoch int64, mode string, maxCommitDelay time.Duration) (gen.InboxCursor, error) {
	var none gen.InboxCursor
	now, err := q.Clock(ctx)
	if err != nil {
		return none, fmt.Errorf("read PostgreSQL's clock: %w", err)
	}
	low, high, empty, err := box.Bounds(ctx)
	if err != nil {
		return none, fmt.Errorf("seed the watermark: %w", err)
	}
	arg := gen.InboxSeedParams{Epoch: epoch, Mode: mode, Min: low, Max: high, Now: now}
	if !empty {
		if arg.RecentFrom, err = box.NewestBefore(ctx, now.Add(-2*maxCommitDelay)); err != nil {
			return none, fmt.Errorf("seed the watermark: %w", err)
		}
		for after := arg.RecentFrom; ; {
			ids, err := box.IDs(ctx, after, seedPage)
			if err != nil {
				return none, fmt.Errorf("seed the watermark: %w", err)
			}
			arg.RecentIds = append(arg.RecentIds, ids...)
			if len(ids) < seedPage {
				break
			}
			after = ids[len(ids)-1]
		}
	}
	c, err := q.InboxSeed(ctx, arg)
	if err != nil {
		return none, fmt.Errorf("seed the watermark with %s: %w", mode, err)
	}
	return c, nil
}

// afterCutover is a step that comes after the cut-over, once that succeeded.
func (e *Engine) afterCutover(step func(context.Context) (round, error)) func(context.Context) (round, error) {
	seeded := false
	return func(ctx context.Context) (round, error) {
		if !seeded {
			if err := e.cutover(ctx); err != nil {
				return round{}, err
			}
			seeded = true
		}
		return step(ctx)
	}
}

// cutover seeds at the first start when the configuration asks for it.
func (e *Engine) cutover(ctx context.Context) error {
	mode := e.cfg.Pipeline.CutoverWatermark
	if mode == "" {
		return nil
	}
	c, err := Seed(ctx, e.q, e.box, e.epoch, mode, e.cfg.Pipeline.MaxCommitDelay)
	switch {
	case dberr.IsUsed(err):
		e.log.WarnContext(ctx, "pipeline.cutover-watermark is ignored: this instance goes on where it stood; remove the key", "mode", mode)
		return nil
	case err != nil:
		return err
	}
	e.log.WarnContext(ctx, "watermark seeded", "mode", mode, "watermark", c.CommittedUpTo)
	return nil
}

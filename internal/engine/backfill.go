package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"msgexchange/gen"
	"msgexchange/internal/mailbox"
)

// claimFor is how long a claim of marks lasts: far above every timeout of the
// mailbox session, so that no mark is written under a claim that ended.
const claimFor = 2 * time.Minute

// backfill pays the marks that finished messages owe to the mailbox.
type backfill struct{ e *Engine }

func (b backfill) step(ctx context.Context) (round, error) {
	token := uuid.NewString()
	call, cancel := context.WithTimeout(ctx, callTimeout)
	rows, err := b.e.q.BackfillClaim(call, gen.BackfillClaimParams{
		Epoch: b.e.epoch, Now: b.e.clock.now(), Limit: int32(b.e.cfg.Pipeline.BackfillBatch), Token: token, ClaimFor: claimFor,
	})
	cancel()
	if err != nil {
		return round{}, fmt.Errorf("claim marks: %w", err)
	}
	if len(rows) == 0 {
		return round{}, nil
	}
	ids := make([]int64, len(rows))
	for i, r := range rows {
		ids[i] = r.MsgID
	}
	results, markErr := b.e.box.Mark(ctx, ids)
	arg := gen.BackfillSettleParams{Epoch: b.e.epoch, Token: token, Ids: ids}
	for _, id := range ids {
		result, text := "trouble", ""
		switch {
		case markErr != nil:
			text = markErr.Error()
		case results[id] == mailbox.Marked:
			result = "marked"
		case results[id] == mailbox.Already:
			result = "already"
		case results[id] == mailbox.Missing:
			result, text = "missing", "the row is gone from the mailbox"
		}
		arg.Results = append(arg.Results, result)
		arg.Errors = append(arg.Errors, text)
	}
	arg.Now = b.e.clock.now()
	call, cancel = context.WithTimeout(ctx, callTimeout)
	defer cancel()
	r, err := b.e.q.BackfillSettle(call, arg)
	if err != nil {
		return round{}, fmt.Errorf("settle %d marks from %d: %w", len(ids), ids[0], err)
	}
	b.e.log.InfoContext(ctx, "marked", "messages", r.Marked, "already", r.Already, "abandoned", r.Abandoned, "retried", r.Retried,
		"from", ids[0], "to", ids[len(ids)-1])
	if markErr != nil {
		return round{}, fmt.Errorf("mark %d messages from %d: %w", len(ids), ids[0], markErr)
	}
	return round{again: len(rows) == b.e.cfg.Pipeline.BackfillBatch}, nil
}

package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"msgexchange/gen"
	"msgexchange/internal/dberr"
	"msgexchange/internal/mailbox"
)

const (
	// claimFor is how long a claim of marks lasts: far above every timeout of the
	// mailbox session.
	claimFor = 2 * time.Minute
	// markFor is how long marking under a claim may take: what is not committed
	// by then is rolled back, long before anybody else may touch the rows.
	markFor = time.Minute
)

// backfill pays the marks that finished messages owe to the mailbox.
type backfill struct{ e *Engine }

// marks is what became of a batch: for each message a result of
// backfill_settle, and the error in words.
type marks struct {
	arg  gen.BackfillSettleParams
	away error // why the mailbox could not be asked, for the rest
}

func (m *marks) add(ids []int64, result, why string) {
	for _, id := range ids {
		m.arg.Ids = append(m.arg.Ids, id)
		m.arg.Results = append(m.arg.Results, result)
		m.arg.Errors = append(m.arg.Errors, why)
	}
}

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
	var m marks
	mark, cancel := context.WithTimeout(ctx, markFor)
	b.mark(mark, ids, &m)
	cancel()
	m.arg.Epoch, m.arg.Token, m.arg.Now = b.e.epoch, token, b.e.clock.now()
	call, cancel = context.WithTimeout(ctx, callTimeout)
	defer cancel()
	r, err := b.e.q.BackfillSettle(call, m.arg)
	if err != nil {
		return round{}, fmt.Errorf("settle %d marks from %d: %w", len(ids), ids[0], err)
	}
	b.e.log.InfoContext(ctx, "marked", "messages", r.Marked, "already", r.Already, "abandoned", r.Abandoned, "retried", r.Retried,
		"from", ids[0], "to", ids[len(ids)-1])
	if r.Abandoned > 0 {
		b.e.log.ErrorContext(ctx, "marks given up: SELECT * FROM msgx.v_backfill WHERE what = 'abandoned'", "messages", r.Abandoned,
			"from", ids[0], "to", ids[len(ids)-1])
	}
	if m.away != nil {
		return round{}, fmt.Errorf("mark %d messages from %d: %w", len(ids), ids[0], m.away)
	}
	// Rows that only fail come again with the next period, not at once.
	return round{again: len(rows) == b.e.cfg.Pipeline.BackfillBatch && r.Marked+r.Already+r.Abandoned > 0}, nil
}

// mark marks rows in one transaction. A row that makes it fail is found by
// halves, so that it costs its batch-mates nothing; what is wrong with the mailbox
// as a whole counts against no row.
func (b backfill) mark(ctx context.Context, ids []int64, m *marks) {
	if m.away != nil {
		m.add(ids, "released", m.away.Error())
		return
	}
	results, err := b.e.box.Mark(ctx, ids)
	switch {
	case err == nil:
		for _, id := range ids {
			result, why := "marked", ""
			switch results[id] {
			case mailbox.Already:
				result = "already"
			case mailbox.Missing:
				result, why = "missing", "the row is gone from the mailbox"
			}
			m.add([]int64{id}, result, why)
		}
	case !dberr.IsRows(err) && !errors.Is(err, mailbox.ErrDisturbed):
		m.away = err
		m.add(ids, "released", err.Error())
	case len(ids) == 1:
		b.e.log.WarnContext(ctx, "mark refused", "msg_id", ids[0], "err", err)
		m.add(ids, "trouble", err.Error())
	default:
		if err := b.e.active(ctx); err != nil {
			m.away = err
			m.add(ids, "released", err.Error())
			return
		}
		b.mark(ctx, ids[:len(ids)/2], m)
		b.mark(ctx, ids[len(ids)/2:], m)
	}
}

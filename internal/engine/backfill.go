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
	// claimFor is how long a claim of marks lasts.
	claimFor = 2 * time.Minute
	// markFor is how long after the claim a mark may still be begun or committed.
	markFor = time.Minute

	// A commit that was due at the last moment by a process that froze just then:
	// the server ended its session long before anybody else may touch the rows.
	_ = uint(claimFor - markFor - mailbox.SessionIdle - callTimeout)
)

// errClaimOver says that a mark came too late under its claim.
var errClaimOver = errors.New("the claim is about to end")

// backfill pays the marks that finished messages owe to the mailbox.
type backfill struct{ e *Engine }

// marks is what became of a batch: for each message a result of
// backfill_settle, and the error in words.
type marks struct {
	arg  gen.BackfillSettleParams
	away error        // why the mailbox could not be asked, for the rest
	sure func() error // whether the claim lasts long enough for one more commit
}

func (m *marks) add(ids []int64, result, why string) {
	for _, id := range ids {
		m.arg.Ids = append(m.arg.Ids, id)
		m.arg.Results = append(m.arg.Results, result)
		m.arg.Errors = append(m.arg.Errors, why)
	}
}

func (b backfill) step(ctx context.Context) (round, error) {
	token, began := uuid.NewString(), b.e.mono()
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
	m := marks{sure: func() error {
		if after := b.e.mono().Sub(began); after > markFor {
			return fmt.Errorf("%w: %s after it began", errClaimOver, after.Round(time.Millisecond))
		}
		return nil
	}}
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
	if r.Refusing {
		return round{reason: fmt.Sprintf("the mailbox refuses every mark of %d from %d: %s", len(ids), ids[0], m.arg.Errors[0])}, nil
	}
	// Rows that only fail come again with the next period, not at once.
	return round{again: len(rows) == b.e.cfg.Pipeline.BackfillBatch && r.Marked+r.Already+r.Abandoned > 0}, nil
}

// mark marks rows in one transaction. A row that makes it fail is found by
// halves, so that it costs its batch-mates nothing; what is wrong with the mailbox
// as a whole counts against no row.
func (b backfill) mark(ctx context.Context, ids []int64, m *marks) {
	if m.away == nil {
		m.away = m.sure()
	}
	if m.away != nil {
		m.add(ids, "released", m.away.Error())
		return
	}
	results, err := b.e.box.Mark(ctx, ids, m.sure)
	switch {
	case err == nil:
		b.sort(ctx, ids, results, m)
	case !dberr.IsRows(err) && !errors.Is(err, mailbox.ErrDisturbed):
		m.away = err
		m.add(ids, "released", err.Error())
	case len(ids) == 1:
		b.e.log.WarnContext(ctx, "mark refused", "msg_id", ids[0], "err", err)
		m.add(ids, "trouble", err.Error())
	default:
		// The claim proved the lease for the first batch, this does for the rest.
		if err := b.e.active(ctx); err != nil {
			m.away = err
		}
		b.mark(ctx, ids[:len(ids)/2], m)
		b.mark(ctx, ids[len(ids)/2:], m)
	}
}

// sort notes what a transaction found of each row.
func (b backfill) sort(ctx context.Context, ids []int64, results map[int64]mailbox.MarkResult, m *marks) {
	for _, id := range ids {
		one := []int64{id}
		switch results[id] {
		case mailbox.Missing:
			b.e.log.ErrorContext(ctx, "the row is gone from the mailbox: its mark is given up", "msg_id", id)
			m.add(one, "missing", "the row is gone from the mailbox")
		case mailbox.Held:
			b.e.log.WarnContext(ctx, "mark refused: another session holds the row", "msg_id", id)
			m.add(one, "trouble", "another session holds the row (1205)")
		case mailbox.Already:
			m.add(one, "already", "")
		default:
			m.add(one, "marked", "")
		}
	}
}

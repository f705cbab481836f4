package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"msgexchange/gen"
	"msgexchange/internal/dberr"
	"msgexchange/internal/sis"
)

const (
	batchBytes   = 4 << 20         // bytes of one pump_apply; a single larger message goes alone
	batchRecords = 1000            // flights of one pump_apply, so that it stays far below its timeout; likewise
	missingGrace = 2 * time.Second // a row that is gone is looked for again after this
)

// pump carries runs of messages from the mailbox to pump_apply. Which
// messages, in which order, and what becomes of them, PostgreSQL says.
type pump struct {
	e         *Engine
	window    *window
	run       []int64 // given by the last call, not applied yet
	watermark int64
	place     int64 // every message up to it was finished once
	ahead     int   // how many messages behind the run may be decoded ahead; 0 = none, and the run goes through pump_try
	alone     int64 // messages up to this id go one by one, since a batch with them raised an error
	trouble   trouble
	putBack   bool // a stamped message was given up because of the environment
	missing   map[int64]time.Time
}

// trouble counts errors of the environment on one head that may be the
// message's doing all the same.
type trouble struct {
	head   int64
	errors int
	well   bool // PostgreSQL answered a probe since the last of them
}

// troubleMost is how many errors of the environment, each with PostgreSQL well
// before it, make a run go one by one, and a message alone guilty (design §5).
const troubleMost = 2

// outcome is what pump_apply says of one message.
type outcome struct {
	MsgID         int64      `json:"msg_id"`
	State         string     `json:"state"`
	ErrorClass    string     `json:"error_class"`
	Outcome       string     `json:"outcome"`
	Attempts      int        `json:"attempts"`
	NextAttemptAt *time.Time `json:"next_attempt_at"`
	Error         string     `json:"error"`
	Again         bool       `json:"again"`
}

func (p *pump) step(ctx context.Context) (round, error) {
	if len(p.run) == 0 {
		if rest, err := p.next(ctx); err != nil || len(p.run) == 0 {
			return rest, err
		}
	}
	if p.ahead == 0 {
		if rest, ready, err := p.try(ctx); !ready {
			return rest, err
		}
	} else if err := p.window.fill(ctx, p.run); err != nil {
		return round{}, err
	}
	batch, wait := p.batch()
	if len(batch) == 0 {
		return round{wait: wait}, nil
	}
	p.e.log.DebugContext(ctx, "claimed", "messages", len(batch), "from", batch[0].id, "to", batch[len(batch)-1].id, "alone", p.ahead == 0)
	if p.ahead > 0 {
		p.window.lookAhead(ctx, max(batch[len(batch)-1].id, p.place), p.watermark, p.ahead)
	}
	began := p.e.mono()
	r, err := p.apply(ctx, batch)
	if err != nil {
		p.run, p.putBack = nil, p.ahead == 0
		return round{}, err
	}
	return p.take(ctx, began, r)
}

// next asks for a run.
func (p *pump) next(ctx context.Context) (round, error) {
	call, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if p.putBack {
		if err := p.e.q.PumpPutBack(call, gen.PumpPutBackParams{Epoch: p.e.epoch, RunEpoch: p.e.epoch}); err != nil {
			return round{}, fmt.Errorf("put a run back: %w", err)
		}
		p.putBack = false
	}
	began := p.e.mono()
	r, err := p.e.q.PumpNext(call, gen.PumpNextParams{Epoch: p.e.epoch, Now: p.e.clock.now()})
	if err != nil {
		return round{}, fmt.Errorf("ask for the next run: %w", err)
	}
	rest, err := p.take(ctx, began, r)
	if len(p.run) > 0 && p.run[0] == p.trouble.head {
		p.trouble.well = p.probe(ctx)
	}
	return rest, err
}

// try decodes the one message of a run, stamped just before: should the
// process die on it, its successor knows the message by name. A text that is
// not there needs no stamp. It is ready when the message may be applied.
func (p *pump) try(ctx context.Context) (rest round, ready bool, err error) {
	id := p.run[0]
	text, found, err := p.window.fetch(ctx, id)
	if err != nil || !found {
		return round{}, err == nil, err
	}
	began := p.e.mono()
	call, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	r, err := p.e.q.PumpTry(call, gen.PumpTryParams{Epoch: p.e.epoch, Now: p.e.clock.now(), MsgID: id})
	if err != nil {
		// It may have been stamped all the same.
		p.run, p.putBack = nil, true
		return round{}, false, fmt.Errorf("stamp message %d: %w", id, err)
	}
	rest, err = p.take(ctx, began, r)
	if err != nil || string(r.Outcomes) != "[]" || !slices.Equal(r.NextIds, []int64{id}) {
		return rest, false, err
	}
	p.e.log.InfoContext(ctx, "tried alone: a process died with it in flight", "msg_id", id)
	p.window.decode(text)
	return round{}, true, nil
}

// probe tells whether PostgreSQL is well: it commits a small write within a
// second.
func (p *pump) probe(ctx context.Context) bool {
	call, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	rows, err := p.e.q.LeaseRenew(call, gen.LeaseRenewParams{Epoch: p.e.epoch, Ttl: p.e.cfg.Lease.TTL, HostClock: p.e.mono()})
	return err == nil && len(rows) == 1
}

// batch returns the messages to apply now. A row that is gone is confirmed
// once more after a grace before it is called missing.
func (p *pump) batch() ([]decoded, time.Duration) {
	head := p.run[0]
	batch := p.window.take(p.run, batchBytes, batchRecords)
	switch {
	case len(batch) == 0:
		since, known := p.missing[head]
		now := p.e.mono()
		if !known {
			p.missing[head] = now
			return nil, missingGrace
		}
		if rest := missingGrace - now.Sub(since); rest > 0 {
			return nil, rest
		}
		err := &sis.Error{Class: sis.Malformed, Reason: "raw-missing: the row is gone from the mailbox"}
		object := sis.Message{}.AppendBatch(nil, head, "", err)
		object = append(object[:len(object)-1], `,"outcome":"raw-missing"}`...)
		return []decoded{{id: head, object: object}}, 0
	case head <= p.alone:
		return batch[:1], 0
	}
	return batch, 0
}

// apply calls pump_apply. An error that belongs to a message sends the batch
// through one by one; alone, it counts against the message.
func (p *pump) apply(ctx context.Context, batch []decoded) (gen.PumpRound, error) {
	call, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	r, err := p.e.q.PumpApply(call, gen.PumpApplyParams{Epoch: p.e.epoch, Now: p.e.clock.now(), Batch: array(batch)})
	if err == nil {
		return r, nil
	}
	if dberr.IsFenced(err) || (dberr.Classify(err) == dberr.Environment && !p.guilty(batch[0].id, err)) {
		return r, fmt.Errorf("apply %d messages from %d: %w", len(batch), batch[0].id, err)
	}
	if len(batch) > 1 {
		p.alone = batch[len(batch)-1].id
		p.e.log.WarnContext(ctx, "a batch failed: its messages go one by one", "from", batch[0].id, "to", p.alone, "err", err)
		return gen.PumpRound{
			Outcomes: json.RawMessage("[]"), NextIds: p.run, Watermark: p.watermark, DoneUpTo: p.place, Clock: p.e.clock.now(), Ahead: int32(p.ahead),
		}, nil
	}
	call, cancel = context.WithTimeout(ctx, callTimeout)
	defer cancel()
	r, ferr := p.e.q.PumpFail(call, gen.PumpFailParams{
		Epoch: p.e.epoch, Now: p.e.clock.now(), Message: batch[0].object, Error: err.Error(),
	})
	if ferr != nil {
		return r, fmt.Errorf("record the failure of message %d: %w", batch[0].id, ferr)
	}
	return r, nil
}

// guilty tells whether an error of the environment has come so often on this
// head, with PostgreSQL well in between, that the messages are to blame.
func (p *pump) guilty(head int64, err error) bool {
	switch {
	case !dberr.Suspect(err):
		return false
	case p.trouble.head != head:
		p.trouble = trouble{head: head, errors: 1}
	case p.trouble.well:
		p.trouble.errors++
	}
	p.trouble.well = false
	if p.trouble.errors < troubleMost {
		return false
	}
	p.trouble = trouble{}
	return true
}

// take stores what a call that began at began answered: outcomes, the next
// run, the clock.
// Errors: clockJump.
func (p *pump) take(ctx context.Context, began time.Time, r gen.PumpRound) (round, error) {
	p.run, p.watermark, p.place, p.ahead = r.NextIds, r.Watermark, r.DoneUpTo, int(r.Ahead)
	p.report(ctx, r.Outcomes)
	if err := p.e.clock.read(began, r.Clock); err != nil {
		return round{}, err
	}
	if len(p.run) > 0 {
		p.window.drop(p.run[0] - 1)
		return round{again: true}, nil
	}
	switch {
	case r.Reason == nil:
		return round{again: true}, nil
	case *r.Reason == "backing-off":
		return round{wait: r.Until.Sub(p.e.clock.now())}, nil
	case *r.Reason == "braked":
		return round{reason: "braked"}, nil
	}
	return round{}, nil
}

// report logs outcomes and wakes those who have work from them.
func (p *pump) report(ctx context.Context, raw json.RawMessage) {
	var list []outcome
	if err := json.Unmarshal(raw, &list); err != nil {
		p.e.log.ErrorContext(ctx, "outcomes not readable", "err", err)
		return
	}
	if len(list) == 0 {
		return
	}
	for _, o := range list {
		delete(p.missing, o.MsgID)
		level := slog.LevelDebug
		switch o.State {
		case "DEAD":
			level = slog.LevelError
		case "FAILED":
			level = slog.LevelWarn
		case "SKIPPED":
			level = slog.LevelInfo
		}
		p.e.log.Log(ctx, level, "message", "msg_id", o.MsgID, "state", o.State, "outcome", o.Outcome, "class", o.ErrorClass,
			"attempts", o.Attempts, "next_attempt_at", o.NextAttemptAt, "error", o.Error, "again", o.Again)
	}
	p.e.log.InfoContext(ctx, "applied", "messages", len(list), "from", list[0].MsgID, "to", list[len(list)-1].MsgID)
	poke(p.e.dispatcherWake)
}

func array(batch []decoded) []byte {
	out := []byte{'['}
	for i, m := range batch {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, m.object...)
	}
	return append(out, ']')
}

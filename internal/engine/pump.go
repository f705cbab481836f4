package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"msgexchange/gen"
	"msgexchange/internal/dberr"
	"msgexchange/internal/sis"
)

const (
	batchBytes   = 4 << 20         // bytes of one pump_apply; a single larger message goes alone
	missingGrace = 2 * time.Second // a row that is gone is looked for again after this
)

// pump carries runs of messages from the mailbox to pump_apply. Which
// messages, in which order, and what becomes of them, PostgreSQL says.
type pump struct {
	e         *Engine
	window    *window
	run       []int64 // given by the last call, not applied yet
	watermark int64
	alone     int64 // messages up to this id go one by one, since a batch with them raised an error
	missing   map[int64]time.Time
}

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
		call, cancel := context.WithTimeout(ctx, callTimeout)
		r, err := p.e.q.PumpNext(call, gen.PumpNextParams{Epoch: p.e.epoch, Now: p.e.clock.now()})
		cancel()
		if err != nil {
			return round{}, fmt.Errorf("ask for the next run: %w", err)
		}
		if rest := p.take(ctx, r); len(p.run) == 0 {
			return rest, nil
		}
	}
	if err := p.window.fill(ctx, p.run); err != nil {
		return round{}, err
	}
	batch, wait := p.batch()
	if len(batch) == 0 {
		return round{wait: wait}, nil
	}
	last := batch[len(batch)-1].id
	p.window.lookAhead(ctx, last, p.watermark, 2*p.e.cfg.Pipeline.ApplyBatch)
	r, err := p.apply(ctx, batch)
	if err != nil {
		p.run = nil
		return round{}, err
	}
	return p.take(ctx, r), nil
}

// batch returns the messages to apply now. A row that is gone is confirmed
// once more after a grace before it is called missing.
func (p *pump) batch() ([]decoded, time.Duration) {
	head := p.run[0]
	batch := p.window.take(p.run, batchBytes)
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
	if err == nil || dberr.IsFenced(err) || dberr.Classify(err) == dberr.Environment {
		if err != nil {
			err = fmt.Errorf("apply %d messages from %d: %w", len(batch), batch[0].id, err)
		}
		return r, err
	}
	if len(batch) > 1 {
		p.alone = batch[len(batch)-1].id
		p.e.log.WarnContext(ctx, "a batch failed: its messages go one by one", "from", batch[0].id, "to", p.alone, "err", err)
		return gen.PumpRound{Outcomes: json.RawMessage("[]"), NextIds: p.run, Watermark: p.watermark, Clock: p.e.clock.now()}, nil
	}
	r, ferr := p.e.q.PumpFail(call, gen.PumpFailParams{
		Epoch: p.e.epoch, Now: p.e.clock.now(), Message: batch[0].object, Error: err.Error(),
	})
	if ferr != nil {
		return r, fmt.Errorf("record the failure of message %d: %w", batch[0].id, ferr)
	}
	return r, nil
}

// take stores what a call answered: outcomes, the next run, the clock.
func (p *pump) take(ctx context.Context, r gen.PumpRound) round {
	p.e.clock.set(r.Clock)
	p.run, p.watermark = r.NextIds, r.Watermark
	p.report(ctx, r.Outcomes)
	if len(p.run) > 0 {
		p.window.drop(p.run[0] - 1)
		return round{again: true}
	}
	switch {
	case r.Reason == nil:
		return round{again: true}
	case *r.Reason == "backing-off":
		return round{wait: r.Until.Sub(p.e.clock.now())}
	case *r.Reason == "braked":
		return round{reason: "braked"}
	}
	return round{}
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

package bench

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"msgexchange/gen"
)

const limitTrip = "limit: round trip of SELECT 1"

// call is something that is timed again and again.
type call struct {
	what, of string
	do       func() error
	took     []time.Duration
}

// heads measures what history costs: pump_next, and pump_apply of one message,
// with little and with much of it, right after it was loaded and again after a
// vacuum. The calls take turns.
func (b *bench) heads(ctx context.Context) error {
	names := []string{"trips"}
	for _, rows := range b.o.History {
		names = append(names, "history_"+strconv.Itoa(rows))
	}
	// Each round uses up one event in each database, before and after the vacuum.
	messages, err := b.input(2 * b.o.Rounds)
	if err != nil {
		return err
	}
	return b.databases(ctx, names, func(conns []*pgx.Conn) error {
		loaded := make([]*history, len(b.o.History))
		for i, rows := range b.o.History {
			if loaded[i], err = b.load(ctx, conns[i+1], rows, messages); err != nil {
				return err
			}
		}
		calls := []*call{{what: limitTrip, do: func() error {
			_, err := conns[0].Exec(ctx, "SELECT $1::integer", 1)
			return err
		}}}
		after := func(when string) []*call {
			var own []*call
			for _, h := range loaded {
				for _, c := range []*call{{what: "pump_next", do: h.next}, {what: "pump_apply of one", do: h.apply}} {
					name := func(rows int) string { return fmt.Sprintf("%s, %d finished, %s", c.what, rows, when) }
					c.of = limitTrip
					if h != loaded[0] {
						c.of = name(loaded[0].rows)
					}
					c.what = name(h.rows)
					own = append(own, c)
				}
			}
			return own
		}
		fresh := append(calls, after("not vacuumed")...)
		if err := b.turns(fresh); err != nil {
			return err
		}
		for i, h := range loaded {
			if _, err := conns[i+1].Exec(ctx, "VACUUM (ANALYZE) msgx.proc_state, msgx.proc_identity, msgx.flight_write, msgx.msg_event"); err != nil {
				return fmt.Errorf("vacuum %d finished messages: %w", h.rows, err)
			}
		}
		vacuumed := after("vacuumed")
		if err := b.turns(vacuumed); err != nil {
			return err
		}
		for _, c := range slices.Concat(fresh, vacuumed) {
			r := Result{What: c.what, Value: micros(median(c.took)), Unit: "µs, median", Of: c.of}
			if c.of != "" && c.of != limitTrip {
				r.Budget = "at most 1.2"
			}
			b.add(r)
		}
		return nil
	})
}

// turns times the calls, one after the other, round by round.
func (b *bench) turns(calls []*call) error {
	for range b.o.Rounds {
		for _, c := range calls {
			began := b.o.Now()
			if err := c.do(); err != nil {
				return fmt.Errorf("%s: %w", c.what, err)
			}
			c.took = append(c.took, b.o.Now().Sub(began))
		}
	}
	return nil
}

// history is a database with finished messages and some that wait.
type history struct {
	rows  int
	next  func() error // one pump_next
	apply func() error // pump_apply of the head alone
}

// load applies a download, so that plans are made while tables are empty, as in
// a session that was there from the first message on; then it adds rows
// finished messages with all they left, and the events to come.
func (b *bench) load(ctx context.Context, conn *pgx.Conn, rows int, messages []decoded) (*history, error) {
	epoch, err := lease(ctx, conn)
	if err != nil {
		return nil, err
	}
	// Before the download, as this drops plans. Autovacuum would decide how much
	// of the first part is measured vacuumed.
	for _, table := range []string{"proc_state", "proc_identity", "flight_write", "msg_event"} {
		if _, err := conn.Exec(ctx, "ALTER TABLE msgx."+table+" SET (autovacuum_enabled = off)"); err != nil {
			return nil, fmt.Errorf("stop autovacuum of %s: %w", table, err)
		}
	}
	q := gen.New(conn)
	head := int64(1)
	next := func() error {
		r, err := q.PumpNext(ctx, gen.PumpNextParams{Epoch: epoch, Now: b.o.Now()})
		if err != nil {
			return err
		}
		if len(r.NextIds) == 0 || r.NextIds[0] != head {
			return fmt.Errorf("the head is not message %d but %v", head, r.NextIds)
		}
		return nil
	}
	apply := func() error {
		r, err := q.PumpApply(ctx, gen.PumpApplyParams{Epoch: epoch, Now: b.o.Now(), Batch: batch(messages[0].object(head))})
		if err != nil {
			return err
		}
		if r.DoneUpTo != head {
			return fmt.Errorf("message %d is not applied: %s", head, r.Outcomes)
		}
		head++
		messages = messages[1:]
		return nil
	}
	err = enqueue(ctx, conn, 1, 1)
	if err == nil {
		err = next()
	}
	if err == nil {
		err = apply()
	}
	if err != nil {
		return nil, fmt.Errorf("apply the download: %w", err)
	}
	last := 1 + rows
	for _, statement := range []string{
		`INSERT INTO msgx.proc_state (msg_id, state, outcome, identity_key, finished_at, backfill_at, updated_at)
			SELECT g, 'SUCCEEDED', 'applied', 'AODB|FLOP|PAST|' || g, now(), now(), now() FROM generate_series(2, $1::bigint) AS g WHERE $2::bigint > 0`,
		`INSERT INTO msgx.proc_identity (identity_key, text_hash, msg_id, bound_at)
			SELECT 'AODB|FLOP|PAST|' || g, sha256(g::text::bytea), g, now() FROM generate_series(2, $1::bigint) AS g WHERE $2::bigint > 0`,
		`INSERT INTO msgx.flight_write (flid, msg_id, seq, op, patch, at)
			SELECT 1 + g % $2, g, 1, 'change', '{"set": {"remarks": "past"}}', now() FROM generate_series(2, $1::bigint) AS g`,
		`INSERT INTO msgx.msg_event (target, partition_key, event_type, msg_id, state_version, payload, state, created_at, sent_at)
			SELECT 'KAFKA:msg', 1 + g % $2, 'UPSERT', g, g, '{"change": "changed"}', 'SENT', now(), now() FROM generate_series(2, $1::bigint) AS g`,
	} {
		if _, err := conn.Exec(ctx, statement, last, b.o.Flights); err != nil {
			return nil, fmt.Errorf("load %d finished messages: %w", rows, err)
		}
	}
	if _, err := conn.Exec(ctx, "UPDATE msgx.pipeline_lock SET done_up_to = $1", last); err != nil {
		return nil, fmt.Errorf("put the place behind the finished messages: %w", err)
	}
	// Some wait behind those that are applied, so that runs stay full.
	if err := enqueue(ctx, conn, last+1, last+len(messages)+100); err != nil {
		return nil, err
	}
	head = int64(last + 1)
	return &history{rows: rows, next: next, apply: apply}, nil
}

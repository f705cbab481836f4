package bench

import (
	"context"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"

	"msgexchange/gen"
)

const (
	limitCommits = "limit: commits of one small update"
	naiveLoop    = "naive loop, a transaction a message"
	delayed      = ", commits 1 ms slower"
	// Turns of a race. With the usual 20,000 messages a turn is 1,000, so that
	// every batch is full.
	turns        = 20
	delayedTurns = 5
)

// pump measures pump_apply at several batch sizes against the naive loop, and
// both again where a commit costs a millisecond more, as on many disks.
func (b *bench) pump(ctx context.Context) error {
	more := b.o.Messages * delayedTurns / turns
	messages, err := b.input(b.o.Messages + more)
	if err != nil {
		return err
	}
	objects := make([][]byte, len(messages))
	for i, m := range messages {
		objects[i] = m.object(int64(i + 1))
	}
	return b.databases(ctx, []string{"commits", "naive", "pump_1", "pump_50", "pump_200"}, func(conns []*pgx.Conn) error {
		sides := make([]*side, len(conns))
		for i, start := range []func(context.Context, *pgx.Conn, [][]byte) (*side, error){
			b.commits, b.naive, b.pumper(1), b.pumper(50), b.pumper(200),
		} {
			if sides[i], err = start(ctx, conns[i], objects); err != nil {
				return err
			}
		}
		// The first message is the download, which is not measured.
		if err := b.race(sides, 1, 1+b.o.Messages, turns); err != nil {
			return err
		}
		b.addPump(sides, "", "at least 6")
		if err := same(ctx, sides[1:], conns[1:]); err != nil {
			return err
		}

		sides = []*side{sides[0], sides[1], sides[3]}
		conns = []*pgx.Conn{conns[0], conns[1], conns[3]}
		for i, conn := range conns {
			if _, err := conn.Exec(ctx, "SET commit_delay = 1000; SET commit_siblings = 0"); err != nil {
				return fmt.Errorf("delay commits: %w", err)
			}
			sides[i].rate = nil
		}
		if err := b.race(sides, 1+b.o.Messages, len(objects), delayedTurns); err != nil {
			return err
		}
		b.addPump(sides, delayed, "")
		return same(ctx, sides[1:], conns[1:])
	})
}

// addPump records what a race found: the loop as a ratio to the limit, the
// pump as a ratio to the loop.
func (b *bench) addPump(sides []*side, suffix, budget string) {
	for _, s := range sides {
		r := Result{What: s.what + suffix, Value: median(s.rate), Unit: "messages/s", Of: naiveLoop + suffix}
		switch s.what {
		case limitCommits:
			r.Unit, r.Of = "commits/s", ""
		case naiveLoop:
			r.Of = limitCommits + suffix
		case pumpOf(50):
			r.Budget = budget
		}
		b.add(r)
	}
}

func pumpOf(size int) string { return "pump, batches of " + strconv.Itoa(size) }

// commits is what the machine can commit: one small update each.
func (b *bench) commits(ctx context.Context, conn *pgx.Conn, _ [][]byte) (*side, error) {
	if _, err := conn.Exec(ctx, "CREATE TABLE public.tick (n integer); INSERT INTO public.tick VALUES (0)"); err != nil {
		return nil, fmt.Errorf("make the table of the commit limit: %w", err)
	}
	return &side{what: limitCommits, run: each(1, func(n int) error {
		_, err := conn.Exec(ctx, "UPDATE public.tick SET n = $1", n)
		return err
	})}, nil
}

// pumper drives pump_apply in batches of a size.
func (b *bench) pumper(size int) func(context.Context, *pgx.Conn, [][]byte) (*side, error) {
	return func(ctx context.Context, conn *pgx.Conn, objects [][]byte) (*side, error) {
		epoch, err := lease(ctx, conn)
		if err != nil {
			return nil, err
		}
		if err := enqueue(ctx, conn, 1, len(objects)); err != nil {
			return nil, err
		}
		if _, err := conn.Exec(ctx, "UPDATE msgx.setting SET value = $1 WHERE key = 'pipeline.apply-batch'", strconv.Itoa(size)); err != nil {
			return nil, fmt.Errorf("set the batch size: %w", err)
		}
		q := gen.New(conn)
		next := 0
		s := &side{what: pumpOf(size), run: func(upTo int) error {
			for next < upTo {
				r, err := q.PumpApply(ctx, gen.PumpApplyParams{Epoch: epoch, Now: b.o.Now(), Batch: batch(objects[next:min(next+size, upTo)]...)})
				if err != nil {
					return fmt.Errorf("apply from message %d: %w", next+1, err)
				}
				if int(r.DoneUpTo) <= next {
					return fmt.Errorf("message %d is not applied: %s", next+1, r.Outcomes)
				}
				next = int(r.DoneUpTo)
			}
			return nil
		}}
		return s, s.run(1)
	}
}

// same fails when the sides did not leave the same in their databases. Left
// out are versions, which have gaps, and times.
func same(ctx context.Context, sides []*side, conns []*pgx.Conn) error {
	for _, part := range []struct{ what, query string }{
		{"flights", `SELECT (d.document - 'state_version')::text
			FROM msgx.flight_document(ARRAY(SELECT f.flid FROM msgx.flight_schd AS f)) AS d ORDER BY d.flid`},
		{"log", `SELECT (to_jsonb(w) - 'at')::text FROM msgx.flight_write AS w ORDER BY w.msg_id, w.flid, w.seq`},
		{"events", `SELECT jsonb_build_array(e.target, e.partition_key, e.event_type, e.state, e.msg_id, e.payload - 'state_version')::text
			FROM msgx.msg_event AS e ORDER BY e.target, e.msg_id, e.partition_key`},
		{"outcomes", `SELECT jsonb_build_array(p.msg_id, p.state, p.outcome, p.identity_key, p.sndr, p.type, p.styp, p.seqn, extract(epoch FROM p.dttm),
			p.processing_started_at IS NULL, p.finished_at IS NULL, p.backfill_next_at IS NULL)::text FROM msgx.proc_state AS p ORDER BY p.msg_id`},
		{"identities", `SELECT jsonb_build_array(i.identity_key, encode(i.text_hash, 'hex'), i.msg_id, extract(epoch FROM i.dttm))::text
			FROM msgx.proc_identity AS i ORDER BY i.msg_id`},
		{"place", `SELECT done_up_to::text FROM msgx.pipeline_lock`},
	} {
		var want []string
		for i, conn := range conns {
			rows, err := conn.Query(ctx, part.query)
			if err != nil {
				return fmt.Errorf("read the %s of %s: %w", part.what, sides[i].what, err)
			}
			got, err := pgx.CollectRows(rows, pgx.RowTo[string])
			if err != nil {
				return fmt.Errorf("read the %s of %s: %w", part.what, sides[i].what, err)
			}
			if i == 0 {
				want = got
				continue
			}
			for n := range max(len(want), len(got)) {
				if n >= len(want) || n >= len(got) || want[n] != got[n] {
					return fmt.Errorf("the sides differ in their %s, from row %d of %d and %d on:\n%s: %q\n%s: %q", part.what, n+1, len(want), len(got),
						sides[0].what, want[n:min(n+1, len(want))], sides[i].what, got[n:min(n+1, len(got))])
				}
			}
		}
	}
	return nil
}

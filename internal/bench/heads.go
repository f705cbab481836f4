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

// heads measures head selection with little and with much history: the calls
// alternate between the databases, so that the machine's moods hit both.
func (b *bench) heads(ctx context.Context) error {
	what := func(rows int) string { return "head selection with " + strconv.Itoa(rows) + " finished rows" }
	medians := make(map[int]time.Duration)
	var measure func(i int, calls []func() (time.Duration, error)) error
	measure = func(i int, calls []func() (time.Duration, error)) error {
		if i < len(b.o.History) {
			rows := b.o.History[i]
			return b.database(ctx, "head_"+strconv.Itoa(rows), func(conn *pgx.Conn) error {
				call, err := b.headOf(ctx, conn, rows)
				if err != nil {
					return err
				}
				return measure(i+1, append(calls, call))
			})
		}
		times := make([][]time.Duration, len(calls))
		for range b.o.Rounds {
			for j, call := range calls {
				took, err := call()
				if err != nil {
					return err
				}
				times[j] = append(times[j], took)
			}
		}
		for j, rows := range b.o.History {
			slices.Sort(times[j])
			medians[rows] = times[j][len(times[j])/2]
		}
		return nil
	}
	if err := measure(0, nil); err != nil {
		return err
	}
	for i, rows := range b.o.History {
		r := Result{What: what(rows), Value: float64(medians[rows].Microseconds()), Unit: "µs, median"}
		if i > 0 {
			r.Of, r.Budget = what(b.o.History[0]), "at most 1.2"
			r.Ratio = float64(medians[rows]) / float64(medians[b.o.History[0]])
		}
		b.add(r)
	}
	return nil
}

// headOf fills a database with finished rows and some that wait, and returns
// a call that times one pump_next.
func (b *bench) headOf(ctx context.Context, conn *pgx.Conn, rows int) (func() (time.Duration, error), error) {
	const waiting = 200
	epoch, err := enqueue(ctx, conn, 0)
	if err == nil {
		_, err = conn.Exec(ctx, `INSERT INTO msgx.proc_state (msg_id, state, outcome, finished_at, backfill_at, updated_at)
			SELECT g, 'SUCCEEDED', 'applied', now(), now(), now() FROM generate_series(1, $1::bigint) AS g`, rows)
	}
	if err == nil {
		_, err = conn.Exec(ctx, `INSERT INTO msgx.proc_state (msg_id, updated_at) SELECT g, now() FROM generate_series($1::bigint + 1, $1 + $2::bigint) AS g`, rows, waiting)
	}
	if err == nil {
		_, err = conn.Exec(ctx, `UPDATE msgx.inbox_cursor SET committed_up_to = $1::bigint + $2, seen_to = $1::bigint + $2`, rows, waiting)
	}
	if err == nil {
		_, err = conn.Exec(ctx, `UPDATE msgx.pipeline_lock SET done_up_to = $1`, rows)
	}
	if err != nil {
		return nil, fmt.Errorf("load %d finished rows: %w", rows, err)
	}
	q := gen.New(conn)
	return func() (time.Duration, error) {
		began := b.o.Now()
		r, err := q.PumpNext(ctx, gen.PumpNextParams{Epoch: epoch, Now: began})
		took := b.o.Now().Sub(began)
		if err == nil && (len(r.NextIds) == 0 || r.NextIds[0] != int64(rows)+1) {
			err = fmt.Errorf("the head is not message %d but %v", rows+1, r.NextIds)
		}
		if err != nil {
			return 0, fmt.Errorf("select the head: %w", err)
		}
		return took, nil
	}, nil
}

// decode measures the codec on one core.
func (b *bench) decode(context.Context) error {
	c, err := codec()
	if err != nil {
		return err
	}
	long := "<MSG>" + header(1, "FLOP", "REMC") + "<FLOP><FLID>1</FLID><REMC>" + string(slices.Repeat([]byte("雷雨绕飞 "), 140)) + "</REMC></FLOP></MSG>"
	for _, m := range []struct {
		what, text string
		rounds     int
	}{{"decode, FLOP of 2 KB", long, 2000}, {"decode, DNLD of 1000 flights", download(1000), 10}} {
		began := b.o.Now()
		for range m.rounds {
			if _, err := c.Decode([]byte(m.text), began); err != nil {
				return fmt.Errorf("%s: %w", m.what, err)
			}
		}
		b.add(Result{What: m.what, Value: float64(m.rounds*len(m.text)) / 1e6 / b.o.Now().Sub(began).Seconds(), Unit: "MB/s, one core"})
	}
	return nil
}

package bench

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"msgexchange/gen"
)

// inbox measures inbox_advance against a bare insert of the same rows, a
// transaction a page.
func (b *bench) inbox(ctx context.Context) error {
	ids := 5 * b.o.Messages
	return b.databases(ctx, []string{"inbox_50", "inbox_1000"}, func(conns []*pgx.Conn) error {
		var sides []*side
		for i, size := range []int{50, 1000} {
			limit, err := b.bareInsert(ctx, conns[i], size)
			if err != nil {
				return err
			}
			advance, err := b.advance(ctx, conns[i], size)
			if err != nil {
				return err
			}
			sides = append(sides, limit, advance)
		}
		if err := b.race(sides, 0, ids, turns); err != nil {
			return err
		}
		for i, s := range sides {
			r := Result{What: s.what, Value: median(s.rate), Unit: "messages/s"}
			if i%2 == 1 {
				r.Of = sides[i-1].what
			}
			b.add(r)
		}
		for _, conn := range conns {
			var rows, stored, watermark int
			err := conn.QueryRow(ctx, `SELECT (SELECT count(*) FROM public.bare), (SELECT count(*) FROM msgx.proc_state), (SELECT committed_up_to FROM msgx.inbox_cursor)`).
				Scan(&rows, &stored, &watermark)
			if err != nil {
				return fmt.Errorf("count what was enqueued: %w", err)
			}
			if rows != ids || stored != ids || watermark != ids {
				return fmt.Errorf("of %d ids the insert stored %d, inbox_advance %d, its watermark is %d", ids, rows, stored, watermark)
			}
		}
		return nil
	})
}

// page is the ids above done, at most size and up to upTo, with their times.
func page(done, size, upTo int, at time.Time) (ids []int64, received []string) {
	text := at.Format(time.RFC3339Nano)
	for id := done + 1; id <= min(done+size, upTo); id++ {
		ids, received = append(ids, int64(id)), append(received, text)
	}
	return ids, received
}

// bareInsert fills a table like proc_state.
func (b *bench) bareInsert(ctx context.Context, conn *pgx.Conn, size int) (*side, error) {
	if _, err := conn.Exec(ctx, "CREATE TABLE public.bare (LIKE msgx.proc_state INCLUDING ALL) WITH (fillfactor = 60)"); err != nil {
		return nil, fmt.Errorf("make the table of the insert limit: %w", err)
	}
	done := 0
	return &side{what: "limit: bare insert, pages of " + strconv.Itoa(size), run: func(upTo int) error {
		for done < upTo {
			now := b.o.Now()
			ids, received := page(done, size, upTo, now)
			_, err := conn.Exec(ctx, `INSERT INTO public.bare (msg_id, received_at, updated_at)
				SELECT i.id, i.received::timestamptz, $3 FROM unnest($1::bigint[], $2::text[]) AS i (id, received)`, ids, received, now)
			if err != nil {
				return fmt.Errorf("insert above %d: %w", done, err)
			}
			done += len(ids)
		}
		return nil
	}}, nil
}

// advance enqueues by inbox_advance.
func (b *bench) advance(ctx context.Context, conn *pgx.Conn, size int) (*side, error) {
	epoch, err := lease(ctx, conn)
	if err != nil {
		return nil, err
	}
	q := gen.New(conn)
	done, seq := 0, int64(0)
	return &side{what: "inbox_advance, pages of " + strconv.Itoa(size), run: func(upTo int) error {
		for done < upTo {
			now := b.o.Now()
			ids, received := page(done, size, upTo, now)
			r, err := q.InboxAdvance(ctx, gen.InboxAdvanceParams{Epoch: epoch, PollSeq: seq, Ids: ids, Received: received, ReadStarted: now, Now: now})
			if err != nil {
				return fmt.Errorf("advance above %d: %w", done, err)
			}
			if int(r.Watermark) != done+len(ids) {
				return fmt.Errorf("advance above %d by %d: the watermark is %d", done, len(ids), r.Watermark)
			}
			done, seq = int(r.Watermark), r.PollSeq
		}
		return nil
	}}, nil
}

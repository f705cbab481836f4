package bench

import (
	"context"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"

	"msgexchange/gen"
	"msgexchange/internal/sis"
)

const (
	scheduleSize   = 1000 // flights of a schedule message
	scheduleRounds = 9
)

// schedule measures one call of pump_apply for a whole schedule: of flights that
// are new, of the same flights as they are, of the same flights at other gates.
// The limit is to store the same records as they come.
func (b *bench) schedule(ctx context.Context) error {
	c, err := codec()
	if err != nil {
		return err
	}
	return b.database(ctx, "schedule", func(conn *pgx.Conn) error {
		epoch, err := lease(ctx, conn)
		if err != nil {
			return err
		}
		if _, err := conn.Exec(ctx, "CREATE TABLE public.record (r jsonb)"); err != nil {
			return fmt.Errorf("make the table of the schedule limit: %w", err)
		}
		kinds := []struct{ what, styp, gate string }{
			{"new flights", "DNLD", "E5"}, {"flights as they are", "RESP", "E5"}, {"flights at other gates", "ADFT", "E6"},
		}
		if err := enqueue(ctx, conn, 1, scheduleRounds*len(kinds)); err != nil {
			return err
		}
		const limit = "limit: 1000 records into a bare table"
		took := map[string][]float64{} // milliseconds
		timed := func(what string, do func() error) error {
			began := b.o.Now()
			if err := do(); err != nil {
				return fmt.Errorf("%s: %w", what, err)
			}
			took[what] = append(took[what], micros(b.o.Now().Sub(began))/1e3)
			return nil
		}
		id := int64(0)
		for round := range scheduleRounds {
			for _, k := range kinds {
				id++
				text := scheduleOf(k.styp, int(id), 1+round*scheduleSize, scheduleSize, k.gate)
				m, err := c.Decode([]byte(text), b.o.Now())
				if err != nil {
					return fmt.Errorf("decode the schedule of %s: %w", k.what, err)
				}
				arg := batch(decoded{message: m, hash: sis.Hash([]byte(text))}.object(id))
				if k.styp == "DNLD" {
					if err := timed(limit, func() error {
						_, err := conn.Exec(ctx, "INSERT INTO public.record SELECT jsonb_array_elements($1::jsonb -> 0 -> 'records')", arg)
						return err
					}); err != nil {
						return err
					}
				}
				if err := timed(k.what, func() error {
					r, err := gen.New(conn).PumpApply(ctx, gen.PumpApplyParams{Epoch: epoch, Now: b.o.Now(), Batch: arg})
					if err == nil && r.DoneUpTo != id {
						err = fmt.Errorf("message %d is not applied: %s", id, r.Outcomes)
					}
					return err
				}); err != nil {
					return err
				}
			}
		}
		b.add(Result{What: limit, Value: median(took[limit]), Unit: "ms, median"})
		for _, k := range kinds {
			b.add(Result{What: "schedule of " + strconv.Itoa(scheduleSize) + " " + k.what, Value: median(took[k.what]), Unit: "ms, median", Of: limit, Budget: "under 1000 ms"})
		}
		return nil
	})
}

// Package bench measures the product on the machine at hand. Figures of
// different machines cannot be compared, so each is also given as a ratio to a
// limit that is measured in the same run.
package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5"

	"msgexchange/internal/migrate"
)

// Options say what to measure with.
type Options struct {
	PGURL    string // superuser of a private server
	Messages int    // messages of each run of the pump
	Flights  int
	History  []int // finished rows at which head selection is measured, ascending
	Rounds   int   // calls of each of these measurements
	Now      func() time.Time
}

// Result is one figure.
type Result struct {
	What   string  `json:"what"`
	Value  float64 `json:"value"`
	Unit   string  `json:"unit"`
	Ratio  float64 `json:"ratio,omitempty"` // to Of
	Of     string  `json:"of,omitempty"`
	Budget string  `json:"budget,omitempty"`
}

// Run measures everything, in order.
func Run(ctx context.Context, o Options) ([]Result, error) {
	b := &bench{o: o}
	for _, step := range []func(context.Context) error{b.commits, b.pump, b.heads, b.decode} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return b.results, nil
}

type bench struct {
	o       Options
	results []Result
}

func (b *bench) add(r Result) { b.results = append(b.results, r) }

// value returns a figure measured before.
func (b *bench) value(what string) float64 {
	for _, r := range b.results {
		if r.What == what {
			return r.Value
		}
	}
	return 0
}

// database makes a fresh migrated database and runs do on one connection.
func (b *bench) database(ctx context.Context, name string, do func(*pgx.Conn) error) (err error) {
	u, err := url.Parse(b.o.PGURL)
	if err != nil {
		return fmt.Errorf("PostgreSQL's URL: %w", err)
	}
	admin, err := pgx.Connect(ctx, b.o.PGURL)
	if err != nil {
		return fmt.Errorf("connect to PostgreSQL: %w", err)
	}
	defer func() { err = errors.Join(err, admin.Close(context.WithoutCancel(ctx))) }()
	name = "msgx_bench_" + name
	drop := "DROP DATABASE IF EXISTS " + name + " WITH (FORCE)"
	for _, statement := range []string{drop, "CREATE DATABASE " + name} {
		if _, err := admin.Exec(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	defer func() {
		if _, derr := admin.Exec(context.WithoutCancel(ctx), drop); derr != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", drop, derr))
		}
	}()
	u.Path = "/" + name
	if err := migrate.Up(ctx, u.String(), slog.New(slog.DiscardHandler)); err != nil {
		return err
	}
	conn, err := pgx.Connect(ctx, u.String())
	if err != nil {
		return fmt.Errorf("connect to PostgreSQL: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	return do(conn)
}

// commits measures what the machine can commit: one small update each.
func (b *bench) commits(ctx context.Context) error {
	return b.database(ctx, "limits", func(conn *pgx.Conn) error {
		if _, err := conn.Exec(ctx, "CREATE TABLE public.tick (n integer); INSERT INTO public.tick VALUES (0)"); err != nil {
			return fmt.Errorf("make the table of the commit limit: %w", err)
		}
		n := b.o.Messages / 10
		began := b.o.Now()
		for range n {
			if _, err := conn.Exec(ctx, "UPDATE public.tick SET n = n + 1"); err != nil {
				return fmt.Errorf("measure commits: %w", err)
			}
		}
		b.add(Result{What: limitCommits, Value: float64(n) / b.o.Now().Sub(began).Seconds(), Unit: "commits/s"})
		return nil
	})
}

const limitCommits = "limit: commits of one small update"

// Table prints results.
func Table(out io.Writer, results []Result) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "measured\tvalue\tunit\tratio\tto\tbudget")
	for _, r := range results {
		ratio := ""
		if r.Of != "" {
			ratio = fmt.Sprintf("%.2f", r.Ratio)
		}
		fmt.Fprintf(w, "%s\t%.4g\t%s\t%s\t%s\t%s\n", r.What, r.Value, r.Unit, ratio, r.Of, r.Budget)
	}
	return w.Flush()
}

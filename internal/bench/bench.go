// Package bench measures the product on the machine at hand. Figures of
// different machines cannot be compared, so each is also given as a ratio to a
// limit, or to another way of doing the same, measured in the same run.
package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"runtime"
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
	History  []int // finished messages at which head selection is measured, ascending
	Rounds   int   // calls of each of these measurements
	Now      func() time.Time
}

// Report is a run: on what, and its figures.
type Report struct {
	Cores      int      `json:"cores"` // that this process may use
	PostgreSQL string   `json:"postgresql"`
	Fsync      string   `json:"fsync"`
	Results    []Result `json:"results"`
}

// Result is one figure.
type Result struct {
	What   string  `json:"what"`
	Value  float64 `json:"value"`
	Unit   string  `json:"unit"`
	Ratio  float64 `json:"ratio,omitempty"` // Value to that of Of
	Of     string  `json:"of,omitempty"`
	Budget string  `json:"budget,omitempty"` // of Ratio, or of Value where it has a unit
}

// Run measures everything, in order.
func Run(ctx context.Context, o Options) (Report, error) {
	b := &bench{o: o, report: Report{Cores: runtime.GOMAXPROCS(0)}}
	for _, step := range []func(context.Context) error{b.machine, b.pump, b.heads, b.inbox, b.schedule, b.decode} {
		if err := step(ctx); err != nil {
			return Report{}, err
		}
	}
	return b.report, nil
}

type bench struct {
	o      Options
	report Report
}

// add records a figure; what its Of names was added before.
func (b *bench) add(r Result) {
	for _, other := range b.report.Results {
		if other.What == r.Of {
			r.Ratio = r.Value / other.Value
		}
	}
	b.report.Results = append(b.report.Results, r)
}

// machine asks the server what it is.
func (b *bench) machine(ctx context.Context) (err error) {
	conn, err := pgx.Connect(ctx, b.o.PGURL)
	if err != nil {
		return fmt.Errorf("connect to PostgreSQL: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	err = conn.QueryRow(ctx, "SELECT current_setting('server_version'), current_setting('fsync')").Scan(&b.report.PostgreSQL, &b.report.Fsync)
	if err != nil {
		return fmt.Errorf("ask PostgreSQL for its version: %w", err)
	}
	return nil
}

// databases makes fresh migrated databases and runs do with a connection to
// each, in order.
func (b *bench) databases(ctx context.Context, names []string, do func([]*pgx.Conn) error) error {
	var next func(conns []*pgx.Conn) error
	next = func(conns []*pgx.Conn) error {
		if len(conns) == len(names) {
			return do(conns)
		}
		return b.database(ctx, names[len(conns)], func(conn *pgx.Conn) error { return next(append(conns, conn)) })
	}
	return next(nil)
}

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

// Table prints a report.
func Table(out io.Writer, report Report) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintf(w, "%d cores, PostgreSQL %s, fsync %s\n\n", report.Cores, report.PostgreSQL, report.Fsync)
	fmt.Fprintln(w, "measured\tvalue\tunit\tratio\tto\tbudget")
	for _, r := range report.Results {
		ratio := ""
		if r.Of != "" {
			ratio = fmt.Sprintf("%.2f", r.Ratio)
		}
		fmt.Fprintf(w, "%s\t%.4g\t%s\t%s\t%s\t%s\n", r.What, r.Value, r.Unit, ratio, r.Of, r.Budget)
	}
	return w.Flush()
}

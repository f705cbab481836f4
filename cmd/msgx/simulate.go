package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	_ "time/tzdata" // the airport's zone, also where the host has none

	"github.com/spf13/cobra"

	"msgexchange/internal/simulate"
)

// simulateFlags are what `msgx simulate` was asked for.
type simulateFlags struct {
	dsn         string
	createTable bool
	rate        float64
	steady      bool
	expect      string
	day, zone   string
	faults      map[string]int
	opts        simulate.Options
}

func newSimulateCmd() *cobra.Command {
	var f simulateFlags
	cmd := &cobra.Command{
		Use:   "simulate",
		Short: "Write a realistic airport day into a mailbox",
		Long: `Write a realistic airport day into a mailbox: the schedule in the morning, then
events, additions and deletions through the day. Equal flags write equal bytes.

With --expect it also writes what must come of it, from a model of its own: the
outcome of every message and the final document of every flight. Message ids are
those the mailbox gave.`,
		Example: `  msgx simulate --mysql-dsn 'user:secret@tcp(127.0.0.1:3306)/mailbox' \
      --messages 20000 --holes 200 --late-commits 20 --bad-per-mille 10 --expect expected.jsonl
  msgx simulate --mysql-dsn … --steady --rate 20 --day 2026-12-02`,
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.run(cmd.Context(), cmd.OutOrStdout())
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&f.dsn, "mysql-dsn", "", "the mailbox: `DSN` of its database, for an account that may insert")
	fs.BoolVar(&f.createTable, "create-table", false, "create the mailbox table unless there is one")
	fs.IntVar(&f.opts.Messages, "messages", 20000, "messages of one operating day")
	fs.IntVar(&f.opts.Flights, "flights", 400, "flights in a day's schedule")
	fs.Uint64Var(&f.opts.Seed, "seed", 1, "what all chance comes from")
	fs.IntVar(&f.opts.SEQN, "start-seqn", 1, "sequence number of the first message, 1..999999")
	fs.StringVar(&f.day, "day", simulate.DefaultDay.Format(time.DateOnly), "the operating day, `YYYY-MM-DD`")
	fs.StringVar(&f.zone, "zone", "Asia/Shanghai", "time zone of the airport")
	fs.Float64Var(&f.rate, "rate", 0, "messages a second; 0 is as fast as possible")
	fs.BoolVar(&f.steady, "steady", false, "go on day after day until interrupted")
	fs.IntVar(&f.opts.Holes, "holes", 0, "ids used up by rolled-back transactions, over a day")
	fs.IntVar(&f.opts.LateCommits, "late-commits", 0, "messages that commit after later ones, over a day")
	fs.DurationVar(&f.opts.LateBound, "late-bound", 500*time.Millisecond, "longest wait of a late commit; keep it below the reader's patience with holes")
	fs.IntVar(&f.opts.BadPerMille, "bad-per-mille", 0, "faulty messages per 1000, all classes alike")
	fs.StringToIntVar(&f.faults, "faults", nil, "faulty messages per 1000 by `class=n,…`, beside those: "+classNames())
	fs.StringVar(&f.expect, "expect", "", "`file` to write the expected result to, as JSON lines")
	return cmd
}

func classNames() string {
	var names []string
	for _, c := range simulate.Classes() {
		names = append(names, string(c))
	}
	return strings.Join(names, ", ")
}

// fill completes the options from the flags that need reading.
func (f *simulateFlags) fill() error {
	if f.dsn == "" {
		return errors.New("--mysql-dsn is needed: the database that holds the mailbox")
	}
	if f.rate < 0 {
		return fmt.Errorf("--rate %g: a rate is not negative", f.rate)
	}
	if f.steady && f.expect != "" {
		return errors.New("--expect needs an end, --steady has none")
	}
	var err error
	if f.opts.Day, err = time.Parse(time.DateOnly, f.day); err != nil {
		return fmt.Errorf("--day: %w", err)
	}
	if f.opts.Zone, err = time.LoadLocation(f.zone); err != nil {
		return fmt.Errorf("--zone: %w", err)
	}
	f.opts.Faults = map[simulate.Class]int{}
	for name, n := range f.faults {
		f.opts.Faults[simulate.Class(name)] = n
	}
	return nil
}

func (f *simulateFlags) run(ctx context.Context, out io.Writer) (err error) {
	if err := f.fill(); err != nil {
		return err
	}
	g, err := simulate.New(f.opts)
	if err != nil {
		return err
	}
	w, err := simulate.Open(f.dsn, time.Now)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	if f.createTable {
		if err := w.CreateTable(ctx); err != nil {
			return err
		}
	}
	w.Rate = f.rate
	if f.steady {
		stats, err := w.Steady(ctx, g, nil)
		return errors.Join(err, printStats(out, stats))
	}
	return f.writeDay(ctx, out, w, g.Day())
}

// writeDay writes one day, and what must come of it.
func (f *simulateFlags) writeDay(ctx context.Context, out io.Writer, w *simulate.Writer, items iter.Seq[simulate.Item]) error {
	m := simulate.NewModel(f.opts.Zone)
	faults := map[string]int{}
	stats, err := w.Write(ctx, items, func(id int64, item simulate.Item) error {
		m.Apply(id, item)
		if !item.Fault.Sound() {
			faults[string(item.Fault.Class)]++
		}
		return nil
	})
	if err := errors.Join(err, printStats(out, stats)); err != nil {
		return err
	}
	e, err := m.Expected()
	if err != nil {
		return err
	}
	if f.expect != "" {
		if err := saveExpected(f.expect, e); err != nil {
			return err
		}
	}
	return printExpected(out, e, faults)
}

func saveExpected(name string, e *simulate.Expected) (err error) {
	file, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("write the expected result: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return e.Save(file)
}

func printStats(out io.Writer, s simulate.Stats) error {
	perSecond := float64(s.Rows) / max(s.Elapsed.Seconds(), 0.001)
	_, err := fmt.Fprintf(out, "wrote %d messages (%.1f MB), ids %d to %d, %d ids rolled back, %d late commits, in %s (%.0f/s)\n",
		s.Rows, float64(s.Bytes)/1e6, s.FirstID, s.LastID, s.Burnt, s.Late, s.Elapsed.Round(time.Millisecond), perSecond)
	return err
}

func printExpected(out io.Writer, e *simulate.Expected, faults map[string]int) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	rows := []string{fmt.Sprintf("flights\t%d active, %d deleted", e.Active, e.Deleted),
		fmt.Sprintf("change events\t%d, of them %d deletions", e.MsgEvents, e.Deletes)}
	for _, c := range e.Counts() {
		rows = append(rows, fmt.Sprintf("%s\t%d", c.End, c.N))
	}
	for _, class := range slices.Sorted(maps.Keys(faults)) {
		rows = append(rows, fmt.Sprintf("faulty on purpose: %s\t%d", class, faults[class]))
	}
	for _, row := range rows {
		if _, err := fmt.Fprintln(t, row); err != nil {
			return err
		}
	}
	return t.Flush()
}

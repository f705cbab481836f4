// Package demo runs the whole product on a day of simulated traffic and checks
// flights, outcomes, Kafka and marks against an answer that none of it gave.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"msgexchange/internal/simulate"
)

// Options say what to run and where.
type Options struct {
	PGURL    string // superuser of a private server
	MySQLDSN string // all privileges on a private server
	Dir      string // holds configuration, log and the embedded broker's data; emptied first
	Binary   string // the msgx to run as daemon

	Messages    int
	Flights     int
	Seed        uint64
	Holes       int
	LateCommits int
	BadPerMille int
	Timeout     time.Duration // longest wait for everything to be done
	Steady      bool          // go on with steady traffic after the checks, until ctx ends

	Out io.Writer
	Now func() time.Time
}

// steadyRate is the traffic of Steady, in messages a second.
const steadyRate = 20

// ErrFailed reports that a check did not hold.
var ErrFailed = errors.New("the demo's checks do not all hold")

// Run does it. Errors: ErrFailed, or what kept it from running.
func Run(ctx context.Context, o Options) (err error) {
	began := o.Now()
	place, err := prepare(ctx, o)
	if err != nil {
		return err
	}
	defer place.close()
	day, err := simulate.New(simulate.Options{
		Seed: o.Seed, Messages: o.Messages, Flights: o.Flights, Zone: place.zone,
		Holes: o.Holes, LateCommits: o.LateCommits, BadPerMille: o.BadPerMille,
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(o.Out, "ready after %s; %d messages over %d flights, %d rolled-back ids, %d late commits, %d of 1000 bad\n",
		o.Now().Sub(began).Round(time.Millisecond), o.Messages, o.Flights, o.Holes, o.LateCommits, o.BadPerMille)

	daemon, err := place.startDaemon(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, daemon.stop()) }()

	began = o.Now()
	expected, stats, err := place.write(ctx, day, daemon)
	if err != nil {
		return err
	}
	took, err := place.settle(ctx, stats, daemon, began)
	if err != nil {
		return err
	}
	results, err := place.check(ctx, expected, stats)
	if err != nil {
		return err
	}
	ok := table(o.Out, results)
	fmt.Fprintf(o.Out, "\n%d messages in %s, %.0f a second, with servers, simulator and daemon on this machine\n",
		stats.Rows, took.Round(10*time.Millisecond), float64(stats.Rows)/took.Seconds())
	fmt.Fprintf(o.Out, "look around:  psql '%s' -c 'select * from msgx.v_status' -x\n", place.pgURL)
	fmt.Fprintf(o.Out, "daemon's log: %s\n", place.logFile)
	if !ok {
		return ErrFailed
	}
	if o.Steady {
		return place.steady(ctx, day, daemon)
	}
	return nil
}

// emptyDir makes an empty folder of ours.
func emptyDir(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("folder of the demo: %w", err)
	}
	if err := os.RemoveAll(dir); err != nil {
		return "", fmt.Errorf("empty the demo's folder: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("make the demo's folder: %w", err)
	}
	return dir, nil
}

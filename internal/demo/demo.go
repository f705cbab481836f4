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
	Trouble     Trouble
	Rate        float64 // messages written a second; 0: as fast as possible
	Steady      bool    // go on with steady traffic after the checks, until ctx ends

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

	place.writer.Rate = o.Rate
	if o.Trouble.any() {
		return place.troubled(ctx, day)
	}
	var env []string
	if o.Rate > 0 {
		env = []string{"MSGX_LOG_LEVEL=debug"} // every message's own line, for latency
	}
	daemon, err := place.startDaemon(ctx, env...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, daemon.stop()) }()

	began = o.Now()
	expected, stats, err := place.write(ctx, day, daemon.alive, newParking())
	if err != nil {
		return err
	}
	took, err := place.settle(ctx, stats, daemon.alive, began)
	if err != nil {
		return err
	}
	if err := place.conclude(ctx, expected, stats, took); err != nil {
		return err
	}
	if o.Rate > 0 {
		if err := place.latency(); err != nil {
			return err
		}
	}
	if o.Steady {
		return place.steady(ctx, day, daemon)
	}
	return nil
}

// troubled runs the day with two daemons while the plan's blows fall on them and
// on the servers.
func (p *place) troubled(ctx context.Context, day *simulate.Generator) (err error) {
	team, err := p.assemble(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, team.stop()) }()
	began := p.o.Now()
	blows := make(chan error, 1)
	go func() { blows <- team.afflict(ctx) }()
	expected, stats, err := p.write(ctx, day, team.alive, team.parked)
	if berr := <-blows; berr != nil || err != nil {
		return errors.Join(err, berr)
	}
	took, err := p.settle(ctx, stats, team.alive, began)
	if err != nil {
		return err
	}
	team.summary()
	return p.conclude(ctx, expected, stats, took)
}

// conclude checks everything and tells. Errors: ErrFailed.
func (p *place) conclude(ctx context.Context, expected *simulate.Expected, stats simulate.Stats, took time.Duration) error {
	results, err := p.check(ctx, expected, stats)
	if err != nil {
		return err
	}
	ok := table(p.o.Out, results)
	fmt.Fprintf(p.o.Out, "\n%d messages in %s, %.0f a second, with servers, simulator and daemon on this machine\n",
		stats.Rows, took.Round(10*time.Millisecond), float64(stats.Rows)/took.Seconds())
	fmt.Fprintf(p.o.Out, "look around:  psql '%s' -c 'select * from msgx.v_status' -x\n", p.pgURL)
	fmt.Fprintf(p.o.Out, "daemon's log: %s\n", p.logFile)
	if !ok {
		return ErrFailed
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

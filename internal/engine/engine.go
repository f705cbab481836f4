// Package engine is the driver: loops that call the SQL that owns all state,
// and carry bytes between MySQL, PostgreSQL and Kafka.
//
// The path of a message: poller → inbox_advance → pump (window, decode) →
// pump_apply → dispatcher and flusher → Kafka; backfill → the mark.
package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"msgexchange/gen"
	"msgexchange/internal/config"
	"msgexchange/internal/dberr"
	"msgexchange/internal/kafka"
	"msgexchange/internal/mailbox"
	"msgexchange/internal/sis"
)

// stopGrace is what a step in flight gets after the signal to stop; with the
// release of the lease a clean stop stays below 5 s.
const stopGrace = 3 * time.Second

// Parts is what an Engine works with. The caller opens and closes them.
type Parts struct {
	Pool     *pgxpool.Pool // the loops' connections
	Renewal  *pgxpool.Pool // the lease's own connection
	Mailbox  *mailbox.Mailbox
	Producer *kafka.Producer
	Log      *slog.Logger
	Mono     Monotonic
}

// Engine is one active instance.
type Engine struct {
	cfg      config.Config
	q        *gen.Queries
	renewal  *pgxpool.Pool
	box      *mailbox.Mailbox
	producer *kafka.Producer
	decoder  decoder
	log      *slog.Logger
	mono     Monotonic
	clock    *clock
	epoch    int64         // of the present term, or of the last one
	former   []int64       // earlier epochs of this process whose run may still be on record
	jump     time.Duration // a jump of PostgreSQL's clock that the waits have to follow

	pumpWake       chan struct{}
	dispatcherWake chan struct{}
}

// Codec makes the codec that the configuration asks for.
func Codec(cfg config.Config) *sis.Codec {
	return sis.New(sis.Options{
		Zone: cfg.OperationDay.Zone, MaxBytes: int(cfg.SIS.MaxBytes), MaxDepth: cfg.SIS.MaxDepth,
		ErutMerge: cfg.SIS.ErutMerge, RefuseEmptyList: cfg.SIS.RefuseEmptyList,
	})
}

// New makes an engine. It does not touch any server.
func New(cfg config.Config, p Parts) *Engine {
	return &Engine{
		cfg: cfg, q: gen.New(p.Pool), renewal: p.Renewal, box: p.Mailbox, producer: p.Producer,
		decoder: newDecoder(Codec(cfg)), log: p.Log, mono: p.Mono, clock: &clock{mono: p.Mono},
		pumpWake: make(chan struct{}, 1), dispatcherWake: make(chan struct{}, 1),
	}
}

// Run is the active instance whenever no other is, until ctx ends (nil): it
// waits as standby, turns the loops, and waits again when it lost the lease.
// Errors: only what waiting cannot mend, as settings the database refuses.
func (e *Engine) Run(ctx context.Context) error {
	for {
		err := e.serve(ctx)
		switch {
		case ctx.Err() != nil:
			// What the signal to stop cut short is no failure.
			if err != nil {
				e.log.InfoContext(ctx, "stopped while a call was under way", "err", err)
			}
			return nil
		case dberr.IsRefusal(err):
			return err
		}
		e.log.ErrorContext(ctx, "not active any more", "epoch", e.epoch, "err", err)
		if !pause(ctx, nil, standbyEvery, 0) {
			return nil
		}
	}
}

// serve is one term: from the lease acquired to its end.
func (e *Engine) serve(ctx context.Context) error {
	if err := e.acquire(ctx); err != nil {
		return err
	}
	defer e.release(ctx)
	err := e.turn(ctx)
	var jump clockJump
	if errors.As(err, &jump) {
		e.jump += jump.by
	}
	return err
}

// turn gets ready and turns the loops until ctx ends or the lease is lost.
func (e *Engine) turn(ctx context.Context) error {
	if err := e.ready(ctx); err != nil {
		return err
	}
	// A step in flight may end after the signal; then it is cut. When the lease
	// is lost it is cut at once: nothing more goes out to MySQL or Kafka.
	work, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	stop := context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(stopGrace, cut)
		context.AfterFunc(work, func() { timer.Stop() })
	})
	defer stop()

	group, groupCtx := errgroup.WithContext(ctx)
	run := func(f func() error) {
		group.Go(func() error {
			err := f()
			if err != nil {
				cut()
			}
			return err
		})
	}
	run(func() error { return e.renew(groupCtx, e.renewal) })
	for _, l := range e.loops() {
		run(func() error { return e.runLoop(groupCtx, work, l) })
	}
	return group.Wait()
}

// ready settles what an earlier term of this process left: the clock that
// jumped, and runs that it gave up without having died on them.
func (e *Engine) ready(ctx context.Context) error {
	e.clock.forget()
	if err := e.syncClock(ctx); err != nil {
		return err
	}
	call, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if e.jump != 0 {
		if err := e.q.ClockShift(call, gen.ClockShiftParams{Epoch: e.epoch, By: e.jump}); err != nil {
			return fmt.Errorf("move the waits along with the clock by %s: %w", e.jump, err)
		}
		e.log.WarnContext(ctx, "waits moved along with the clock", "by", e.jump)
		e.jump = 0
	}
	for len(e.former) > 0 {
		if err := e.q.PumpPutBack(call, gen.PumpPutBackParams{Epoch: e.epoch, RunEpoch: e.former[0]}); err != nil {
			return fmt.Errorf("put the run of epoch %d back: %w", e.former[0], err)
		}
		e.former = e.former[1:]
	}
	return nil
}

func (e *Engine) loops() []loop {
	poll := e.cfg.Pipeline.PollInterval
	pumping := &pump{e: e, window: newWindow(e), missing: make(map[int64]time.Time)}
	seen := &look{mono: e.mono, since: e.mono()}
	return []loop{
		{name: "poller", idle: poll, step: seen.by(e.afterCutover((&poller{e: e, seq: -1}).step)), braked: seen.taken},
		{name: "pump", idle: poll, wake: e.pumpWake, step: seen.before(pumping.step)},
		{name: "dispatcher", idle: poll, wake: e.dispatcherWake, step: (&dispatcher{checked: checked{e: e, topic: e.topic("msg")}}).step},
		{name: "flusher", idle: e.cfg.Schd.FlushPeriod, step: (&flusher{checked: checked{e: e, topic: e.topic("schd")}}).step},
		{name: "backfill", idle: e.cfg.Pipeline.BackfillPeriod, step: seen.before(backfill{e}.step)},
	}
}

// syncClock takes a reading of PostgreSQL's clock.
// Errors: clockJump; PostgreSQL's.
func (e *Engine) syncClock(ctx context.Context) error {
	call, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	began := e.mono()
	now, err := e.q.Clock(call)
	if err != nil {
		return fmt.Errorf("read PostgreSQL's clock: %w", err)
	}
	return e.clock.read(began, now)
}

// topic returns the full name of a topic.
func (e *Engine) topic(name string) string { return e.cfg.Kafka.TopicPrefix + name }

// source is the CloudEvents source of this instance.
func (e *Engine) source() string { return "/msgexchange/" + e.cfg.Instance }

// Package engine is the driver: loops that call the SQL that owns all state,
// and carry bytes between MySQL, PostgreSQL and Kafka.
//
// The path of a message: poller → inbox_advance → pump (window, decode) →
// pump_apply → dispatcher and flusher → Kafka; backfill → the mark.
package engine

import (
	"context"
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
	epoch    int64

	pumpWake       chan struct{}
	dispatcherWake chan struct{}
}

// New makes an engine. It does not touch any server.
func New(cfg config.Config, p Parts) *Engine {
	codec := sis.New(sis.Options{
		Zone: cfg.OperationDay.Zone, MaxBytes: int(cfg.SIS.MaxBytes), MaxDepth: cfg.SIS.MaxDepth,
		ErutMerge: cfg.SIS.ErutMerge, RefuseEmptyList: cfg.SIS.RefuseEmptyList,
	})
	return &Engine{
		cfg: cfg, q: gen.New(p.Pool), renewal: p.Renewal, box: p.Mailbox, producer: p.Producer,
		decoder: newDecoder(codec), log: p.Log, mono: p.Mono, clock: &clock{mono: p.Mono},
		pumpWake: make(chan struct{}, 1), dispatcherWake: make(chan struct{}, 1),
	}
}

// Run acquires the lease and turns the loops until ctx ends (nil).
// Errors: ErrStandby when another instance is active; the loss of the lease.
func (e *Engine) Run(ctx context.Context) error {
	err := e.acquire(ctx)
	if err == nil {
		err = e.turn(ctx)
		e.release(ctx)
	}
	// What the signal to stop cut short is no failure.
	if err != nil && ctx.Err() != nil && !dberr.IsFenced(err) {
		e.log.InfoContext(ctx, "stopped while a call was under way", "err", err)
		return nil
	}
	return err
}

// turn gets ready and turns the loops until ctx ends or the lease is lost.
func (e *Engine) turn(ctx context.Context) error {
	if err := e.syncClock(ctx); err != nil {
		return err
	}
	if err := e.cutover(ctx); err != nil {
		return err
	}
	// A step in flight may end after the signal; then it is cut.
	work, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	stop := context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(stopGrace, cut)
		context.AfterFunc(work, func() { timer.Stop() })
	})
	defer stop()

	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() error { return e.renew(groupCtx, e.renewal) })
	for _, l := range e.loops() {
		group.Go(func() error { return e.runLoop(groupCtx, work, l) })
	}
	return group.Wait()
}

func (e *Engine) loops() []loop {
	poll := e.cfg.Pipeline.PollInterval
	pumping := &pump{e: e, window: newWindow(e), missing: make(map[int64]time.Time)}
	return []loop{
		{name: "poller", idle: poll, step: (&poller{e: e, seq: -1}).step},
		{name: "pump", idle: poll, wake: e.pumpWake, step: pumping.step},
		{name: "dispatcher", idle: poll, wake: e.dispatcherWake, step: (&dispatcher{checked: checked{e: e, topic: e.topic("msg")}}).step},
		{name: "flusher", idle: e.cfg.Schd.FlushPeriod, step: (&flusher{checked: checked{e: e, topic: e.topic("schd")}}).step},
		{name: "backfill", idle: e.cfg.Pipeline.BackfillPeriod, step: backfill{e}.step},
	}
}

// syncClock takes a reading of PostgreSQL's clock.
func (e *Engine) syncClock(ctx context.Context) error {
	call, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	now, err := e.q.Clock(call)
	if err != nil {
		return fmt.Errorf("read PostgreSQL's clock: %w", err)
	}
	e.clock.set(now)
	return nil
}

// topic returns the full name of a topic.
func (e *Engine) topic(name string) string { return e.cfg.Kafka.TopicPrefix + name }

// source is the CloudEvents source of this instance.
func (e *Engine) source() string { return "/msgexchange/" + e.cfg.Instance }

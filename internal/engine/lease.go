package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"msgexchange/gen"
	"msgexchange/internal/dberr"
)

// ErrStandby reports that another instance holds the lease.
var ErrStandby = errors.New("another instance is active")

// errLeaseLost ends the loops when the lease could not be renewed in time.
var errLeaseLost = errors.New("the lease was lost")

// standbyEvery is how often a standby looks whether it may take over: with the
// waits of lease_acquire well within the 5 s promised after the lease's end.
const standbyEvery = time.Second

// acquire waits until this is the active instance, and loads the rules'
// parameters. What it waits for is logged whenever it changes.
// Errors: ctx ended; the database refuses the settings.
func (e *Engine) acquire(ctx context.Context) error {
	settings, err := json.Marshal(e.cfg.Settings())
	if err != nil {
		return fmt.Errorf("encode the settings: %w", err)
	}
	var waiting string
	for {
		err := e.tryAcquire(ctx, settings)
		if err == nil {
			return nil
		}
		if dberr.IsRefusal(err) {
			return err
		}
		if why := reason(err); why != waiting {
			waiting = why
			e.log.WarnContext(ctx, "standby", "reason", why)
		}
		if !pause(ctx, nil, standbyEvery, 0) {
			return ctx.Err()
		}
	}
}

// tryAcquire asks for the lease once.
// Errors: ErrStandby, or PostgreSQL's.
func (e *Engine) tryAcquire(ctx context.Context, settings []byte) error {
	// Not cut by a stop: a lease that was acquired unseen could not be released.
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopGrace)
	defer cancel()
	arg := gen.LeaseAcquireParams{
		Holder: e.cfg.Instance, Ttl: e.cfg.Lease.TTL, Settings: settings, Autostart: e.cfg.Pipeline.Autostart,
	}
	if e.epoch > 0 {
		arg.Former = &e.epoch
	}
	rows, err := e.q.LeaseAcquire(call, arg)
	switch {
	case dberr.IsLocked(err):
		return e.evict(ctx, err)
	case err != nil:
		return fmt.Errorf("acquire the lease: %w", err)
	case len(rows) == 0:
		holder, err := e.q.LeaseHolder(call)
		if err != nil {
			return fmt.Errorf("ask who holds the lease: %w", err)
		}
		return fmt.Errorf("%w: %s, epoch %d", ErrStandby, value(holder.Holder), holder.Epoch)
	}
	if e.epoch > 0 {
		e.former = append(e.former, e.epoch)
	}
	e.epoch = rows[0].Epoch
	e.log.InfoContext(ctx, "lease acquired", "epoch", e.epoch)
	return nil
}

// evict ends sessions of the dead epoch that hold the lease's row.
func (e *Engine) evict(ctx context.Context, locked error) error {
	call, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	ended, err := e.q.LeaseEvict(call)
	if err != nil {
		return fmt.Errorf("end the sessions of the dead epoch: %w", err)
	}
	for _, session := range ended {
		e.log.WarnContext(ctx, "ended a session of the dead epoch", "session", session)
	}
	return fmt.Errorf("acquire the lease: %w", locked)
}

// renew prolongs the lease on a connection of its own until ctx ends, and
// watches PostgreSQL's clock. It gives up before the lease can end.
// Errors: errLeaseLost, clockJump.
func (e *Engine) renew(ctx context.Context, pool *pgxpool.Pool) error {
	ttl := e.cfg.Lease.TTL
	every := ttl / 3
	good := e.mono()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		call, cancel := context.WithTimeout(ctx, every)
		began := e.mono()
		rows, err := gen.New(pool).LeaseRenew(call, gen.LeaseRenewParams{Epoch: e.epoch, Ttl: ttl, HostClock: began})
		cancel()
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil && len(rows) == 0:
			return fmt.Errorf("%w: another instance took over from epoch %d", errLeaseLost, e.epoch)
		case err == nil:
			good = began
			if err := e.clock.read(began, rows[0].Clock); err != nil {
				return err
			}
		case e.mono().Sub(good) > ttl-every:
			return fmt.Errorf("%w: no renewal for %s: %w", errLeaseLost, e.mono().Sub(good).Round(time.Second), err)
		default:
			e.log.WarnContext(ctx, "lease not renewed", "err", err)
		}
	}
}

// active makes sure that this is still the active instance, before a further
// effect outside of PostgreSQL.
func (e *Engine) active(ctx context.Context) error {
	call, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	holder, err := e.q.LeaseHolder(call)
	switch {
	case err != nil:
		return fmt.Errorf("ask who holds the lease: %w", err)
	case holder.Epoch != e.epoch || holder.Holder == nil:
		return fmt.Errorf("%w: epoch %d is over", errLeaseLost, e.epoch)
	}
	return nil
}

// release gives the lease up at a clean stop.
func (e *Engine) release(ctx context.Context) {
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	rows, err := e.q.LeaseRelease(call, e.epoch)
	switch {
	case err != nil:
		e.log.WarnContext(ctx, "lease not released: a successor waits for its end", "err", err)
	case len(rows) == 0:
		e.log.WarnContext(ctx, "the lease was lost before", "epoch", e.epoch)
	default:
		e.log.InfoContext(ctx, "lease released", "epoch", e.epoch)
	}
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

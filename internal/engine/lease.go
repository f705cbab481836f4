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

// acquire becomes the active instance and loads the rules' parameters.
// Errors: ErrStandby, or PostgreSQL's.
func (e *Engine) acquire(ctx context.Context) error {
	settings, err := json.Marshal(e.cfg.Settings())
	if err != nil {
		return fmt.Errorf("encode the settings: %w", err)
	}
	// Not cut by a stop: a lease that was acquired unseen could not be released.
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopGrace)
	defer cancel()
	rows, err := e.q.LeaseAcquire(call, gen.LeaseAcquireParams{
		Holder: e.cfg.Instance, Ttl: e.cfg.Lease.TTL, Settings: settings, Autostart: e.cfg.Pipeline.Autostart,
	})
	if err != nil {
		return fmt.Errorf("acquire the lease: %w", err)
	}
	if len(rows) == 0 {
		return ErrStandby
	}
	e.epoch = rows[0].Epoch
	e.log.InfoContext(ctx, "lease acquired", "epoch", e.epoch)
	return nil
}

// renew prolongs the lease on a connection of its own until ctx ends. It
// gives up before the lease can end.
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
		rows, err := gen.New(pool).LeaseRenew(call, gen.LeaseRenewParams{Epoch: e.epoch, Ttl: ttl})
		cancel()
		switch {
		case ctx.Err() != nil:
			return nil
		case dberr.IsFenced(err) || (err == nil && len(rows) == 0):
			return errLeaseLost
		case err == nil:
			good = began
		case e.mono().Sub(good) > ttl-every:
			return fmt.Errorf("%w: no renewal for %s: %w", errLeaseLost, e.mono().Sub(good).Round(time.Second), err)
		default:
			e.log.WarnContext(ctx, "lease not renewed", "err", err)
		}
	}
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

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"msgexchange/gen"
	"msgexchange/internal/config"
	"msgexchange/internal/engine"
	"msgexchange/internal/mailbox"
	"msgexchange/internal/telemetry"
)

func newSeedCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "seed min|zero|max|ID",
		Short: "Set the watermark of an instance that never ran",
		Long: "min: all rows present will be read; zero: from id 0, holes by rule; max: none of the rows present; or the last id\n" +
			"that is not to be read. Refused once the instance has a watermark or messages.",
		Args: cobra.ExactArgs(1),
	}
	return configured(cmd, func(cmd *cobra.Command, cfg config.Config, args []string) (err error) {
		ctx := cmd.Context()
		box, err := mailbox.Open(mailbox.From(cfg), telemetry.NewLogger(cmd.ErrOrStderr(), cfg.Log.Level))
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, box.Close()) }()
		return withDatabase(ctx, cfg, func(q *gen.Queries) error {
			settings, err := json.Marshal(cfg.Settings())
			if err != nil {
				return fmt.Errorf("encode the settings: %w", err)
			}
			lease, err := q.LeaseAcquire(ctx, gen.LeaseAcquireParams{
				Holder: cfg.Instance + " seed", Ttl: cfg.Lease.TTL, Settings: settings, Autostart: cfg.Pipeline.Autostart,
			})
			if err != nil {
				return fmt.Errorf("acquire the lease: %w", err)
			}
			if len(lease) == 0 {
				return engine.ErrStandby
			}
			c, err := engine.Seed(ctx, q, box, lease[0].Epoch, args[0], cfg.Pipeline.MaxCommitDelay)
			if _, rerr := q.LeaseRelease(context.WithoutCancel(ctx), lease[0].Epoch); rerr != nil {
				err = errors.Join(err, fmt.Errorf("release the lease: %w", rerr))
			}
			if err == nil {
				fmt.Fprintf(cmd.OutOrStdout(), "the watermark is %d\n", c.CommittedUpTo)
			}
			return err
		})
	}, "postgres.dsn", "mailbox.dsn")
}

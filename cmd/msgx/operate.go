package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/user"
	"strconv"
	"text/tabwriter"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"

	"msgexchange/gen"
	"msgexchange/internal/config"
	"msgexchange/internal/engine"
	"msgexchange/internal/mailbox"
	"msgexchange/internal/telemetry"
)

// withDatabase runs do on one connection.
func withDatabase(ctx context.Context, cfg config.Config, do func(*gen.Queries) error) (err error) {
	conn, err := pgx.Connect(ctx, cfg.Postgres.DSN.Reveal())
	if err != nil {
		return fmt.Errorf("connect to PostgreSQL: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	return do(gen.New(conn))
}

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
			if _, rerr := q.LeaseRelease(ctx, lease[0].Epoch); rerr != nil {
				err = errors.Join(err, fmt.Errorf("release the lease: %w", rerr))
			}
			if err == nil {
				fmt.Fprintf(cmd.OutOrStdout(), "the watermark is %d\n", c.CommittedUpTo)
			}
			return err
		})
	}, "postgres.dsn", "mailbox.dsn")
}

func newReleaseHoleCmd() *cobra.Command {
	var operator, reason string
	cmd := &cobra.Command{
		Use:   "release-hole FIRST [LAST]",
		Short: "Release missing mailbox ids that will never come",
		Args:  cobra.RangeArgs(1, 2),
	}
	name := ""
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	cmd.Flags().StringVar(&operator, "operator", name, "who does it")
	cmd.Flags().StringVar(&reason, "reason", "", "why: who said that these ids will not come")
	return configured(cmd, func(cmd *cobra.Command, cfg config.Config, args []string) error {
		lo, err := strconv.ParseInt(args[0], 10, 64)
		if err != nil {
			return fmt.Errorf("%q is not an id", args[0])
		}
		hi, err := strconv.ParseInt(args[len(args)-1], 10, 64)
		if err != nil {
			return fmt.Errorf("%q is not an id", args[1])
		}
		ctx := cmd.Context()
		return withDatabase(ctx, cfg, func(q *gen.Queries) error {
			now, err := q.Clock(ctx)
			if err != nil {
				return fmt.Errorf("read PostgreSQL's clock: %w", err)
			}
			holes, err := q.InboxReleaseHole(ctx, gen.InboxReleaseHoleParams{Lo: lo, Hi: hi, Operator: operator, Reason: reason, Now: now})
			if err != nil {
				return fmt.Errorf("release ids %d to %d: %w", lo, hi, err)
			}
			for _, h := range holes {
				fmt.Fprintf(cmd.OutOrStdout(), "released %d to %d, missing since %s\n", h.Lo, h.Hi, h.FirstSeenAt.Format("2006-01-02 15:04:05 -07"))
			}
			return nil
		})
	}, "postgres.dsn")
}

// verifyPage is how many flights one call compares: each call is one snapshot.
const verifyPage = 1000

func newVerifyCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Compare every stored flight with the fold of its log",
		Args:  cobra.NoArgs,
	}
	return configured(cmd, func(cmd *cobra.Command, cfg config.Config, _ []string) error {
		ctx := cmd.Context()
		return withDatabase(ctx, cfg, func(q *gen.Queries) error {
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 4, 2, ' ', 0)
			flights, wrong := 0, 0
			for after := int64(0); ; {
				flids, err := q.FlightIDs(ctx, gen.FlightIDsParams{After: after, PageSize: verifyPage})
				if err != nil {
					return fmt.Errorf("list flights above %d: %w", after, err)
				}
				if len(flids) == 0 {
					break
				}
				rows, err := q.FlightVerify(ctx, gen.FlightVerifyParams{After: after, PageSize: verifyPage})
				if err != nil {
					return fmt.Errorf("compare flights above %d: %w", after, err)
				}
				for _, r := range rows {
					fmt.Fprintf(w, "flight %d\t%s\tstored %s\tlog %s\n", r.Flid, r.What, r.Stored, r.Folded)
				}
				flights, wrong = flights+len(flids), wrong+len(rows)
				after = flids[len(flids)-1]
			}
			fmt.Fprintf(w, "%d flights compared, %d differences\n", flights, wrong)
			if err := w.Flush(); err != nil {
				return err
			}
			if wrong > 0 {
				return errors.New("stored flights differ from their log")
			}
			return nil
		})
	}, "postgres.dsn")
}

package main

import (
	"fmt"
	"os/user"
	"strconv"

	"github.com/spf13/cobra"

	"msgexchange/gen"
	"msgexchange/internal/config"
)

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

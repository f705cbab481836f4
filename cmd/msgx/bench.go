package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"msgexchange/internal/bench"
	"msgexchange/internal/devserver"
)

func newBenchCmd() *cobra.Command {
	o := bench.Options{Now: time.Now}
	asJSON := false
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure on this machine, as ratios to its own limits",
		Long: "Starts a private PostgreSQL in a temporary folder, and removes it at the end. With --pg-url it uses that\n" +
			"server instead and drops and makes databases named msgx_bench_… there: give it a private one.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			ctx := cmd.Context()
			if o.PGURL == "" {
				state, release, uerr := benchServer(ctx)
				if uerr != nil {
					return uerr
				}
				defer func() { err = errors.Join(err, release(context.WithoutCancel(ctx))) }()
				o.PGURL = state.PGURL
			}
			report, err := bench.Run(ctx, o)
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(report)
			}
			return bench.Table(cmd.OutOrStdout(), report)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.PGURL, "pg-url", "", "superuser's URL of a private PostgreSQL (default: one of its own)")
	f.IntVar(&o.Messages, "messages", 20_000, "messages of each run of the pump")
	f.IntVar(&o.Flights, "flights", 500, "flights they belong to")
	f.IntSliceVar(&o.History, "history", []int{10_000, 1_000_000}, "finished messages at which head selection is measured, ascending")
	f.IntVar(&o.Rounds, "rounds", 301, "calls of each head selection")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// benchServer starts throwaway servers that write to the disk as real ones do:
// without fsync a commit would cost nothing.
func benchServer(ctx context.Context) (devserver.State, func(context.Context) error, error) {
	parent := filepath.Join(os.TempDir(), "msgx-bench-"+strconv.Itoa(os.Geteuid()))
	state, release, err := devserver.Throwaway(ctx, parent, devserver.Options{Postgres: []string{"fsync=on", "full_page_writes=on"}})
	if err != nil {
		return devserver.State{}, nil, fmt.Errorf("start a private PostgreSQL: %w", err)
	}
	return state, release, nil
}

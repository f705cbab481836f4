package main

import (
	"encoding/json"
	"time"

	"github.com/spf13/cobra"

	"msgexchange/internal/bench"
)

func newBenchCmd() *cobra.Command {
	o := bench.Options{Now: time.Now}
	asJSON := false
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure on this machine, as ratios to its own limits",
		Long:  "It drops and makes databases named msgx_bench_…: give it a private server (make bench does).",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			results, err := bench.Run(cmd.Context(), o)
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(results)
			}
			return bench.Table(cmd.OutOrStdout(), results)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.PGURL, "pg-url", "", "superuser's URL of a private PostgreSQL")
	f.IntVar(&o.Messages, "messages", 20_000, "messages of each run of the pump")
	f.IntVar(&o.Flights, "flights", 500, "flights they belong to")
	f.IntSliceVar(&o.History, "history", []int{10_000, 1_000_000}, "finished rows at which head selection is measured")
	f.IntVar(&o.Rounds, "rounds", 301, "calls of each head selection")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	if err := cmd.MarkFlagRequired("pg-url"); err != nil {
		panic(err)
	}
	return cmd
}

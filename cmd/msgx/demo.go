package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"msgexchange/internal/demo"
)

func newDemoCmd() *cobra.Command {
	o := demo.Options{Now: time.Now}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Run a simulated day on private servers and check every answer",
		Long: "Writes a simulated day into a mailbox, runs the daemon on it, and compares flights, outcomes, Kafka and marks\n" +
			"with an answer computed apart. It drops and makes databases named msgx_demo: give it private servers\n" +
			"(make demo does).",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			binary, err := os.Executable()
			if err != nil {
				return fmt.Errorf("find the msgx binary: %w", err)
			}
			o.Binary, o.Out = binary, cmd.OutOrStdout()
			return demo.Run(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.PGURL, "pg-url", "", "superuser's URL of a private PostgreSQL")
	f.StringVar(&o.MySQLDSN, "mysql-dsn", "", "DSN with all privileges of a private MariaDB or MySQL")
	f.StringVar(&o.Dir, "dir", "", "folder for configuration, log and the embedded broker; emptied first")
	f.IntVar(&o.Messages, "messages", 20_000, "messages to write")
	f.IntVar(&o.Flights, "flights", 400, "flights of the day")
	f.Uint64Var(&o.Seed, "seed", 1, "same seed, same bytes")
	f.IntVar(&o.Holes, "holes", 200, "ids used up by rolled-back transactions")
	f.IntVar(&o.LateCommits, "late-commits", 20, "messages that commit after later ones")
	f.IntVar(&o.BadPerMille, "bad-per-mille", 10, "faulty messages in 1000")
	f.DurationVar(&o.Timeout, "timeout", 3*time.Minute, "longest wait for everything to be done")
	f.BoolVar(&o.Trouble.Some, "trouble", false, "stop servers, kill and freeze daemons while the day runs")
	f.IntVar(&o.Trouble.Kills, "kills", 0, "kill the active daemon so many times")
	f.DurationVar(&o.Trouble.Outages, "outages", 0, "take each server away once for so long")
	f.StringVar(&o.Trouble.Servers, "servers", "", "folder of the private servers (.run); needed to stop them")
	f.Float64Var(&o.Rate, "rate", 0, "messages written a second; 0: as fast as possible")
	f.BoolVar(&o.Steady, "steady", false, "go on with steady traffic after the checks")
	for _, name := range []string{"pg-url", "mysql-dsn", "dir"} {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err)
		}
	}
	return cmd
}

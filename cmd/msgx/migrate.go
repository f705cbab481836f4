package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"msgexchange/internal/config"
	"msgexchange/internal/migrate"
	"msgexchange/internal/telemetry"
)

func newMigrateCmd() *cobra.Command {
	var status bool
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Bring the database to what this binary needs",
		Long: "Applies migrations one by one, then functions, views and grants in one transaction. Safe to run twice, and by two\n" +
			"at once. Refused on a database that a newer msgx has migrated. Needs a superuser, as it makes roles.",
		Args: cobra.NoArgs,
	}
	cmd.Flags().BoolVar(&status, "status", false, "only tell what is applied")
	return configured(cmd, func(cmd *cobra.Command, cfg config.Config, _ []string) error {
		dsn := cfg.Postgres.DSN.Reveal()
		if !status {
			return migrate.Up(cmd.Context(), dsn, telemetry.NewLogger(cmd.OutOrStdout(), cfg.Log.Level))
		}
		st, err := migrate.Look(cmd.Context(), dsn)
		if err != nil {
			return err
		}
		w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 4, 2, ' ', 0)
		for _, m := range st.Applied {
			fmt.Fprintf(w, "migration\t%s\tapplied\n", m)
		}
		for _, m := range st.Pending {
			fmt.Fprintf(w, "migration\t%s\tpending\n", m)
		}
		for _, m := range st.Unknown {
			fmt.Fprintf(w, "migration\t%s\tof a newer msgx\n", m)
		}
		for _, f := range st.Files {
			fmt.Fprintf(w, "file\t%s\t%s\n", f.Path, f.State)
		}
		return w.Flush()
	}, "postgres.dsn")
}

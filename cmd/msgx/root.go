package main

import (
	"os"

	"github.com/spf13/cobra"

	"msgexchange/internal/config"
)

func newRootCmd() *cobra.Command {
	root := &cobra.Command{
		Use:           "msgx",
		Short:         "The message engine of an airport",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(newRunCmd(), newMigrateCmd(), newSeedCmd(), newReleaseHoleCmd(), newVerifyCmd(), newDecodeCmd(), newVersionCmd(),
		newSimulateCmd(), newDemoCmd(), newBenchCmd())
	return root
}

// configured makes a command that needs the configuration, some keys of it set.
func configured(cmd *cobra.Command, run func(cmd *cobra.Command, cfg config.Config, args []string) error, required ...string) *cobra.Command {
	config.AddFlags(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		cfg, err := config.Load(cmd.Flags(), os.Environ(), required...)
		if err != nil {
			return err
		}
		return run(cmd, cfg, args)
	}
	return cmd
}

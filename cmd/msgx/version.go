package main

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func newVersionCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Say which build this is",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), version())
			return err
		},
	}
}

// version is what the Go toolchain wrote into the binary: a version, or one
// made of the commit and its time.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "msgx, of an unknown build"
	}
	return fmt.Sprintf("msgx %s, %s", info.Main.Version, info.GoVersion)
}

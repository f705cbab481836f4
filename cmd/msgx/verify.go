package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"msgexchange/gen"
	"msgexchange/internal/config"
)

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
					differences, err := compare(r)
					if err != nil {
						return fmt.Errorf("read the comparison of flight %d: %w", r.Flid, err)
					}
					for _, d := range differences {
						fmt.Fprintf(w, "flight %d\t%s\tstored %s\tlog %s\n", r.Flid, d.name, d.stored, d.folded)
					}
					wrong += len(differences)
				}
				flights += len(flids)
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

// difference is one value that is not what the log says; "nothing" stands for
// a value that one side has not.
type difference struct{ name, stored, folded string }

// partName puts a part of flight_verify in words; several: it holds values
// by name.
func partName(part string) (name string, several bool) {
	switch part {
	case "s":
		return "column", true
	case "l":
		return "list", true
	case "x":
		return "extra", true
	case "live":
		return "active", false
	case "created":
		return "created by message", false
	}
	return part, false
}

// compare takes a part of a flight apart, so that only what differs is shown.
// It returns at least one difference.
func compare(r gen.FlightMismatch) ([]difference, error) {
	name, several := partName(r.What)
	whole := []difference{{name, show(r.Stored), show(r.Folded)}}
	if !several || len(r.Stored) == 0 || len(r.Folded) == 0 {
		return whole, nil
	}
	var stored, folded map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(r.Stored, &stored), json.Unmarshal(r.Folded, &folded)); err != nil {
		return nil, err
	}
	keys := maps.Clone(stored)
	maps.Copy(keys, folded)
	var out []difference
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if !bytes.Equal(stored[key], folded[key]) {
			out = append(out, difference{name + " " + key, show(stored[key]), show(folded[key])})
		}
	}
	if len(out) == 0 {
		return whole, nil
	}
	return out, nil
}

func show(value json.RawMessage) string {
	if len(value) == 0 {
		return "nothing"
	}
	return string(value)
}

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"msgexchange/internal/config"
	"msgexchange/internal/engine"
	"msgexchange/internal/sis"
)

func newDecodeCmd() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "decode FILE",
		Short: "Say what a message means, or where it is bad",
		Long: "Say what a message means, or where it is bad.\n\n" +
			"FILE is the text of one message, - for standard input. It is read as the text of a binary column is: what the XML declaration\n" +
			"says of the encoding counts. No server is asked; what a message does to a flight that is stored already it cannot say.",
		Args: cobra.ExactArgs(1),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the JSON that pump_apply takes instead")
	return configured(cmd, func(cmd *cobra.Command, cfg config.Config, args []string) error {
		raw, err := readMessage(cmd.InOrStdin(), args[0])
		if err != nil {
			return err
		}
		return decode(cmd.OutOrStdout(), engine.Codec(cfg), raw, time.Now(), asJSON)
	})
}

// readMessage reads a file, or standard input.
func readMessage(stdin io.Reader, name string) ([]byte, error) {
	read := func() ([]byte, error) { return os.ReadFile(name) }
	if name == "-" {
		read = func() ([]byte, error) { return io.ReadAll(stdin) }
	}
	raw, err := read()
	if err != nil {
		return nil, fmt.Errorf("read the message: %w", err)
	}
	return raw, nil
}

// decode prints what a message means. The error says that it is bad; its header
// is printed all the same. now anchors two-digit years where DTTM does not.
func decode(out io.Writer, codec *sis.Codec, raw []byte, now time.Time, asJSON bool) error {
	var m sis.Message
	text, err := sis.Unicode(raw)
	if err == nil {
		m, err = codec.Decode(text, now)
	}
	show := explain
	if asJSON {
		show = func(out io.Writer, m sis.Message) error { return printJSON(out, m, sis.Hash(raw), err) }
	}
	if err := show(out, m); err != nil {
		return err
	}
	return bad(err)
}

func printJSON(out io.Writer, m sis.Message, hash string, decodeErr error) error {
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, m.AppendBatch(nil, 0, hash, decodeErr), "", "  "); err != nil {
		return fmt.Errorf("indent the JSON: %w", err)
	}
	_, err := fmt.Fprintln(out, pretty.String())
	return err
}

// bad puts class and place before what is wrong with a message.
func bad(err error) error {
	var e *sis.Error
	switch {
	case !errors.As(err, &e):
		return err
	case e.Line == 0 || e.Path == "": // the text says it, where there is a place
		return fmt.Errorf("%s: %w", e.Class, e)
	}
	return fmt.Errorf("%s: line %d, column %d: %w", e.Class, e.Line, e.Column, e)
}

// explain prints a message for people: its header, then each record by what it
// sets, clears and replaces.
func explain(out io.Writer, m sis.Message) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	if m.Meta != (sis.Meta{}) {
		fmt.Fprintf(w, "%s/%s from %s", m.Meta.Type, m.Meta.Subtype, m.Meta.Sender)
		if m.Meta.Seqn != nil {
			fmt.Fprintf(w, ", number %d", *m.Meta.Seqn)
		}
		if m.Meta.Dttm != nil {
			fmt.Fprintf(w, ", written %s", m.Meta.Dttm.Format(time.RFC3339))
		}
		fmt.Fprintln(w)
	}
	if m.Declared != nil {
		fmt.Fprintf(w, "RECS says %d records, %d are there\n", *m.Declared, len(m.Records)+len(m.Items))
	}
	for _, r := range m.Records {
		fmt.Fprintf(w, "\n%s flight %d\n", r.Op, r.FLID)
		if err := explainPatch(w, r.Patch); err != nil {
			return fmt.Errorf("explain flight %d: %w", r.FLID, err)
		}
	}
	if len(m.Season) > 0 {
		fmt.Fprintf(w, "\nseason, decoded and not stored\n  %s\n", m.Season)
	}
	for _, i := range m.Items {
		fmt.Fprintf(w, "\nrecord %s, decoded and not stored\n  %s\n", i.Key, i.Data)
	}
	return w.Flush()
}

// explainPatch prints the four parts of a patch, each value on a line.
func explainPatch(w io.Writer, patch json.RawMessage) error {
	var p struct {
		Set, Extra    map[string]json.RawMessage
		Lists, Upsert map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(patch, &p); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(p.Set)) {
		if value := string(p.Set[name]); value == "null" {
			fmt.Fprintf(w, "  clears\t%s\n", name)
		} else {
			fmt.Fprintf(w, "  sets\t%s\t%s\n", name, value)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Lists)) {
		fmt.Fprintf(w, "  replaces\t%s\tby %d members\n", name, len(p.Lists[name]))
		explainMembers(w, "member", name, p.Lists[name])
	}
	for _, name := range slices.Sorted(maps.Keys(p.Upsert)) {
		if p.Upsert[name] == nil {
			fmt.Fprintf(w, "  clears\t%s\tall members\n", name)
			continue
		}
		explainMembers(w, "changes", name, p.Upsert[name])
	}
	for _, name := range slices.Sorted(maps.Keys(p.Extra)) {
		fmt.Fprintf(w, "  keeps\t%s\t%s\n", name, p.Extra[name])
	}
	return nil
}

func explainMembers(w io.Writer, verb, list string, members map[string]json.RawMessage) {
	for _, key := range slices.Sorted(maps.Keys(members)) {
		if value := string(members[key]); value == "null" {
			fmt.Fprintf(w, "  removes\t%s %s\n", list, key)
		} else {
			fmt.Fprintf(w, "  %s\t%s %s\t%s\n", verb, list, key, value)
		}
	}
}

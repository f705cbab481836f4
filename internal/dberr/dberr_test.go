package dberr_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgconn"

	"msgexchange/internal/dberr"
)

var update = flag.Bool("update", false, "write docs/errors.md anew")

func TestClassify(t *testing.T) {
	for code, want := range map[string]dberr.Class{
		"08006": dberr.Environment, "57014": dberr.Environment, "57P01": dberr.Environment, "53300": dberr.Environment,
		"55P03": dberr.Environment, "40001": dberr.Environment, "40P01": dberr.Environment, "25006": dberr.Environment,
		"0A000": dberr.Environment, "28P01": dberr.Environment, "MX001": dberr.Environment, "XX000": dberr.Environment,
		"22012": dberr.Message, "22P02": dberr.Message, "23505": dberr.Message, "P0001": dberr.Message, "MX003": dberr.Message,
		"55000": dberr.Message, "0A": dberr.Message,
	} {
		if got := dberr.Classify(fmt.Errorf("apply: %w", &pgconn.PgError{Code: code})); got != want {
			t.Errorf("%s is the %s's, want the %s's", code, got, want)
		}
	}
	if dberr.Classify(&pgconn.PgError{Code: "23514", Message: `no partition of relation "x" found for row`}) != dberr.Environment {
		t.Error("a missing partition is a message's")
	}
	if dberr.Classify(&pgconn.PgError{Code: "23514", Message: "violates check constraint"}) != dberr.Message {
		t.Error("a check violation is not the message's")
	}
	for _, err := range []error{context.DeadlineExceeded, errors.New("connection reset"), &pgconn.ConnectError{}} {
		if dberr.Classify(err) != dberr.Environment {
			t.Errorf("%v is a message's", err)
		}
	}
}

func TestIsFenced(t *testing.T) {
	if !dberr.IsFenced(fmt.Errorf("x: %w", &pgconn.PgError{Code: "MX001"})) || dberr.IsFenced(&pgconn.PgError{Code: "MX002"}) || dberr.IsFenced(nil) {
		t.Error("only MX001 is fenced")
	}
}

func TestExplain(t *testing.T) {
	if got := dberr.Explain(fmt.Errorf("x: %w", &mysql.MySQLError{Number: 1205})); got == "" {
		t.Error("a lock wait has no word")
	}
	if got := dberr.Explain(errors.New("x")); got != "" {
		t.Errorf("another error has %q", got)
	}
}

// TestCodes: the list of our SQLSTATEs is what the SQL raises.
func TestCodes(t *testing.T) {
	var listed []string
	for _, c := range dberr.Codes() {
		listed = append(listed, c.State)
	}
	raised := make(map[string]bool)
	files, err := os.ReadDir("../../sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, room := range files {
		if !room.IsDir() {
			continue
		}
		list, err := os.ReadDir("../../sql/" + room.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range list {
			if f.IsDir() {
				continue
			}
			text, err := os.ReadFile("../../sql/" + room.Name() + "/" + f.Name())
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range regexp.MustCompile(`ERRCODE = '(MX\d+)'`).FindAllSubmatch(text, -1) {
				raised[string(m[1])] = true
			}
		}
	}
	for _, code := range listed {
		if !raised[code] {
			t.Errorf("%s is listed and never raised", code)
		}
	}
	for code := range raised {
		if !slices.Contains(listed, code) {
			t.Errorf("%s is raised and not listed", code)
		}
	}
}

func TestDocumentIsCurrent(t *testing.T) {
	const file = "../../docs/errors.md"
	if *update {
		if err := os.WriteFile(file, []byte(dberr.Document()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(have), dberr.Document()); d != "" {
		t.Errorf("docs/errors.md is stale; go test ./internal/dberr -update\n%s", d)
	}
}

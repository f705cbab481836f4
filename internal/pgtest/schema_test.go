package pgtest

import (
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amacneil/dbmate/v2/pkg/dbmate"
	_ "github.com/amacneil/dbmate/v2/pkg/driver/postgres" // dbmate looks drivers up by the URL's scheme
	"github.com/google/go-cmp/cmp"

	"msgexchange/db"
	"msgexchange/internal/devserver"
)

// db/schema.sql is what the migrations alone add up to. MSGX_UPDATE_SCHEMA=1
// writes it; `make gen/schema` does that.
func TestSchemaFile(t *testing.T) {
	d := NewEmpty(t)
	target, err := url.Parse(d.URL)
	if err != nil {
		t.Fatal(err)
	}
	mate := dbmate.New(target)
	mate.FS = db.Migrations
	mate.MigrationsDir = []string{"migrations"}
	mate.AutoDumpSchema = false
	mate.Log = io.Discard
	if err := mate.Migrate(); err != nil {
		t.Fatalf("migrate: %v", err)
	}

	bin, err := devserver.PostgresBin()
	if err != nil {
		t.Fatal(err)
	}
	dump, err := exec.CommandContext(t.Context(), filepath.Join(bin, "pg_dump"),
		"--schema-only", "--exclude-table=*.schema_migrations", d.URL).Output()
	if err != nil {
		t.Fatalf("pg_dump: %v", err)
	}
	got := normalise(string(dump))
	if !strings.Contains(got, "CREATE TABLE msgx.") {
		t.Fatalf("the dump holds no table:\n%s", got)
	}

	const path = "../../db/schema.sql"
	if os.Getenv("MSGX_UPDATE_SCHEMA") == "1" {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("db/schema.sql is not what the migrations make (run `make gen/schema`):\n%s", diff)
	}
}

// normalise takes away what depends on the version and session of pg_dump.
func normalise(dump string) string {
	var b strings.Builder
	b.WriteString("-- What the migrations add up to. Written by `make gen/schema`; not to be edited.\n")
	blank := true
	for line := range strings.Lines(dump) {
		line = strings.TrimRight(line, " \n")
		switch {
		case strings.HasPrefix(line, "--"), strings.HasPrefix(line, `\restrict`), strings.HasPrefix(line, `\unrestrict`),
			strings.HasPrefix(line, "SET "), strings.HasPrefix(line, "SELECT pg_catalog.set_config("):
			continue
		case line == "" && blank:
			continue
		}
		if blank {
			b.WriteByte('\n')
		}
		if blank = line == ""; !blank {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

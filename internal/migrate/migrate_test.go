package migrate

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5"

	"msgexchange/sql"
)

var quiet = slog.New(slog.DiscardHandler)

// database makes an empty database on the test server, dropped at the end.
// internal/pgtest cannot serve here: it migrates its databases by this package.
func database(t *testing.T) string {
	t.Helper()
	server := os.Getenv("MSGX_TEST_PG_URL")
	if server == "" {
		t.Fatal("run the tests with `make test` (or `go run ./cmd/devservers exec -- go test ./...`)")
	}
	name := "migrate_" + strings.ToLower(strings.NewReplacer("/", "_", "-", "_").Replace(t.Name()))
	exec := func(ctx context.Context, statement string) {
		conn, err := pgx.Connect(ctx, server)
		if err == nil {
			_, err = conn.Exec(ctx, statement)
			err = errors.Join(err, conn.Close(ctx))
		}
		if err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	exec(t.Context(), "DROP DATABASE IF EXISTS "+name)
	exec(t.Context(), "CREATE DATABASE "+name)
	t.Cleanup(func() { exec(context.Background(), "DROP DATABASE "+name+" WITH (FORCE)") })
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + name
	return u.String()
}

// ask returns one value as text.
func ask(t *testing.T, dsn, query string) (out string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err == nil {
		err = conn.QueryRow(t.Context(), "SELECT ("+query+")::text").Scan(&out)
		err = errors.Join(err, conn.Close(t.Context()))
	}
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return out
}

func TestTwice(t *testing.T) {
	dsn := database(t)
	if err := Check(t.Context(), dsn); !errors.Is(err, ErrStale) {
		t.Errorf("an empty database: %v", err)
	}
	st, err := Look(t.Context(), dsn)
	if err != nil || len(st.Applied) != 0 || len(st.Pending) == 0 || st.Files[0].State != "missing" {
		t.Errorf("status of an empty database: %+v, %v", st, err)
	}
	if err := Up(t.Context(), dsn, quiet); err != nil {
		t.Fatal(err)
	}
	before := ask(t, dsn, "SELECT min(xmin::text::bigint) FROM msgx.sql_file")
	if err := Up(t.Context(), dsn, quiet); err != nil {
		t.Fatal(err)
	}
	if after := ask(t, dsn, "SELECT min(xmin::text::bigint) FROM msgx.sql_file"); after != before {
		t.Error("the second run applied the files again")
	}
	if err := Check(t.Context(), dsn); err != nil {
		t.Errorf("a current database: %v", err)
	}
	st, err = Look(t.Context(), dsn)
	if err != nil || len(st.Pending) != 0 || slices.ContainsFunc(st.Files, func(f File) bool { return f.State != "current" }) {
		t.Errorf("status of a current database: %+v, %v", st, err)
	}
}

func TestTwoAtOnce(t *testing.T) {
	dsn := database(t)
	errs := make([]error, 4)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { errs[i] = Up(t.Context(), dsn, quiet) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// files copies the embedded files, to be changed.
func files(t *testing.T) fstest.MapFS {
	t.Helper()
	out := make(fstest.MapFS)
	err := fs.WalkDir(sql.Files, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(sql.Files, p)
		out[p] = &fstest.MapFile{Data: data}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestChangedFile: one changed file applies all; a broken one leaves all as
// they were and is named with its line.
func TestChangedFile(t *testing.T) {
	dsn := database(t)
	if err := Up(t.Context(), dsn, quiet); err != nil {
		t.Fatal(err)
	}
	src := embedded()
	changed := files(t)
	changed["lease/clock.sql"].Data = append(changed["lease/clock.sql"].Data, "\nCOMMENT ON FUNCTION msgx.clock() IS 'changed';\n"...)
	src.files = changed
	st, err := src.look(t.Context(), dsn)
	if err != nil || !slices.Contains(st.Files, File{Path: "lease/clock.sql", State: "differs"}) {
		t.Errorf("status: %v", err)
	}
	if err := src.up(t.Context(), dsn, quiet); err != nil {
		t.Fatal(err)
	}
	if got := ask(t, dsn, "SELECT obj_description('msgx.clock()'::regprocedure)"); got != "changed" {
		t.Errorf("comment %q", got)
	}
	if err := Check(t.Context(), dsn); !errors.Is(err, ErrStale) {
		t.Errorf("a database of another binary: %v", err)
	}

	broken := files(t)
	broken["lease/clock.sql"].Data = append(broken["lease/clock.sql"].Data, "\nCOMMENT ON FUNCTION msgx.clock() IS 'broken';\n"...)
	broken["pump/pump_next.sql"].Data = []byte("-- one\n-- two\nSELECT nonsense FROM nowhere;\n")
	src.files = broken
	err = src.up(t.Context(), dsn, quiet)
	if err == nil || !strings.Contains(err.Error(), "pump/pump_next.sql, line 3") {
		t.Errorf("a broken file: %v", err)
	}
	if got := ask(t, dsn, "SELECT obj_description('msgx.clock()'::regprocedure)"); got != "changed" {
		t.Errorf("a failed run left %q behind", got)
	}
}

// TestLoadOrder: the files on disk and the lines of install.sql are the same
// set, each once.
func TestLoadOrder(t *testing.T) {
	listed, err := embedded().paths()
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(listed)
	if len(slices.Compact(slices.Clone(listed))) != len(listed) {
		t.Error("install.sql names a file twice")
	}
	var there []string
	for p := range files(t) {
		if p != list && path.Dir(p) != "runbooks" {
			there = append(there, p)
		}
	}
	slices.Sort(there)
	if !slices.Equal(listed, there) {
		t.Errorf("install.sql names %v, on disk are %v", listed, there)
	}
	statement := source{files: fstest.MapFS{list: {Data: []byte("SELECT 1;")}}}
	if _, err := statement.paths(); err == nil {
		t.Error("a load order with a statement in it is accepted")
	}
}

// TestDownAndUp: the migrations go down to nothing and up again, with the real
// tool.
func TestDownAndUp(t *testing.T) {
	dsn := database(t)
	src := embedded()
	if err := src.migrate(dsn, false, quiet); err != nil {
		t.Fatal(err)
	}
	run := func(arg string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "go", "tool", "-modfile=tools/go.mod", "dbmate", "--url", dsn, "--no-dump-schema",
			"--migrations-dir", "db/migrations", "--migrations-table", table, arg)
		cmd.Dir = "../.."
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("dbmate %s: %v\n%s", arg, err, out)
		}
	}
	for ask(t, dsn, "SELECT count(*) FROM "+table) != "0" {
		run("down")
	}
	if got := ask(t, dsn, "SELECT count(*) FROM pg_namespace WHERE nspname = 'msgx'"); got != "0" {
		t.Error("something is left after going down")
	}
	run("up")
	if err := Up(t.Context(), dsn, quiet); err != nil {
		t.Fatal(err)
	}
}

func TestDriverURL(t *testing.T) {
	for _, c := range []struct {
		dsn       string
		encrypted bool
		want      string
	}{
		{"postgres://u:p@h:5433/d", false, "postgres://u:p@h:5433/d?sslmode=disable"},
		{"postgres://u:p@h:5433/d", true, "postgres://u:p@h:5433/d?sslmode=require"},
		{"postgres://u@h/d?sslmode=verify-full", true, "postgres://u@h/d?sslmode=verify-full"},
		{"host=h port=5433 user=u password=p dbname=d", false, "postgres://u:p@h:5433/d?sslmode=disable"},
	} {
		got, err := driverURL(c.dsn, c.encrypted)
		if err != nil || got.String() != c.want {
			t.Errorf("%s becomes %v, %v; want %s", c.dsn, got, err, c.want)
		}
	}
}

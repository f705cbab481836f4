package migrate

import (
	"context"
	"errors"
	"fmt"
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
	// The command line of dbmate insists on TLS unless told otherwise.
	if q := u.Query(); !q.Has("sslmode") {
		q.Set("sslmode", "disable")
		u.RawQuery = q.Encode()
	}
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
	if err := src.migrate(t.Context(), dsn, quiet); err != nil {
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

// TestConnectionStrings: whatever the daemon's pool takes.
func TestConnectionStrings(t *testing.T) {
	dsn := database(t)
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	// Quoted as libpq wants it.
	quote := func(v string) string { return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(v) + "'" }
	words := fmt.Sprintf("host=%s port=%d user=%s password=%s dbname=%s", quote(cfg.Host), cfg.Port, quote(cfg.User), quote(cfg.Password), quote(cfg.Database))
	forms := map[string]string{
		"words":              words,
		"words, TLS allowed": words + " sslmode=prefer",
		"postgresql scheme":  strings.Replace(dsn, "postgres://", "postgresql://", 1),
		"pool's parameter":   dsn + "&pool_max_conns=4",
		"pgx's parameter":    dsn + "&default_query_exec_mode=exec",
	}
	sockets := ask(t, dsn, "SELECT setting FROM pg_settings WHERE name = 'unix_socket_directories'")
	dir, _, _ := strings.Cut(sockets, ",")
	if _, err := os.Stat(fmt.Sprintf("%s/.s.PGSQL.%d", dir, cfg.Port)); err == nil {
		forms["socket"] = strings.Replace(words, quote(cfg.Host), quote(dir), 1)
	}
	for name, form := range forms {
		t.Run(name, func(t *testing.T) {
			if err := embedded().migrate(t.Context(), form, quiet); err != nil {
				t.Error(err)
			}
			if _, err := Look(t.Context(), form); err != nil {
				t.Error(err)
			}
		})
	}
	if err := Up(t.Context(), "postgres://u:hunter2@h:port/d", quiet); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("a broken string: %v", err)
	}
}

// TestBrokenMigration: what came before stays, the file and its line are named.
func TestBrokenMigration(t *testing.T) {
	dsn := database(t)
	src := embedded()
	src.migrations = fstest.MapFS{
		"migrations/20260101000001_good.sql": {Data: []byte("-- migrate:up\nCREATE TABLE good (id bigint);\nCREATE TABLE fine (id bigint);\n-- migrate:down\n")},
		"migrations/20260101000002_bad.sql":  {Data: []byte("-- a word before\n-- migrate:up\nCREATE TABLE half (id bigint);\nSELECT '中文', nonsense;\n-- migrate:down\n")},
		"migrations/20260101000003_last.sql": {Data: []byte("-- migrate:up\nSELECT 1;\n-- migrate:down\n")},
	}
	err := src.up(t.Context(), dsn, quiet)
	if err == nil || !strings.Contains(err.Error(), "20260101000002_bad.sql, line 4") || !strings.Contains(err.Error(), "42703") {
		t.Errorf("a broken migration: %v", err)
	}
	if got := ask(t, dsn, "SELECT to_regclass('fine') IS NOT NULL AND to_regclass('half') IS NULL"); got != "true" {
		t.Error("what stands is not the good migration alone")
	}
	st, err := src.look(t.Context(), dsn)
	if err != nil || !slices.Equal(st.Applied, []string{"20260101000001_good.sql"}) || len(st.Pending) != 2 {
		t.Errorf("status: %+v, %v", st, err)
	}
}

// TestNewerDatabase: an older binary changes nothing in it.
func TestNewerDatabase(t *testing.T) {
	dsn := database(t)
	if err := Up(t.Context(), dsn, quiet); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	_, err = conn.Exec(t.Context(), "INSERT INTO "+table+" VALUES ('29990101000001')")
	if err := errors.Join(err, conn.Close(t.Context())); err != nil {
		t.Fatal(err)
	}
	src := embedded()
	src.files = files(t)
	src.files.(fstest.MapFS)["lease/clock.sql"].Data = []byte("DROP FUNCTION msgx.clock();")
	if err := src.up(t.Context(), dsn, quiet); !errors.Is(err, ErrNewer) || !strings.Contains(err.Error(), "29990101000001") {
		t.Errorf("a newer database: %v", err)
	}
	if got := ask(t, dsn, "SELECT to_regprocedure('msgx.clock()') IS NOT NULL"); got != "true" {
		t.Error("the functions were changed")
	}
}

// TestFileEndsTransaction: no file may commit half of the set.
func TestFileEndsTransaction(t *testing.T) {
	dsn := database(t)
	if err := Up(t.Context(), dsn, quiet); err != nil {
		t.Fatal(err)
	}
	src := embedded()
	broken := files(t)
	broken["lease/clock.sql"].Data = append(broken["lease/clock.sql"].Data, "\nCOMMIT;\n"...)
	src.files = broken
	if err := src.up(t.Context(), dsn, quiet); err == nil || !strings.Contains(err.Error(), "lease/clock.sql ends the transaction") {
		t.Errorf("a file with COMMIT: %v", err)
	}
}

// TestWaits: while another holds the lock nothing happens, and the wait ends
// with its context.
func TestWaits(t *testing.T) {
	dsn := database(t)
	conn, err := pgx.Connect(t.Context(), dsn)
	if err == nil {
		_, err = conn.Exec(t.Context(), "SELECT pg_advisory_lock($1)", lockKey)
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*lockPoll)
	defer cancel()
	if err := Up(ctx, dsn, quiet); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("beside another migration: %v", err)
	}
	if got := ask(t, dsn, "SELECT to_regclass('"+table+"') IS NULL"); got != "true" {
		t.Error("something was migrated")
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := Up(t.Context(), dsn, quiet); err != nil {
		t.Errorf("after it: %v", err)
	}
}

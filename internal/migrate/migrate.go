// Package migrate brings a database to what this binary needs: migrations one
// by one (dbmate), then functions, views and grants in one transaction.
package migrate

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/url"
	"path"
	"strings"

	"github.com/amacneil/dbmate/v2/pkg/dbmate"
	_ "github.com/amacneil/dbmate/v2/pkg/driver/postgres" // dbmate's driver for postgres:// URLs
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"msgexchange/db"
	"msgexchange/sql"
)

const (
	// lockKey is the advisory lock that lets one migration run at a time in a
	// database; dbmate itself takes none.
	lockKey = 0x6d736778 // "msgx"
	// table is where dbmate keeps what it ran; public, as our schema is made
	// by the first migration.
	table = "public.msgx_migrations"
	list  = "install.sql"
)

// File is a repeatable SQL file and whether it is what the database has.
type File struct {
	Path  string
	State string // current, differs, missing
}

// Status is what a database has of what this binary needs.
type Status struct {
	Applied []string // migrations
	Pending []string
	Files   []File
}

// source is what is to be applied.
type source struct {
	migrations fs.FS // migrations/*.sql
	files      fs.FS // install.sql and what it names
}

func embedded() source { return source{migrations: db.Migrations, files: sql.Files} }

// Up applies what is missing. Run by two at once, the second waits and finds
// nothing to do. Errors name file, line and SQLSTATE, and leave the functions
// and views as they were.
func Up(ctx context.Context, dsn string, log *slog.Logger) error {
	return embedded().up(ctx, dsn, log)
}

// Look tells what is applied, without changing anything.
func Look(ctx context.Context, dsn string) (Status, error) {
	return embedded().look(ctx, dsn)
}

// ErrStale reports that a database is not what this binary needs.
var ErrStale = errors.New("the database is not what this binary needs: run msgx migrate (msgx migrate --status tells what is missing)")

// Check returns ErrStale unless functions and views are those of this binary,
// which they cannot be before the migrations. It needs no more rights than the
// daemon has.
func Check(ctx context.Context, dsn string) (err error) {
	conn, err := connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	_, want, err := embedded().wanted()
	if err != nil {
		return err
	}
	have, err := sums(ctx, conn, "msgx.sql_files()")
	var pg *pgconn.PgError
	if errors.As(err, &pg) && (pg.Code == "42883" || pg.Code == "3F000") {
		return ErrStale
	}
	if err == nil && !same(want, have) {
		return ErrStale
	}
	return err
}

func (s source) up(ctx context.Context, dsn string, log *slog.Logger) (err error) {
	conn, err := connect(ctx, dsn)
	if err != nil {
		return err
	}
	// Closing the session also gives the lock back.
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock($1)", lockKey); err != nil {
		return fmt.Errorf("wait for another migration: %w", err)
	}
	_, encrypted := conn.PgConn().Conn().(*tls.Conn)
	if err := s.migrate(dsn, encrypted, log); err != nil {
		return err
	}
	return s.install(ctx, conn, log)
}

func connect(ctx context.Context, dsn string) (*pgx.Conn, error) {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return nil, fmt.Errorf("connect to PostgreSQL: %w", err)
	}
	return conn, nil
}

// tool is dbmate on our migrations.
func (s source) tool(dsn string, encrypted bool, out io.Writer) (*dbmate.DB, error) {
	u, err := driverURL(dsn, encrypted)
	if err != nil {
		return nil, err
	}
	t := dbmate.New(u)
	t.FS = s.migrations
	t.MigrationsDir = []string{"migrations"}
	t.MigrationsTableName = table
	t.AutoDumpSchema = false
	t.Strict = true
	t.Log = out
	return t, nil
}

// driverURL turns a connection string into the URL that dbmate takes. Unless
// it says itself whether to use TLS, encrypted tells: lib/pq knows no "prefer".
func driverURL(dsn string, encrypted bool) (*url.URL, error) {
	u := &url.URL{Scheme: "postgres"}
	if strings.Contains(dsn, "://") {
		var err error
		if u, err = url.Parse(dsn); err != nil {
			return nil, errors.New("the connection string is not a URL")
		}
	} else {
		cfg, err := pgx.ParseConfig(dsn)
		if err != nil {
			return nil, fmt.Errorf("parse the connection string: %w", err)
		}
		u.Host, u.Path, u.User = fmt.Sprintf("%s:%d", cfg.Host, cfg.Port), "/"+cfg.Database, url.User(cfg.User)
		if cfg.Password != "" {
			u.User = url.UserPassword(cfg.User, cfg.Password)
		}
	}
	q := u.Query()
	if !q.Has("sslmode") {
		q.Set("sslmode", map[bool]string{true: "require", false: "disable"}[encrypted])
	}
	u.RawQuery = q.Encode()
	return u, nil
}

func (s source) migrate(dsn string, encrypted bool, log *slog.Logger) error {
	var said bytes.Buffer
	t, err := s.tool(dsn, encrypted, &said)
	if err != nil {
		return err
	}
	err = t.Migrate()
	for line := range strings.Lines(said.String()) {
		log.Info("migration", "said", strings.TrimSpace(line))
	}
	if err != nil {
		return fmt.Errorf("apply migrations: %w (%s)", err, strings.TrimSpace(said.String()))
	}
	return nil
}

// paths returns the files that install.sql names, in its order.
func (s source) paths() ([]string, error) {
	text, err := fs.ReadFile(s.files, list)
	if err != nil {
		return nil, fmt.Errorf("read the load order: %w", err)
	}
	var paths []string
	scan := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; scan.Scan(); n++ {
		line := strings.TrimSpace(scan.Text())
		if line == "" || strings.HasPrefix(line, "--") {
			continue
		}
		name, ok := strings.CutPrefix(line, `\ir `)
		if !ok {
			return nil, fmt.Errorf("%s, line %d: %q is neither a comment nor \\ir file", list, n, line)
		}
		paths = append(paths, path.Clean(strings.TrimSpace(name)))
	}
	return paths, scan.Err()
}

// wanted returns path and checksum of every file, the load order among them.
func (s source) wanted() (paths []string, want map[string]string, err error) {
	paths, err = s.paths()
	if err != nil {
		return nil, nil, err
	}
	want = make(map[string]string, len(paths)+1)
	for _, p := range append([]string{list}, paths...) {
		text, err := fs.ReadFile(s.files, p)
		if err != nil {
			return nil, nil, fmt.Errorf("read %s: %w", p, err)
		}
		sum := sha256.Sum256(text)
		want[p] = hex.EncodeToString(sum[:])
	}
	return paths, want, nil
}

// sums reads paths and checksums from msgx.sql_file or what shows it.
func sums(ctx context.Context, conn *pgx.Conn, from string) (map[string]string, error) {
	rows, err := conn.Query(ctx, "SELECT path, sha256 FROM "+from)
	if err != nil {
		return nil, fmt.Errorf("read what was applied: %w", err)
	}
	have := make(map[string]string)
	var p, sum string
	if _, err := pgx.ForEachRow(rows, []any{&p, &sum}, func() error { have[p] = sum; return nil }); err != nil {
		return nil, fmt.Errorf("read what was applied: %w", err)
	}
	return have, nil
}

// install runs all files in one transaction if any of them differs.
func (s source) install(ctx context.Context, conn *pgx.Conn, log *slog.Logger) error {
	paths, want, err := s.wanted()
	if err != nil {
		return err
	}
	have, err := sums(ctx, conn, "msgx.sql_file")
	if err != nil {
		return err
	}
	if same(want, have) {
		log.InfoContext(ctx, "functions and views are current", "files", len(paths))
		return nil
	}
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		for _, p := range paths {
			text, err := fs.ReadFile(s.files, p)
			if err != nil {
				return fmt.Errorf("read %s: %w", p, err)
			}
			// The simple protocol takes a whole file.
			if _, err := tx.Conn().PgConn().Exec(ctx, string(text)).ReadAll(); err != nil {
				return located(p, text, err)
			}
		}
		if _, err := tx.Exec(ctx, "DELETE FROM msgx.sql_file"); err != nil {
			return fmt.Errorf("record what was applied: %w", err)
		}
		for p, sum := range want {
			if _, err := tx.Exec(ctx, "INSERT INTO msgx.sql_file (path, sha256) VALUES ($1, $2)", p, sum); err != nil {
				return fmt.Errorf("record what was applied: %w", err)
			}
		}
		log.InfoContext(ctx, "functions and views applied", "files", len(paths))
		return nil
	})
}

func same(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		if b[k] != v {
			return false
		}
	}
	return true
}

// located adds file and line to an error of the server.
func located(p string, text []byte, err error) error {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return fmt.Errorf("%s: %w", p, err)
	}
	if pg.Position == 0 {
		return fmt.Errorf("%s: %w", p, err)
	}
	runes := []rune(string(text))
	line := 1 + strings.Count(string(runes[:min(int(pg.Position)-1, len(runes))]), "\n")
	return fmt.Errorf("%s, line %d: %w", p, line, err)
}

func (s source) look(ctx context.Context, dsn string) (st Status, err error) {
	conn, err := connect(ctx, dsn)
	if err != nil {
		return st, err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	done := make(map[string]bool)
	var there bool
	if err := conn.QueryRow(ctx, "SELECT to_regclass($1) IS NOT NULL", table).Scan(&there); err != nil {
		return st, fmt.Errorf("look for migrations: %w", err)
	}
	if there {
		rows, err := conn.Query(ctx, "SELECT version FROM "+table)
		if err != nil {
			return st, fmt.Errorf("read migrations: %w", err)
		}
		var version string
		if _, err := pgx.ForEachRow(rows, []any{&version}, func() error { done[version] = true; return nil }); err != nil {
			return st, fmt.Errorf("read migrations: %w", err)
		}
	}
	names, err := fs.Glob(s.migrations, "migrations/*.sql")
	if err != nil {
		return st, fmt.Errorf("list migrations: %w", err)
	}
	for _, name := range names {
		version, _, _ := strings.Cut(path.Base(name), "_")
		if done[version] {
			st.Applied = append(st.Applied, path.Base(name))
		} else {
			st.Pending = append(st.Pending, path.Base(name))
		}
	}
	paths, want, err := s.wanted()
	if err != nil {
		return st, err
	}
	have := make(map[string]string)
	if err := conn.QueryRow(ctx, "SELECT to_regclass('msgx.sql_file') IS NOT NULL").Scan(&there); err != nil {
		return st, fmt.Errorf("look for applied files: %w", err)
	}
	if there {
		if have, err = sums(ctx, conn, "msgx.sql_file"); err != nil {
			return st, err
		}
	}
	for _, p := range append([]string{list}, paths...) {
		state := "current"
		switch have[p] {
		case want[p]:
		case "":
			state = "missing"
		default:
			state = "differs"
		}
		st.Files = append(st.Files, File{Path: p, State: state})
	}
	return st, nil
}

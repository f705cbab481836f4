// Package migrate brings a database to what this binary needs: migrations one
// by one (dbmate), then functions, views and grants in one transaction.
package migrate

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"msgexchange/db"
	"msgexchange/sql"
)

const (
	// lockKey is the advisory lock that lets one migration run at a time in a
	// database; dbmate itself takes none.
	lockKey = 0x6d736778 // "msgx"
	// table is where dbmate keeps what it ran; public, as our schema is made
	// by the first migration.
	table  = "public.msgx_migrations"
	folder = "migrations" // of source.migrations
	list   = "install.sql"
	// lockPoll is how often a taken lock is tried again. Waiting in the
	// server would hold a snapshot, for which the other's CREATE INDEX
	// CONCURRENTLY would wait in turn.
	lockPoll = 200 * time.Millisecond
)

// File is a repeatable SQL file and whether it is what the database has.
type File struct {
	Path  string
	State string // current, differs, missing
}

// Status is what a database has of what this binary needs.
type Status struct {
	Applied []string // migrations, by file name
	Pending []string
	Unknown []string // versions that this binary has no file of: a newer one was here
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
// and views as they were; a database with migrations of a newer binary is
// refused with ErrNewer.
func Up(ctx context.Context, dsn string, log *slog.Logger) error {
	return embedded().up(ctx, dsn, log)
}

// Look tells what is applied, without changing anything.
func Look(ctx context.Context, dsn string) (Status, error) {
	return embedded().look(ctx, dsn)
}

// ErrNewer reports that a newer binary has migrated the database: this one
// would put old functions on new tables.
var ErrNewer = errors.New("the database was migrated by a newer msgx: use that one")

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
	if err == nil && !maps.Equal(want, have) {
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
	if err := lock(ctx, conn, log); err != nil {
		return err
	}
	st, err := s.lookOn(ctx, conn)
	if err != nil {
		return err
	}
	if len(st.Unknown) > 0 {
		return fmt.Errorf("%w (it has %s)", ErrNewer, strings.Join(st.Unknown, ", "))
	}
	if err := s.migrate(ctx, dsn, log); err != nil {
		return err
	}
	return s.install(ctx, conn, log)
}

// connect takes the connection strings that the daemon's pool takes.
func connect(ctx context.Context, dsn string) (*pgx.Conn, error) {
	cfg, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("parse the connection string: %w", err)
	}
	conn, err := pgx.ConnectConfig(ctx, cfg.ConnConfig)
	if err != nil {
		return nil, fmt.Errorf("connect to PostgreSQL: %w", err)
	}
	return conn, nil
}

// lock waits until no other migration runs in the database.
func lock(ctx context.Context, conn *pgx.Conn, log *slog.Logger) error {
	for said := false; ; said = true {
		var mine bool
		if err := conn.QueryRow(ctx, "SELECT pg_try_advisory_lock($1)", lockKey).Scan(&mine); err != nil {
			return fmt.Errorf("take the lock of migrations: %w", err)
		}
		if mine {
			return nil
		}
		if !said {
			log.InfoContext(ctx, "waiting for another migration of this database")
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for another migration: %w", ctx.Err())
		case <-time.After(lockPoll):
		}
	}
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
	if maps.Equal(want, have) {
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
				return located(p, 0, string(text), err)
			}
			if tx.Conn().PgConn().TxStatus() != 'T' {
				return fmt.Errorf("%s ends the transaction: it must hold no BEGIN, COMMIT or ROLLBACK", p)
			}
			log.DebugContext(ctx, "applied", "file", p)
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

// located adds file, line and place to an error that the server found in text,
// which begins after that many lines of the file.
func located(file string, after int, text string, err error) error {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return fmt.Errorf("%s: %w", file, err)
	}
	if pg.Position > 0 {
		// The position counts characters, not bytes.
		runes := []rune(text)
		upTo := string(runes[:min(int(pg.Position)-1, len(runes))])
		file = fmt.Sprintf("%s, line %d", file, after+1+strings.Count(upTo, "\n"))
	}
	if pg.Where != "" {
		return fmt.Errorf("%s: %w; %s", file, err, pg.Where)
	}
	return fmt.Errorf("%s: %w", file, err)
}

func (s source) look(ctx context.Context, dsn string) (st Status, err error) {
	conn, err := connect(ctx, dsn)
	if err != nil {
		return st, err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	return s.lookOn(ctx, conn)
}

func (s source) lookOn(ctx context.Context, conn *pgx.Conn) (st Status, err error) {
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
	names, err := fs.Glob(s.migrations, folder+"/*.sql")
	if err != nil {
		return st, fmt.Errorf("list migrations: %w", err)
	}
	for _, name := range names {
		version, _, _ := strings.Cut(path.Base(name), "_")
		if done[version] {
			delete(done, version)
			st.Applied = append(st.Applied, path.Base(name))
		} else {
			st.Pending = append(st.Pending, path.Base(name))
		}
	}
	st.Unknown = slices.Sorted(maps.Keys(done))
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

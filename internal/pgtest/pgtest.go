// Package pgtest gives every test a database of its own on a real PostgreSQL,
// copied from a template that holds all migrations and functions.
//
// The server is the one of MSGX_TEST_PG_URL, as cmd/devservers starts it. The
// template's name carries a hash of the SQL it was made from, so test binaries
// that run at the same time share it, and a changed file makes a new one.
package pgtest

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"msgexchange/db"
	"msgexchange/internal/migrate"
	"msgexchange/sql"
)

// Env names the variable with the URL of the test server, as its superuser.
const Env = "MSGX_TEST_PG_URL"

// HowToRun is what a test says that finds no server.
const HowToRun = "run the tests with `make test` (or `go run ./cmd/devservers exec -- go test ./...`)"

// wait bounds each step of making or dropping a database.
const wait = 2 * time.Minute

// DB is one test's database.
type DB struct {
	Name string
	Pool *pgxpool.Pool // as superuser

	URL         string // as superuser
	AppURL      string // as a login that is a member of msgx_app
	OperatorURL string // of msgx_operator
	AuditorURL  string // of msgx_auditor
}

// New makes a migrated database that is dropped when the test ends.
func New(t testing.TB) *DB { return start(t, Create) }

// NewEmpty makes a database without anything of ours, dropped when the test ends.
func NewEmpty(t testing.TB) *DB { return start(t, CreateEmpty) }

func start(t testing.TB, create func(context.Context, string) (*DB, error)) *DB {
	t.Helper()
	server := os.Getenv(Env)
	if server == "" {
		t.Fatal(HowToRun)
	}
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	d, err := create(ctx, server)
	if err != nil {
		t.Fatalf("make a test database: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), wait)
		defer cancel()
		if err := d.Drop(ctx, server); err != nil {
			t.Errorf("drop the test database: %v", err)
		}
	})
	return d
}

// Connect opens a pool on one of the database's URLs, closed when the test ends.
func (d *DB) Connect(t testing.TB, url string) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), url)
	if err != nil {
		t.Fatalf("connect to the test database: %v", err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// Create makes a migrated database on the server; Drop it after use.
func Create(ctx context.Context, server string) (*DB, error) {
	name, err := templateName()
	if err != nil {
		return nil, err
	}
	if err := template(ctx, server, name); err != nil {
		return nil, err
	}
	return create(ctx, server, name)
}

// CreateEmpty makes an empty database on the server; Drop it after use.
func CreateEmpty(ctx context.Context, server string) (*DB, error) {
	return create(ctx, server, "template0")
}

func create(ctx context.Context, server, from string) (*DB, error) {
	name := "msgx_test_" + strings.ToLower(rand.Text()[:12])
	if err := execute(ctx, server, fmt.Sprintf("CREATE DATABASE %s TEMPLATE %s", name, from)); err != nil {
		return nil, fmt.Errorf("create a database: %w", err)
	}
	d := &DB{Name: name}
	var err error
	for _, at := range []struct {
		to   *string
		user string
	}{{&d.URL, ""}, {&d.AppURL, login("msgx_app")}, {&d.OperatorURL, login("msgx_operator")}, {&d.AuditorURL, login("msgx_auditor")}} {
		if *at.to, err = address(server, name, at.user); err != nil {
			return nil, err
		}
	}
	if d.Pool, err = pgxpool.New(ctx, d.URL); err != nil {
		return nil, errors.Join(fmt.Errorf("connect to the new database: %w", err), drop(ctx, server, name))
	}
	return d, nil
}

// Drop closes the pool and removes the database, ending sessions left on it.
func (d *DB) Drop(ctx context.Context, server string) error {
	d.Pool.Close()
	return drop(ctx, server, d.Name)
}

func drop(ctx context.Context, server, name string) error {
	if err := execute(ctx, server, fmt.Sprintf("DROP DATABASE IF EXISTS %s WITH (FORCE)", name)); err != nil {
		return fmt.Errorf("drop database %s: %w", name, err)
	}
	return nil
}

// template makes the migrated template, unless it is there. It counts as made only once it is marked, so a killed maker leaves none.
func template(ctx context.Context, server, name string) (err error) {
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return fmt.Errorf("connect to the test server: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	made := func() (found bool, err error) {
		err = conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1 AND datistemplate)", name).Scan(&found)
		return found, err
	}
	if ok, err := made(); ok || err != nil {
		return err
	}
	// The lock ends with the connection.
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock(hashtextextended('msgx test template', 0))"); err != nil {
		return fmt.Errorf("lock the test template: %w", err)
	}
	if ok, err := made(); ok || err != nil {
		return err
	}
	at, err := address(server, name, "")
	if err != nil {
		return err
	}
	for _, step := range []string{
		fmt.Sprintf("DROP DATABASE IF EXISTS %s WITH (FORCE)", name),
		fmt.Sprintf("CREATE DATABASE %s TEMPLATE template0", name),
	} {
		if _, err := conn.Exec(ctx, step); err != nil {
			return fmt.Errorf("create the test template: %w", err)
		}
	}
	if err := migrate.Up(ctx, at, slog.New(slog.DiscardHandler)); err != nil {
		return fmt.Errorf("migrate the test template: %w", err)
	}
	for _, role := range []string{"msgx_app", "msgx_operator", "msgx_auditor"} {
		if err := makeLogin(ctx, conn, role); err != nil {
			return err
		}
	}
	if _, err := conn.Exec(ctx, fmt.Sprintf("ALTER DATABASE %s IS_TEMPLATE true ALLOW_CONNECTIONS false", name)); err != nil {
		return fmt.Errorf("mark the test template: %w", err)
	}
	return nil
}

// login names the test login of a group role.
func login(role string) string { return role + "_test" }

// makeLogin makes a login that has the rights of role, once per server.
func makeLogin(ctx context.Context, conn *pgx.Conn, role string) error {
	_, err := conn.Exec(ctx, fmt.Sprintf("CREATE ROLE %s LOGIN IN ROLE %s", login(role), role))
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && pg.Code == "42710" { // duplicate_object
		return nil
	}
	if err != nil {
		return fmt.Errorf("create the test login of %s: %w", role, err)
	}
	return nil
}

// templateName hashes every file that makes the template.
func templateName() (string, error) {
	sum := sha256.New()
	for _, files := range []fs.FS{db.Migrations, sql.Files} {
		if err := hashFiles(sum, files); err != nil {
			return "", fmt.Errorf("hash the SQL files: %w", err)
		}
	}
	return "msgx_template_" + hex.EncodeToString(sum.Sum(nil))[:16], nil
}

func hashFiles(sum hash.Hash, files fs.FS) error {
	return fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(files, path)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(sum, "%s %d\n%s", path, len(text), text)
		return err
	})
}

// address is the server's URL with another database and, if named, another user.
func address(server, database, username string) (string, error) {
	u, err := url.Parse(server)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", Env, err)
	}
	u.Path = "/" + database
	if username != "" {
		u.User = url.User(username)
	}
	return u.String(), nil
}

// execute runs one statement on a connection of its own.
func execute(ctx context.Context, server, statement string) error {
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return fmt.Errorf("connect to the test server: %w", err)
	}
	_, err = conn.Exec(ctx, statement)
	return errors.Join(err, conn.Close(context.WithoutCancel(ctx)))
}

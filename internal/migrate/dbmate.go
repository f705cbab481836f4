package migrate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"strings"
	"sync"

	"github.com/amacneil/dbmate/v2/pkg/dbmate"
	"github.com/amacneil/dbmate/v2/pkg/driver/postgres"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
)

// scheme is where dbmate finds our driver; the connection string travels in
// the URL's query.
const scheme = "msgx"

// migrate applies what is pending, one migration after the other, each in its
// own transaction. ctx ends nothing here: dbmate knows none.
func (s source) migrate(ctx context.Context, dsn string, log *slog.Logger) error {
	register()
	at := &progress{ctx: ctx, log: log}
	t := dbmate.New(&url.URL{Scheme: scheme, RawQuery: url.Values{"dsn": {dsn}}.Encode()})
	t.FS = s.migrations
	t.MigrationsDir = []string{folder}
	t.MigrationsTableName = table
	t.AutoDumpSchema = false
	t.Strict = true
	t.Log = at
	err := t.Migrate()
	if err == nil {
		log.InfoContext(ctx, "migrations are current")
		return nil
	}
	var part sectionError
	if !errors.As(err, &part) {
		return fmt.Errorf("apply migrations: %w", err)
	}
	text, rerr := fs.ReadFile(s.migrations, folder+"/"+at.file)
	if rerr != nil {
		return errors.Join(fmt.Errorf("%s: %w", at.file, part.error), rerr)
	}
	before, _, _ := strings.Cut(string(text), part.section)
	return located(at.file, strings.Count(before, "\n"), part.section, part.error)
}

// register is the only way to give dbmate a driver.
var register = sync.OnceFunc(func() { dbmate.RegisterDriver(newDriver, scheme) })

// driver is dbmate's for PostgreSQL, but connects with pgx. dbmate's own
// takes URLs only, reads fewer parameters, and decides about TLS in another
// way, so that a string good for the daemon could fail or be weakened here.
type driver struct {
	dbmate.Driver
	dsn string
}

func newDriver(c dbmate.DriverConfig) dbmate.Driver {
	return driver{Driver: postgres.NewDriver(c), dsn: c.DatabaseURL.Query().Get("dsn")}
}

func (d driver) Open() (*sql.DB, error) {
	cfg, err := pgxpool.ParseConfig(d.dsn)
	if err != nil {
		return nil, fmt.Errorf("parse the connection string: %w", err)
	}
	return stdlib.OpenDB(*cfg.ConnConfig), nil
}

// QueryError keeps what was run, for the line of an error.
func (d driver) QueryError(section string, err error) error {
	return sectionError{section: section, error: err}
}

// sectionError is an error in the up or down part of a migration.
type sectionError struct {
	error
	section string
}

func (e sectionError) Unwrap() error { return e.error }

// progress turns what dbmate prints into log lines, and knows what it is at.
type progress struct {
	ctx  context.Context
	log  *slog.Logger
	file string
}

func (p *progress) Write(line []byte) (int, error) {
	text := strings.TrimSpace(string(line))
	if name, ok := strings.CutPrefix(text, "Applying: "); ok {
		p.file = name
		p.log.InfoContext(p.ctx, "applying migration", "file", name)
	}
	return len(line), nil
}

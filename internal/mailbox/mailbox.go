// Package mailbox reads, marks and fills the shared MySQL mailbox. It owns no state and decides nothing: order is the id,
// the mark is never a predicate, and nothing but unmarked rows is ever changed. Other users of the table come first.
package mailbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/go-sql-driver/mysql"
)

// Config says where the mailbox is and how it is used. Zero durations and sizes take the defaults named here.
type Config struct {
	DSN             string         // of the source server, not a replica
	Zone            *time.Location // zone of the DATETIME columns; default UTC
	Table           string         // also database.table; default cminmsgs
	ColumnID        string         // primary key; default CMINMSGS_ID
	ColumnText      string         // default CMINMSGS_CLOB_MSG
	ColumnReceived  string         // default CMINMSGS_DATE_RECEIVED
	ColumnProcessed string         // the mark; default CMINMSGS_DATE_PROCESSED
	ColumnStatus    string         // default CMINMSGS_STATUS
	ProcessedValue  string         // status that a mark writes; default PROCESSED
	MarkStatus      bool           // whether a mark writes the status too
	MaxTextBytes    int64          // longest text that is read; default 16 MiB
	PageBytes       int64          // bytes of text in one query; default 4 MiB
	ConnectTimeout  time.Duration  // default 5 s
	ReadTimeout     time.Duration  // default 10 s
	WriteTimeout    time.Duration  // default 10 s
	LockWait        time.Duration  // longest wait for a row held by another, rounded up to seconds; default 2 s
	ConnMaxLifetime time.Duration  // default 1 min
	Shadow          bool           // refuse to write

	AllowReplicating bool // use a server that can be written although it replicates: one of a pair of primaries
}

// ErrShadow is returned by every write of a shadow instance.
var ErrShadow = errors.New("this instance is a shadow: it does not write to the mailbox")

const (
	// idsPerQuery stays well below 1000, where MariaDB turns a list of ids into a join that may scan, and lock, the whole table.
	idsPerQuery    = 500
	maxConnections = 4
)

// Mailbox is a pool of connections to the shared mailbox. It is safe for concurrent use.
type Mailbox struct {
	cfg                                  Config
	db                                   *sql.DB
	table, id, text, received, processed string // quoted
	status                               string
	skipLocked                           string // how the server passes over locked rows
	held                                 atomic.Pointer[HeldError]
}

// Open checks the configuration and prepares the pool; it opens no connection yet. Whatever the DSN says, connections use
// utf8mb4, autocommit, READ COMMITTED, and hand dates over as text. Errors name the bad part, never the password.
func Open(cfg Config, log *slog.Logger) (*Mailbox, error) {
	cfg = withDefaults(cfg)
	m := &Mailbox{cfg: cfg, skipLocked: "SKIP LOCKED"}
	for _, name := range []struct {
		what, raw string
		parts     int
		quoted    *string
	}{
		{"table", cfg.Table, 2, &m.table},
		{"id column", cfg.ColumnID, 1, &m.id},
		{"text column", cfg.ColumnText, 1, &m.text},
		{"received column", cfg.ColumnReceived, 1, &m.received},
		{"processed column", cfg.ColumnProcessed, 1, &m.processed},
		{"status column", cfg.ColumnStatus, 1, &m.status},
	} {
		quoted, err := quote(name.raw, name.parts)
		if err != nil {
			return nil, fmt.Errorf("open mailbox: %s: %w", name.what, err)
		}
		*name.quoted = quoted
	}
	dsn, err := rewriteDSN(cfg, log)
	if err != nil {
		return nil, fmt.Errorf("open mailbox: %w", err)
	}
	base, err := mysql.NewConnector(dsn)
	if err != nil {
		return nil, fmt.Errorf("open mailbox: %w", err)
	}
	m.db = sql.OpenDB(connector{base, cfg})
	m.db.SetMaxOpenConns(maxConnections)
	m.db.SetMaxIdleConns(maxConnections)
	m.db.SetConnMaxLifetime(cfg.ConnMaxLifetime)
	m.db.SetConnMaxIdleTime(SessionIdle / 2)
	return m, nil
}

// Close closes the pool.
func (m *Mailbox) Close() error {
	if err := m.db.Close(); err != nil {
		return fmt.Errorf("close mailbox: %w", err)
	}
	return nil
}

func withDefaults(cfg Config) Config {
	orText := func(field *string, def string) {
		if *field == "" {
			*field = def
		}
	}
	orText(&cfg.Table, "cminmsgs")
	orText(&cfg.ColumnID, "CMINMSGS_ID")
	orText(&cfg.ColumnText, "CMINMSGS_CLOB_MSG")
	orText(&cfg.ColumnReceived, "CMINMSGS_DATE_RECEIVED")
	orText(&cfg.ColumnProcessed, "CMINMSGS_DATE_PROCESSED")
	orText(&cfg.ColumnStatus, "CMINMSGS_STATUS")
	orText(&cfg.ProcessedValue, "PROCESSED")
	orTime := func(field *time.Duration, def time.Duration) {
		if *field <= 0 {
			*field = def
		}
	}
	orTime(&cfg.ConnectTimeout, 5*time.Second)
	orTime(&cfg.ReadTimeout, 10*time.Second)
	orTime(&cfg.WriteTimeout, 10*time.Second)
	orTime(&cfg.LockWait, 2*time.Second)
	orTime(&cfg.ConnMaxLifetime, time.Minute)
	if cfg.MaxTextBytes <= 0 {
		cfg.MaxTextBytes = 16 << 20
	}
	if cfg.PageBytes <= 0 {
		cfg.PageBytes = 4 << 20
	}
	if cfg.Zone == nil {
		cfg.Zone = time.UTC
	}
	return cfg
}

// quote checks and quotes a name of up to parts parts.
func quote(name string, parts int) (string, error) {
	part := `[A-Za-z0-9_$]{1,64}`
	if !regexp.MustCompile(`\A`+part+`(\.`+part+`)*\z`).MatchString(name) || strings.Count(name, ".") >= parts {
		return "", fmt.Errorf("%q is not a name of letters, digits, _ and $", name)
	}
	return "`" + strings.ReplaceAll(name, ".", "`.`") + "`", nil
}

func rewriteDSN(cfg Config, log *slog.Logger) (*mysql.Config, error) {
	dsn, err := mysql.ParseDSN(cfg.DSN)
	if err != nil {
		return nil, fmt.Errorf("parse DSN: %w", err)
	}
	if err := dsn.Apply(mysql.Charset("utf8mb4", "")); err != nil {
		return nil, fmt.Errorf("set character set: %w", err)
	}
	dsn.ParseTime = false
	dsn.MultiStatements = false
	dsn.AllowAllFiles = false
	dsn.CheckConnLiveness = true
	dsn.InterpolateParams = true // one round trip instead of three; ids and text only, in utf8mb4
	dsn.Timeout, dsn.ReadTimeout, dsn.WriteTimeout = cfg.ConnectTimeout, cfg.ReadTimeout, cfg.WriteTimeout
	dsn.Logger = driverLog{log}
	return dsn, nil
}

// driverLog hands on what the driver would print to standard error.
type driverLog struct{ log *slog.Logger }

func (l driverLog) Print(v ...any) {
	l.log.Debug("mailbox connection", "detail", strings.TrimSpace(fmt.Sprintln(v...)))
}

// Position is a row of the mailbox without its text.
type Position struct {
	ID         int64
	ReceivedAt *time.Time // nil when null, zero or impossible
	Bytes      int64      // length of the text
	Null       bool       // the text is NULL
}

// Page is what one statement saw of the mailbox, and so one snapshot: only this may decide what is missing.
type Page struct {
	Server    string     // which server answered
	Positions []Position // rows above the watermark, in the order of their ids
	Below     []Position // the nearest rows at or below it, in that order too
	Max       int64      // highest id of the table; 0 when it is empty
	Next      int64      // id that the next row will get, 0 = not known; looked up only when Max is below the watermark
}

// belowRows is how many rows at or below the watermark a page tells of: they show whether the rows are still those that were read.
const belowRows = 3

// Page returns up to limit rows above after, and what tells whether the ids up to after still are what they were.
func (m *Mailbox) Page(ctx context.Context, after int64, limit int) (Page, error) {
	columns := fmt.Sprintf("SELECT %s AS id, %s AS received, OCTET_LENGTH(%s) AS bytes FROM %s", m.id, m.received, m.text, m.table)
	query := fmt.Sprintf("SELECT %s, (SELECT MAX(%s) FROM %s), p.id, p.received, p.bytes FROM (SELECT 1) AS one LEFT JOIN ("+
		"(%s WHERE %s <= ? ORDER BY %s DESC LIMIT %d) UNION ALL (%s WHERE %s > ? ORDER BY %s LIMIT ?)) AS p ON TRUE ORDER BY p.id",
		serverName, m.id, m.table, columns, m.id, m.id, belowRows, columns, m.id, m.id)
	type line struct {
		server   string
		max, id  sql.NullInt64
		position Position
	}
	lines, err := collect(ctx, m.db, func(row *sql.Rows) (l line, err error) {
		var (
			received sql.NullString
			bytes    sql.NullInt64
		)
		err = row.Scan(&l.server, &l.max, &l.id, &received, &bytes)
		l.position = Position{ID: l.id.Int64, ReceivedAt: m.instant(received), Bytes: bytes.Int64, Null: !bytes.Valid}
		return l, err
	}, query, after, after, limit)
	if err != nil {
		return Page{}, fmt.Errorf("read mailbox positions after %d: %w", after, err)
	}
	var page Page
	for _, l := range lines {
		page.Server, page.Max = l.server, l.max.Int64
		switch {
		case !l.id.Valid:
		case l.id.Int64 <= after:
			page.Below = append(page.Below, l.position)
		default:
			page.Positions = append(page.Positions, l.position)
		}
	}
	if page.Max < after {
		if page.Next, err = m.next(ctx); err != nil {
			return Page{}, err
		}
	}
	return page, nil
}

// next returns the id that the server will give to the next row, 0 when it does not say.
func (m *Mailbox) next(ctx context.Context) (int64, error) {
	schema, table, qualified := strings.Cut(m.cfg.Table, ".")
	if !qualified {
		schema, table = "", schema
	}
	var next sql.NullInt64
	err := m.db.QueryRowContext(ctx, "SELECT AUTO_INCREMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = COALESCE(NULLIF(?, ''), DATABASE()) AND TABLE_NAME = ?",
		schema, table).Scan(&next)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("read the mailbox's next id: %w", err)
	}
	return next.Int64, nil
}

// HeldError is why rows are neither read by id nor marked: an id may not name the row any more that it named.
type HeldError struct{ Why string }

func (e *HeldError) Error() string { return "the mailbox's ids are not trusted: " + e.Why }

// Hold makes Texts, Mark and Insert refuse until it is called with an empty reason.
func (m *Mailbox) Hold(why string) {
	if why == "" {
		m.held.Store(nil)
		return
	}
	m.held.Store(&HeldError{why})
}

// trusted returns an error while the mailbox is held.
func (m *Mailbox) trusted() error {
	if held := m.held.Load(); held != nil {
		return held
	}
	return nil
}

// IDs returns up to limit ids above after, in order, from one statement.
func (m *Mailbox) IDs(ctx context.Context, after int64, limit int) ([]int64, error) {
	query := fmt.Sprintf("SELECT %s FROM %s WHERE %s > ? ORDER BY %s LIMIT ?", m.id, m.table, m.id, m.id)
	ids, err := collect(ctx, m.db, func(row *sql.Rows) (id int64, err error) {
		err = row.Scan(&id)
		return id, err
	}, query, after, limit)
	if err != nil {
		return nil, fmt.Errorf("read mailbox ids after %d: %w", after, err)
	}
	return ids, nil
}

// Bounds returns the smallest and largest id present; empty when there is none.
func (m *Mailbox) Bounds(ctx context.Context) (min, max int64, empty bool, err error) {
	var low, high sql.NullInt64
	query := fmt.Sprintf("SELECT MIN(%s), MAX(%s) FROM %s", m.id, m.id, m.table)
	if err := m.db.QueryRowContext(ctx, query).Scan(&low, &high); err != nil {
		return 0, 0, false, fmt.Errorf("read mailbox bounds: %w", err)
	}
	return low.Int64, high.Int64, !low.Valid, nil
}

// NewestBefore returns the largest id received before t, 0 when there is none.
// It reads from the newest row back, so it is cheap for a recent t.
func (m *Mailbox) NewestBefore(ctx context.Context, t time.Time) (int64, error) {
	query := fmt.Sprintf("SELECT %s FROM %s WHERE %s < ? ORDER BY %s DESC LIMIT 1", m.id, m.table, m.received, m.id)
	var id int64
	err := m.db.QueryRowContext(ctx, query, t.In(m.cfg.Zone).Format(time.DateTime)).Scan(&id)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("find the newest mailbox row before %s: %w", t, err)
	}
	return id, nil
}

// Now returns the clock of the mailbox's server, to the microsecond.
func (m *Mailbox) Now(ctx context.Context) (time.Time, error) {
	now, _, err := m.clock(ctx)
	return now, err
}

// clock returns the server's instant, and what its sessions write as local time.
func (m *Mailbox) clock(ctx context.Context) (now time.Time, local string, err error) {
	var utc string
	if err := m.db.QueryRowContext(ctx, "SELECT UTC_TIMESTAMP(6), NOW(6)").Scan(&utc, &local); err != nil {
		return time.Time{}, "", fmt.Errorf("read mailbox clock: %w", err)
	}
	now, err = time.ParseInLocation(dateTime, utc, time.UTC)
	if err != nil {
		return time.Time{}, "", fmt.Errorf("read mailbox clock: %w", err)
	}
	return now, local, nil
}

// CheckZone tells whether the server's local time is that of Config.Zone. If it is not, received times are read wrong.
func (m *Mailbox) CheckZone(ctx context.Context) error {
	now, local, err := m.clock(ctx)
	if err != nil {
		return err
	}
	read := m.instant(sql.NullString{String: local, Valid: true})
	if read == nil || read.Sub(now).Abs() > time.Minute {
		return fmt.Errorf("the mailbox's server writes %s where zone %s has %s: set its zone", local, m.cfg.Zone, now.In(m.cfg.Zone).Format(dateTime))
	}
	return nil
}

// Insert puts a text into the mailbox as its writers do, and returns its id. The text must be valid UTF-8. An error may
// leave the row there.
func (m *Mailbox) Insert(ctx context.Context, text string) (int64, error) {
	if m.cfg.Shadow {
		return 0, fmt.Errorf("insert into mailbox: %w", ErrShadow)
	}
	if err := m.trusted(); err != nil {
		return 0, fmt.Errorf("insert into mailbox: %w", err)
	}
	if !utf8.ValidString(text) {
		return 0, errors.New("insert into mailbox: the text is not valid UTF-8")
	}
	query := fmt.Sprintf("INSERT INTO %s (%s, %s, %s) VALUES (?, NOW(), 'VALID')", m.table, m.text, m.received, m.status)
	result, err := m.db.ExecContext(ctx, query, text)
	if err != nil {
		return 0, fmt.Errorf("insert into mailbox: %w", err)
	}
	id, err := result.LastInsertId()
	if err != nil {
		return 0, fmt.Errorf("insert into mailbox: %w", err)
	}
	return id, nil
}

const dateTime = "2006-01-02 15:04:05" // reads fractions too

// instant reads a DATETIME; nil for null, zero and impossible ones, which must not stop the poll.
func (m *Mailbox) instant(text sql.NullString) *time.Time {
	if !text.Valid {
		return nil
	}
	t, err := time.ParseInLocation(dateTime, text.String, m.cfg.Zone)
	if err != nil || t.Year() == 0 {
		return nil
	}
	return &t
}

// querier is a pool or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// collect runs a query and scans every row.
func collect[T any](ctx context.Context, q querier, scan func(*sql.Rows) (T, error), query string, args ...any) (all []T, err error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		one, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}

// placeholders returns "?,?,…" and the arguments for it.
func placeholders(ids []int64) (string, []any) {
	args := make([]any, len(ids))
	for i, id := range ids {
		args[i] = id
	}
	return strings.TrimSuffix(strings.Repeat("?,", len(ids)), ","), args
}

func sortedUnique(ids []int64) []int64 {
	ids = slices.Clone(ids)
	slices.Sort(ids)
	return slices.Compact(ids)
}

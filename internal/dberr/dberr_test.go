package dberr_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"msgexchange/internal/dberr"
	"msgexchange/internal/pgtest"
)

var update = flag.Bool("update", false, "write docs/errors.md anew")

func TestClassify(t *testing.T) {
	for code, want := range map[string]dberr.Class{
		"08006": dberr.Environment, "57014": dberr.Environment, "57P01": dberr.Environment, "53300": dberr.Environment,
		"55P03": dberr.Environment, "40001": dberr.Environment, "40P01": dberr.Environment, "25006": dberr.Environment,
		"0A000": dberr.Environment, "28P01": dberr.Environment, "MX001": dberr.Environment, "XX000": dberr.Environment,
		"42883": dberr.Environment, "42501": dberr.Environment, "3F000": dberr.Environment, "25P03": dberr.Environment, "26000": dberr.Environment,
		"22012": dberr.Message, "22P02": dberr.Message, "23505": dberr.Message, "P0001": dberr.Message, "MX004": dberr.Environment,
		"54001": dberr.Message, "54000": dberr.Environment, "21000": dberr.Message, "P0002": dberr.Message, "20000": dberr.Message,
		// In no line: nobody knows what it is, so no message is to blame at once.
		"55000": dberr.Environment, "25001": dberr.Environment, "99999": dberr.Environment, "": dberr.Environment,
	} {
		if got := dberr.Classify(fmt.Errorf("apply: %w", &pgconn.PgError{Code: code})); got != want {
			t.Errorf("%s is the %s's, want the %s's", code, got, want)
		}
	}
	for _, err := range []error{context.DeadlineExceeded, errors.New("connection reset"), &pgconn.ConnectError{}} {
		if dberr.Classify(err) != dberr.Environment {
			t.Errorf("%v is a message's", err)
		}
	}
}

// silent are errors that came without a word from the server.
func silent(t *testing.T) (during, before map[string]error) {
	t.Helper()
	cfg, err := pgx.ParseConfig("postgres://u@127.0.0.1:1/d")
	if err != nil {
		t.Fatal(err)
	}
	_, refused := pgx.ConnectConfig(t.Context(), cfg)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}()
	mute, err := pgx.ParseConfig("postgres://u@" + l.Addr().String() + "/d")
	if err != nil {
		t.Fatal(err)
	}
	soon, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, unanswered := pgx.ConnectConfig(soon, mute)
	d := pgtest.New(t)
	call := func(ctx context.Context, statement string, prepare func(*pgx.Conn)) error {
		conn, err := pgx.Connect(t.Context(), d.URL)
		if err != nil {
			t.Fatal(err)
		}
		prepare(conn)
		_, err = conn.Exec(ctx, statement)
		return err
	}
	timeout := func() error {
		conn, err := pgx.Connect(t.Context(), d.URL)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err = conn.Exec(ctx, "SELECT pg_sleep(1)")
		return err
	}
	stop, cut := context.WithCancel(t.Context())
	full, err := pgxpool.New(t.Context(), d.URL+"&pool_max_conns=1")
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	taken, err := full.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Release()
	wait, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, noFree := full.Exec(wait, "SELECT 1")
	// The server's process dies as the kernel ends one that takes too much memory.
	crash := func(conn *pgx.Conn) {
		time.AfterFunc(50*time.Millisecond, func() {
			if err := conn.PgConn().Conn().(*net.TCPConn).CloseRead(); err != nil {
				t.Error(err)
			}
		})
	}
	during = map[string]error{
		"timeout of the call":            timeout(),
		"connection lost in the call":    call(t.Context(), "SELECT pg_sleep(1)", crash),
		"reset":                          fmt.Errorf("x: %w", &net.OpError{Op: "read", Err: syscall.ECONNRESET}),
		"lost, as pgx would wrap it":     fmt.Errorf("x: %w", io.ErrUnexpectedEOF),
		"cancelled by statement_timeout": &pgconn.PgError{Code: "57014"},
		"out of memory":                  &pgconn.PgError{Code: "53200"},
		"internal error":                 &pgconn.PgError{Code: "XX000"},
		"no transaction numbers":         &pgconn.PgError{Code: "54000"},
		"unknown":                        &pgconn.PgError{Code: "99999"},
	}
	before = map[string]error{
		"none":               nil,
		"connection refused": refused,
		"no answer to login": unanswered,
		"no free connection": noFree,
		"conn closed":        call(t.Context(), "SELECT 1", func(conn *pgx.Conn) { _ = conn.PgConn().Conn().Close(); _ = conn.Close(t.Context()) }),
		"our own stop":       call(stop, "SELECT pg_sleep(1)", func(*pgx.Conn) { time.AfterFunc(50*time.Millisecond, cut) }),
		"stopped before":     call(stop, "SELECT 1", func(*pgx.Conn) {}),
		"missing partition":  &pgconn.PgError{Code: "23514"},
		"the message's":      &pgconn.PgError{Code: "22P02"},
		"something in Go":    errors.New("x"),
	}
	for _, code := range []string{"25006", "28000", "28P01", "3D000", "3F000", "40001", "40P01", "42883", "0A000", "26000", "53100", "53300",
		"55P03", "55006", "57P01", "57P03", "58030", "XX001", "XX002", "08001", "F0000", "MX001", "MX003"} {
		before[code] = &pgconn.PgError{Code: code}
	}
	return during, before
}

// TestSuspect: only what can come from a call that the server was at may be the
// message's doing.
func TestSuspect(t *testing.T) {
	during, before := silent(t)
	for name, err := range during {
		if err == nil || !dberr.Suspect(fmt.Errorf("apply: %w", err)) || dberr.Classify(err) != dberr.Environment {
			t.Errorf("%s (%v) is not suspect", name, err)
		}
	}
	for name, err := range before {
		if (err == nil) != (name == "none") || dberr.Suspect(err) {
			t.Errorf("%s (%v) is suspect", name, err)
		}
	}
}

// TestLogin: what the server says to a login is nobody's fault, also where the
// same SQLSTATE in a call is the message's.
func TestLogin(t *testing.T) {
	d := pgtest.New(t)
	cfg, err := pgx.ParseConfig(d.URL)
	if err != nil {
		t.Fatal(err)
	}
	cfg.RuntimeParams["statement_timeout"] = "soon"
	_, err = pgx.ConnectConfig(t.Context(), cfg)
	if pg := new(pgconn.PgError); !errors.As(err, &pg) || pg.Code != "22023" {
		t.Fatalf("%v", err)
	}
	if dberr.Classify(err) != dberr.Environment || dberr.Suspect(err) {
		t.Errorf("%v is the message's", err)
	}
}

// TestEveryCode: what becomes of each SQLSTATE of PostgreSQL's appendix A. A
// change of the table shows here, code by code.
func TestEveryCode(t *testing.T) {
	const file = "testdata/sqlstates.txt"
	have, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for line := range strings.Lines(string(have)) {
		f := strings.Fields(line)
		e := &pgconn.PgError{Code: f[0], ConstraintName: "c"}
		suspect := ""
		if dberr.Suspect(e) {
			suspect = " suspect"
		}
		fmt.Fprintf(&want, "%s %s %s%s\n", f[0], f[1], dberr.Classify(e), suspect)
	}
	if *update {
		if err := os.WriteFile(file, []byte(want.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := cmp.Diff(string(have), want.String()); d != "" {
		t.Errorf("the table changed; go test ./internal/dberr -update\n%s", d)
	}
}

func TestIsFenced(t *testing.T) {
	if !dberr.IsFenced(fmt.Errorf("x: %w", &pgconn.PgError{Code: "MX001"})) || dberr.IsFenced(&pgconn.PgError{Code: "MX002"}) || dberr.IsFenced(nil) {
		t.Error("only MX001 is fenced")
	}
}

// TestServer: what a real server sends is classed as meant.
func TestServer(t *testing.T) {
	d := pgtest.New(t)
	exec := func(statements ...string) error {
		conn, err := pgx.Connect(t.Context(), d.URL)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range statements {
			if _, err = conn.Exec(t.Context(), s); err != nil {
				break
			}
		}
		if !conn.IsClosed() {
			if err := conn.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		return err
	}
	if err := exec(`CREATE TABLE part (id bigint CHECK (id > 0)) PARTITION BY RANGE (id);
		CREATE TABLE part_1 PARTITION OF part FOR VALUES FROM (-10) TO (10);
		CREATE DOMAIN positive AS bigint CHECK (VALUE > 0)`); err != nil {
		t.Fatal(err)
	}
	holder, err := d.Pool.Begin(t.Context())
	if err == nil {
		_, err = holder.Exec(t.Context(), "LOCK TABLE part_1")
	}
	if err != nil {
		t.Fatal(err)
	}
	locked := exec("SET lock_timeout = '10ms'", "SELECT * FROM part_1")
	if err := holder.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	elsewhere, err := pgx.ParseConfig(d.URL)
	if err != nil {
		t.Fatal(err)
	}
	elsewhere.Database = "no_such_database"
	_, noDatabase := pgx.ConnectConfig(t.Context(), elsewhere)
	elsewhere.Host, elsewhere.Port, elsewhere.Fallbacks = "127.0.0.1", 1, nil
	_, noServer := pgx.ConnectConfig(t.Context(), elsewhere)
	for name, c := range map[string]struct {
		err  error
		code string // "" = no SQLSTATE
		want dberr.Class
	}{
		"missing partition":  {exec("INSERT INTO part VALUES (10)"), "23514", dberr.Environment},
		"check constraint":   {exec("INSERT INTO part VALUES (-1)"), "23514", dberr.Message},
		"check of a domain":  {exec("SELECT (-1)::positive"), "23514", dberr.Message},
		"lock timeout":       {locked, "55P03", dberr.Environment},
		"statement timeout":  {exec("SET statement_timeout = '10ms'", "SELECT pg_sleep(1)"), "57014", dberr.Environment},
		"ended session":      {exec("SELECT pg_terminate_backend(pg_backend_pid())"), "57P01", dberr.Environment},
		"read-only":          {exec("BEGIN READ ONLY", "DELETE FROM part"), "25006", dberr.Environment},
		"no such function":   {exec("SELECT msgx.no_such_function()"), "42883", dberr.Environment},
		"no such schema":     {exec("SELECT * FROM no_such_schema.f()"), "3F000", dberr.Environment},
		"no such database":   {noDatabase, "3D000", dberr.Environment},
		"no server":          {noServer, "", dberr.Environment},
		"not a number":       {exec("SELECT 'x'::bigint"), "22P02", dberr.Message},
		"zero byte in jsonb": {exec(`SELECT '"\u0000"'::jsonb`), "22P05", dberr.Message},
		"raised":             {exec("DO $$ BEGIN RAISE EXCEPTION 'no'; END $$"), "P0001", dberr.Message},
	} {
		var pg *pgconn.PgError
		switch {
		case c.err == nil:
			t.Errorf("%s: no error", name)
		case c.code != "" && (!errors.As(c.err, &pg) || pg.Code != c.code):
			t.Errorf("%s: %v, want SQLSTATE %s", name, c.err, c.code)
		case dberr.Classify(c.err) != c.want:
			t.Errorf("%s (%v) is the %s's, want the %s's", name, c.err, dberr.Classify(c.err), c.want)
		}
	}
}

func TestHint(t *testing.T) {
	for want, err := range map[string]error{
		"do this":               fmt.Errorf("x: %w", &pgconn.PgError{Code: "MX003", Hint: "do this"}),
		"the account is locked": fmt.Errorf("x: %w", &mysql.MySQLError{Number: 3118}),
		"":                      errors.New("x"),
	} {
		if got := dberr.Hint(err); got != want {
			t.Errorf("%v suggests %q, want %q", err, got, want)
		}
	}
}

// TestIsRows: only what is about the rows counts against a mark.
func TestIsRows(t *testing.T) {
	for _, number := range []uint16{1205, 1213, 1644, 1020, 3819, 4025} {
		if !dberr.IsRows(fmt.Errorf("mark: %w", &mysql.MySQLError{Number: number})) {
			t.Errorf("%d is not about the rows", number)
		}
	}
	for _, err := range []error{nil, &mysql.MySQLError{Number: 1290}, &mysql.MySQLError{Number: 1045}, &mysql.MySQLError{Number: 1406},
		mysql.ErrInvalidConn, driver.ErrBadConn, context.DeadlineExceeded, context.Canceled, io.EOF, io.ErrUnexpectedEOF,
		&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, &net.DNSError{}} {
		if dberr.IsRows(err) {
			t.Errorf("%v is about the rows", err)
		}
	}
}

func TestExplain(t *testing.T) {
	for _, err := range []error{&mysql.MySQLError{Number: 1205}, mysql.ErrInvalidConn, driver.ErrBadConn, mysql.ErrPktTooLarge,
		mysql.ErrNoTLS, mysql.ErrNativePassword, mysql.ErrOldPassword, mysql.ErrCleartextPassword, mysql.ErrUnknownPlugin,
		mysql.ErrMalformPkt, mysql.ErrOldProtocol, mysql.ErrPktSync, mysql.ErrPktSyncMul, mysql.ErrBusyBuffer} {
		if dberr.Explain(fmt.Errorf("x: %w", err)) == "" {
			t.Errorf("%v has no word", err)
		}
	}
	for _, err := range []error{errors.New("x"), &mysql.MySQLError{Number: 1064}, nil} {
		if got := dberr.Explain(err); got != "" {
			t.Errorf("%v has %q", err, got)
		}
	}
	numbers := dberr.Numbers()
	for i, n := range numbers[1:] {
		if n.Code <= numbers[i].Code {
			t.Errorf("%d is out of order", n.Code)
		}
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

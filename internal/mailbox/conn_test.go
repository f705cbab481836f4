package mailbox

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// scripted answers statements as a server would that is not at hand.
type scripted struct {
	driverConn
	answers map[string]answer // by the beginning of the statement
}

type answer struct {
	rows [][]driver.Value
	err  error
}

func (s scripted) QueryContext(_ context.Context, query string, _ []driver.NamedValue) (driver.Rows, error) {
	for begin, a := range s.answers {
		if strings.HasPrefix(query, begin) {
			return &scriptedRows{a.rows}, a.err
		}
	}
	return &scriptedRows{}, nil
}

type scriptedRows struct{ rows [][]driver.Value }

func (r *scriptedRows) Columns() []string { return make([]string, 3) }
func (r *scriptedRows) Close() error      { return nil }
func (r *scriptedRows) Next(to []driver.Value) error {
	if len(r.rows) == 0 {
		return io.EOF
	}
	copy(to, r.rows[0])
	r.rows = r.rows[1:]
	return nil
}

// TestWhichServersAreRefused: as MariaDB and MySQL answer, to logins with many rights and with few.
func TestWhichServersAreRefused(t *testing.T) {
	name := []byte("db1:3306 (server_id 7)")
	writable := answer{rows: [][]driver.Value{{int64(0), int64(0), name}}}
	denied := answer{err: &mysql.MySQLError{Number: 1227}}
	down := answer{err: mysql.ErrInvalidConn}
	const state, threads, sources = "SELECT @@global.read_only", "SHOW GLOBAL STATUS", "SHOW REPLICA STATUS"
	tests := map[string]struct {
		answers map[string]answer
		refused string // part of the reason; "" = it is used
		fails   bool   // with another error
	}{
		"a primary":                        {map[string]answer{state: writable}, "", false},
		"read-only, as a number":           {map[string]answer{state: {rows: [][]driver.Value{{int64(1), int64(0), name}}}}, "db1:3306 (server_id 7) is read-only (read_only)", false},
		"read-only, as a word":             {map[string]answer{state: {rows: [][]driver.Value{{[]byte("ON"), []byte("OFF"), name}}}}, "(read_only)", false},
		"read-only without admins":         {map[string]answer{state: {rows: [][]driver.Value{{[]byte("NO_LOCK_NO_ADMIN"), []byte("OFF"), name}}}}, "(read_only)", false},
		"writable, as a word":              {map[string]answer{state: {rows: [][]driver.Value{{[]byte("off"), []byte("OFF"), name}}}}, "", false},
		"on read-only files":               {map[string]answer{state: {rows: [][]driver.Value{{int64(0), int64(1), name}}}}, "(innodb_read_only)", false},
		"MariaDB that does not replicate":  {map[string]answer{state: writable, threads: {rows: [][]driver.Value{{[]byte("Slaves_running"), []byte("0")}}}, sources: {rows: [][]driver.Value{{"x"}}}}, "", false},
		"MariaDB that replicates":          {map[string]answer{state: writable, threads: {rows: [][]driver.Value{{[]byte("Slaves_running"), []byte("1")}}}, sources: denied}, "db1:3306 (server_id 7) replicates", false},
		"MySQL that replicates":            {map[string]answer{state: writable, sources: {rows: [][]driver.Value{{[]byte("Waiting for source")}}}}, "replicates", false},
		"MySQL that does not tell":         {map[string]answer{state: writable, sources: denied}, "", false},
		"no answer about the state":        {map[string]answer{state: down}, "", true},
		"no answer about replication":      {map[string]answer{state: writable, threads: down}, "", true},
		"no answer about where it follows": {map[string]answer{state: writable, sources: down}, "", true},
		"an empty answer":                  {map[string]answer{}, "", true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := &conn{driverConn: scripted{answers: tt.answers}}
			err := c.check(t.Context())
			if err == nil {
				err = c.replicates(t.Context())
			}
			refused, is := errors.AsType[*ReplicaError](err)
			switch {
			case tt.fails && (err == nil || is):
				t.Errorf("%v, want an error that is no refusal", err)
			case !tt.fails && (tt.refused != "") != is:
				t.Errorf("%v, want a refusal: %q", err, tt.refused)
			case is && (!strings.Contains(refused.Error(), tt.refused) || !strings.Contains(refused.Error(), "mailbox.dsn")):
				t.Errorf("it says %q, want %q in it", refused, tt.refused)
			}
		})
	}
}

// Package mytest gives every test a mailbox of its own on a real MariaDB: a
// database with the two tables of the mailbox's owner.
package mytest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

// Env names the variable with the DSN of the test server, without a database.
const Env = "MSGX_TEST_MYSQL_DSN"

// HowToRun is what a test says that finds no server.
const HowToRun = "run the tests with `make test` (or `go run ./cmd/devservers exec -- go test ./...`)"

// wait bounds making, filling and dropping a database.
const wait = time.Minute

// inbound and outbound are the tables as their owner defines them (wire 6.1, 6.2).
const (
	inbound = `CREATE TABLE cminmsgs (
  CMINMSGS_ID bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
  CMINMSGS_CLOB_MSG mediumtext NOT NULL,
  CMINMSGS_DATE_RECEIVED datetime NULL,
  CMINMSGS_DATE_PROCESSED datetime NULL,
  CMINMSGS_SUBSYSTEM_NAME varchar(4) NULL,
  CMINMSGS_SUBSYSTEM_SEQUENCE mediumint NULL,
  CMINMSGS_SUBSYSTEM_DATE_SENT datetime NULL,
  CMINMSGS_SUBSYSTEM_SUBTYPE varchar(4) NULL,
  CMINMSGS_SUBSYSTEM_TYPE varchar(4) NULL,
  CMINMSGS_STATUS varchar(20) NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4`
	outbound = `CREATE TABLE coutmsgs (
  COUTMSGS_ID bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
  COUTMSGS_CLOB_MSG mediumtext NULL,
  COUTMSGS_DATE_INSERTED datetime NOT NULL,
  COUTMSGS_DATE_SENT datetime NULL,
  ROUTINGID varchar(23) NOT NULL,
  COUTMSGS_TRUEFALS_GROUP tinyint NOT NULL DEFAULT 0,
  COUTMSGS_NO_MESSAGES tinyint NULL,
  COUTMSGS_GROUP_ORDER tinyint NULL,
  COUTMSGS_GROUP_ID smallint NULL,
  COUTMSGS_FINAL_GROUP_IND tinyint NOT NULL DEFAULT 0,
  COUTMSGS_ACK_REQD tinyint NOT NULL DEFAULT 0,
  COUTMSGS_ACK_RESEND_TIMES tinyint NOT NULL DEFAULT 0,
  COUTMSGS_ACK_DATE_RECV datetime NULL,
  COUTMSGS_ENCRYPT tinyint NOT NULL DEFAULT 0,
  COUTMSGS_ERROR tinyint NOT NULL DEFAULT 0
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4`
	insert = `INSERT INTO cminmsgs (CMINMSGS_CLOB_MSG, CMINMSGS_DATE_RECEIVED, CMINMSGS_STATUS) VALUES (?, NOW(), 'VALID')`
)

// DB is one test's mailbox.
type DB struct {
	Name string
	DSN  string  // of this database, with all rights and no further parameter
	SQL  *sql.DB // on it; DATETIME is read as time.Time in UTC

	t testing.TB
}

// New makes a database with empty mailbox tables, dropped when the test ends.
func New(t testing.TB) *DB {
	t.Helper()
	server := os.Getenv(Env)
	if server == "" {
		t.Fatal(HowToRun)
	}
	cfg, err := mysql.ParseDSN(server)
	if err != nil {
		t.Fatalf("read %s: %v", Env, err)
	}
	d := &DB{Name: "msgx_test_" + strings.ToLower(rand.Text()[:12]), t: t}
	admin := d.open(cfg)
	d.run(admin, "CREATE DATABASE "+d.Name+" CHARACTER SET utf8mb4")
	t.Cleanup(func() { d.run(admin, "DROP DATABASE "+d.Name) })

	own := cfg.Clone()
	own.DBName = d.Name
	d.DSN = own.FormatDSN()
	own.ParseTime = true
	d.SQL = d.open(own)
	d.run(d.SQL, inbound)
	d.run(d.SQL, outbound)
	return d
}

// Insert commits a message as its writer does and returns its id.
func (d *DB) Insert(text string) int64 {
	d.t.Helper()
	return d.insert(d.SQL, text)
}

// Burn uses up n ids with inserts that are rolled back, and returns the first.
// The ids are lost for good: InnoDB never gives them back.
func (d *DB) Burn(n int) (first int64) {
	d.t.Helper()
	ctx, cancel := d.context()
	defer cancel()
	tx, err := d.SQL.BeginTx(ctx, nil)
	if err != nil {
		d.t.Fatalf("begin: %v", err)
	}
	for i := range n {
		id := d.insert(tx, "rolled back")
		if i == 0 {
			first = id
		}
	}
	if err := tx.Rollback(); err != nil {
		d.t.Fatalf("roll back: %v", err)
	}
	return first
}

// execer is a database or a transaction.
type execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

func (d *DB) insert(on execer, text string) int64 {
	d.t.Helper()
	ctx, cancel := d.context()
	defer cancel()
	result, err := on.ExecContext(ctx, insert, text)
	if err != nil {
		d.t.Fatalf("insert a message: %v", err)
	}
	id, err := result.LastInsertId()
	if err != nil {
		d.t.Fatalf("read the message's id: %v", err)
	}
	return id
}

func (d *DB) open(cfg *mysql.Config) *sql.DB {
	d.t.Helper()
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		d.t.Fatalf("connect to the test mailbox: %v", err)
	}
	db := sql.OpenDB(connector)
	d.t.Cleanup(func() {
		if err := db.Close(); err != nil {
			d.t.Errorf("close the test mailbox: %v", err)
		}
	})
	return db
}

func (d *DB) run(on execer, statement string) {
	d.t.Helper()
	ctx, cancel := d.context()
	defer cancel()
	if _, err := on.ExecContext(ctx, statement); err != nil {
		d.t.Fatalf("%s: %v", statement, err)
	}
}

// context serves cleanups too, when the test's own context has ended.
func (d *DB) context() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(d.t.Context()), wait)
}

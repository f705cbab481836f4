package mailbox

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

// checkEvery is how old the last look at a connection's server may be when the connection is used again. It is less than
// the grace after which a row that is not found counts as gone, so that no replica can make a row look gone.
const checkEvery = time.Second

// ReplicaError says why a server is not the one to read from and to mark on.
type ReplicaError struct {
	Server string
	Why    string
}

func (e *ReplicaError) Error() string {
	return fmt.Sprintf("server %s %s: the mailbox is used on its primary only, point mailbox.dsn there", e.Server, e.Why)
}

// SessionIdle is after how long without a word of ours the server ends a session and rolls its transaction back: a process
// that froze inside a mark, or that the network cut off, does not finish it when it is back.
const SessionIdle = 30 * time.Second

// sessionStatements set what we rely on, whatever the DSN and the server's defaults are. MySQL 8 keeps what
// information_schema says for a day unless told otherwise; MariaDB passes over that comment.
func sessionStatements(cfg Config) []string {
	lockWait := (cfg.LockWait + time.Second - 1) / time.Second
	return []string{
		"SET NAMES utf8mb4",
		"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
		fmt.Sprintf("SET SESSION /*!80003 information_schema_stats_expiry = 0, */ autocommit = 1, innodb_lock_wait_timeout = %d, wait_timeout = %d",
			lockWait, SessionIdle/time.Second),
	}
}

// connector sets up each new connection. The driver does so too, but passes over a character set it could not set.
// A connection to a replica is refused.
type connector struct {
	driver.Connector
	cfg Config
}

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	raw, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect to mailbox: %w", err)
	}
	base, ok := raw.(driverConn)
	if !ok {
		return nil, errors.Join(errors.New("connect to mailbox: the driver lacks a method"), raw.Close())
	}
	for _, statement := range sessionStatements(c.cfg) {
		if _, err := base.ExecContext(ctx, statement, nil); err != nil {
			return nil, errors.Join(fmt.Errorf("connect to mailbox: %s: %w", statement, err), raw.Close())
		}
	}
	one := &conn{driverConn: base, patience: c.cfg.ConnectTimeout}
	if err := one.check(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("connect to mailbox: %w", err), raw.Close())
	}
	if !c.cfg.AllowReplicating {
		if err := one.replicates(ctx); err != nil {
			return nil, errors.Join(fmt.Errorf("connect to mailbox: %w", err), raw.Close())
		}
	}
	return one, nil
}

// driverConn is all that database/sql asks of a connection of the driver.
type driverConn interface {
	driver.Conn
	driver.ConnPrepareContext
	driver.ConnBeginTx
	driver.ExecerContext
	driver.QueryerContext
	driver.NamedValueChecker
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// conn is a connection that is asked for its server's state before it is used again.
type conn struct {
	driverConn
	patience time.Duration // for an answer that costs the server nothing
	server   string
	checked  time.Time
}

// ResetSession gives the connection up when its server became a replica, and when it does not answer at once: a firewall
// that forgot an idle connection drops packets without a word. The pool takes another one then, and nobody sees an error.
func (c *conn) ResetSession(ctx context.Context) error {
	if err := c.driverConn.ResetSession(ctx); err != nil {
		return err
	}
	if time.Since(c.checked) < checkEvery {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, c.patience)
	defer cancel()
	if err := c.check(ctx); err != nil {
		return driver.ErrBadConn
	}
	return nil
}

// check refuses a server that cannot be written: a replica, or a primary that was demoted.
func (c *conn) check(ctx context.Context) error {
	rows, err := c.all(ctx, "SELECT @@global.read_only, @@global.innodb_read_only, "+serverName)
	if err != nil {
		return fmt.Errorf("ask for the server's state: %w", err)
	}
	if len(rows) != 1 {
		return fmt.Errorf("ask for the server's state: %d rows", len(rows))
	}
	c.server = rows[0][2]
	for i, name := range []string{"read_only", "innodb_read_only"} {
		if v := rows[0][i]; v != "0" && !strings.EqualFold(v, "OFF") {
			return &ReplicaError{c.server, "is read-only (" + name + "), a replica or a primary that was demoted"}
		}
	}
	c.checked = time.Now()
	return nil
}

// replicates refuses a server that can be written and yet follows another one. MariaDB tells everybody; MySQL only who
// has REPLICATION CLIENT: without it, this cannot be known.
func (c *conn) replicates(ctx context.Context) error {
	refusal := &ReplicaError{c.server, "replicates from another one (see mailbox.allow-replicating)"}
	threads, err := c.all(ctx, "SHOW GLOBAL STATUS LIKE 'Slaves_running'")
	if err != nil {
		return fmt.Errorf("ask whether the server replicates: %w", err)
	}
	if len(threads) == 1 {
		if threads[0][1] != "0" {
			return refusal
		}
		return nil
	}
	sources, err := c.all(ctx, "SHOW REPLICA STATUS")
	if _, refused := errors.AsType[*mysql.MySQLError](err); refused {
		return nil
	}
	if err != nil {
		return fmt.Errorf("ask whether the server replicates: %w", err)
	}
	if len(sources) > 0 {
		return refusal
	}
	return nil
}

// serverName is an expression that tells one server from another.
const serverName = "CONCAT(@@hostname, ':', @@port, ' (server_id ', @@server_id, ')')"

// all runs a query and returns every value as text, null as empty.
func (c *conn) all(ctx context.Context, query string) (all [][]string, err error) {
	rows, err := c.QueryContext(ctx, query, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	values := make([]driver.Value, len(rows.Columns()))
	for {
		switch err := rows.Next(values); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, err
		}
		row := make([]string, len(values))
		for i, v := range values {
			switch v := v.(type) {
			case nil:
			case []byte:
				row[i] = string(v)
			default:
				row[i] = fmt.Sprint(v)
			}
		}
		all = append(all, row)
	}
}

package dberr

import (
	"database/sql/driver"
	"errors"

	"github.com/go-sql-driver/mysql"
)

// Number is one line of the table of MySQL error numbers.
type Number struct {
	Code  uint16
	Means string
}

// What a client sees on its own; a proxy may send the numbers.
const (
	goneAway = 2006
	lost     = 2013
	tooLarge = 1153
)

// Numbers returns the table of MySQL's errors that need a word. All errors of
// the mailbox are the environment's: nothing that MySQL says is about a
// message. The table tells an operator what to look at.
func Numbers() []Number {
	return []Number{
		{1021, "the server's disk is full"},
		{1040, "too many connections"},
		{1044, "no right to the database: GRANT SELECT, UPDATE on the mailbox table"},
		{1045, "login refused: user or password of mailbox.dsn"},
		{1049, "the database does not exist: name in mailbox.dsn"},
		{1053, "the server is shutting down"},
		{1054, "a column does not exist: mailbox.column.*"},
		{1114, "the table is full"},
		{1129, "this host is blocked after many connection errors: FLUSH HOSTS"},
		{1130, "this host may not connect"},
		{1142, "no right to the table: GRANT SELECT, UPDATE on the mailbox table"},
		{1143, "no right to a column: GRANT SELECT, UPDATE on the mailbox table"},
		{1146, "the table does not exist: mailbox.table"},
		{tooLarge, "a row is larger than max_allowed_packet"},
		{1203, "too many connections of this user"},
		{1205, "lock wait timeout: another user of the table holds the row; tried again later"},
		{1213, "deadlock with another user of the table; tried again later"},
		{1226, "a limit of this user is used up"},
		{1227, "a privilege is missing"},
		{1265, "the column does not take mailbox.processed-value"},
		{1290, "the server is read-only (--read-only, --super-read-only)"},
		{1317, "the statement was cancelled"},
		{1406, "the column is too short for mailbox.processed-value"},
		{1698, "login refused: the server knows this user by another way than a password"},
		{1792, "the transaction is read-only"},
		{1820, "the password has expired"},
		{1836, "the server is read-only"},
		{1862, "the password has expired"},
		{1927, "the connection was killed"},
		{1969, "the statement took too long (max_statement_time)"},
		{goneAway, "the connection broke: network, firewall or the server's wait_timeout"},
		{lost, "the connection broke: network, firewall or a stop of the server"},
		{3024, "the statement took too long (max_execution_time)"},
		{3118, "the account is locked"},
		{4031, "the server closed an idle connection (wait_timeout)"},
	}
}

// Explain says what an error of MySQL or of its driver means, "" when the
// table has no word on it.
func Explain(err error) string {
	var code uint16
	var e *mysql.MySQLError
	switch {
	case errors.As(err, &e):
		code = e.Number
	case errors.Is(err, driver.ErrBadConn):
		code = goneAway
	case errors.Is(err, mysql.ErrInvalidConn):
		code = lost
	case errors.Is(err, mysql.ErrPktTooLarge):
		code = tooLarge
	}
	for _, n := range Numbers() {
		if n.Code == code {
			return n.Means
		}
	}
	return ""
}

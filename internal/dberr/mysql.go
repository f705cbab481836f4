package dberr

import (
	"errors"

	"github.com/go-sql-driver/mysql"
)

// Number is one line of the table of MySQL error numbers.
type Number struct {
	Code  uint16
	Class Class
	Means string
}

// Numbers returns the table of MySQL's errors that need a word. All errors of
// the mailbox are the environment's: nothing that MySQL says is about a
// message. The table tells an operator what to look at.
func Numbers() []Number {
	return []Number{
		{1040, Environment, "too many connections"},
		{1044, Environment, "no right to the database: GRANT SELECT, UPDATE on the mailbox table"},
		{1045, Environment, "login refused: user or password of mailbox.dsn"},
		{1049, Environment, "the database does not exist: name in mailbox.dsn"},
		{1054, Environment, "a column does not exist: mailbox.column.*"},
		{1142, Environment, "no right to the table: GRANT SELECT, UPDATE on the mailbox table"},
		{1143, Environment, "no right to a column"},
		{1146, Environment, "the table does not exist: mailbox.table"},
		{1205, Environment, "lock wait timeout: another user of the table holds the row; tried again later"},
		{1213, Environment, "deadlock with another user of the table; tried again later"},
		{1290, Environment, "the server is read-only (--read-only)"},
		{1317, Environment, "the statement was cancelled"},
		{1836, Environment, "the server is read-only"},
		{3024, Environment, "the statement took too long"},
	}
}

// Explain says what a MySQL error means, "" when the table has no word on it.
func Explain(err error) string {
	var e *mysql.MySQLError
	if !errors.As(err, &e) {
		return ""
	}
	for _, n := range Numbers() {
		if n.Code == e.Number {
			return n.Means
		}
	}
	return ""
}

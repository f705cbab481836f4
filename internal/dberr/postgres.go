// Package dberr tells which errors of the databases are the environment's and
// which belong to a message (design I7). Its tables are those of docs/errors.md.
package dberr

import (
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// Class says whose error it is.
type Class int

// The classes. Unknown errors are the message's only when the server itself
// refused the statement; whatever else went wrong is the environment's.
const (
	Environment Class = iota // pause and try again; nobody is guilty
	Message                  // belongs to what was asked
)

func (c Class) String() string {
	if c == Message {
		return "message"
	}
	return "environment"
}

// Rule is one line of the table of SQLSTATEs.
type Rule struct {
	Prefix string // class or whole SQLSTATE
	Class  Class
	Means  string
}

// Rules returns the table of SQLSTATEs; the longest prefix that fits counts,
// and what fits none belongs to the message. Class 42 is in it because no
// function builds SQL from what a message holds: such an error means that the
// database is another than the one this binary was tested with.
func Rules() []Rule {
	return []Rule{
		{"08", Environment, "connection lost or refused"},
		{"0A000", Environment, "a cached plan does not fit the changed schema: the statement is prepared again"},
		{"25006", Environment, "the server is read-only"},
		{"25P03", Environment, "idle_in_transaction_session_timeout ended the session"},
		{"25P04", Environment, "transaction_timeout ended the session"},
		{"26000", Environment, "a prepared statement is gone: a pooler in transaction mode is not supported"},
		{"28", Environment, "login refused"},
		{"3D000", Environment, "the database does not exist (now)"},
		{"3F000", Environment, "the schema does not exist: run msgx migrate"},
		{"40", Environment, "serialisation failure or deadlock"},
		{"42", Environment, "a function, table or column is not as this binary needs it: run msgx migrate"},
		{"42501", Environment, "a privilege is missing: the login must be a member of msgx_app"},
		{"53", Environment, "out of memory, disk or connections"},
		{"55P03", Environment, "lock not available within lock_timeout"},
		{"57", Environment, "cancelled, shut down, starting, or over statement_timeout"},
		{"58", Environment, "the server's own I/O failed"},
		{"72000", Environment, "snapshot too old"},
		{"XX", Environment, "internal error of the server"},
		{"MX", Environment, "our own refusals: about a call or a setting, never about a message"},
		{"MX001", Environment, "fenced: another instance holds the lease"},
	}
}

// IsFenced tells whether the lease was lost.
func IsFenced(err error) bool { return hasCode(err, "MX001") }

func hasCode(err error, code string) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == code
}

// Classify tells whose error of PostgreSQL it is.
func Classify(err error) Class {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return Environment
	}
	// A missing partition is reported as a check violation without a
	// constraint; its message depends on lc_messages.
	if pg.Code == "23514" && pg.ConstraintName == "" {
		return Environment
	}
	best, class := 0, Message
	for _, r := range Rules() {
		if strings.HasPrefix(pg.Code, r.Prefix) && len(r.Prefix) > best {
			best, class = len(r.Prefix), r.Class
		}
	}
	return class
}

// Hint is the next step that an error of a database suggests, "" when it
// suggests none.
func Hint(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Hint
	}
	return Explain(err)
}

// IsUsed tells whether a seed was refused because the instance was used before.
func IsUsed(err error) bool { return hasCode(err, "MX002") }

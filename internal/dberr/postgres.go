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
// and what fits none belongs to the message.
func Rules() []Rule {
	return []Rule{
		{"08", Environment, "connection lost or refused"},
		{"0A000", Environment, "a cached plan does not fit the changed schema: the statement is prepared again"},
		{"25006", Environment, "the server is read-only"},
		{"28", Environment, "login refused"},
		{"3D000", Environment, "the database does not exist (now)"},
		{"40", Environment, "serialisation failure or deadlock"},
		{"42501", Environment, "a privilege is missing"},
		{"53", Environment, "out of memory, disk or connections"},
		{"55P03", Environment, "lock not available within lock_timeout"},
		{"57", Environment, "cancelled, shut down, starting, or over statement_timeout"},
		{"58", Environment, "the server's own I/O failed"},
		{"XX", Environment, "internal error of the server"},
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
	// A missing partition is reported as a check violation.
	if pg.Code == "23514" && strings.Contains(pg.Message, "no partition of relation") {
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

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
	// Suspect: the environment's, unless it repeats on one message alone while
	// the server is well; then it is the message's (design §5).
	Suspect bool
}

// Rules returns the table of SQLSTATEs; the longest prefix that fits counts,
// and what fits none belongs to the message. Class 42 is in it because no
// function builds SQL from what a message holds: such an error means that the
// database is another than the one this binary was tested with.
func Rules() []Rule {
	return []Rule{
		{Prefix: "08", Class: Environment, Suspect: true, Means: "connection lost or refused"},
		{Prefix: "0A000", Class: Environment, Means: "a cached plan does not fit the changed schema: the statement is prepared again"},
		{Prefix: "25006", Class: Environment, Means: "the server is read-only"},
		{Prefix: "25P03", Class: Environment, Means: "idle_in_transaction_session_timeout ended the session"},
		{Prefix: "25P04", Class: Environment, Means: "transaction_timeout ended the session"},
		{Prefix: "26000", Class: Environment, Means: "a prepared statement is gone: a pooler in transaction mode is not supported"},
		{Prefix: "28", Class: Environment, Means: "login refused"},
		{Prefix: "3D000", Class: Environment, Means: "the database does not exist (now)"},
		{Prefix: "3F000", Class: Environment, Means: "the schema does not exist: run msgx migrate"},
		{Prefix: "40", Class: Environment, Means: "serialisation failure or deadlock"},
		{Prefix: "42", Class: Environment, Means: "a function, table or column is not as this binary needs it: run msgx migrate"},
		{Prefix: "42501", Class: Environment, Means: "a privilege is missing: the login must be a member of msgx_app"},
		{Prefix: "53", Class: Environment, Means: "out of disk or connections"},
		{Prefix: "53200", Class: Environment, Suspect: true, Means: "out of memory"},
		{Prefix: "55P03", Class: Environment, Means: "lock not available within lock_timeout"},
		{Prefix: "57", Class: Environment, Means: "shut down, starting, or ended by an administrator"},
		{Prefix: "57014", Class: Environment, Suspect: true, Means: "cancelled, or over statement_timeout"},
		{Prefix: "57P02", Class: Environment, Suspect: true, Means: "ended as another session crashed"},
		{Prefix: "58", Class: Environment, Means: "the server's own I/O failed"},
		{Prefix: "72000", Class: Environment, Means: "snapshot too old"},
		{Prefix: "XX", Class: Environment, Suspect: true, Means: "internal error of the server"},
		{Prefix: "MX", Class: Environment, Means: "our own refusals: about a call or a setting, never about a message"},
		{Prefix: "MX001", Class: Environment, Means: "fenced: another instance holds the lease"},
	}
}

// IsFenced tells whether the lease was lost.
func IsFenced(err error) bool { return hasCode(err, "MX001") }

// IsRefusal tells whether a call was refused for its arguments: the same call
// is refused again.
func IsRefusal(err error) bool { return hasCode(err, "MX003") || hasCode(err, "MX004") }

// IsLocked tells whether a lock could not be had in time.
func IsLocked(err error) bool { return hasCode(err, "55P03") }

func hasCode(err error, code string) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == code
}

// Classify tells whose error of PostgreSQL it is.
func Classify(err error) Class { return rule(err).Class }

// Suspect tells whether an error of the environment may be the message's doing
// all the same: the message's once it repeats on it alone while the server is well.
func Suspect(err error) bool {
	r := rule(err)
	return r.Class == Environment && r.Suspect
}

// rule returns the line that fits an error.
func rule(err error) Rule {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		// No word from the server: a message may have ended its session, or kept
		// it busy for too long.
		return Rule{Class: Environment, Suspect: true}
	}
	// A missing partition is reported as a check violation without a
	// constraint; its message depends on lc_messages.
	if pg.Code == "23514" && pg.ConstraintName == "" {
		return Rule{Class: Environment}
	}
	best := Rule{Class: Message}
	for _, r := range Rules() {
		if strings.HasPrefix(pg.Code, r.Prefix) && len(r.Prefix) > len(best.Prefix) {
			best = r
		}
	}
	return best
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

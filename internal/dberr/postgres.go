// Package dberr tells which errors of the databases are the environment's and
// which belong to a message (design I7). Its tables are those of docs/errors.md.
package dberr

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// Class says whose error it is.
type Class int

// The classes. Only what a message's own values can bring about is the message's;
// what is in no table is the environment's, and suspect: an unknown trouble of
// the server must not turn one message after the other into a dead letter.
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

// Rules returns the table of SQLSTATEs; the longest prefix that fits counts.
// Class 42 is the environment's because no function builds SQL from what a
// message holds: such an error means that the database is another than the one
// this binary was tested with.
func Rules() []Rule {
	return []Rule{
		{Prefix: "", Class: Environment, Suspect: true, Means: "whatever is not named here"},
		{Prefix: "08", Class: Environment, Suspect: true, Means: "connection lost"},
		{Prefix: "08001", Class: Environment, Means: "no connection can be made"},
		{Prefix: "08004", Class: Environment, Means: "the server refuses the connection"},
		{Prefix: "0A000", Class: Environment, Means: "a cached plan does not fit the changed schema: the statement is prepared again"},
		{Prefix: "20", Class: Message, Means: "a case that a function does not know"},
		{Prefix: "21", Class: Message, Means: "two rows where one belongs"},
		{Prefix: "22", Class: Message, Means: "a value that does not fit"},
		{Prefix: "23", Class: Message, Means: "a constraint is violated"},
		{Prefix: "25006", Class: Environment, Means: "the server is read-only, or a standby"},
		{Prefix: "25P03", Class: Environment, Means: "idle_in_transaction_session_timeout ended the session"},
		{Prefix: "25P04", Class: Environment, Means: "transaction_timeout ended the session"},
		{Prefix: "26000", Class: Environment, Means: "a prepared statement is gone: a pooler in transaction mode is not supported"},
		{Prefix: "28", Class: Environment, Means: "login refused"},
		{Prefix: "3D000", Class: Environment, Means: "the database does not exist (now)"},
		{Prefix: "3F000", Class: Environment, Means: "the schema does not exist: run msgx migrate"},
		{Prefix: "40", Class: Environment, Means: "serialisation failure or deadlock"},
		{Prefix: "42", Class: Environment, Means: "a function, table or column is not as this binary needs it: run msgx migrate"},
		{Prefix: "42501", Class: Environment, Means: "a privilege is missing: the login must be a member of msgx_app"},
		{Prefix: "44", Class: Message, Means: "a value that a view does not take"},
		{Prefix: "53", Class: Environment, Means: "out of disk or connections"},
		{Prefix: "53200", Class: Environment, Suspect: true, Means: "out of memory"},
		{Prefix: "54", Class: Message, Means: "more than one statement may hold or nest"},
		{Prefix: "54000", Class: Environment, Suspect: true, Means: "no transaction numbers are left (vacuum!); or a value is too long for an index"},
		{Prefix: "55006", Class: Environment, Means: "an object is in use, as by maintenance"},
		{Prefix: "55P03", Class: Environment, Means: "lock not available within lock_timeout"},
		{Prefix: "57", Class: Environment, Means: "shut down, starting, or ended by an administrator"},
		{Prefix: "57014", Class: Environment, Suspect: true, Means: "cancelled, or over statement_timeout"},
		{Prefix: "57P02", Class: Environment, Suspect: true, Means: "ended as another session crashed"},
		{Prefix: "58", Class: Environment, Means: "the server's own I/O failed"},
		{Prefix: "72000", Class: Environment, Means: "snapshot too old"},
		{Prefix: "F0", Class: Environment, Means: "a configuration file of the server is broken"},
		{Prefix: "P0", Class: Message, Means: "raised by a function"},
		{Prefix: "XX", Class: Environment, Suspect: true, Means: "internal error of the server"},
		{Prefix: "XX001", Class: Environment, Means: "damaged data: nothing may be written on top of it"},
		{Prefix: "XX002", Class: Environment, Means: "damaged index: REINDEX"},
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
	// Whatever the server says while a connection is made, it has not seen the call.
	if connect := new(pgconn.ConnectError); errors.As(err, &connect) {
		return Rule{Class: Environment}
	}
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return Rule{Class: Environment, Suspect: underWay(err)}
	}
	// A missing partition is reported as a check violation without a
	// constraint; its message depends on lc_messages.
	if pg.Code == "23514" && pg.ConstraintName == "" {
		return Rule{Class: Environment}
	}
	var best Rule
	for _, r := range Rules() {
		if strings.HasPrefix(pg.Code, r.Prefix) && len(r.Prefix) >= len(best.Prefix) {
			best = r
		}
	}
	return best
}

// underWay tells whether the server may have been at the call when it ended
// without a word: a message may have ended its session, or kept it busy too
// long. A wait for a free connection and our own stop are none of that.
func underWay(err error) bool {
	switch {
	case err == nil, pgconn.SafeToRetry(err):
		return false
	case pgconn.Timeout(err), errors.Is(err, pgconn.ErrConnClosed), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF),
		errors.Is(err, net.ErrClosed):
		return true
	}
	var broken net.Error
	return errors.As(err, &broken) && !errors.Is(err, context.DeadlineExceeded)
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

package dberr

import (
	"database/sql/driver"
	"errors"
	"slices"

	"github.com/go-sql-driver/mysql"
)

// Number is one line of the table of MySQL error numbers.
type Number struct {
	Code  uint16
	Means string
}

// What a client sees on its own; a proxy may send the numbers.
const (
	refused   = 1045
	tooLarge  = 1153
	goneAway  = 2006
	lost      = 2013
	malformed = 2027
)

// drivers lists what the driver says without a number, with the number that
// explains it.
func drivers() map[error]uint16 {
	return map[error]uint16{
		driver.ErrBadConn:          goneAway,
		mysql.ErrInvalidConn:       lost,
		mysql.ErrPktTooLarge:       tooLarge,
		mysql.ErrNoTLS:             refused,
		mysql.ErrCleartextPassword: refused,
		mysql.ErrNativePassword:    refused,
		mysql.ErrOldPassword:       refused,
		mysql.ErrUnknownPlugin:     refused,
		mysql.ErrOldProtocol:       malformed,
		mysql.ErrMalformPkt:        malformed,
		mysql.ErrPktSync:           malformed,
		mysql.ErrPktSyncMul:        malformed,
		mysql.ErrBusyBuffer:        malformed,
	}
}

// Numbers returns the table of MySQL's errors that need a word. All errors of
// the mailbox are the environment's: nothing that MySQL says is about a
// message. The table tells an operator what to look at.
func Numbers() []Number {
	return []Number{
		{1020, "another user of the table changed the row; tried again later"},
		{1021, "the server's disk is full"},
		{1030, "the server's storage failed"},
		{1037, "the server is out of memory"},
		{1038, "the server is out of memory for sorting"},
		{1040, "too many connections"},
		{1041, "the server is out of memory"},
		{1042, "this host's name cannot be told by the server"},
		{1043, "the connection broke while it was made"},
		{1044, "no right to the database: GRANT SELECT, UPDATE on the mailbox table"},
		{refused, "login refused: user, password or tls of mailbox.dsn, or the kind of login that the server wants of this user"},
		{1047, "the node is not ready: a cluster that lost its majority, or a proxy"},
		{1049, "the database does not exist: name in mailbox.dsn"},
		{1053, "the server is shutting down"},
		{1054, "a column does not exist: mailbox.column.*"},
		{1105, "a proxy or the server says no more than that"},
		{1114, "the table is full"},
		{1129, "this host is blocked after many connection errors: FLUSH HOSTS"},
		{1130, "this host may not connect"},
		{1142, "no right to the table: GRANT SELECT, UPDATE on the mailbox table"},
		{1143, "no right to a column: GRANT SELECT, UPDATE on the mailbox table"},
		{1146, "the table does not exist: mailbox.table"},
		{tooLarge, "a row is larger than max_allowed_packet; texts are then read one by one"},
		{1158, "the connection broke while the server read"},
		{1159, "the connection was too slow for the server (net_read_timeout)"},
		{1160, "the connection broke while the server wrote"},
		{1161, "the connection was too slow for the server (net_write_timeout)"},
		{1180, "the server could not commit; tried again later"},
		{1194, "the table is damaged: its owner must repair it"},
		{1195, "the table is damaged: its owner must repair it"},
		{1203, "too many connections of this user"},
		{1205, "lock wait timeout: another user of the table holds the row; tried again later"},
		{1206, "the server has no room for more locks"},
		{1213, "deadlock with another user of the table; tried again later"},
		{1223, "the tables are locked for a backup (FLUSH TABLES WITH READ LOCK)"},
		{1226, "a limit of this user is used up"},
		{1227, "a privilege is missing"},
		{1265, "the column does not take mailbox.processed-value"},
		{1290, "the server is read-only (--read-only, --super-read-only): a replica, or a primary that was demoted; point mailbox.dsn to the primary"},
		{1317, "the statement was cancelled"},
		{1356, "mailbox.table is a view whose tables, columns or rights are gone"},
		{1406, "the column is too short for mailbox.processed-value"},
		{1412, "the table was changed meanwhile; tried again later"},
		{1449, "the definer of a view or trigger does not exist"},
		{1637, "too many transactions are open"},
		{1644, "a trigger of the table's owner refuses"},
		{1698, "login refused: the server knows this user by another way than a password"},
		{1792, "the transaction is read-only"},
		{1820, "the password has expired"},
		{1836, "the server is read-only: a replica, or a primary that was demoted; point mailbox.dsn to the primary"},
		{1862, "the password has expired"},
		{1874, "the storage engine is read-only"},
		{1927, "the connection was killed"},
		{1969, "the statement took too long (max_statement_time)"},
		{goneAway, "the connection broke: network, firewall or the server's wait_timeout"},
		{lost, "the connection broke: network, firewall or a stop of the server"},
		{malformed, "the answer is not MySQL's: another protocol, or a broken proxy"},
		{3024, "the statement took too long (max_execution_time)"},
		{3100, "the cluster refuses to commit; tried again later"},
		{3101, "the cluster rolled the transaction back; tried again later"},
		{3118, "the account is locked"},
		{3159, "the server takes encrypted connections only: tls in mailbox.dsn"},
		{4031, "the server closed an idle connection (wait_timeout)"},
		{4150, "the user is blocked after many wrong passwords: FLUSH PRIVILEGES"},
		{4151, "the account is locked"},
	}
}

// Explain says what an error of MySQL or of its driver means, "" when the
// table has no word on it.
func Explain(err error) string {
	var code uint16
	if e := new(mysql.MySQLError); errors.As(err, &e) {
		code = e.Number
	} else {
		for known, number := range drivers() {
			if errors.Is(err, known) {
				code = number
			}
		}
	}
	numbers := Numbers()
	i, ok := slices.BinarySearchFunc(numbers, code, func(n Number, code uint16) int { return int(n.Code) - int(code) })
	if !ok {
		return ""
	}
	return numbers[i].Means
}

// IsRows tells whether an error of a mark belongs to a row of the batch: another
// session holds it, or the table's own rules refuse it. Every other error of
// MySQL is about the mailbox as a whole.
func IsRows(err error) bool {
	e := new(mysql.MySQLError)
	return errors.As(err, &e) && slices.Contains(rowNumbers(), e.Number)
}

// rowNumbers: the record changed, lock wait timeout, deadlock, SIGNAL of a
// trigger, check constraint (MySQL's number and MariaDB's).
func rowNumbers() []uint16 { return []uint16{1020, 1205, 1213, 1644, 3819, 4025} }

package config

import (
	"fmt"
	"log/slog"
	"net/url"
	"regexp"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
)

const (
	hidden = "(hidden)"
	masked = "xxxxx"
)

// Secret is a connection string that may carry a password. However it is printed, the password is not; use Reveal where
// the connection is made.
type Secret struct {
	text, shown string
}

// PostgresSecret wraps a PostgreSQL connection string.
func PostgresSecret(dsn string) Secret {
	shown, _ := maskPostgres(dsn)
	return Secret{dsn, shown}
}

// MySQLSecret wraps a MySQL data source name.
func MySQLSecret(dsn string) Secret {
	shown, _ := maskMySQL(dsn)
	return Secret{dsn, shown}
}

// Reveal returns the connection string as it is.
func (s Secret) Reveal() string { return s.text }

// String returns the connection string with its password masked.
func (s Secret) String() string { return s.shown }

// Format keeps every verb of package fmt from printing the password.
func (s Secret) Format(f fmt.State, verb rune) {
	if verb == 'q' {
		fmt.Fprintf(f, "%q", s.String())
		return
	}
	fmt.Fprint(f, s.String())
}

// LogValue keeps the log from showing the password.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText keeps encoders from writing the password.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

var (
	postgresWords    = regexp.MustCompile(`^\s*[a-z_]+\s*=`)
	postgresPassword = regexp.MustCompile(`(?i)(password\s*=\s*)('(?:[^'\\]|\\.)*'|\S+)`)
)

func postgresURL(dsn string) bool {
	return strings.HasPrefix(dsn, "postgres://") || strings.HasPrefix(dsn, "postgresql://")
}

// maskPostgres masks the password of a PostgreSQL connection string and tells whether it had one. What cannot be parsed
// is hidden whole.
func maskPostgres(dsn string) (shown string, password bool) {
	if dsn == "" {
		return "", false
	}
	if !postgresURL(dsn) {
		if !postgresWords.MatchString(dsn) {
			return hidden, false
		}
		return postgresPassword.ReplaceAllString(dsn, "${1}"+masked), postgresPassword.MatchString(dsn)
	}
	u, err := url.Parse(dsn)
	if err != nil {
		return hidden, strings.Contains(dsn, "@")
	}
	if _, ok := u.User.Password(); ok {
		u.User = url.UserPassword(u.User.Username(), masked)
		password = true
	}
	query := u.Query()
	for name := range query {
		if strings.Contains(strings.ToLower(name), "password") {
			query.Set(name, masked)
			password = true
		}
	}
	if password {
		u.RawQuery = query.Encode()
	}
	return u.String(), password
}

// maskMySQL does the same for a MySQL data source name.
func maskMySQL(dsn string) (shown string, password bool) {
	if dsn == "" {
		return "", false
	}
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		return hidden, strings.Contains(dsn, "@")
	}
	password = cfg.Passwd != ""
	if password {
		cfg.Passwd = masked
	}
	return cfg.FormatDSN(), password
}

func validPostgres(dsn string) bool {
	if !postgresURL(dsn) && !postgresWords.MatchString(dsn) {
		return false
	}
	_, err := pgx.ParseConfig(dsn)
	return err == nil
}

func validMySQL(dsn string) bool {
	cfg, err := mysql.ParseDSN(dsn)
	return err == nil && cfg.DBName != ""
}

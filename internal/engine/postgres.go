package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	// callTimeout bounds one call to PostgreSQL. The server's own limits are
	// shorter, so that an answer arrives before the caller gives up.
	callTimeout = 5 * time.Second
	// lockTimeout is shorter than serverTimeout, so that a wait for somebody
	// else's lock is told from a statement that takes too long.
	lockTimeout = "3000"
	// serverTimeout is statement_timeout and idle_in_transaction_session_timeout:
	// below 5 s, so that a dead session cannot hold the lease row for long (I5).
	serverTimeout = "4500"
)

// OpenPostgres makes the pool of the daemon. It does not connect yet.
// Errors: the connection string cannot be parsed.
func OpenPostgres(ctx context.Context, dsn, instance string) (*pgxpool.Pool, error) {
	cfg, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("parse postgres.dsn: %w", err)
	}
	cfg.ConnConfig.ConnectTimeout = callTimeout
	for key, value := range map[string]string{
		"application_name":                    "msgx " + instance,
		"timezone":                            "UTC",
		"statement_timeout":                   serverTimeout,
		"idle_in_transaction_session_timeout": serverTimeout,
		"lock_timeout":                        lockTimeout,
		"tcp_keepalives_idle":                 "2",
		"tcp_keepalives_interval":             "1",
		"tcp_keepalives_count":                "2",
		"tcp_user_timeout":                    serverTimeout,
	} {
		cfg.ConnConfig.RuntimeParams[key] = value
	}
	// One connection for each loop and one for the lease.
	cfg.MaxConns = 8
	cfg.MaxConnIdleTime = time.Minute
	cfg.HealthCheckPeriod = 10 * time.Second
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("open PostgreSQL: %w", err)
	}
	return pool, nil
}

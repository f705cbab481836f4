package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"msgexchange/gen"
	"msgexchange/internal/config"
)

// withDatabase runs do on one connection.
func withDatabase(ctx context.Context, cfg config.Config, do func(*gen.Queries) error) (err error) {
	// The pool's parser, so that whatever is good for the daemon is good here.
	pool, err := pgxpool.ParseConfig(cfg.Postgres.DSN.Reveal())
	if err != nil {
		return fmt.Errorf("parse postgres.dsn: %w", err)
	}
	conn, err := pgx.ConnectConfig(ctx, pool.ConnConfig)
	if err != nil {
		return fmt.Errorf("connect to PostgreSQL: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	return do(gen.New(conn))
}

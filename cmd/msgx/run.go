package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"msgexchange/internal/config"
	"msgexchange/internal/engine"
	"msgexchange/internal/kafka"
	"msgexchange/internal/mailbox"
	"msgexchange/internal/migrate"
	"msgexchange/internal/telemetry"
)

// embeddedPartitions is the number of partitions of a topic that the embedded
// broker makes.
const embeddedPartitions = 4

func newRunCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Run the daemon until SIGTERM",
		Args:  cobra.NoArgs,
	}
	return configured(cmd, func(cmd *cobra.Command, cfg config.Config, _ []string) error {
		return run(cmd.Context(), cfg, telemetry.NewLogger(cmd.OutOrStdout(), cfg.Log.Level).With("instance", cfg.Instance))
	}, "postgres.dsn", "mailbox.dsn")
}

func run(ctx context.Context, cfg config.Config, log *slog.Logger) (err error) {
	if !cfg.Mailbox.Enabled {
		return errors.New("mailbox.shared-mysql.enabled is false: set it to true to let the daemon read and mark the shared mailbox")
	}
	for _, name := range cfg.UnusedEnvironment {
		log.WarnContext(ctx, "this environment variable matches no configuration key", "name", name)
	}
	pool, err := engine.OpenPostgres(ctx, cfg.Postgres.DSN.Reveal(), cfg.Instance)
	if err != nil {
		return err
	}
	defer pool.Close()
	if err := current(ctx, cfg.Postgres.DSN.Reveal(), log); err != nil {
		return err
	}
	renewal, err := engine.OpenPostgres(ctx, cfg.Postgres.DSN.Reveal(), cfg.Instance+" lease")
	if err != nil {
		return err
	}
	defer renewal.Close()
	box, err := mailbox.Open(mailbox.From(cfg), log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, box.Close()) }()

	brokers, stop, err := broker(cfg, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	producer, err := kafka.Open(ctx, kafka.Config{
		Brokers: brokers, ClientID: "msgx-" + cfg.Instance,
		ProduceTimeout: cfg.Kafka.ProduceTimeout, MaxRecordBytes: cfg.Kafka.MaxRecordBytes,
	}, log)
	if err != nil {
		return err
	}
	defer producer.Close()

	e := engine.New(cfg, engine.Parts{Pool: pool, Renewal: renewal, Mailbox: box, Producer: producer, Log: log, Mono: time.Now})
	return e.Run(ctx)
}

// current waits until PostgreSQL can say whether its functions are those of
// this binary.
// Errors: they are not; ctx ended.
func current(ctx context.Context, dsn string, log *slog.Logger) error {
	for wait := time.Second; ; wait = min(2*wait, 10*time.Second) {
		err := migrate.Check(ctx, dsn)
		if err == nil || errors.Is(err, migrate.ErrStale) || ctx.Err() != nil {
			return err
		}
		log.ErrorContext(ctx, "waiting for PostgreSQL", "err", err, "again_in", wait)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
	}
}

// broker starts the embedded broker if it is configured.
func broker(cfg config.Config, log *slog.Logger) (brokers []string, stop func() error, err error) {
	if !cfg.Kafka.Embedded {
		return cfg.Kafka.Brokers, func() error { return nil }, nil
	}
	embedded, err := kafka.StartEmbedded(kafka.EmbeddedConfig{
		Dir: cfg.Kafka.EmbeddedDir, Port: cfg.Kafka.EmbeddedPort, Partitions: embeddedPartitions,
		Topics: []string{cfg.Kafka.TopicPrefix + "msg", cfg.Kafka.TopicPrefix + "schd"},
	}, log)
	if err != nil {
		return nil, nil, fmt.Errorf("start the embedded broker: %w", err)
	}
	log.Warn("the embedded Kafka broker is for trials only", "brokers", embedded.Brokers())
	return embedded.Brokers(), embedded.Close, nil
}

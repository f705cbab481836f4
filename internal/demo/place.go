package demo

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"msgexchange/internal/migrate"
	"msgexchange/internal/simulate"
)

const (
	database = "msgx_demo"
	daemonAs = "msgx_demo_daemon" // a login with the rights of msgx_app and no more
)

// place is where a demo runs: fresh databases, a configuration, a folder.
type place struct {
	o       Options
	dir     string
	zone    *time.Location
	pgURL   string // as superuser
	pool    *pgxpool.Pool
	box     *sql.DB
	writer  *simulate.Writer
	broker  string
	port    int    // of the broker
	config  string // path of the daemon's configuration
	env     []string
	logFile string
}

// prepare makes fresh databases on both servers and the daemon's configuration.
func prepare(ctx context.Context, o Options) (*place, error) {
	p := &place{o: o}
	var err error
	if p.zone, err = time.LoadLocation("Asia/Shanghai"); err != nil {
		return nil, fmt.Errorf("the airport's zone: %w", err)
	}
	if p.dir, err = emptyDir(o.Dir); err != nil {
		return nil, err
	}
	p.logFile = filepath.Join(p.dir, "msgx.log")
	if err := p.postgres(ctx); err != nil {
		return nil, err
	}
	if err := p.mailbox(ctx); err != nil {
		return nil, err
	}
	if err := p.configure(); err != nil {
		return nil, err
	}
	return p, nil
}

func (p *place) close() {
	p.pool.Close()
	for _, err := range []error{p.box.Close(), p.writer.Close()} {
		if err != nil {
			fmt.Fprintln(p.o.Out, err)
		}
	}
}

func (p *place) postgres(ctx context.Context) error {
	admin, err := pgx.Connect(ctx, p.o.PGURL)
	if err != nil {
		return fmt.Errorf("connect to PostgreSQL: %w", err)
	}
	for _, statement := range []string{
		"DROP DATABASE IF EXISTS " + database + " WITH (FORCE)",
		"CREATE DATABASE " + database,
	} {
		if _, err := admin.Exec(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	if err := admin.Close(ctx); err != nil {
		return fmt.Errorf("leave PostgreSQL: %w", err)
	}
	u, err := url.Parse(p.o.PGURL)
	if err != nil {
		return fmt.Errorf("PostgreSQL's URL: %w", err)
	}
	u.Path = "/" + database
	p.pgURL = u.String()
	if err := migrate.Up(ctx, p.pgURL, slog.New(slog.DiscardHandler)); err != nil {
		return err
	}
	if p.pool, err = pgxpool.New(ctx, p.pgURL); err != nil {
		return fmt.Errorf("open PostgreSQL: %w", err)
	}
	_, err = p.pool.Exec(ctx, `DO $$ BEGIN
		IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '`+daemonAs+`') THEN
			CREATE ROLE `+daemonAs+` LOGIN IN ROLE msgx_app;
		END IF; END $$`)
	if err != nil {
		return fmt.Errorf("make the daemon's login: %w", err)
	}
	u.User = url.User(daemonAs)
	p.env = append(p.env, "MSGX_POSTGRES_DSN="+u.String())
	return nil
}

func (p *place) mailbox(ctx context.Context) error {
	cfg, err := mysql.ParseDSN(p.o.MySQLDSN)
	if err != nil {
		return fmt.Errorf("MySQL's DSN: %w", err)
	}
	cfg.MultiStatements = true
	admin, err := sql.Open("mysql", cfg.FormatDSN())
	if err != nil {
		return fmt.Errorf("open MySQL: %w", err)
	}
	if _, err := admin.ExecContext(ctx, "DROP DATABASE IF EXISTS "+database+"; CREATE DATABASE "+database+" CHARACTER SET utf8mb4"); err != nil {
		return fmt.Errorf("make the mailbox database: %w", err)
	}
	if err := admin.Close(); err != nil {
		return fmt.Errorf("leave MySQL: %w", err)
	}
	cfg.DBName, cfg.MultiStatements = database, false
	if p.box, err = sql.Open("mysql", cfg.FormatDSN()); err != nil {
		return fmt.Errorf("open the mailbox: %w", err)
	}
	if p.writer, err = simulate.Open(cfg.FormatDSN(), p.o.Now); err != nil {
		return err
	}
	if err := p.writer.CreateTable(ctx); err != nil {
		return err
	}
	p.env = append(p.env, "MSGX_MAILBOX_DSN="+cfg.FormatDSN())
	return nil
}

// configure writes what the demo sets otherwise than the defaults: short
// windows, and one attempt for what cannot succeed by waiting.
func (p *place) configure() error {
	port, err := freePort()
	if err != nil {
		return err
	}
	p.port = port
	p.broker = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	p.config = filepath.Join(p.dir, "msgx.yaml")
	text := fmt.Sprintf(`# Made by msgx demo; connection strings are in the environment.
instance: demo
pipeline:
  autostart: true
  poll-interval: 100ms
  claim-batch: 1000
  max-commit-delay: 2s
  class-attempts: {CODEC_ERROR: 1, UNSUPPORTED: 1}
  backfill-period: 1s
  backfill-batch: 1000
schd: {flush-period: 1s}
mailbox:
  shared-mysql: {enabled: true}
  zone: UTC
kafka:
  brokers: embedded
  embedded-dir: %s
  embedded-port: %d
`, filepath.Join(p.dir, "kafka"), port)
	if err := os.WriteFile(p.config, []byte(text), 0o644); err != nil {
		return fmt.Errorf("write the daemon's configuration: %w", err)
	}
	return nil
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	if err := l.Close(); err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	return port, nil
}

// Command pgtap runs every sql/<room>/test/*.sql with pg_prove against a fresh,
// migrated database that also has pgTAP and plpgsql_check. Run it from the
// project's root; MSGX_TEST_PG_URL names the server.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"

	"msgexchange/internal/devserver"
	"msgexchange/internal/pgtest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "pgtap:", err)
		os.Exit(1)
	}
}

// run proves the named files, or all.
func run(ctx context.Context, files []string) (err error) {
	server := os.Getenv(pgtest.Env)
	if server == "" {
		return errors.New(pgtest.HowToRun)
	}
	if len(files) == 0 {
		if files, err = filepath.Glob("sql/*/test/*.sql"); err != nil {
			return fmt.Errorf("list the test files: %w", err)
		}
	}
	if len(files) == 0 {
		return errors.New("no test file sql/*/test/*.sql: nothing was tested")
	}
	if err := rolledBack(files); err != nil {
		return err
	}
	bin, err := devserver.PostgresBin()
	if err != nil {
		return err
	}
	db, err := pgtest.Create(ctx, server)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Drop(context.WithoutCancel(ctx), server)) }()
	for _, extension := range []string{"pgtap", "plpgsql_check"} {
		if _, err := db.Pool.Exec(ctx, "CREATE EXTENSION "+extension+" SCHEMA public"); err != nil {
			return fmt.Errorf("create extension %s: %w", extension, err)
		}
	}
	cmd := exec.CommandContext(ctx, "pg_prove", append([]string{"--psql-bin", filepath.Join(bin, "psql")}, files...)...)
	at := db.Pool.Config().ConnConfig
	cmd.Env = append(os.Environ(), "PGHOST="+at.Host, "PGPORT="+strconv.Itoa(int(at.Port)), "PGUSER="+at.User,
		"PGDATABASE="+at.Database, "PGSSLMODE=disable", "PGTZ=UTC", "PGOPTIONS=")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("pg_prove: %w", err)
	}
	return nil
}

// rolledBack refuses a file that would leave rows to the next one.
func rolledBack(files []string) error {
	var errs []error
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			errs = append(errs, fmt.Errorf("read a test file: %w", err))
		} else if !bytes.HasSuffix(bytes.TrimSpace(text), []byte("ROLLBACK;")) {
			errs = append(errs, fmt.Errorf("%s does not end with ROLLBACK;", file))
		}
	}
	return errors.Join(errs...)
}

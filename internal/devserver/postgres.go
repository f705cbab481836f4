package devserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"
)

// oldest is the first major version of PostgreSQL that will do.
const oldest = 15

// errNoPostgres reports that no version of PostgreSQL that will do is installed.
var errNoPostgres = errors.New("PostgreSQL 15 or newer is not installed: run `make setup`")

// postgres describes the folder's PostgreSQL. A nil opts keeps its arguments.
func (f *folder) postgres(opts *Options) *server {
	st := &f.state
	data := filepath.Join(st.Root, "postgres", "data")
	s := &server{
		name:    "PostgreSQL",
		account: postgresAccount(),
		data:    data,
		sockets: filepath.Join(st.Sockets, "pgs"),
		pidFile: filepath.Join(data, "postmaster.pid"),
		mark:    data,
		logFile: filepath.Join(f.dir, "postgres.log"),
		port:    &st.PGPort,
		// Fast: end the sessions. Immediate: as a crash, recovered at the next start.
		stop: []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT},
	}
	s.remember = func() {
		if opts == nil {
			return
		}
		st.PGArgs = nil
		if opts.Throwaway {
			st.PGArgs = append(st.PGArgs, "fsync=off", "full_page_writes=off")
		}
		st.PGArgs = append(st.PGArgs, opts.Postgres...)
	}
	s.create = func(ctx context.Context, into string) error {
		bin, err := postgresBin()
		if err != nil {
			return err
		}
		cmd := s.account.command(ctx, filepath.Join(bin, "initdb"), "--pgdata", into, "--username", User,
			"--auth", "trust", "--encoding", "UTF8", "--locale", "C.UTF-8", "--no-sync", "--no-instructions")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("initdb: %w\n%s", err, out)
		}
		return nil
	}
	s.argv = func() ([]string, error) {
		bin, err := postgresBinFor(data)
		if err != nil {
			return nil, err
		}
		argv := []string{filepath.Join(bin, "postgres"), "-D", data, "-p", portOf(st.PGPort), "-k", s.sockets}
		for _, setting := range slices.Concat([]string{
			"listen_addresses=127.0.0.1",
			"max_connections=200",
			"shared_buffers=256MB",
			"max_wal_size=2GB",
			"timezone=UTC",
			"log_timezone=UTC",
			"log_line_prefix=%m [%p] %d ",
		}, st.PGArgs) {
			argv = append(argv, "-c", setting)
		}
		return argv, nil
	}
	s.ping = func(ctx context.Context) error {
		conn, err := pgx.Connect(ctx, fmt.Sprintf("postgres://%s@127.0.0.1:%d/postgres?sslmode=disable", User, st.PGPort))
		if err != nil {
			return fmt.Errorf("connect: %w", err)
		}
		return conn.Close(ctx)
	}
	return s
}

// PostgresBin returns the folder of the newest PostgreSQL that will do: psql,
// pg_dump and the server.
func PostgresBin() (string, error) { return postgresBin() }

func postgresBin() (string, error) {
	majors := postgresMajors()
	if len(majors) == 0 {
		return "", errNoPostgres
	}
	return binOf(majors[0]), nil
}

// postgresBinFor returns the binaries that made the data: another major version
// does not read it.
func postgresBinFor(data string) (string, error) {
	text, err := os.ReadFile(filepath.Join(data, "PG_VERSION"))
	if err != nil {
		return "", fmt.Errorf("read the data's version: %w", err)
	}
	major, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return "", fmt.Errorf("read the data's version: %w", err)
	}
	if !slices.Contains(postgresMajors(), major) {
		return "", fmt.Errorf("the data in %s is of PostgreSQL %d, which is no longer installed; `make clean` removes it", data, major)
	}
	return binOf(major), nil
}

func binOf(major int) string { return filepath.Join("/usr/lib/postgresql", strconv.Itoa(major), "bin") }

// postgresMajors lists the installed major versions that will do, newest first.
func postgresMajors() []int {
	paths, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil {
		return nil // only a malformed pattern
	}
	var majors []int
	for _, path := range paths {
		major, err := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
		if err == nil && major >= oldest {
			majors = append(majors, major)
		}
	}
	slices.Sort(majors)
	slices.Reverse(majors)
	return majors
}

// Package devserver runs a private PostgreSQL and a private MariaDB in one
// folder, for tests, the demo and a developer's own trials.
//
// Both listen on 127.0.0.1 and on a socket inside the folder, on free ports,
// without a password worth the name: they are for one machine and hold nothing
// of value. A server is only ever touched when its process runs on this
// folder's own data (see process.go). Servers outlive the process that started
// them; Down stops them.
package devserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// User is the superuser of both servers, and its password in MariaDB.
// PostgreSQL trusts every connection from 127.0.0.1.
const User = "msgx_dev"

// Folder is the folder's usual name, in the project's root.
const Folder = ".run"

// ErrNotUp reports that nothing was ever started in the folder.
var ErrNotUp = errors.New("no servers here")

// Options say how servers are started. They count for the servers that a call
// to Up starts, and are kept for later restarts; a running server keeps its own.
type Options struct {
	Throwaway bool     // no fsync: the data will not outlive a power cut, and need not
	Postgres  []string // further settings of PostgreSQL, "name=value"
	MySQL     []string // further options of mariadbd, "--name=value"
	Log       *slog.Logger
}

// State is what is known of the folder's servers, kept in state.json there.
type State struct {
	Root    string `json:"root"`    // holds the data; the folder itself, or one under the temporary directory
	Sockets string `json:"sockets"` // holds the sockets' folders; short, as a socket's path ends at 107 bytes

	PGURL    string `json:"pg_url"`    // database postgres, as superuser
	MySQLDSN string `json:"mysql_dsn"` // no database chosen, all privileges

	PGPort    int      `json:"pg_port"`
	PGArgs    []string `json:"pg_args"`
	MySQLPort int      `json:"mysql_port"`
	MySQLArgs []string `json:"mysql_args"`
}

// Up makes both servers run in dir and waits until they answer. It reuses what
// runs, restarts what died on its existing data and creates what is missing.
func Up(ctx context.Context, dir string, opts Options) (State, error) {
	f, err := open(dir, opts.Log)
	if err != nil {
		return State{}, err
	}
	defer f.close()
	if err := f.load(); err != nil && !errors.Is(err, ErrNotUp) {
		return State{}, err
	}
	if err := f.place(ctx); err != nil {
		return State{}, err
	}
	for _, s := range f.servers(&opts) {
		if err := f.start(ctx, s); err != nil {
			return State{}, err
		}
	}
	return f.state, nil
}

// Down stops both servers; their data stays. ErrNotUp where none was ever
// started; none running is no error.
func Down(ctx context.Context, dir string, log *slog.Logger) error {
	return with(dir, log, func(f *folder) error {
		var errs []error
		for _, s := range f.servers(nil) {
			errs = append(errs, f.stop(ctx, s))
		}
		return errors.Join(errs...)
	})
}

// Remove stops both servers and deletes their data and state. Nothing there is
// no error.
func Remove(ctx context.Context, dir string, log *slog.Logger) error {
	err := with(dir, log, func(f *folder) error {
		for _, s := range f.servers(nil) {
			if err := f.stop(ctx, s); err != nil {
				return err
			}
		}
		for _, path := range f.owned() {
			if err := os.RemoveAll(path); err != nil {
				return fmt.Errorf("remove the servers' data: %w", err)
			}
		}
		return nil
	})
	if errors.Is(err, ErrNotUp) {
		return nil
	}
	return err
}

// Load reads the state of the servers in dir, or ErrNotUp.
func Load(dir string) (State, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return State{}, fmt.Errorf("resolve %s: %w", dir, err)
	}
	f := &folder{dir: dir}
	err = f.load()
	return f.state, err
}

// StopPostgres stops PostgreSQL alone, ending its sessions.
func StopPostgres(ctx context.Context, dir string, log *slog.Logger) error {
	return with(dir, log, func(f *folder) error { return f.stop(ctx, f.postgres(nil)) })
}

// StartPostgres starts PostgreSQL again, on its old port while that is free.
func StartPostgres(ctx context.Context, dir string, log *slog.Logger) error {
	return with(dir, log, func(f *folder) error { return f.start(ctx, f.postgres(nil)) })
}

// StopMySQL stops MariaDB alone, ending its sessions.
func StopMySQL(ctx context.Context, dir string, log *slog.Logger) error {
	return with(dir, log, func(f *folder) error { return f.stop(ctx, f.mysql(nil)) })
}

// StartMySQL starts MariaDB again, on its old port while that is free.
func StartMySQL(ctx context.Context, dir string, log *slog.Logger) error {
	return with(dir, log, func(f *folder) error { return f.start(ctx, f.mysql(nil)) })
}

// folder is an opened folder: its lock is held.
type folder struct {
	dir   string
	lock  *os.File
	log   *slog.Logger
	state State
}

// with runs do on the locked folder of servers that were once started.
func with(dir string, log *slog.Logger, do func(*folder) error) error {
	if _, err := os.Stat(filepath.Join(dir, "state.json")); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %s", ErrNotUp, dir)
	}
	f, err := open(dir, log)
	if err != nil {
		return err
	}
	defer f.close()
	if err := f.load(); err != nil {
		return err
	}
	return do(f)
}

// open creates dir where needed and waits for its lock, so that two callers
// never start the same server twice.
func open(dir string, log *slog.Logger) (*folder, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("resolve the servers' folder: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("create the servers' folder: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open the lock of the servers' folder: %w", err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return nil, errors.Join(fmt.Errorf("lock the servers' folder: %w", err), lock.Close())
	}
	return &folder{dir: dir, lock: lock, log: log}, nil
}

// close gives the lock back.
func (f *folder) close() {
	if err := f.lock.Close(); err != nil {
		f.log.Warn("lock not closed", "folder", f.dir, "err", err)
	}
}

func (f *folder) load() error {
	text, err := os.ReadFile(filepath.Join(f.dir, "state.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %s", ErrNotUp, f.dir)
	}
	if err != nil {
		return fmt.Errorf("read the servers' state: %w", err)
	}
	if err := json.Unmarshal(text, &f.state); err != nil {
		return fmt.Errorf("read the servers' state in %s: %w", f.dir, err)
	}
	return nil
}

// save writes the state in one step, so that a reader never sees half of it.
func (f *folder) save() error {
	f.state.PGURL = fmt.Sprintf("postgres://%s@127.0.0.1:%d/postgres?sslmode=disable", User, f.state.PGPort)
	f.state.MySQLDSN = fmt.Sprintf("%s:%s@tcp(127.0.0.1:%d)/", User, User, f.state.MySQLPort)
	text, err := json.MarshalIndent(f.state, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the servers' state: %w", err)
	}
	path := filepath.Join(f.dir, "state.json")
	if err := os.WriteFile(path+".new", append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("write the servers' state: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("write the servers' state: %w", err)
	}
	return nil
}

// servers lists both. A nil opts keeps the arguments of the last start.
func (f *folder) servers(opts *Options) []*server {
	return []*server{f.postgres(opts), f.mysql(opts)}
}

// owned lists every path that holds something of these servers. The folder
// itself may hold files of others, and its lock is held.
func (f *folder) owned() []string {
	var paths []string
	for _, name := range []string{"postgres", "mariadb", "pgs", "mys", "postgres.log", "mariadb.log", "state.json"} {
		paths = append(paths, filepath.Join(f.dir, name))
	}
	for _, elsewhere := range []string{f.state.Root, f.state.Sockets} {
		if elsewhere != f.dir {
			paths = append(paths, elsewhere)
		}
	}
	return paths
}

// place decides once where data and sockets live, and makes those folders. The
// accounts that run the servers must get there, which they cannot below a
// folder that is closed to all but root.
func (f *folder) place(ctx context.Context) error {
	pg, my := postgresAccount(), mysqlAccount()
	usable := func(path string) bool { return pg.reaches(ctx, path) && my.reaches(ctx, path) }
	if f.state.Root == "" || !usable(f.state.Root) {
		f.state.Root, f.state.Sockets = f.dir, f.dir
		if !usable(f.dir) {
			temp, err := shared("", "msgx-dev-")
			if err != nil {
				return err
			}
			if !usable(temp) {
				return fmt.Errorf("the accounts %s and %s can reach neither %s nor %s", pg.name, my.name, f.dir, temp)
			}
			f.log.Info("data goes elsewhere: the folder is closed to the servers' accounts", "folder", f.dir, "data", temp)
			f.state.Root, f.state.Sockets = temp, temp
		}
	}
	if !fits(f.state.Sockets) || !usable(f.state.Sockets) {
		short, err := shared("", "msgx-s-")
		if err != nil {
			return err
		}
		if !fits(short) { // a long TMPDIR
			if err := os.Remove(short); err != nil {
				return fmt.Errorf("remove a folder that is too long for sockets: %w", err)
			}
			if short, err = shared("/tmp", "msgx-s-"); err != nil {
				return err
			}
		}
		f.state.Sockets = short
	}
	return f.save()
}

// shared makes a temporary folder that every account may enter.
func shared(parent, prefix string) (string, error) {
	path, err := os.MkdirTemp(parent, prefix)
	if err != nil {
		return "", fmt.Errorf("make a temporary folder: %w", err)
	}
	if err := os.Chmod(path, 0o755); err != nil {
		return "", fmt.Errorf("open a temporary folder: %w", err)
	}
	return path, nil
}

// fits tells whether both sockets' paths under path stay within 107 bytes.
func fits(path string) bool {
	return len(filepath.Join(path, "pgs", ".s.PGSQL.65535")) <= 107
}

// portOf renders a port as the text that options need.
func portOf(port int) string { return strconv.Itoa(port) }

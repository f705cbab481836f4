package devserver

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/go-sql-driver/mysql"
)

// errNoMariaDB reports that MariaDB's server is not installed.
var errNoMariaDB = errors.New("MariaDB is not installed: run `make setup`")

// mysql describes the folder's MariaDB. A nil opts keeps its arguments.
func (f *folder) mysql(opts *Options) *server {
	st := &f.state
	home := filepath.Join(st.Root, "mariadb")
	data := filepath.Join(home, "data")
	s := &server{
		name:    "MariaDB",
		account: mysqlAccount(),
		data:    data,
		sockets: filepath.Join(st.Sockets, "mys"),
		pidFile: filepath.Join(home, "mariadb.pid"),
		mark:    "--datadir=" + data,
		logFile: filepath.Join(f.dir, "mariadb.log"),
		port:    &st.MySQLPort,
		stop:    []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL},
	}
	s.remember = func() {
		if opts == nil {
			return
		}
		st.MySQLArgs = nil
		if opts.Throwaway {
			st.MySQLArgs = append(st.MySQLArgs, "--innodb-flush-log-at-trx-commit=0", "--skip-innodb-doublewrite")
		}
		st.MySQLArgs = append(st.MySQLArgs, opts.MySQL...)
	}
	s.create = func(ctx context.Context, into string) error {
		tool, err := find("mariadb-install-db", "mysql_install_db")
		if err != nil {
			return err
		}
		argv := []string{tool, "--no-defaults", "--datadir=" + into, "--auth-root-authentication-method=normal",
			"--skip-test-db", "--skip-name-resolve"}
		if out, err := s.account.command(ctx, s.asRoot(argv)...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", tool, err, out)
		}
		return nil
	}
	s.argv = func() ([]string, error) {
		binary, err := find("mariadbd", "mysqld")
		if err != nil {
			return nil, err
		}
		// One statement a line; run at every start, before the first connection.
		grant := filepath.Join(home, "init.sql")
		text := fmt.Sprintf("CREATE USER IF NOT EXISTS '%[1]s'@'127.0.0.1' IDENTIFIED BY '%[1]s';\n"+
			"GRANT ALL PRIVILEGES ON *.* TO '%[1]s'@'127.0.0.1' WITH GRANT OPTION;\n", User)
		if err := errors.Join(os.WriteFile(grant, []byte(text), 0o644), os.Chmod(grant, 0o644)); err != nil {
			return nil, fmt.Errorf("write the first statements of MariaDB: %w", err)
		}
		return s.asRoot(slices.Concat([]string{binary, "--no-defaults",
			"--datadir=" + data,
			"--tmpdir=" + home,
			"--pid-file=" + s.pidFile,
			"--socket=" + filepath.Join(s.sockets, "mariadb.sock"),
			"--port=" + portOf(st.MySQLPort),
			"--bind-address=127.0.0.1",
			"--init-file=" + grant,
			"--skip-name-resolve",
			"--skip-log-bin",
			"--default-storage-engine=InnoDB",
			"--character-set-server=utf8mb4",
			"--default-time-zone=+00:00",
			"--collation-server=utf8mb4_general_ci",
			"--max-allowed-packet=64M",
			"--max-connections=200",
			"--innodb-buffer-pool-size=128M",
		}, st.MySQLArgs)), nil
	}
	s.ping = func(ctx context.Context) error {
		cfg := mysql.NewConfig()
		cfg.User, cfg.Passwd, cfg.Net = User, User, "tcp"
		cfg.Addr = "127.0.0.1:" + portOf(st.MySQLPort)
		cfg.Logger = &mysql.NopLogger{}
		connector, err := mysql.NewConnector(cfg)
		if err != nil {
			return fmt.Errorf("connect: %w", err)
		}
		db := sql.OpenDB(connector)
		return errors.Join(db.PingContext(ctx), db.Close())
	}
	return s
}

// asRoot adds what MariaDB wants to hear before it runs as root, which happens
// only where no other account exists.
func (s *server) asRoot(argv []string) []string {
	if os.Geteuid() == 0 && s.account.cred == nil {
		return append(argv, "--user=root")
	}
	return argv
}

// find returns the path of the first of names that is installed. sbin is not on
// an ordinary user's PATH.
func find(names ...string) (string, error) {
	for _, name := range names {
		for _, dir := range []string{"/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin"} {
			if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
				return path, nil
			}
		}
	}
	return "", fmt.Errorf("%w (no %s)", errNoMariaDB, names[0])
}

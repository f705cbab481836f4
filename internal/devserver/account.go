package devserver

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// account is the operating system's user that runs a server.
type account struct {
	name string
	cred *syscall.Credential // nil: as we are
}

// postgresAccount is the current user, or for root one that PostgreSQL accepts,
// as it refuses to run as root.
func postgresAccount() account { return pick("postgres", "nobody") }

// mysqlAccount is the current user, or for root the packages' own.
func mysqlAccount() account { return pick("mysql", "nobody") }

// pick returns the first of names that this machine knows, when we are root.
func pick(names ...string) account {
	if os.Geteuid() != 0 {
		return account{name: "the current user"}
	}
	for _, name := range names {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, errUID := strconv.ParseUint(u.Uid, 10, 32)
		gid, errGID := strconv.ParseUint(u.Gid, 10, 32)
		if errUID == nil && errGID == nil {
			return account{name: name, cred: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
		}
	}
	return account{name: "root"}
}

// command prepares argv to run as the account, away from the caller's working
// directory, which the account may not enter.
func (a account) command(ctx context.Context, argv ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = "/"
	cmd.Env = []string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"LC_ALL=C.UTF-8",
		"HOME=/nonexistent", // no option file of the caller's counts
	}
	if zone := os.Getenv("TZ"); zone != "" {
		cmd.Env = append(cmd.Env, "TZ="+zone)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: a.cred}
	return cmd
}

// reaches tells whether the account can enter path.
func (a account) reaches(ctx context.Context, path string) bool {
	return a.command(ctx, "/usr/bin/test", "-x", path).Run() == nil
}

// mkdir makes path, for the account alone.
func (a account) mkdir(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("make the folder of %s: %w", path, err)
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return fmt.Errorf("make %s: %w", path, err)
	}
	if a.cred != nil {
		if err := os.Chown(path, int(a.cred.Uid), int(a.cred.Gid)); err != nil {
			return fmt.Errorf("give %s to %s: %w", path, a.name, err)
		}
	}
	return nil
}

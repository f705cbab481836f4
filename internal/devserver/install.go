package devserver

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

//go:embed install.sh
var installScript string

// Install puts on this Debian machine what is missing of PostgreSQL, pgTAP,
// plpgsql_check, pg_prove and MariaDB, as root or through sudo without a
// password; no system server is left running by it. Where it may not, the error
// is the line to run. What apt-get says goes to out.
func Install(ctx context.Context, out io.Writer) error {
	if len(missing()) == 0 {
		return nil
	}
	if !mayInstall(ctx) {
		return fmt.Errorf("packages are missing; run this and try again:\n"+
			"  sudo apt-get update && sudo apt-get install -y --no-install-recommends %s", strings.Join(packages(ctx), " "))
	}
	if err := asRoot(ctx, out, "apt-get", "-o", "DPkg::Lock::Timeout=300", "update", "-q"); err != nil {
		return fmt.Errorf("apt-get update: %w", err)
	}
	names := packages(ctx)
	if err := asRoot(ctx, out, append([]string{"/bin/sh", "-c", installScript, "install"}, names...)...); err != nil {
		return fmt.Errorf("apt-get install %s: %w", strings.Join(names, " "), err)
	}
	if left := missing(); len(left) > 0 {
		return fmt.Errorf("installed %s, but still missing: %s", strings.Join(names, " "), strings.Join(left, ", "))
	}
	return nil
}

// part is one thing we need: a file that shows it is there, and its packages.
// %d stands for PostgreSQL's major version.
type part struct {
	name     string
	files    []string // one of them
	packages []string
}

func parts() []part {
	return []part{
		{"PostgreSQL", []string{"/usr/lib/postgresql/%d/bin/initdb"}, []string{"postgresql-%d"}},
		{"psql", []string{"/usr/lib/postgresql/%d/bin/psql"}, []string{"postgresql-client-%d"}},
		{"pgTAP", []string{"/usr/share/postgresql/%d/extension/pgtap.control"}, []string{"postgresql-%d-pgtap"}},
		{"plpgsql_check", []string{"/usr/share/postgresql/%d/extension/plpgsql_check.control"}, []string{"postgresql-%d-plpgsql-check"}},
		{"pg_prove", []string{"/usr/bin/pg_prove"}, []string{"libtap-parser-sourcehandler-pgtap-perl"}},
		// The core packages hold no service and no account: nothing to stop afterwards.
		{"mariadbd", []string{"/usr/sbin/mariadbd", "/usr/sbin/mysqld"}, []string{"mariadb-server-core"}},
		{"mariadb-install-db", []string{"/usr/bin/mariadb-install-db", "/usr/bin/mysql_install_db"}, []string{"mariadb-server-core"}},
		{"my_print_defaults", []string{"/usr/bin/my_print_defaults"}, []string{"mariadb-client-core"}},
	}
}

// lacking lists the parts that are not there, for one major version.
func lacking(major int) []part {
	var left []part
parts:
	for _, p := range parts() {
		for _, file := range p.files {
			if _, err := os.Stat(forMajor(file, major)); err == nil {
				continue parts
			}
		}
		left = append(left, p)
	}
	return left
}

func forMajor(text string, major int) string {
	return strings.ReplaceAll(text, "%d", strconv.Itoa(major))
}

// missing names what is not there.
func missing() []string {
	major := 0
	if majors := postgresMajors(); len(majors) > 0 {
		major = majors[0]
	}
	var names []string
	for _, p := range lacking(major) {
		names = append(names, p.name)
	}
	return names
}

// packages lists what to install for everything that is missing.
func packages(ctx context.Context) []string {
	major := oldest
	if majors := postgresMajors(); len(majors) > 0 {
		major = majors[0]
	} else if newest := offered(ctx); newest > 0 {
		major = newest
	}
	var names []string
	seen := map[string]bool{}
	for _, p := range lacking(major) {
		for _, name := range p.packages {
			if name = forMajor(name, major); !seen[name] {
				seen[name] = true
				names = append(names, name)
			}
		}
	}
	return names
}

// offered returns the newest PostgreSQL that apt has together with pgTAP and
// plpgsql_check, or 0.
func offered(ctx context.Context) int {
	out, err := exec.CommandContext(ctx, "apt-cache", "pkgnames", "postgresql-").Output()
	if err != nil {
		return 0 // apt knows nothing yet; the caller has a default
	}
	return newestOffer(out)
}

// newestOffer reads names of packages, one a line.
func newestOffer(names []byte) int {
	has := map[string]bool{}
	for line := range bytes.Lines(names) {
		has[string(bytes.TrimSpace(line))] = true
	}
	best := 0
	for _, match := range regexp.MustCompile(`(?m)^postgresql-(\d+)$`).FindAllSubmatch(names, -1) {
		major, err := strconv.Atoi(string(match[1]))
		if err == nil && major >= oldest && major > best &&
			has[forMajor("postgresql-%d-pgtap", major)] && has[forMajor("postgresql-%d-plpgsql-check", major)] {
			best = major
		}
	}
	return best
}

// mayInstall tells whether apt-get can be run as root without a question.
func mayInstall(ctx context.Context) bool {
	if _, err := exec.LookPath("apt-get"); err != nil {
		return false
	}
	return os.Geteuid() == 0 || exec.CommandContext(ctx, "sudo", "-n", "true").Run() == nil
}

// asRoot runs argv as root. An end of ctx is passed on as SIGTERM, so that the
// script can take back what it changed.
func asRoot(ctx context.Context, out io.Writer, argv ...string) error {
	if os.Geteuid() != 0 {
		argv = append([]string{"sudo", "-n"}, argv...)
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	cmd.Stdout, cmd.Stderr = out, out
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = time.Minute
	if err := cmd.Run(); err != nil {
		return errors.Join(err, ctx.Err())
	}
	return nil
}

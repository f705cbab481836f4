package devserver

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// up starts servers in dir and removes them when the test ends.
func up(t *testing.T, dir string, opts Options) State {
	t.Helper()
	t.Cleanup(func() {
		if err := Remove(context.WithoutCancel(t.Context()), dir, nil); err != nil {
			t.Errorf("remove: %v", err)
		}
	})
	st, err := Up(t.Context(), dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// pids returns the processes of both servers, 0 where none runs.
func pids(t *testing.T, dir string) (pg, my int) {
	t.Helper()
	f := &folder{dir: dir}
	if err := f.load(); err != nil {
		t.Fatal(err)
	}
	return f.postgres(nil).running(), f.mysql(nil).running()
}

func askPG(t *testing.T, st State, query string) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), st.PGURL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	var got string
	if err := conn.QueryRow(t.Context(), query).Scan(&got); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return got
}

func askMySQL(t *testing.T, st State, query string) string {
	t.Helper()
	db, err := sql.Open("mysql", st.MySQLDSN)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var got string
	if err := db.QueryRowContext(t.Context(), query).Scan(&got); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return got
}

func TestLife(t *testing.T) {
	dir := t.TempDir()
	st := up(t, dir, Options{Postgres: []string{"work_mem=5MB"}})

	for query, want := range map[string]string{
		"SHOW server_encoding": "UTF8", "SHOW lc_collate": "C.UTF-8", "SHOW fsync": "on", "SHOW max_connections": "200",
		"SHOW shared_buffers": "256MB", "SHOW listen_addresses": "127.0.0.1", "SHOW work_mem": "5MB", "SELECT current_user::text": User,
	} {
		if got := askPG(t, st, query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	for query, want := range map[string]string{
		"SELECT @@character_set_server": "utf8mb4", "SELECT @@log_bin": "0", "SELECT @@max_allowed_packet": "67108864",
		"SELECT @@default_storage_engine": "InnoDB", "SELECT @@bind_address": "127.0.0.1",
	} {
		if got := askMySQL(t, st, query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}

	pg, my := pids(t, dir)
	again, err := Up(t.Context(), dir, Options{})
	if err != nil || again.PGURL != st.PGURL || again.MySQLDSN != st.MySQLDSN {
		t.Errorf("second Up: %+v, %v", again, err)
	}
	if pg2, my2 := pids(t, dir); pg2 != pg || my2 != my || pg == 0 || my == 0 {
		t.Errorf("second Up did not reuse: %d, %d became %d, %d", pg, my, pg2, my2)
	}
	if session, err := os.ReadFile("/proc/" + strconv.Itoa(pg) + "/stat"); err != nil || strings.Fields(string(session))[5] != strconv.Itoa(pg) {
		t.Errorf("PostgreSQL is not in a session of its own: %s %v", session, err)
	}

	askPG(t, st, "SELECT lo_from_bytea(4711, 'kept')::text")
	if err := syscall.Kill(pg, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for f := (&folder{dir: dir}); f.load() == nil && f.postgres(nil).running() != 0; {
		time.Sleep(10 * time.Millisecond)
	}
	if st, err = Up(t.Context(), dir, Options{}); err != nil {
		t.Fatalf("Up after a crash: %v", err)
	}
	if got := askPG(t, st, "SELECT convert_from(lo_get(4711), 'UTF8')"); got != "kept" {
		t.Errorf("data after a crash: %q", got)
	}

	for name, step := range map[string]struct{ stop, start func() error }{
		"PostgreSQL": {func() error { return StopPostgres(t.Context(), dir, nil) }, func() error { return StartPostgres(t.Context(), dir, nil) }},
		"MariaDB":    {func() error { return StopMySQL(t.Context(), dir, nil) }, func() error { return StartMySQL(t.Context(), dir, nil) }},
	} {
		if err := step.stop(); err != nil {
			t.Fatalf("stop %s: %v", name, err)
		}
		if pg, my := pids(t, dir); (pg == 0) == (my == 0) {
			t.Errorf("stopping %s alone leaves processes %d and %d", name, pg, my)
		}
		if err := step.start(); err != nil {
			t.Fatalf("start %s: %v", name, err)
		}
	}
	if now, err := Load(dir); err != nil || now.PGURL != st.PGURL || now.MySQLDSN != st.MySQLDSN {
		t.Errorf("addresses changed over a restart: %+v, %v", now, err)
	}
	if got := askPG(t, st, "SHOW work_mem"); got != "4MB" { // the Up after the crash asked for nothing
		t.Errorf("work_mem %s", got)
	}
	askMySQL(t, st, "SELECT 1")

	if err := Down(t.Context(), dir, nil); err != nil {
		t.Fatal(err)
	}
	if pg, my := pids(t, dir); pg != 0 || my != 0 {
		t.Errorf("still running after Down: %d, %d", pg, my)
	}
	if err := Down(t.Context(), dir, nil); err != nil {
		t.Errorf("second Down: %v", err)
	}
	if err := Remove(t.Context(), dir, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(dir); !errors.Is(err, ErrNotUp) {
		t.Errorf("state after Remove: %v", err)
	}
	if _, err := os.Stat(filepath.Join(st.Root, "postgres")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("data after Remove: %v", err)
	}
}

func TestNothingThere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "none")
	if err := Down(t.Context(), dir, nil); !errors.Is(err, ErrNotUp) {
		t.Errorf("Down: %v", err)
	}
	if err := Remove(t.Context(), dir, nil); err != nil {
		t.Errorf("Remove: %v", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder was made: %v", err)
	}
}

// A pid file that names another's process: it is left alone, and does not keep
// our server from starting.
func TestForeignProcess(t *testing.T) {
	dir := t.TempDir()
	st := up(t, dir, Options{Throwaway: true})
	if err := Down(t.Context(), dir, nil); err != nil {
		t.Fatal(err)
	}
	other := exec.Command("sleep", "60")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- other.Wait() }()
	pid := strconv.Itoa(other.Process.Pid)
	for _, path := range []string{filepath.Join(st.Root, "postgres", "data", "postmaster.pid"), filepath.Join(st.Root, "mariadb", "mariadb.pid")} {
		if err := os.WriteFile(path, []byte(pid+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := Down(t.Context(), dir, nil); err != nil {
		t.Errorf("Down: %v", err)
	}
	st, err := Up(t.Context(), dir, Options{Throwaway: true})
	if err != nil {
		t.Fatal(err)
	}
	askPG(t, st, "SELECT 'x'")
	askMySQL(t, st, "SELECT 'x'")
	select {
	case err := <-ended:
		t.Fatalf("the other process was ended: %v", err)
	default:
	}
	if err := other.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-ended
}

func TestLongPath(t *testing.T) {
	home, err := shared("", "msgx-long-") // open to every account, unlike t.TempDir
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(home, strings.Repeat("long", 30))
	t.Cleanup(func() {
		if err := os.RemoveAll(home); err != nil {
			t.Error(err)
		}
	})
	st := up(t, dir, Options{Throwaway: true})
	if st.Root != dir || !fits(st.Sockets) {
		t.Errorf("data in %s, sockets in %s", st.Root, st.Sockets)
	}
	askPG(t, st, "SELECT 'x'")
	askMySQL(t, st, "SELECT 'x'")
}

// Root's servers run as other accounts, which cannot enter a folder closed to them.
func TestClosedFolder(t *testing.T) {
	closed := t.TempDir()
	if err := os.Chmod(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	st := up(t, filepath.Join(closed, Folder), Options{Throwaway: true})
	inside := strings.HasPrefix(st.Root, closed)
	if inside != (os.Geteuid() != 0) {
		t.Errorf("data in %s", st.Root)
	}
	askPG(t, st, "SELECT 'x'")
}

// A server that does not start says why.
func TestStartFails(t *testing.T) {
	dir := t.TempDir()
	t.Cleanup(func() {
		if err := Remove(context.WithoutCancel(t.Context()), dir, nil); err != nil {
			t.Error(err)
		}
	})
	for _, opts := range []Options{{Postgres: []string{"no_such_thing=1"}}, {MySQL: []string{"--no-such-thing"}}} {
		begin := time.Now()
		_, err := Up(t.Context(), dir, opts)
		if err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), "-", "_"), "no_such_thing") {
			t.Errorf("Up: %v", err)
		}
		if spent := time.Since(begin); spent > startWait/2 {
			t.Errorf("noticed after %s", spent)
		}
	}
}

// TestKilledOwner kills a process that holds throwaway servers: the next caller
// removes them.
func TestKilledOwner(t *testing.T) {
	const variable = "MSGX_TEST_HOLD_SERVERS"
	if parent := os.Getenv(variable); parent != "" { // the process to be killed
		st, _, err := Throwaway(t.Context(), parent, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(os.Stdout, "held "+st.Root+"\n"); err != nil {
			t.Fatal(err)
		}
		select {}
	}
	parent := t.TempDir()
	owner := exec.Command(os.Args[0], "-test.run=^TestKilledOwner$")
	owner.Env = append(os.Environ(), variable+"="+parent)
	out, err := owner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "held ") {
		t.Fatalf("the owner said %q, %v", line, err)
	}
	left, err := filepath.Glob(filepath.Join(parent, "exec-*"))
	if err != nil || len(left) != 1 {
		t.Fatalf("folders %v, %v", left, err)
	}

	st, release, err := Throwaway(t.Context(), parent, Options{}) // while the owner lives
	if err != nil {
		t.Fatal(err)
	}
	if pg, my := pids(t, left[0]); pg == 0 || my == 0 {
		t.Errorf("servers of a living owner were taken away")
	}
	if got := askPG(t, st, "SHOW fsync"); got != "off" {
		t.Errorf("fsync %s", got)
	}
	if err := release(t.Context()); err != nil {
		t.Fatal(err)
	}

	pg, my := pids(t, left[0])
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := owner.Wait(); err == nil {
		t.Error("the owner was not killed")
	}
	if _, release, err = Throwaway(t.Context(), parent, Options{}); err != nil {
		t.Fatal(err)
	}
	if err := release(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, pid := range []int{pg, my} {
		if text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline"); err == nil && len(text) > 0 {
			t.Errorf("process %d is left: %q", pid, text)
		}
	}
	if rest, err := filepath.Glob(filepath.Join(parent, "*")); err != nil || len(rest) != 0 {
		t.Errorf("left: %v, %v", rest, err)
	}
	if _, err := os.Stat(strings.TrimSpace(strings.TrimPrefix(line, "held "))); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the data of the killed owner: %v", err)
	}
}

// Run by root, this runs the other tests once more as an ordinary account.
func TestAsOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		return // the other tests have just done that
	}
	home, err := shared("", "msgx-user-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(home); err != nil {
			t.Error(err)
		}
	})
	who := pick("nobody")
	if err := os.Chown(home, int(who.cred.Uid), int(who.cred.Gid)); err != nil {
		t.Fatal(err)
	}
	self, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(home, "test")
	if err := os.WriteFile(binary, self, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := who.command(t.Context(), binary, "-test.run=^(TestLife|TestClosedFolder)$", "-test.v")
	cmd.Dir = home
	cmd.Env = append(cmd.Env, "TMPDIR="+home)
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Count(string(out), "--- PASS") != 2 {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestNewestOffer(t *testing.T) {
	for name, c := range map[string]struct {
		names string
		want  int
	}{
		"none":                  {"postgresql-common\npostgresql-client\n", 0},
		"one":                   {"postgresql-15\npostgresql-15-pgtap\npostgresql-15-plpgsql-check\n", 15},
		"newest":                {"postgresql-9\npostgresql-17\npostgresql-17-pgtap\npostgresql-17-plpgsql-check\npostgresql-16\npostgresql-16-pgtap\npostgresql-16-plpgsql-check\n", 17},
		"newest without pgTAP":  {"postgresql-18\npostgresql-18-plpgsql-check\npostgresql-17\npostgresql-17-pgtap\npostgresql-17-plpgsql-check\n", 17},
		"too old":               {"postgresql-13\npostgresql-13-pgtap\npostgresql-13-plpgsql-check\n", 0},
		"several versions only": {"postgresql-15-pgtap\npostgresql-15-plpgsql-check\n", 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := newestOffer([]byte(c.names)); got != c.want {
				t.Errorf("%d, want %d", got, c.want)
			}
		})
	}
}

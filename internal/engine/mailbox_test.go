package engine_test

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-sql-driver/mysql"

	"msgexchange/internal/devserver"
	"msgexchange/internal/mytest"
)

// server starts a MariaDB of the test's own, whose global settings it may change.
func server(t *testing.T, options ...string) (dsn string) {
	t.Helper()
	state, release, err := devserver.Throwaway(t.Context(), filepath.Join(os.TempDir(), "msgx-mailbox-test"), devserver.Options{MySQL: options})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := release(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return state.MySQLDSN
}

// newWorldOn is newWorld with the mailbox on a given server.
func newWorldOn(t *testing.T, dsn string, changes map[string]string) *world {
	t.Helper()
	t.Setenv(mytest.Env, dsn)
	return newWorld(t, changes)
}

// few makes the daemon a login with the rights that the manual asks for, and no more.
func (w *world) few() {
	w.t.Helper()
	w.boxExec("CREATE USER IF NOT EXISTS few@'127.0.0.1' IDENTIFIED BY 'few'")
	w.boxExec("GRANT SELECT, UPDATE (CMINMSGS_DATE_PROCESSED, CMINMSGS_STATUS) ON " + w.my.Name + ".cminmsgs TO few@'127.0.0.1'")
	cfg, err := mysql.ParseDSN(w.env["mailbox.dsn"])
	if err != nil {
		w.t.Fatal(err)
	}
	cfg.User, cfg.Passwd = "few", "few"
	w.env["mailbox.dsn"] = cfg.FormatDSN()
}

// relay puts a relay between the daemon and its mailbox.
func (w *world) relay() *mytest.Relay {
	w.t.Helper()
	relay, dsn := mytest.NewRelay(w.t, w.env["mailbox.dsn"])
	w.env["mailbox.dsn"] = dsn
	return relay
}

// paused waits until a loop pauses with a reason, shown wherever an operator looks.
func (w *world) paused(r *running, loop, reason string) {
	w.t.Helper()
	w.until(loop+" pauses because "+reason, func() bool {
		return strings.Contains(w.get("SELECT paused_reason FROM msgx.v_loops WHERE loop = $1 AND stands = 'paused'", loop), reason)
	})
	if got := w.get("SELECT standing_still FROM msgx.v_status"); !strings.Contains(got, loop+": ") || !strings.Contains(got, reason) {
		w.t.Errorf("v_status says %q", got)
	}
	if !r.log.contains(reason) {
		w.t.Errorf("the log does not say %q", reason)
	}
}

// innocent fails the test when any message failed or any attempt was counted.
func (w *world) innocent() {
	w.t.Helper()
	if got := w.get("SELECT string_agg(msg_id || ' ' || state || ' ' || attempts, ', ') FROM msgx.proc_state WHERE state IN ('FAILED', 'DEAD') OR attempts > 0"); got != "" {
		w.t.Errorf("blamed: %s", got)
	}
}

// padded makes a message longer by blanks that mean nothing.
func padded(message string, bytes int) string {
	return strings.Replace(message, "</META>", "</META>"+strings.Repeat(" ", bytes), 1)
}

// TestLargeRows: rows above max_allowed_packet and pages above the byte budget are nothing special; a row above
// mailbox.max-text-bytes fails alone.
func TestLargeRows(t *testing.T) {
	w := newWorldOn(t, server(t), map[string]string{
		"mailbox.max-text-bytes": "6MiB", "sis.max-bytes": "6MiB", "pipeline.page-bytes": "1MiB", "pipeline.cache-bytes": "8MiB"})
	w.few()
	m := &text{}
	w.my.Insert(m.create(1))
	packet := w.my.Insert(padded(m.terminal(1, "P"), 4<<20))
	over := w.my.Insert(padded(m.terminal(1, "O"), 7<<20))
	for i := range 20 {
		w.my.Insert(padded(m.terminal(1, "S"+strconv.Itoa(i)), 300<<10))
	}
	last := w.my.Insert(m.terminal(1, "Z"))
	w.boxExec("SET GLOBAL max_allowed_packet = 1048576")
	var largest atomic.Int64
	w.relay().Watch(func(statement string) mytest.Fate {
		if _, list, found := strings.Cut(statement, " IN ("); found && strings.Contains(statement, "CASE") {
			largest.Store(max(largest.Load(), int64(strings.Count(list, ",")+1)))
		}
		return mytest.Pass
	})
	w.start()
	w.idle(last)
	if got := w.stands(packet); got != "SUCCEEDED applied" {
		t.Errorf("a row above max_allowed_packet ends as %q", got)
	}
	if got := w.stands(over); got != "DEAD EXHAUSTED (CODEC_ERROR)" {
		t.Errorf("a row above mailbox.max-text-bytes ends as %q", got)
	}
	if got := w.get("SELECT last_error FROM msgx.proc_state WHERE msg_id = $1", over); !strings.Contains(got, "mailbox.max-text-bytes") {
		t.Errorf("it says %q", got)
	}
	if got := w.get("SELECT count(*) FROM msgx.proc_state WHERE state = 'SUCCEEDED'"); got != "23" {
		t.Errorf("%s of 23 others applied", got)
	}
	if got := w.get("SELECT terminal FROM msgx.flight_schd"); got != "Z" {
		t.Errorf("terminal %q", got)
	}
	if largest.Load() > 4 {
		t.Errorf("one query fetched %d texts of 300 KiB: more than pipeline.page-bytes", largest.Load())
	}
}

// TestOddDates: received times that are null, zero or impossible neither stop the poll nor move a message.
func TestOddDates(t *testing.T) {
	w := newWorld(t, nil)
	m := &text{}
	w.my.Insert(m.create(1))
	conn, err := w.my.SQL.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(t.Context(), "SET SESSION sql_mode = 'ALLOW_INVALID_DATES'"); err != nil {
		t.Fatal(err)
	}
	dates := []string{"NULL", "'0000-00-00 00:00:00'", "'2026-02-31 08:00:00'", "'2026-00-10 08:00:00'", "'0000-01-01 00:00:00'", "'1000-01-01 00:00:00'", "'9999-12-31 23:59:59'"}
	var last int64
	for i, date := range dates {
		result, err := conn.ExecContext(t.Context(),
			"INSERT INTO cminmsgs (CMINMSGS_CLOB_MSG, CMINMSGS_DATE_RECEIVED, CMINMSGS_STATUS) VALUES (?, "+date+", 'VALID')", m.terminal(1, "D"+strconv.Itoa(i)))
		if err != nil {
			t.Fatal(err)
		}
		if last, err = result.LastInsertId(); err != nil {
			t.Fatal(err)
		}
		// Each is the newest row below the watermark once.
		if i == 0 {
			w.start()
		}
		w.finished(last)
	}
	w.idle(last)
	if got := w.get("SELECT string_agg(terminal, '') FROM msgx.flight_schd"); got != "D6" {
		t.Errorf("terminal %q: not in the order of ids", got)
	}
	if got := w.get("SELECT count(received_at) || ' of ' || count(*) FROM msgx.proc_state WHERE msg_id > 1 AND state = 'SUCCEEDED'"); got != "2 of 7" {
		t.Errorf("received times known: %s", got)
	}
	w.innocent()
}

// TestCharacterSets: whatever the server, the table and the DSN have, texts arrive as they were written.
func TestCharacterSets(t *testing.T) {
	dsn := server(t, "--character-set-server=latin1", "--collation-server=latin1_swedish_ci", "--skip-character-set-client-handshake", "--init-connect=SET NAMES latin1")
	for name, c := range map[string]struct{ column, label, want string }{
		"utf8mb4": {"mediumtext CHARACTER SET utf8mb4", "", "雷雨𠮷🛬"},
		"utf8mb3": {"mediumtext CHARACTER SET utf8mb3", "UTF-8", "雷雨暴雪"},
		"gbk":     {"mediumtext CHARACTER SET gbk", "GBK", "雷雨暴雪"},
		"binary":  {"longblob", "", "雷雨𠮷🛬"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorldOn(t, dsn, nil)
			w.boxExec("ALTER TABLE cminmsgs MODIFY CMINMSGS_CLOB_MSG " + c.column + " NOT NULL")
			w.few()
			w.env["mailbox.dsn"] += "?charset=latin1"
			m := &text{}
			insert := func(message string) int64 {
				conn, err := w.my.SQL.Conn(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				if _, err := conn.ExecContext(t.Context(), "SET NAMES utf8mb4"); err != nil {
					t.Fatal(err)
				}
				result, err := conn.ExecContext(t.Context(), "INSERT INTO cminmsgs (CMINMSGS_CLOB_MSG, CMINMSGS_STATUS) VALUES (?, 'VALID')", message)
				if err != nil {
					t.Fatal(err)
				}
				id, err := result.LastInsertId()
				if err != nil {
					t.Fatal(err)
				}
				return id
			}
			label := ""
			if c.label != "" {
				label = `<?xml version="1.0" encoding="` + c.label + `"?>`
			}
			insert(m.create(1))
			insert(label + m.event("REMC", 1, "<REMC>"+c.want+"</REMC>"))
			var broken []int64
			want := c.want + " Z"
			if name == "binary" {
				broken = append(broken, insert(m.event("REMC", 1, "<REMC>\xff\xfe\xc0</REMC>")),
					insert(`<?xml version="1.0" encoding="GBK"?>`+m.event("REMC", 1, "<REMC>\xc0\xff</REMC>")),
					insert(`<?xml version="1.0" encoding="Shift_JIS"?>`+m.event("REMC", 1, "<REMC>\x97\x8b</REMC>")))
				insert(`<?xml version="1.0" encoding="GBK"?>` + m.event("FTSS", 1, "<FTSS>\xc0\xd7</FTSS>"))
				want += " 雷"
			}
			last := insert(m.terminal(1, "Z"))
			w.start()
			w.idle(last)
			if got := w.get("SELECT concat_ws(' ', remarks, terminal, status_code) FROM msgx.flight_schd"); got != want {
				t.Errorf("remark, terminal and status %q, want %q", got, want)
			}
			for _, id := range broken {
				if got := w.stands(id); got != "DEAD MALFORMED" {
					t.Errorf("bytes that are not what they say end as %q: guessed", got)
				}
			}
		})
	}
}

// TestRowComesBack: a row that was not there for a moment is applied; one that comes back after it was given up stays
// given up, in sight.
func TestRowComesBack(t *testing.T) {
	w := newWorld(t, nil)
	w.exec("UPDATE msgx.loop_state SET wanted = 'off' WHERE loop IN ('pump', 'backfill')")
	m := &text{}
	w.my.Insert(m.create(1))
	blinks := w.my.Insert(m.terminal(1, "A"))
	stays := w.my.Insert(m.terminal(1, "B"))
	last := w.my.Insert(m.terminal(1, "C"))
	relay := w.relay()
	w.boxExec("CREATE TABLE aside LIKE cminmsgs")
	put := func(to, from string, id int64) {
		w.boxExec("INSERT INTO "+to+" SELECT * FROM "+from+" WHERE CMINMSGS_ID = ?", id)
		w.boxExec("DELETE FROM "+from+" WHERE CMINMSGS_ID = ?", id)
	}
	w.start()
	w.until("they are enqueued", func() bool { return w.get("SELECT count(*) FROM msgx.proc_state") == "4" })
	put("aside", "cminmsgs", blinks)
	put("aside", "cminmsgs", stays)
	var looks atomic.Int64
	relay.Watch(func(statement string) mytest.Fate {
		if _, list, found := strings.Cut(statement, " IN ("); found && strings.HasPrefix(list, strconv.FormatInt(blinks, 10)) {
			looks.Add(1)
		}
		return mytest.Pass
	})
	w.exec("SELECT msgx.loop_resume('pump', 'test', 'go on', now())")
	w.until("it was looked for in vain", func() bool { return looks.Load() > 0 })
	put("cminmsgs", "aside", blinks)
	w.finished(last)
	if got := w.stands(blinks); got != "SUCCEEDED applied" {
		t.Errorf("the row that blinked ends as %q", got)
	}
	put("cminmsgs", "aside", stays)
	w.exec("SELECT msgx.loop_resume('backfill', 'test', 'go on', now())")
	after := w.my.Insert(m.terminal(1, "D"))
	w.idle(after)
	if got := w.stands(stays); got != "DEAD MALFORMED raw-missing" {
		t.Errorf("the row that came too late stands as %q", got)
	}
	if got := w.get("SELECT count(*) FROM msgx.v_dead_letters WHERE kind = 'message' AND id = $1", stays); got != "1" {
		t.Errorf("%s dead letters tell of it", got)
	}
	if got := w.get("SELECT terminal FROM msgx.flight_schd"); got != "D" {
		t.Errorf("terminal %q", got)
	}
}

// TestIDsGoBack: the owner emptied the table with its counter. Nothing is lost in silence: the poller refuses, no row is
// read or marked by an id that means another row now, and when the owner and an operator have put things right each
// message is applied once.
func TestIDsGoBack(t *testing.T) {
	w := newWorld(t, nil)
	m := &text{}
	w.exec("UPDATE msgx.loop_state SET wanted = 'off' WHERE loop = 'backfill'")
	r := w.start()
	w.my.Insert(m.create(1))
	for _, v := range []string{"A", "B", "C", "D"} {
		w.my.Insert(m.terminal(1, v))
	}
	w.finished(5)
	w.boxExec("TRUNCATE cminmsgs")
	w.my.Insert(m.terminal(1, "E"))
	w.my.Insert(m.terminal(1, "F"))
	w.paused(r, "poller", "the ids of the mailbox went back: its highest is ")
	if !r.log.contains("level=ERROR msg=\"the mailbox is refused") {
		t.Error("no ERROR tells of it")
	}
	if n := r.log.count("level=ERROR msg=\"the mailbox is refused"); n != 1 {
		t.Errorf("%d ERROR lines", n)
	}
	w.exec("SELECT msgx.loop_resume('backfill', 'test', 'go on', now())")
	w.until("a sweep went by", func() bool {
		return w.get("SELECT last_round_at > now() - interval '1 minute' AND wanted = 'on' FROM msgx.loop_state WHERE loop = 'backfill'") == "true"
	})
	// Still so when the new ids have passed the watermark.
	for _, v := range []string{"G", "H", "I", "J", "K"} {
		w.my.Insert(m.terminal(1, v))
	}
	if _, err := r.stop(); err != nil {
		t.Error(err)
	}
	r = w.start()
	w.paused(r, "poller", "the ids of the mailbox went back")
	if got := w.get("SELECT count(*) FROM msgx.proc_state"); got != "5" {
		t.Errorf("%s messages, 5 were read before", got)
	}
	if got := w.box("SELECT count(*) FROM cminmsgs WHERE CMINMSGS_DATE_PROCESSED IS NOT NULL"); got != "0" {
		t.Errorf("%s rows are marked under ids of others", got)
	}
	// The owner's part: the counter above every id that was read, the new rows under new ids.
	w.boxExec("ALTER TABLE cminmsgs AUTO_INCREMENT = 101")
	w.boxExec("INSERT INTO cminmsgs (CMINMSGS_CLOB_MSG, CMINMSGS_DATE_RECEIVED, CMINMSGS_STATUS) " +
		"SELECT CMINMSGS_CLOB_MSG, CMINMSGS_DATE_RECEIVED, CMINMSGS_STATUS FROM cminmsgs WHERE CMINMSGS_ID <= 100 ORDER BY CMINMSGS_ID")
	w.boxExec("DELETE FROM cminmsgs WHERE CMINMSGS_ID <= 100")
	w.exec("SELECT msgx.inbox_accept_mailbox('li', 'the AODB team set the counter', now())")
	last := w.my.Insert(m.terminal(1, "L"))
	w.finished(last)
	if got := w.get("SELECT count(*) || ' ' || count(*) FILTER (WHERE state = 'SUCCEEDED') FROM msgx.proc_state"); got != "13 13" {
		t.Errorf("messages and applied ones: %s, want 13 of each", got)
	}
	if got := w.get("SELECT string_agg(patch -> 'set' ->> 'terminal', '' ORDER BY msg_id) FROM msgx.flight_write"); got != "ABCDEFGHIJKL" {
		t.Errorf("terminals in the order they were applied: %s", got)
	}
	if !r.log.contains("the mailbox was accepted") {
		t.Error("the log does not tell that it goes on")
	}
	w.innocent()
}

// TestRestoredBackup: the mailbox was restored while the daemon was down, and its new rows have passed the watermark: they
// are told from the old ones by their received times.
func TestRestoredBackup(t *testing.T) {
	w := newWorld(t, nil)
	m := &text{}
	r := w.start()
	w.my.Insert(m.create(1))
	for _, v := range []string{"A", "B", "C", "D"} {
		w.my.Insert(m.terminal(1, v))
	}
	w.idle(5)
	if _, err := r.stop(); err != nil {
		t.Fatal(err)
	}
	w.boxExec("DELETE FROM cminmsgs WHERE CMINMSGS_ID > 3")
	w.boxExec("ALTER TABLE cminmsgs AUTO_INCREMENT = 4")
	for _, v := range []string{"E", "F", "G"} {
		id := w.my.Insert(m.terminal(1, v))
		w.boxExec("UPDATE cminmsgs SET CMINMSGS_DATE_RECEIVED = NOW() + INTERVAL 1 HOUR WHERE CMINMSGS_ID = ?", id)
	}
	r = w.start()
	w.paused(r, "poller", "mailbox row 5 is another one now")
	if got := w.get("SELECT max(msg_id) FROM msgx.proc_state"); got != "5" {
		t.Errorf("row %s was taken from a mailbox that lost rows", got)
	}
	// The owner gives the rows that nobody read new ids.
	w.boxExec("UPDATE cminmsgs SET CMINMSGS_ID = CMINMSGS_ID + 4 WHERE CMINMSGS_ID > 3 ORDER BY CMINMSGS_ID DESC")
	w.boxExec("ALTER TABLE cminmsgs AUTO_INCREMENT = 11")
	w.exec("SELECT msgx.inbox_accept_mailbox('li', 'rows 4 to 6 are 8 to 10 now', now())")
	w.idle(10)
	if got := w.get("SELECT string_agg(patch -> 'set' ->> 'terminal', '' ORDER BY msg_id) FROM msgx.flight_write"); got != "ABCDEFG" {
		t.Errorf("terminals in the order they were applied: %s", got)
	}
}

// TestPurged: rows that their owner deletes, all of them too, are no reason to stop.
func TestPurged(t *testing.T) {
	w := newWorld(t, nil)
	m := &text{}
	w.start()
	w.my.Insert(m.create(1))
	w.idle(w.my.Insert(m.terminal(1, "A")))
	w.boxExec("DELETE FROM cminmsgs")
	w.until("the empty mailbox was polled", func() bool { return w.get("SELECT mailbox_max FROM msgx.inbox_cursor") == "0" })
	w.idle(w.my.Insert(m.terminal(1, "B")))
	if got := w.get("SELECT refused_why FROM msgx.inbox_cursor"); got != "" {
		t.Errorf("refused: %s", got)
	}
}

// TestReplica: a server that is read-only or follows another one is never read; the loops say so and go on by themselves
// when the primary is back. Hole windows that began on another server do not count.
func TestReplica(t *testing.T) {
	primary := server(t, "--log-bin=bin", "--server-id=1")
	replica := server(t, "--server-id=2")
	// Connections would live for an hour: only the look before each use finds the demotion.
	w := newWorldOn(t, primary, map[string]string{"mailbox.conn-max-lifetime": "1h"})
	w.few()
	relay := w.relay()
	m := &text{}
	r := w.start()
	w.idle(w.my.Insert(m.create(1)))

	// The primary is demoted under open connections.
	w.boxExec("SET GLOBAL read_only = 1")
	w.paused(r, "poller", "is read-only (read_only)")
	unread := w.my.Insert(m.terminal(1, "A"))
	w.paused(r, "poller", "is read-only (read_only)")
	if w.get("SELECT count(*) FROM msgx.proc_state WHERE msg_id = $1", unread) != "0" {
		t.Error("a read-only server was read")
	}
	w.boxExec("SET GLOBAL read_only = 0")
	w.idle(unread)

	// The address moves to a server that can be written, and follows the primary.
	from, err := mysql.ParseDSN(primary)
	if err != nil {
		t.Fatal(err)
	}
	other := open(t, replica)
	run := func(statement string) {
		t.Helper()
		if _, err := other.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	_, port, _ := strings.Cut(from.Addr, ":")
	run("CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = " + port + ", MASTER_USER = '" + from.User + "', MASTER_PASSWORD = '" + from.Passwd + "'")
	run("START SLAVE")
	followed := func() bool {
		var n int
		return other.QueryRow("SELECT count(*) FROM "+w.my.Name+".cminmsgs").Scan(&n) == nil && strconv.Itoa(n) == w.box("SELECT count(*) FROM cminmsgs")
	}
	w.until("the replica has followed", followed)
	relay.To(replica)
	w.paused(r, "poller", "replicates from another one")
	behind := w.my.Insert(m.terminal(1, "B"))
	w.until("the replica has followed", followed)
	w.paused(r, "poller", "replicates from another one")
	if w.get("SELECT count(*) FROM msgx.proc_state WHERE msg_id = $1", behind) != "0" {
		t.Error("a replica was read")
	}

	// It is promoted.
	run("STOP SLAVE")
	run("RESET SLAVE ALL")
	w.idle(behind)
	w.until("the move is told", func() bool { return r.log.contains("hole windows count from now") })
	if got := w.get("SELECT readable_since IS NOT NULL AND mailbox_server LIKE '%(server_id 2)' FROM msgx.inbox_cursor"); got != "true" {
		t.Error("the windows did not begin anew on the other server")
	}
	if got := w.get("SELECT terminal FROM msgx.flight_schd"); got != "B" {
		t.Errorf("terminal %q", got)
	}
	w.innocent()
}

// TestPairOfPrimaries: with mailbox.allow-replicating a server of a pair is used although it replicates.
func TestPairOfPrimaries(t *testing.T) {
	w := newWorldOn(t, server(t, "--server-id=2"), map[string]string{"mailbox.allow-replicating": "true"})
	w.few()
	w.boxExec("CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = 1, MASTER_USER = 'x', MASTER_PASSWORD = 'x'")
	w.boxExec("START SLAVE")
	t.Cleanup(func() {
		if _, err := w.my.SQL.Exec("STOP SLAVE"); err != nil {
			t.Error(err)
		}
	})
	m := &text{}
	w.start()
	w.idle(w.my.Insert(m.create(1)))
}

// open opens a server.
func open(t *testing.T, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// TestFirewall: connections that a firewall forgot are found out, and the loops go on by themselves; so after connections
// that were broken or killed. No attempt is counted.
func TestFirewall(t *testing.T) {
	w := newWorld(t, map[string]string{
		"mailbox.connect-timeout": "300ms", "mailbox.read-timeout": "2s", "mailbox.write-timeout": "2s", "mailbox.lock-wait": "1s",
		"pipeline.poll-interval": "1100ms"}) // connections are idle for longer than a check is good for
	relay := w.relay()
	m := &text{}
	w.start()
	w.idle(w.my.Insert(m.create(1)))
	for i := range 2 {
		w.until("there is a connection to forget", func() bool { return relay.Silence() > 0 })
		w.finished(w.my.Insert(m.terminal(1, "S"+strconv.Itoa(i))))
		relay.Cut()
		w.finished(w.my.Insert(m.terminal(1, "C"+strconv.Itoa(i))))
		for _, id := range strings.Fields(w.box("SELECT COALESCE(GROUP_CONCAT(ID SEPARATOR ' '), '') FROM information_schema.PROCESSLIST WHERE DB = ? AND COMMAND = 'Sleep' AND ID <> CONNECTION_ID()", w.my.Name)) {
			// One of the test's own, or gone by itself: no matter.
			_, _ = w.my.SQL.Exec("KILL " + id)
		}
		w.finished(w.my.Insert(m.terminal(1, "K"+strconv.Itoa(i))))
	}
	w.innocent()
	if got := w.get("SELECT terminal || ' ' || (SELECT count(*) FROM msgx.proc_state WHERE state = 'SUCCEEDED') FROM msgx.flight_schd"); got != "K1 7" {
		t.Errorf("terminal and messages applied: %s", got)
	}
}

// TestIDsInSteps: a mailbox whose ids step by 3 has a hole before every row; they cost one window together, and the
// ledger one range each.
func TestIDsInSteps(t *testing.T) {
	const rows = 300
	w := newWorld(t, map[string]string{"pipeline.claim-batch": "10", "pipeline.max-commit-delay": "1s"})
	m := &text{}
	conn, err := w.my.SQL.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(t.Context(), "SET SESSION auto_increment_increment = 3, auto_increment_offset = 2"); err != nil {
		t.Fatal(err)
	}
	var last int64
	for i := range rows {
		message := m.create(1)
		if i > 0 {
			message = m.terminal(1, "T"+strconv.Itoa(i))
		}
		result, err := conn.ExecContext(t.Context(), "INSERT INTO cminmsgs (CMINMSGS_CLOB_MSG, CMINMSGS_STATUS) VALUES (?, 'VALID')", message)
		if err != nil {
			t.Fatal(err)
		}
		if last, err = result.LastInsertId(); err != nil {
			t.Fatal(err)
		}
	}
	if last != 3*rows-1 {
		t.Fatalf("the last id is %d: the server does not step by 3", last)
	}
	w.start()
	w.idle(last)
	if got := w.get("SELECT count(*) FILTER (WHERE state = 'SUCCEEDED') || ' ' || count(*) FROM msgx.proc_state"); got != "300 300" {
		t.Errorf("applied, of messages: %s", got)
	}
	if got := w.get("SELECT count(*) || ' ' || sum(hi - lo + 1) || ' ' || count(DISTINCT first_seen_at) FROM msgx.inbox_hole WHERE released_why = 'aged'"); got != "300 599 1" && got != "300 599 2" {
		t.Errorf("ranges, ids in them, moments at which they were first seen: %s, want 300, 599, and not one a page", got)
	}
	if got := w.get("SELECT terminal FROM msgx.flight_schd"); got != "T299" {
		t.Errorf("terminal %q", got)
	}
}

package engine_test

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"

	"msgexchange/gen"
	"msgexchange/internal/kafka"
)

// The tests of this file are those of docs/verification.md that need the whole
// path: promises of the design (TestPromise…) and rows of the owner's
// verification table (TestSeed…), whose names stand above each.

// failCommits makes the first n commits fail that write what the trigger
// clause names (UPDATE ON msgx.x, with a WHEN clause if need be), as a full
// disk does.
func (w *world) failCommits(n int, clause string) {
	w.t.Helper()
	when := ""
	if before, after, ok := strings.Cut(clause, " WHEN "); ok {
		clause, when = before, "WHEN "+after
	}
	w.exec(`CREATE SEQUENCE public.commits`)
	w.exec(fmt.Sprintf(`CREATE FUNCTION public.no_room() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
		IF nextval('public.commits') <= %d THEN RAISE EXCEPTION 'no room' USING ERRCODE = '53100'; END IF; RETURN NULL; END $$`, n))
	w.exec("CREATE CONSTRAINT TRIGGER no_room AFTER " + clause + " DEFERRABLE INITIALLY DEFERRED FOR EACH ROW " + when + " EXECUTE FUNCTION public.no_room()")
}

// failed waits until failCommits has had its way.
func (w *world) failed(n int) {
	w.t.Helper()
	w.until("the commits failed", func() bool {
		return w.get("SELECT last_value >= $1::bigint AND is_called FROM public.commits", n) == "true"
	})
}

// all returns one line for each row of a query on PostgreSQL.
func (w *world) all(query string, args ...any) []string {
	w.t.Helper()
	rows, err := w.pg.Pool.Query(w.t.Context(), query, args...)
	if err != nil {
		w.t.Fatalf("%s: %v", query, err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		w.t.Fatalf("%s: %v", query, err)
	}
	return list
}

// startWithFailedHead starts an engine that looks for marks only when the head
// has failed: what is marked then was chosen with all of it in sight.
func (w *world) startWithFailedHead(head int64) {
	w.t.Helper()
	w.exec("SELECT msgx.loop_pause('backfill', 'test', 'when the head has failed', now())")
	w.start()
	w.until("the head fails", func() bool { return w.stands(head) == "FAILED CODEC_ERROR" })
	w.exec("SELECT msgx.loop_resume('backfill', 'test', 'now', now())")
}

// TestPromiseOrder is I1: messages end in the order of their ids, none above
// the watermark, whatever holes, late commits, failing heads and restarts.
func TestPromiseOrder(t *testing.T) {
	w := newWorld(t, map[string]string{"pipeline.class-attempts": "CODEC_ERROR=3", "pipeline.backoff": "30ms", "pipeline.apply-batch": "7", "pipeline.claim-batch": "11", "pipeline.max-commit-delay": "2s"})
	w.exec(`CREATE TABLE public.ended (n bigserial, tx xid8, msg_id bigint, watermark bigint)`)
	w.exec(`CREATE FUNCTION public.ended() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
		INSERT INTO public.ended (tx, msg_id, watermark) SELECT pg_current_xact_id(), NEW.msg_id, committed_up_to FROM msgx.inbox_cursor; RETURN NULL; END $$`)
	w.exec(`CREATE TRIGGER ended AFTER UPDATE ON msgx.proc_state FOR EACH ROW WHEN (OLD.finished_at IS NULL AND NEW.finished_at IS NOT NULL) EXECUTE FUNCTION public.ended()`)
	m := &text{}
	last := w.my.Insert(m.create(1, 2, 3))
	r := w.start()
	for i := range 120 {
		switch {
		case i%17 == 3:
			last = w.my.Insert(m.event("BOTM", 1, "<BOTM>31FEB260744</BOTM>"))
		case i%23 == 5:
			w.my.Burn(1)
		case i%29 == 7:
			tx, err := w.my.SQL.Begin()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := tx.Exec("INSERT INTO cminmsgs (CMINMSGS_CLOB_MSG, CMINMSGS_STATUS) VALUES (?, 'VALID')", m.terminal(2, "L"+strconv.Itoa(i))); err != nil {
				t.Fatal(err)
			}
			last = w.my.Insert(m.terminal(2, "E"+strconv.Itoa(i)))
			if err := tx.Commit(); err != nil {
				t.Fatal(err)
			}
		default:
			last = w.my.Insert(m.terminal(1+i%3, "T"+strconv.Itoa(i)))
		}
		if i == 40 || i == 80 {
			if _, err := r.stop(); err != nil {
				t.Fatal(err)
			}
			r = w.start()
		}
	}
	w.idle(last)
	if got := w.get("SELECT count(*) FROM public.ended WHERE msg_id > watermark"); got != "0" {
		t.Errorf("%s messages ended above the watermark", got)
	}
	early := w.all(`SELECT format('message %s ended before message %s', a.msg_id, b.msg_id)
		FROM (SELECT min(n) AS n, max(msg_id) AS msg_id FROM public.ended GROUP BY tx) AS a
		JOIN (SELECT min(n) AS n, min(msg_id) AS msg_id FROM public.ended GROUP BY tx) AS b ON b.n > a.n AND b.msg_id < a.msg_id`)
	if len(early) > 0 {
		t.Errorf("%d pairs out of order: %s", len(early), early[0])
	}
	if got := w.get("SELECT count(*) FROM public.ended") + " of " + w.get("SELECT count(*) FROM msgx.proc_state"); got != w.box("SELECT CONCAT(COUNT(*), ' of ', COUNT(*)) FROM cminmsgs") {
		t.Errorf("%s messages ended once", got)
	}
	if got := w.get("SELECT count(*) FROM (SELECT msg_id < lag(msg_id) OVER (ORDER BY event_id) AS back FROM msgx.msg_event WHERE target = 'KAFKA:msg') AS e WHERE back"); got != "0" {
		t.Errorf("%s events stand out of order", got)
	}
}

// TestPromiseOneWriter is I5: of two instances that lose the lease to one
// another again and again, only the holder's work is ever committed.
func TestPromiseOneWriter(t *testing.T) {
	w := newWorld(t, map[string]string{"instance": "a"})
	// At the commit: who wrote, and who holds the lease.
	w.exec(`CREATE TABLE public.wrote (name text, holder text, what text)`)
	w.exec(`CREATE FUNCTION public.wrote() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
		INSERT INTO public.wrote SELECT current_setting('application_name'), 'msgx ' || holder, TG_TABLE_NAME FROM msgx.instance_lease; RETURN NULL; END $$`)
	for _, table := range []string{"proc_state", "msg_event", "flight_write", "inbox_cursor", "pipeline_lock", "outbox_cursor", "backfill_cursor", "loop_state"} {
		w.exec("CREATE CONSTRAINT TRIGGER wrote AFTER INSERT OR UPDATE ON msgx." + table + " DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.wrote()")
	}
	m := &text{}
	last := w.my.Insert(m.create(1))
	w.start()
	w.finished(last)
	w.env["instance"] = "b"
	w.start()
	holder := "a"
	for i := range 4 {
		w.until("the other takes over, while messages flow", func() bool {
			// Again and again: a renewal may come before the other looks.
			w.exec("UPDATE msgx.instance_lease SET expires_at = clock_timestamp() WHERE holder = $1", holder)
			last = w.my.Insert(m.terminal(1, strconv.Itoa(i)))
			return w.get("SELECT holder FROM msgx.instance_lease") != holder
		})
		holder = w.get("SELECT holder FROM msgx.instance_lease")
		for range 20 {
			last = w.my.Insert(m.terminal(1, strconv.Itoa(i)))
		}
		w.finished(last)
	}
	w.idle(last)
	if got := w.all("SELECT DISTINCT format('%s wrote %s while the lease was of %s', name, what, holder) FROM public.wrote WHERE name LIKE 'msgx %' AND name <> holder"); len(got) > 0 {
		t.Error(strings.Join(got, "\n"))
	}
	if got := w.get("SELECT string_agg(DISTINCT name, ',' ORDER BY name) FROM public.wrote WHERE name LIKE 'msgx %'"); got != "msgx a,msgx b" {
		t.Errorf("only %q worked", got)
	}
	if got, want := w.get("SELECT count(*) FROM msgx.flight_write"), w.box("SELECT COUNT(*) FROM cminmsgs"); got != want {
		t.Errorf("%s effects of %s messages", got, want)
	}
	if got := w.get("SELECT count(*) FROM msgx.operator_audit WHERE action = 'take-over'"); got != "4" {
		t.Errorf("%s take-overs on record", got)
	}
}

// TestPromiseOnlyMarks is I6: the daemon needs no right in the mailbox but to
// read and to write the mark; it touches each row once, only one that is
// finished and that nobody marked, and nothing of it but the mark.
func TestPromiseOnlyMarks(t *testing.T) {
	w := newWorld(t, map[string]string{"pipeline.class-attempts": "{}", "pipeline.backoff": "1h", "pipeline.backoff-cap": "1h"})
	dsn, err := mysql.ParseDSN(w.my.DSN)
	if err != nil {
		t.Fatal(err)
	}
	dsn.User, dsn.Passwd = "m_"+w.my.Name[len("msgx_test_"):], "only-marks"
	user := "'" + dsn.User + "'@'%'"
	w.boxExec("CREATE USER " + user + " IDENTIFIED BY 'only-marks'")
	t.Cleanup(func() {
		if _, err := w.my.SQL.ExecContext(context.Background(), "DROP USER "+user); err != nil {
			t.Error(err)
		}
	})
	w.boxExec("GRANT SELECT, UPDATE (CMINMSGS_DATE_PROCESSED, CMINMSGS_STATUS) ON " + w.my.Name + ".cminmsgs TO " + user)
	w.env["mailbox.dsn"] = dsn.FormatDSN()
	w.boxExec("CREATE TABLE touched (id bigint, was datetime NULL, same boolean)")
	w.boxExec(`CREATE TRIGGER touched AFTER UPDATE ON cminmsgs FOR EACH ROW INSERT INTO touched VALUES (OLD.CMINMSGS_ID, OLD.CMINMSGS_DATE_PROCESSED,
		NEW.CMINMSGS_ID = OLD.CMINMSGS_ID AND NEW.CMINMSGS_CLOB_MSG = OLD.CMINMSGS_CLOB_MSG AND NEW.CMINMSGS_DATE_RECEIVED <=> OLD.CMINMSGS_DATE_RECEIVED)`)
	m := &text{}
	w.my.Insert(m.create(1))
	theirs := w.my.Insert(m.terminal(1, "A"))
	w.boxExec("UPDATE cminmsgs SET CMINMSGS_DATE_PROCESSED = '2020-01-02 03:04:05' WHERE CMINMSGS_ID = ?", theirs)
	w.boxExec("DELETE FROM touched")
	before := w.my.Insert(m.terminal(1, "B"))
	head := w.my.Insert(m.event("BOTM", 1, "<BOTM>31FEB260744</BOTM>"))
	w.my.Insert(m.terminal(1, "C"))
	w.startWithFailedHead(head)
	w.until("the marks before it are paid", func() bool { return w.get("SELECT count(*) FROM msgx.proc_state WHERE backfill_at IS NOT NULL") == "3" })
	polled := w.get("SELECT poll_seq FROM msgx.inbox_cursor")
	w.until("it goes on", func() bool {
		return w.get("SELECT poll_seq > $1::bigint + 10 FROM msgx.inbox_cursor", polled) == "true"
	})
	if got := w.box("SELECT GROUP_CONCAT(id, ' ', COALESCE(was, 'unmarked'), ' ', same ORDER BY id SEPARATOR ', ') FROM touched"); got != fmt.Sprintf("%d unmarked 1, %d unmarked 1", theirs-1, before) {
		t.Errorf("touched: %s; want once each, unmarked before, nothing else changed, only %d and %d", got, theirs-1, before)
	}
}

// TestPromiseOneClock is I10 in the driver: it takes no time but from
// PostgreSQL and from the monotonic clock that is given to it.
func TestPromiseOneClock(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, e.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains([]string{"Now", "Since", "Until"}, s.Sel.Name) {
					t.Errorf("%s reads the host's clock: time.%s", files.Position(s.Pos()), s.Sel.Name)
				}
			}
			return true
		})
	}
}

// TestSeedEnqueueInterrupted: 重复扫描、入队中断; 终态而未回填的行不得阻断后续消息发现.
func TestSeedEnqueueInterrupted(t *testing.T) {
	w := newWorld(t, map[string]string{"pipeline.claim-batch": "4", "pipeline.frontier-batch": "4"})
	w.failCommits(2, "INSERT ON msgx.proc_state")
	m := &text{}
	ids := []int64{w.my.Insert(m.create(1))}
	for i := range 10 {
		ids = append(ids, w.my.Insert(m.terminal(1, "T"+strconv.Itoa(i))))
	}
	w.exec("SELECT msgx.loop_pause('backfill', 'test', 'no marks', now())")
	w.start()
	w.failed(2)
	w.until("all is enqueued, or a hole is seen", func() bool {
		return w.get("SELECT committed_up_to FROM msgx.inbox_cursor") == strconv.FormatInt(ids[10], 10) || w.get("SELECT count(*) FROM msgx.inbox_hole") != "0"
	})
	if got := w.get("SELECT count(*) FROM msgx.inbox_hole"); got != "0" {
		t.Fatalf("%s holes: rows whose enqueueing was interrupted were taken for missing", got)
	}
	w.finished(ids[10])
	// Eleven finished rows bear no mark: more than a page.
	late := w.my.Insert(m.terminal(1, "after"))
	w.finished(late)
	if got := w.box("SELECT COUNT(*) FROM cminmsgs WHERE CMINMSGS_DATE_PROCESSED IS NOT NULL"); got != "0" {
		t.Errorf("%s rows are marked", got)
	}
	if got := w.get("SELECT string_agg(msg_id || state, ',' ORDER BY msg_id) FROM msgx.proc_state WHERE state <> 'SUCCEEDED' OR attempts > 0"); got != "" {
		t.Errorf("not as they should be: %s", got)
	}
	if got := w.get("SELECT string_agg(msg_id::text, ',' ORDER BY event_id) FROM msgx.msg_event WHERE target = 'KAFKA:msg'"); got != strings.Trim(strings.ReplaceAll(fmt.Sprint(append(ids, late)), " ", ","), "[]") {
		t.Errorf("effects in order: %s", got)
	}
}

// TestSeedSmallerIDLate: 较小 ID 迟到. The baseline until late arrivals are
// taken in (step 4): what commits after its hole aged out changes nothing, and
// the ledger keeps its place, so that it can be found.
func TestSeedSmallerIDLate(t *testing.T) {
	w := newWorld(t, map[string]string{"pipeline.max-commit-delay": "500ms"})
	m := &text{}
	w.my.Insert(m.create(1))
	missing := w.my.Burn(3)
	behind := w.my.Insert(m.terminal(1, "newer"))
	w.start()
	w.idle(behind)
	w.boxExec("INSERT INTO cminmsgs (CMINMSGS_ID, CMINMSGS_CLOB_MSG, CMINMSGS_STATUS) VALUES (?, ?, 'VALID')", missing+1, m.terminal(1, "late"))
	w.idle(w.my.Insert(m.event("REMC", 1, "<REMC>after</REMC>")))
	if got := w.get("SELECT count(*) FROM msgx.proc_state WHERE msg_id = $1", missing+1); got != "0" {
		t.Error("the late row was enqueued below the watermark")
	}
	if got := w.get("SELECT terminal FROM msgx.flight_schd"); got != "newer" {
		t.Errorf("the terminal is %q", got)
	}
	if got := w.box("SELECT COUNT(*) FROM cminmsgs WHERE CMINMSGS_ID = ? AND CMINMSGS_DATE_PROCESSED IS NULL", missing+1); got != "1" {
		t.Error("the late row is marked though it was not processed")
	}
	if got := w.get("SELECT string_agg(lo || '-' || hi || ' ' || state || ' ' || released_why, ',') FROM msgx.inbox_hole"); got != fmt.Sprintf("%d-%d RELEASED aged", missing, missing+2) {
		t.Errorf("the ledger has %q: the late row is lost without a trace", got)
	}
}

// TestSeedCompatBeyondHole: 兼容入口与空洞并发. A row that the compatible entry
// registered beyond a hole waits for the watermark, then goes in order.
func TestSeedCompatBeyondHole(t *testing.T) {
	w := newWorld(t, map[string]string{"pipeline.max-commit-delay": "1h"})
	m := &text{}
	first := w.my.Insert(m.create(1))
	r := w.start()
	w.finished(first)
	tx, err := w.my.SQL.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec("INSERT INTO cminmsgs (CMINMSGS_CLOB_MSG, CMINMSGS_STATUS) VALUES (?, 'VALID')", m.terminal(1, "slow")); err != nil {
		t.Fatal(err)
	}
	// After a failure the database could not be dropped; after the commit it does nothing.
	defer func() { _ = tx.Rollback() }()
	posted := w.my.Insert(m.terminal(1, "posted"))
	w.exec("INSERT INTO msgx.proc_state (msg_id, source, updated_at) VALUES ($1, 'compat', now())", posted)
	w.until("the hole holds the watermark", func() bool { return w.get("SELECT hole_since FROM msgx.inbox_cursor") != "" })
	polled := w.get("SELECT poll_seq FROM msgx.inbox_cursor")
	w.until("it goes on", func() bool {
		return w.get("SELECT poll_seq > $1::bigint + 10 FROM msgx.inbox_cursor", polled) == "true"
	})
	if got := w.stands(posted); got != "PENDING" {
		t.Fatalf("beyond the hole it is %q", got)
	}
	if got := w.get("SELECT why FROM msgx.v_head"); got != fmt.Sprintf("beyond-watermark: %d", first) {
		t.Errorf("v_head says %q", got)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	w.idle(posted)
	if got := w.get("SELECT terminal FROM msgx.flight_schd"); got != "posted" {
		t.Errorf("the terminal is %q: the slow writer was overtaken", got)
	}
	if got := w.get("SELECT string_agg(source, ',' ORDER BY msg_id) FROM msgx.proc_state"); got != "poll,poll,compat" {
		t.Errorf("they came by %s", got)
	}
	if _, err := r.stop(); err != nil {
		t.Error(err)
	}
}

// TestSeedHeadFails: 队头失败、退避. Nothing passes a head that fails and backs
// off; when the cause is gone it comes back by itself, and all is in order.
func TestSeedHeadFails(t *testing.T) {
	w := newWorld(t, map[string]string{"pipeline.class-attempts": "{}", "pipeline.max-attempts": "1000", "pipeline.backoff": "20ms"})
	w.exec(`CREATE FUNCTION public.burst() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		IF NEW.flid = 666 THEN RAISE EXCEPTION 'beast' USING ERRCODE = '22012'; END IF; RETURN NEW; END $$;
		CREATE TRIGGER burst BEFORE INSERT ON msgx.flight_write FOR EACH ROW EXECUTE FUNCTION public.burst()`)
	m := &text{}
	w.my.Insert(m.create(1))
	head := w.my.Insert(m.create(666))
	behind := w.my.Insert(m.terminal(1, "A"))
	w.start()
	w.until("it failed three times", func() bool {
		return w.get("SELECT state = 'FAILED' AND attempts >= 3 FROM msgx.proc_state WHERE msg_id = $1", head) == "true"
	})
	if got := w.stands(behind); got != "PENDING" {
		t.Fatalf("the message behind it is %q", got)
	}
	w.exec("DROP TRIGGER burst ON msgx.flight_write")
	w.idle(behind)
	if got := w.get("SELECT state || ' ' || outcome FROM msgx.proc_state WHERE msg_id = $1", head); got != "SUCCEEDED applied" {
		t.Errorf("the head ends as %q", got)
	}
	if got := w.get("SELECT string_agg(msg_id::text, ',' ORDER BY event_id) FROM msgx.msg_event WHERE target = 'KAFKA:msg'"); got != fmt.Sprintf("%d,%d,%d", head-1, head, behind) {
		t.Errorf("events of %s", got)
	}
}

// TestSeedJobsAndMessages: 作业竞争. Marks under way and messages do not wait
// for one another.
func TestSeedJobsAndMessages(t *testing.T) {
	w := newWorld(t, nil)
	epoch := w.held("test", time.Hour)
	w.exec("INSERT INTO msgx.proc_state (msg_id, updated_at) SELECT g, now() FROM generate_series(1, 3) AS g")
	w.exec("UPDATE msgx.inbox_cursor SET committed_up_to = 3, seen_to = 3")
	apply := func(db gen.DBTX, id int64) error {
		_, err := gen.New(db).PumpApply(t.Context(), gen.PumpApplyParams{Epoch: epoch, Now: time.Now(),
			Batch: fmt.Appendf(nil, `[{"msg_id": %d, "error_class": "MALFORMED", "error": "x"}]`, id)})
		return err
	}
	claim := func(db gen.DBTX, token string) error {
		rows, err := gen.New(db).BackfillClaim(t.Context(), gen.BackfillClaimParams{Epoch: epoch, Now: time.Now(), Limit: 10, Token: token, ClaimFor: time.Hour})
		if err == nil && len(rows) != 1 {
			return fmt.Errorf("%d marks claimed", len(rows))
		}
		return err
	}
	const one, two = "00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002"
	begin := func() (gen.DBTX, func()) {
		conn := w.session("test")
		if _, err := conn.Exec(t.Context(), "SET lock_timeout = '2s'"); err != nil {
			t.Fatal(err)
		}
		tx, err := conn.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return tx, func() {
			t.Helper()
			if err := tx.Commit(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := apply(w.pg.Pool, 1); err != nil {
		t.Fatal(err)
	}
	marks, commitMarks := begin()
	if err := claim(marks, one); err != nil {
		t.Fatal(err)
	}
	if _, err := gen.New(marks).BackfillSettle(t.Context(), gen.BackfillSettleParams{Epoch: epoch, Token: one, Ids: []int64{1},
		Results: []string{"marked"}, Errors: []string{""}, Now: time.Now()}); err != nil {
		t.Fatal(err)
	}
	pump, commitPump := begin()
	if err := apply(pump, 2); err != nil {
		t.Errorf("a message while marks are under way: %v", err)
	}
	commitMarks()
	commitPump()
	pump, commitPump = begin()
	if err := apply(pump, 3); err != nil {
		t.Fatal(err)
	}
	marks, commitMarks = begin()
	if err := claim(marks, two); err != nil {
		t.Errorf("marks while a message is under way: %v", err)
	}
	commitMarks()
	commitPump()
}

// TestSeedCommitFails: PG 事务失败 and PG 提交失败. When PostgreSQL cannot
// commit, flights, events, outcome and the mark owed are undone together, the
// mailbox stays unmarked, nothing counts, and the same run goes through later.
func TestSeedCommitFails(t *testing.T) {
	w := newWorld(t, map[string]string{"pipeline.class-attempts": "INFRA=1"})
	w.failCommits(2, "INSERT ON msgx.msg_event")
	m := &text{}
	first := w.my.Insert(m.create(1, 2))
	last := w.my.Insert(m.terminal(1, "A"))
	w.start()
	w.until("the pause is shown, or a message is blamed", func() bool {
		return strings.Contains(w.get("SELECT paused_reason FROM msgx.v_loops WHERE loop = 'pump'"), "no room") ||
			w.get("SELECT count(*) FROM msgx.proc_state WHERE attempts > 0") != "0"
	})
	w.failed(2)
	w.idle(last)
	if got := w.get("SELECT string_agg(concat_ws(' ', state, outcome, attempts, first_error_class), ',' ORDER BY msg_id) FROM msgx.proc_state"); got != "SUCCEEDED applied 0,SUCCEEDED applied 0" {
		t.Errorf("messages: %s", got)
	}
	if got := w.get("SELECT string_agg(msg_id || ':' || partition_key, ',' ORDER BY event_id) FROM msgx.msg_event WHERE target = 'KAFKA:msg'"); got != fmt.Sprintf("%d:1,%d:2,%d:1", first, first, last) {
		t.Errorf("events: %s", got)
	}
	if got := w.get("SELECT count(*) FROM msgx.flight_write"); got != "3" {
		t.Errorf("%s writes", got)
	}
	w.checkTopics(3)
}

// TestSeedMarkFails: 信箱回填失败. A mark that cannot be written is owed and
// paid later; the message is not processed again; what is not finished is
// never marked.
func TestSeedMarkFails(t *testing.T) {
	w := newWorld(t, map[string]string{"pipeline.class-attempts": "{}", "pipeline.backoff": "1h", "pipeline.backoff-cap": "1h"})
	w.boxExec(`CREATE TRIGGER refuse BEFORE UPDATE ON cminmsgs FOR EACH ROW SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'not now'`)
	m := &text{}
	done := w.my.Insert(m.create(1))
	head := w.my.Insert(m.event("BOTM", 1, "<BOTM>31FEB260744</BOTM>"))
	waits := w.my.Insert(m.terminal(1, "A"))
	w.startWithFailedHead(head)
	w.until("the mark is in trouble", func() bool {
		return w.get("SELECT backfill_attempts > 0 AND backfill_error LIKE '%not now%' FROM msgx.proc_state WHERE msg_id = $1", done) == "true"
	})
	if got := w.get("SELECT row(state, outcome, backfill_at IS NULL, backfill_next_at IS NULL)::text FROM msgx.proc_state WHERE msg_id = $1", done); got != "(SUCCEEDED,applied,t,f)" {
		t.Errorf("the finished message stands %s", got)
	}
	version := w.get("SELECT state_version FROM msgx.flight_schd")
	w.boxExec("DROP TRIGGER refuse")
	// The backoff of half a minute is over, and so is every claim.
	w.exec("UPDATE msgx.proc_state SET backfill_next_at = CASE WHEN backfill_next_at IS NOT NULL THEN now() END, backfill_claimed_until = NULL, backfill_token = NULL")
	w.until("the mark is paid", func() bool { return w.get("SELECT backfill_at FROM msgx.proc_state WHERE msg_id = $1", done) != "" })
	if got := w.box("SELECT GROUP_CONCAT(CMINMSGS_ID) FROM cminmsgs WHERE CMINMSGS_DATE_PROCESSED IS NOT NULL"); got != strconv.FormatInt(done, 10) {
		t.Errorf("marked: %s; want %d alone, %d is to be tried again and %d waits", got, done, head, waits)
	}
	if got := w.get("SELECT state_version FROM msgx.flight_schd"); got != version {
		t.Error("the message was processed again")
	}
	if got := w.get("SELECT count(*) FROM msgx.msg_event WHERE target = 'KAFKA:msg'"); got != "1" {
		t.Errorf("%s events", got)
	}
}

// TestSeedPurgedWhenMarked: 打标即清除. A mailbox whose owner deletes each row
// as soon as it is marked, whatever R is: nothing we do later needs the row.
func TestSeedPurgedWhenMarked(t *testing.T) {
	w := newWorld(t, map[string]string{"pipeline.apply-batch": "5", "pipeline.claim-batch": "10", "pipeline.class-attempts": "CODEC_ERROR=3", "pipeline.backoff": "100ms"})
	ctx, cancel := context.WithCancel(t.Context())
	purged := make(chan error, 1)
	go func() {
		for ctx.Err() == nil {
			if _, err := w.my.SQL.ExecContext(ctx, "DELETE FROM cminmsgs WHERE CMINMSGS_DATE_PROCESSED IS NOT NULL"); err != nil && ctx.Err() == nil {
				purged <- err
				return
			}
			time.Sleep(time.Millisecond)
		}
		purged <- nil
	}()
	m := &text{}
	var last int64
	for i := range 60 {
		switch {
		case i == 0:
			last = w.my.Insert(m.create(1))
		case i%20 == 10:
			last = w.my.Insert(m.event("BOTM", 1, "<BOTM>31FEB260744</BOTM>"))
		default:
			last = w.my.Insert(m.terminal(1, "T"+strconv.Itoa(i)))
		}
		if i == 30 {
			w.start()
		}
	}
	lost := func() bool { return w.get("SELECT count(*) FROM msgx.proc_state WHERE outcome = 'raw-missing'") != "0" }
	w.until("all is finished, delivered and marked", func() bool {
		return lost() || w.get("SELECT count(*) FROM msgx.proc_state WHERE finished_at IS NOT NULL AND msg_id = $1", last) == "1" &&
			w.get(`SELECT (SELECT count(*) FROM msgx.msg_event WHERE state = 'PENDING') + (SELECT count(*) FROM msgx.proc_state WHERE backfill_next_at IS NOT NULL)`) == "0"
	})
	w.until("the mailbox is empty", func() bool { return lost() || w.box("SELECT COUNT(*) FROM cminmsgs") == "0" })
	cancel()
	if err := <-purged; err != nil {
		t.Fatal(err)
	}
	if got := w.get(`SELECT string_agg(DISTINCT concat_ws(' ', state, error_class, first_error_class, outcome), ', ') FROM msgx.proc_state`); got != "DEAD EXHAUSTED CODEC_ERROR, SUCCEEDED applied" {
		t.Errorf("messages end as %s", got)
	}
	if got := w.get("SELECT count(*) FROM msgx.proc_state WHERE backfill_at IS NULL OR backfill_abandoned_at IS NOT NULL"); got != "0" {
		t.Errorf("%s marks are not confirmed", got)
	}
	if got := w.get("SELECT count(*) FROM msgx.flight_verify(0, 100)"); got != "0" {
		t.Errorf("%s flights differ from their log", got)
	}
}

// TestSeedNullReceived: RECEIVED_AT 为 NULL. A row without a received time is
// processed, and marked when it is finished, not before.
func TestSeedNullReceived(t *testing.T) {
	w := newWorld(t, map[string]string{"pipeline.class-attempts": "{}", "pipeline.backoff": "1h", "pipeline.backoff-cap": "1h", "pipeline.overdue-backfill": "1s"})
	m := &text{}
	insert := func(text string) (id int64) {
		w.boxExec("INSERT INTO cminmsgs (CMINMSGS_CLOB_MSG, CMINMSGS_STATUS) VALUES (?, 'VALID')", text)
		id, err := strconv.ParseInt(w.box("SELECT MAX(CMINMSGS_ID) FROM cminmsgs"), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	first := insert(m.create(1))
	head := insert(m.event("BOTM", 1, "<BOTM>31FEB260744</BOTM>"))
	insert(m.terminal(1, "A"))
	w.startWithFailedHead(head)
	w.until("the mark of the first is paid", func() bool { return w.get("SELECT backfill_at FROM msgx.proc_state WHERE msg_id = $1", first) != "" })
	polled := w.get("SELECT poll_seq FROM msgx.inbox_cursor")
	w.until("it goes on", func() bool {
		return w.get("SELECT poll_seq > $1::bigint + 10 FROM msgx.inbox_cursor", polled) == "true"
	})
	if got := w.get("SELECT count(*) FROM msgx.proc_state WHERE received_at IS NOT NULL"); got != "0" {
		t.Errorf("%s have a received time", got)
	}
	if got := w.box("SELECT GROUP_CONCAT(CMINMSGS_ID) FROM cminmsgs WHERE CMINMSGS_DATE_PROCESSED IS NOT NULL"); got != strconv.FormatInt(first, 10) {
		t.Errorf("marked: %s, want %d alone", got, first)
	}
}

// TestSeedEscalationMeetsReplay: 毒丸升级与人工重放并发. Whoever reopens a
// message takes the pipeline lock, as the pump does; so the pump judges what
// the operator left, and the operator sees what the pump decided. replay()
// itself comes with step 4; what it does to the row is done here by hand.
func TestSeedEscalationMeetsReplay(t *testing.T) {
	const replay = `UPDATE msgx.proc_state SET state = 'PENDING', attempts = 0, crashes = 0, next_attempt_at = NULL, finished_at = NULL, outcome = NULL, error_class = NULL,
		backfill_next_at = NULL, processing_started_at = NULL, processing_started_work = NULL, reopened = true WHERE msg_id = 1 AND state IN ('FAILED', 'DEAD')`
	setUp := func(t *testing.T) (w *world, escalate func(gen.DBTX) error) {
		w = newWorld(t, nil)
		epoch := w.held("test", time.Hour)
		w.exec("INSERT INTO msgx.proc_state (msg_id, state, attempts, updated_at) VALUES (1, 'FAILED', 4, now())")
		w.exec("UPDATE msgx.inbox_cursor SET committed_up_to = 1, seen_to = 1")
		return w, func(db gen.DBTX) error {
			_, err := gen.New(db).PumpApply(t.Context(), gen.PumpApplyParams{Epoch: epoch, Now: time.Now(),
				Batch: []byte(`[{"msg_id": 1, "error_class": "CODEC_ERROR", "error": "x"}]`)})
			return err
		}
	}
	// meet runs first and leaves its transaction open, runs second until it
	// waits for it, then lets both commit.
	meet := func(w *world, first, second func(gen.DBTX) error) {
		w.t.Helper()
		tx, err := w.pg.Pool.Begin(w.t.Context())
		if err == nil {
			err = first(tx)
		}
		if err != nil {
			w.t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- second(w.pg.Pool) }()
		w.until("the second waits for the first, or has ended", func() bool {
			return len(done) > 0 || w.get("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'") != "0"
		})
		if err := tx.Commit(w.t.Context()); err != nil {
			w.t.Fatal(err)
		}
		if err := <-done; err != nil {
			w.t.Fatal(err)
		}
	}
	reopen := func(db gen.DBTX) error {
		_, err := db.Exec(context.Background(), "WITH held AS MATERIALIZED (SELECT FROM msgx.pipeline_lock FOR UPDATE) SELECT count(*) FROM held")
		if err == nil {
			_, err = db.Exec(context.Background(), replay)
		}
		return err
	}
	alone := func(db gen.DBTX) error {
		_, err := db.Exec(context.Background(), replay)
		return err
	}
	t.Run("the replay first", func(t *testing.T) {
		w, escalate := setUp(t)
		meet(w, reopen, escalate)
		if got := w.get("SELECT state || attempts FROM msgx.proc_state"); got != "FAILED1" {
			t.Errorf("the message stands %s: the pump judged what it had read before the replay", got)
		}
	})
	t.Run("the escalation first", func(t *testing.T) {
		w, escalate := setUp(t)
		meet(w, escalate, alone)
		if got := w.get("SELECT row(state, attempts, backfill_next_at)::text FROM msgx.proc_state"); got != "(PENDING,0,)" {
			t.Errorf("the message stands %s: the replay was lost, or a mark is owed for what is open again", got)
		}
		rows, err := gen.New(w.pg.Pool).BackfillClaim(t.Context(), gen.BackfillClaimParams{Epoch: 1, Now: time.Now(), Limit: 10,
			Token: "00000000-0000-0000-0000-000000000001", ClaimFor: time.Hour})
		if err != nil || len(rows) > 0 {
			t.Errorf("%d marks, %v", len(rows), err)
		}
	})
}

// TestSeedAckLost: 投递确认丢失. Kafka has the records, PostgreSQL could not
// store that: they are sent again under the same ids, in order, and nothing
// counts.
func TestSeedAckLost(t *testing.T) {
	w := newWorld(t, nil)
	w.failCommits(3, "UPDATE ON msgx.msg_event WHEN (NEW.state = 'SENT')")
	m := &text{}
	w.my.Insert(m.create(1, 2))
	last := w.my.Insert(m.terminal(1, "A"))
	w.start()
	w.idle(last)
	if got := w.get("SELECT string_agg(DISTINCT state || attempts, ',') FROM msgx.msg_event"); got != "SENT0" {
		t.Errorf("events %s", got)
	}
	w.checkTopics(3)
	records := 0
	for _, topic := range []string{"msg", "schd"} {
		if err := kafka.Scan(t.Context(), w.broker, w.prefix+topic, func(kafka.Consumed) error { records++; return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if records < 5+2 {
		t.Errorf("%d records: none was sent again", records)
	}
}

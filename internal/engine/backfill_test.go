package engine_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"msgexchange/gen"
	"msgexchange/internal/engine"
	"msgexchange/internal/mytest"
)

// mark is how the mark of a message stands: confirmed or not, attempts, error.
func (w *world) mark(id int64) string {
	w.t.Helper()
	return w.get(`SELECT concat_ws(' ', CASE WHEN backfill_at IS NOT NULL THEN 'marked' WHEN backfill_abandoned_at IS NOT NULL THEN 'abandoned' ELSE 'owed' END,
		backfill_attempts) FROM msgx.proc_state WHERE msg_id = $1`, id)
}

// TestMarkRowHeld: a row that another user of the table holds is left to him
// and tried later; its batch-mates are marked and lose nothing.
func TestMarkRowHeld(t *testing.T) {
	w := newWorld(t, map[string]string{"mailbox.lock-wait": "1s"})
	w.exec("UPDATE msgx.loop_state SET wanted = 'off' WHERE loop = 'backfill'")
	m := &text{}
	ids := []int64{w.my.Insert(m.create(1))}
	for i := range 4 {
		ids = append(ids, w.my.Insert(m.terminal(1, "T"+strconv.Itoa(i))))
	}
	held := ids[2]
	tx, err := w.my.SQL.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec("SELECT CMINMSGS_ID FROM cminmsgs WHERE CMINMSGS_ID = ? FOR UPDATE", held); err != nil {
		t.Fatal(err)
	}
	w.start()
	w.finished(ids[4])
	w.exec("SELECT msgx.loop_resume('backfill', 'test', 'go', now())")
	w.until("the held row was tried", func() bool { return w.mark(held) == "owed 1" })
	for _, id := range []int64{ids[0], ids[1], ids[3], ids[4]} {
		if got := w.mark(id); got != "marked 0" {
			t.Errorf("message %d: %s", id, got)
		}
	}
	if got := w.get("SELECT backfill_error FROM msgx.proc_state WHERE msg_id = $1", held); !strings.Contains(got, "1205") {
		t.Errorf("it says %q", got)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	w.exec("UPDATE msgx.proc_state SET backfill_next_at = now() WHERE msg_id = $1", held)
	w.until("it is marked", func() bool { return w.mark(held) == "marked 1" })
}

// TestMarkRefusedByTrigger: a row that the table's own rules refuse is given up
// at the limit; the others are marked.
func TestMarkRefusedByTrigger(t *testing.T) {
	w := newWorld(t, map[string]string{"pipeline.backfill-max-attempts": "1"})
	m := &text{}
	w.exec("UPDATE msgx.loop_state SET wanted = 'off' WHERE loop = 'backfill'")
	var ids []int64
	for i := range 9 {
		ids = append(ids, w.my.Insert(m.create(i+1)))
	}
	bad := ids[6]
	w.boxExec(fmt.Sprintf(`CREATE TRIGGER guard BEFORE UPDATE ON cminmsgs FOR EACH ROW
		IF NEW.CMINMSGS_ID = %d THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'hands off'; END IF`, bad))
	r := w.start()
	w.finished(ids[8])
	w.exec("SELECT msgx.loop_resume('backfill', 'test', 'go', now())")
	w.until("it is given up", func() bool { return w.mark(bad) == "abandoned 1" })
	for _, id := range ids {
		if got := w.mark(id); id != bad && got != "marked 0" {
			t.Errorf("message %d: %s", id, got)
		}
	}
	if got := w.get("SELECT backfill_abandoned_reason FROM msgx.proc_state WHERE msg_id = $1", bad); !strings.Contains(got, "hands off") {
		t.Errorf("the reason is %q", got)
	}
	if !r.log.contains("marks given up") || w.get("SELECT marks_abandoned FROM msgx.v_status") != "1" {
		t.Error("nobody is told")
	}
}

// TestMarkMailboxAtFault: what is wrong with the mailbox as a whole pauses the
// loop and costs no row an attempt, however often it comes.
func TestMarkMailboxAtFault(t *testing.T) {
	w := newWorld(t, map[string]string{"pipeline.backfill-max-attempts": "1"})
	w.boxExec("ALTER TABLE cminmsgs MODIFY CMINMSGS_STATUS varchar(5) NULL")
	m := &text{}
	first := w.my.Insert(m.create(1))
	second := w.my.Insert(m.terminal(1, "A"))
	r := w.start()
	w.finished(second)
	w.until("the pause is shown", func() bool {
		return strings.Contains(w.get("SELECT paused_reason FROM msgx.v_loops WHERE loop = 'backfill'"), "too short")
	})
	w.until("it was tried again", func() bool { return r.log.count("retried=2") >= 2 })
	for _, id := range []int64{first, second} {
		if got := w.mark(id); got != "owed 0" {
			t.Errorf("message %d: %s", id, got)
		}
	}
	w.boxExec("ALTER TABLE cminmsgs MODIFY CMINMSGS_STATUS varchar(20) NULL")
	w.idle(second)
	if got := w.mark(first) + ", " + w.mark(second); got != "marked 0, marked 0" {
		t.Errorf("after it: %s", got)
	}
}

// TestMarkClaimOfDeadEpoch: the claim of a process that died keeps nobody
// waiting, and settles nothing any more.
func TestMarkClaimOfDeadEpoch(t *testing.T) {
	w := newWorld(t, nil)
	m := &text{}
	w.exec("UPDATE msgx.loop_state SET wanted = 'off' WHERE loop = 'backfill'")
	id := w.my.Insert(m.create(1))
	r := w.start()
	w.finished(id)
	if _, err := r.stop(); err != nil {
		t.Fatal(err)
	}
	q, token := gen.New(w.pg.Pool), uuid.NewString()
	epoch := w.held("test", time.Hour)
	now, err := q.Clock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	rows, err := q.BackfillClaim(t.Context(), gen.BackfillClaimParams{Epoch: epoch, Now: now, Limit: 10, Token: token, ClaimFor: time.Hour})
	if err != nil || len(rows) != 1 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	w.exec("SELECT msgx.loop_resume('backfill', 'test', 'go', now())")
	w.start()
	w.until("it is marked", func() bool { return w.mark(id) == "marked 0" })
	_, err = q.BackfillSettle(t.Context(), gen.BackfillSettleParams{Epoch: epoch, Token: token, Ids: []int64{id}, Results: []string{"trouble"}, Errors: []string{"x"}, Now: now})
	if err == nil || !strings.Contains(err.Error(), "MX001") {
		t.Errorf("the dead process settles: %v", err)
	}
}

// TestMarkNeverUnfinished: a message that an operator took up again while its
// mark was claimed is not confirmed by that claim.
func TestMarkNeverUnfinished(t *testing.T) {
	w := newWorld(t, nil)
	w.exec("UPDATE msgx.loop_state SET wanted = 'off' WHERE loop = 'backfill'")
	m := &text{}
	id := w.my.Insert(m.event("BOTM", 1, "<BOTM>31FEB260744</BOTM>"))
	r := w.start()
	w.finished(id)
	if _, err := r.stop(); err != nil {
		t.Fatal(err)
	}
	q, token := gen.New(w.pg.Pool), uuid.NewString()
	epoch := w.held("test", time.Hour)
	now, err := q.Clock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if rows, err := q.BackfillClaim(t.Context(), gen.BackfillClaimParams{Epoch: epoch, Now: now, Limit: 10, Token: token, ClaimFor: time.Millisecond}); err != nil || len(rows) != 1 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	// The claim outlives its time; the row is open again.
	w.exec("UPDATE msgx.proc_state SET state = 'PENDING', reopened = true, finished_at = NULL, backfill_next_at = NULL, attempts = 0 WHERE msg_id = $1", id)
	s, err := q.BackfillSettle(t.Context(), gen.BackfillSettleParams{Epoch: epoch, Token: token, Ids: []int64{id}, Results: []string{"marked"}, Errors: []string{""}, Now: now})
	if err != nil || s.Refused != 1 || s.Marked != 0 {
		t.Errorf("%+v, %v", s, err)
	}
	if got := w.get("SELECT backfill_at FROM msgx.proc_state WHERE msg_id = $1", id); got != "" {
		t.Errorf("confirmed at %s", got)
	}
}

// startAt is start with a clock of its own, and the mailbox through a relay
// whose statements the test sees first.
func (w *world) startAt(mono engine.Monotonic, watch func(statement string) mytest.Fate) *running {
	w.t.Helper()
	relay, dsn := mytest.NewRelay(w.t, w.my.DSN)
	relay.Watch(watch)
	w.env["mailbox.dsn"] = dsn
	return w.startWith(mono)
}

// calm brakes the loops that look at the clock all the time, and waits until
// they stand: they would notice that the test moves the clock, and end the term
// before the mark does.
func (w *world) calm(r *running) {
	w.t.Helper()
	w.exec("UPDATE msgx.loop_state SET wanted = 'off' WHERE loop IN ('poller', 'pump')")
	w.until("poller and pump stand still", func() bool {
		return r.log.contains("brake loop=poller on=true") && r.log.contains("brake loop=pump on=true")
	})
}

// TestMarkClaimOutlived: the mailbox stalls in the middle of a mark for longer
// than the claim lasts, and meanwhile an operator takes the message up again. The
// mark is not written; it is, once, when the message is finished again.
func TestMarkClaimOutlived(t *testing.T) {
	w := newWorld(t, nil)
	w.exec("UPDATE msgx.loop_state SET wanted = 'off' WHERE loop = 'backfill'")
	m := &text{}
	id := w.my.Insert(m.create(1))
	var ahead atomic.Int64
	var stalled atomic.Bool
	var commits atomic.Int32
	ctx := context.WithoutCancel(t.Context())
	r := w.startAt(func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }, func(statement string) mytest.Fate {
		switch {
		case strings.HasPrefix(statement, "UPDATE ") && stalled.CompareAndSwap(false, true):
			if _, err := w.pg.Pool.Exec(ctx, `UPDATE msgx.proc_state SET state = 'PENDING', outcome = NULL, reopened = true, finished_at = NULL,
				backfill_next_at = NULL, backfill_token = NULL, backfill_claimed_until = NULL, backfill_epoch = NULL WHERE msg_id = $1`, id); err != nil {
				t.Error(err)
			}
			ahead.Store(int64(3 * time.Minute))
		case statement == "COMMIT":
			commits.Add(1)
		}
		return mytest.Pass
	})
	w.finished(id)
	w.calm(r)
	w.exec("SELECT msgx.loop_resume('backfill', 'test', 'go', now())")
	w.until("the mark was given back", func() bool { return stalled.Load() && r.log.contains("the claim is about to end") })
	if got := w.box("SELECT CMINMSGS_DATE_PROCESSED FROM cminmsgs WHERE CMINMSGS_ID = ?", id); got != "" || commits.Load() != 0 {
		t.Errorf("an unfinished message was marked at %q, %d commits", got, commits.Load())
	}
	w.exec("SELECT msgx.loop_resume('poller', 'test', 'go', now())")
	w.exec("SELECT msgx.loop_resume('pump', 'test', 'go', now())")
	w.idle(id)
	if got := w.box("SELECT CMINMSGS_DATE_PROCESSED IS NOT NULL FROM cminmsgs WHERE CMINMSGS_ID = ?", id); got != "1" || commits.Load() != 1 {
		t.Errorf("marked: %s, %d commits", got, commits.Load())
	}
}

// TestMarkClaimOutlivedBetween: a claim that ended while its bad row was looked
// for begins no further transaction.
func TestMarkClaimOutlivedBetween(t *testing.T) {
	w := newWorld(t, nil)
	w.exec("UPDATE msgx.loop_state SET wanted = 'off' WHERE loop = 'backfill'")
	m := &text{}
	first, second := w.my.Insert(m.create(1)), w.my.Insert(m.create(2))
	w.boxExec(fmt.Sprintf(`CREATE TRIGGER guard BEFORE UPDATE ON cminmsgs FOR EACH ROW
		IF NEW.CMINMSGS_ID = %d THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'hands off'; END IF`, second))
	var ahead atomic.Int64
	var begun atomic.Int32
	ctx := context.WithoutCancel(t.Context())
	r := w.startAt(func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }, func(statement string) mytest.Fate {
		switch {
		case statement == "START TRANSACTION":
			begun.Add(1)
		case strings.HasPrefix(statement, "UPDATE ") && ahead.CompareAndSwap(0, int64(2*time.Minute)):
			if _, err := w.pg.Pool.Exec(ctx, "UPDATE msgx.loop_state SET wanted = 'off' WHERE loop = 'backfill'"); err != nil {
				t.Error(err)
			}
		}
		return mytest.Pass
	})
	w.finished(second)
	w.calm(r)
	w.exec("SELECT msgx.loop_resume('backfill', 'test', 'go', now())")
	w.until("the marks were given back", func() bool { return r.log.contains("the claim is about to end") })
	if got := begun.Load(); got != 1 {
		t.Errorf("%d transactions were begun", got)
	}
	if got := w.mark(first) + ", " + w.mark(second); got != "owed 0, owed 0" {
		t.Errorf("the marks: %s", got)
	}
}

// TestMarkCommitUnknown: the answer to a commit is lost. The claim is given
// back without an attempt, and the next try finds the row marked.
func TestMarkCommitUnknown(t *testing.T) {
	w := newWorld(t, nil)
	w.exec("UPDATE msgx.loop_state SET wanted = 'off' WHERE loop = 'backfill'")
	m := &text{}
	id := w.my.Insert(m.create(1))
	var cut atomic.Bool
	r := w.startAt(time.Now, func(statement string) mytest.Fate {
		if statement == "COMMIT" && cut.CompareAndSwap(false, true) {
			return mytest.CutAfter
		}
		return mytest.Pass
	})
	w.finished(id)
	w.exec("SELECT msgx.loop_resume('backfill', 'test', 'go', now())")
	w.idle(id)
	if got := w.mark(id); got != "marked 0" || !r.log.contains("retried=1") || !r.log.contains("already=1") {
		t.Errorf("the mark: %s", got)
	}
}

// TestMarkRefusedAll: the table's owner freezes it. No mark is given up however
// long it takes, the loop says why, and goes on by itself.
func TestMarkRefusedAll(t *testing.T) {
	w := newWorld(t, map[string]string{"pipeline.backfill-max-attempts": "1"})
	w.exec("UPDATE msgx.loop_state SET wanted = 'off' WHERE loop = 'backfill'")
	w.boxExec("CREATE TRIGGER freeze BEFORE UPDATE ON cminmsgs FOR EACH ROW SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'frozen until six'")
	m := &text{}
	var last int64
	for i := range 12 {
		last = w.my.Insert(m.create(i + 1))
	}
	w.start()
	w.finished(last)
	w.exec("SELECT msgx.loop_resume('backfill', 'test', 'go', now())")
	w.until("the pause is shown", func() bool {
		return strings.Contains(w.get("SELECT paused_reason FROM msgx.v_loops WHERE loop = 'backfill'"), "refuses every mark of 12") &&
			w.get("SELECT count(*) FROM msgx.proc_state WHERE backfill_attempts = 1 AND backfill_next_at > updated_at AND backfill_abandoned_at IS NULL") == "12"
	})
	w.boxExec("DROP TRIGGER freeze")
	w.exec("UPDATE msgx.proc_state SET backfill_next_at = now()")
	w.idle(last)
	w.until("the pause ends", func() bool { return w.get("SELECT paused_reason FROM msgx.v_loops WHERE loop = 'backfill'") == "" })
	if got := w.get("SELECT count(*) FROM msgx.proc_state WHERE backfill_at IS NOT NULL"); got != "12" {
		t.Errorf("%s of 12 are marked", got)
	}
}

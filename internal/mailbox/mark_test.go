package mailbox

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"msgexchange/internal/mytest"
)

// stored is a row as it stands: its mark and status, "" for null.
type stored struct{ Processed, Status string }

func rowsOf(t *testing.T, db *mytest.DB) map[int64]stored {
	t.Helper()
	rows, err := db.SQL.QueryContext(t.Context(), "SELECT CMINMSGS_ID, COALESCE(CAST(CMINMSGS_DATE_PROCESSED AS CHAR), ''), COALESCE(CMINMSGS_STATUS, '') FROM cminmsgs")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	all := map[int64]stored{}
	for rows.Next() {
		var id int64
		var s stored
		if err := rows.Scan(&id, &s.Processed, &s.Status); err != nil {
			t.Fatal(err)
		}
		all[id] = s
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestMark(t *testing.T) {
	db := mytest.New(t)
	m := open(t, db, nil)
	first, other, already, second := db.Insert("a"), db.Insert("b"), db.Insert("c"), db.Insert("d")
	exec(t, db, "UPDATE cminmsgs SET CMINMSGS_DATE_PROCESSED = '2020-01-02 03:04:05', CMINMSGS_STATUS = 'THEIRS' WHERE CMINMSGS_ID = ?", already)
	before := must[time.Time](t)(m.Now(t.Context()))

	got := must[map[int64]MarkResult](t)(m.Mark(t.Context(), []int64{second, already, first, 999, first}, always))
	want := map[int64]MarkResult{first: Marked, second: Marked, already: Already, 999: Missing}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	rows := rowsOf(t, db)
	if rows[already] != (stored{"2020-01-02 03:04:05", "THEIRS"}) {
		t.Errorf("another's mark was overwritten: %v", rows[already])
	}
	if rows[other] != (stored{"", "VALID"}) {
		t.Errorf("a row nobody named was touched: %v", rows[other])
	}
	for _, id := range []int64{first, second} {
		at, err := time.Parse(dateTime, rows[id].Processed)
		if err != nil || at.Before(before.Truncate(time.Second)) || at.Sub(before) > 5*time.Second || rows[id].Status != "PROCESSED" {
			t.Errorf("row %d: %v, want marked about %v", id, rows[id], before)
		}
	}
	again := must[map[int64]MarkResult](t)(m.Mark(t.Context(), []int64{first, second}, always))
	if diff := cmp.Diff(map[int64]MarkResult{first: Already, second: Already}, again); diff != "" {
		t.Errorf("repeated (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(rows, rowsOf(t, db)); diff != "" {
		t.Errorf("the repetition changed rows:\n%s", diff)
	}
}

func TestMarkNothing(t *testing.T) {
	db := mytest.New(t)
	m := open(t, db, nil)
	db.Insert("a")
	if got := must[map[int64]MarkResult](t)(m.Mark(t.Context(), nil, always)); len(got) != 0 {
		t.Error(got)
	}
	for id, row := range rowsOf(t, db) {
		if row.Processed != "" {
			t.Errorf("row %d was marked", id)
		}
	}
}

func TestMarkLeavesTheStatusWhenTold(t *testing.T) {
	db := mytest.New(t)
	m := open(t, db, func(c *Config) { c.MarkStatus = false })
	id := db.Insert("a")
	must[map[int64]MarkResult](t)(m.Mark(t.Context(), []int64{id}, always))
	if row := rowsOf(t, db)[id]; row.Processed == "" || row.Status != "VALID" {
		t.Error(row)
	}
}

// always is a claim that lasts.
func always() error { return nil }

// TestMarkLeavesHeldRows: they are waited for once, not one by one; the others are marked.
func TestMarkLeavesHeldRows(t *testing.T) {
	db := mytest.New(t)
	m := open(t, db, func(c *Config) { c.LockWait = time.Second })
	var all []int64
	for range 40 {
		all = append(all, db.Insert("x"))
	}
	theirs, gone, marked := all[1:31], all[31], all[32]
	exec(t, db, "UPDATE cminmsgs SET CMINMSGS_DATE_PROCESSED = '2020-01-02 03:04:05' WHERE CMINMSGS_ID = ?", marked)
	tx, release := hold(t, db, "DELETE FROM cminmsgs WHERE CMINMSGS_ID = ?", gone)
	for _, id := range theirs {
		if _, err := tx.ExecContext(t.Context(), "UPDATE cminmsgs SET CMINMSGS_STATUS = 'THEIRS' WHERE CMINMSGS_ID = ?", id); err != nil {
			t.Fatal(err)
		}
	}
	want := map[int64]MarkResult{999: Missing, gone: Held, marked: Already}
	for _, id := range all {
		if _, ok := want[id]; !ok {
			want[id] = Marked
		}
	}
	for _, id := range theirs {
		want[id] = Held
	}
	started := time.Now()
	got := must[map[int64]MarkResult](t)(m.Mark(t.Context(), append(all, 999), always))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if waited := time.Since(started); waited > 10*time.Second {
		t.Errorf("31 held rows were waited for one by one: %v", waited)
	}
	for id, row := range rowsOf(t, db) {
		if (row.Processed != "") != (want[id] == Marked || want[id] == Already) {
			t.Errorf("row %d: %s, and the mailbox says %v", id, want[id], row)
		}
	}
	release()
	got = must[map[int64]MarkResult](t)(m.Mark(t.Context(), append(theirs, gone), always))
	if got[theirs[0]] != Marked || got[gone] != Marked {
		t.Errorf("after the release: %v", got)
	}
}

// TestMarkWithoutSkipLocked: a server that does not know it tells of the wait; nothing is marked, nothing stays locked.
func TestMarkWithoutSkipLocked(t *testing.T) {
	db := mytest.New(t)
	m := open(t, db, func(c *Config) { c.LockWait = time.Second })
	m.skipLocked = "SKIP SOME"
	first, held, last := db.Insert("a"), db.Insert("b"), db.Insert("c")
	_, release := hold(t, db, "UPDATE cminmsgs SET CMINMSGS_STATUS = 'THEIRS' WHERE CMINMSGS_ID = ?", held)
	_, err := m.Mark(t.Context(), []int64{first, held, last}, always)
	if number(err) != 1205 || !strings.HasPrefix(err.Error(), "mark mailbox rows") {
		t.Fatalf("error %v, want a lock wait timeout", err)
	}
	for id, row := range rowsOf(t, db) {
		if row.Processed != "" {
			t.Errorf("row %d was marked by a call that failed", id)
		}
	}
	exec(t, db, "UPDATE cminmsgs SET CMINMSGS_STATUS = 'X' WHERE CMINMSGS_ID IN (?, ?)", first, last)
	release()
	if got := must[map[int64]MarkResult](t)(m.Mark(t.Context(), []int64{first, held, last}, always)); got[held] != Marked {
		t.Errorf("after the release: %v", got)
	}
}

// TestMarkLosesDeadlocks: another user of the table takes rows against the order of ids; it gets them, and is not rolled back.
func TestMarkLosesDeadlocks(t *testing.T) {
	db := mytest.New(t)
	m := open(t, db, func(c *Config) { c.LockWait = 30 * time.Second })
	first, second := db.Insert("a"), db.Insert("b")
	tx, err := db.SQL.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(t.Context(), "UPDATE cminmsgs SET CMINMSGS_STATUS = 'THEIRS' WHERE CMINMSGS_ID = ?", second); err != nil {
		t.Fatal(err)
	}
	type answer struct {
		results map[int64]MarkResult
		err     error
	}
	done := make(chan answer, 1)
	go func() {
		results, err := m.Mark(t.Context(), []int64{first, second}, always)
		done <- answer{results, err}
	}()
	// We hold the first row and wait for the second. The server refreshes its list only when nobody read it for 100 ms.
	for {
		var waits int
		if err := db.SQL.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM information_schema.innodb_locks WHERE lock_table LIKE CONCAT('%', DATABASE(), '%')").Scan(&waits); err != nil {
			t.Fatal(err)
		}
		if waits > 0 {
			break
		}
		select {
		case got := <-done:
			t.Fatalf("nobody waited: %+v", got)
		case <-time.After(200 * time.Millisecond):
		}
	}
	if _, err := tx.ExecContext(t.Context(), "UPDATE cminmsgs SET CMINMSGS_STATUS = 'THEIRS' WHERE CMINMSGS_ID = ?", first); err != nil {
		t.Fatalf("the other user lost: %v", err)
	}
	got := <-done
	if diff := cmp.Diff(map[int64]MarkResult{first: Held, second: Held}, got.results); got.err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", got.err, diff)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if again := must[map[int64]MarkResult](t)(m.Mark(t.Context(), []int64{first, second}, always)); again[first] != Marked || again[second] != Marked {
		t.Errorf("later: %v", again)
	}
}

// TestMarkIsSureBeforeTheCommit: who is no longer sure marks nothing, and leaves nothing locked.
func TestMarkIsSureBeforeTheCommit(t *testing.T) {
	db := mytest.New(t)
	m, relay := through(t, db, nil)
	id := db.Insert("a")
	var updated, asked bool
	relay.Watch(func(statement string) mytest.Fate {
		updated = updated || strings.HasPrefix(statement, "UPDATE ")
		return mytest.Pass
	})
	late := errors.New("too late")
	_, err := m.Mark(t.Context(), []int64{id}, func() error {
		asked = updated
		return late
	})
	if !errors.Is(err, late) || !asked {
		t.Errorf("asked after the update: %v, error %v", asked, err)
	}
	if row := rowsOf(t, db)[id]; row.Processed != "" {
		t.Error("marked")
	}
	exec(t, db, "UPDATE cminmsgs SET CMINMSGS_STATUS = 'X' WHERE CMINMSGS_ID = ?", id)
}

// TestMarkIsDatedByTheMailbox: the date is the server's, not this process's.
func TestMarkIsDatedByTheMailbox(t *testing.T) {
	db := mytest.New(t)
	m := open(t, db, func(c *Config) { c.DSN += "?timestamp=1700000000" })
	id := db.Insert("a")
	var want string
	if err := db.SQL.QueryRowContext(t.Context(), "SELECT CAST(FROM_UNIXTIME(1700000000) AS CHAR)").Scan(&want); err != nil {
		t.Fatal(err)
	}
	must[map[int64]MarkResult](t)(m.Mark(t.Context(), []int64{id}, always))
	if row := rowsOf(t, db)[id]; row.Processed != want {
		t.Errorf("marked at %s, want %s", row.Processed, want)
	}
}

// TestSessionsEndWhenIdle: whoever freezes inside a transaction is rolled back by the server.
func TestSessionsEndWhenIdle(t *testing.T) {
	db := mytest.New(t)
	m := open(t, db, func(c *Config) { c.DSN += "?wait_timeout=28800" })
	var seconds int
	if err := m.db.QueryRowContext(t.Context(), "SELECT @@SESSION.wait_timeout").Scan(&seconds); err != nil {
		t.Fatal(err)
	}
	if got := time.Duration(seconds) * time.Second; got != SessionIdle {
		t.Errorf("the server waits %v for an idle session", got)
	}
}

// A scan would meet the rows of others: one held by an update, one not committed. MariaDB scans for long lists of ids.
func TestMarkLocksNoOtherRow(t *testing.T) {
	for name, count := range map[string]int{"a few": 12, "nearly all of many": 3000} {
		t.Run(name, func(t *testing.T) {
			db := mytest.New(t)
			m := open(t, db, func(c *Config) { c.LockWait = time.Second })
			exec(t, db, "INSERT INTO cminmsgs (CMINMSGS_CLOB_MSG) VALUES "+strings.TrimSuffix(strings.Repeat("('x'),", count), ","))
			mine := must[[]int64](t)(m.IDs(t.Context(), 0, count))
			held := mine[count/2]
			mine = slices.Delete(mine, count/2, count/2+1)
			hold(t, db, "UPDATE cminmsgs SET CMINMSGS_STATUS = 'THEIRS' WHERE CMINMSGS_ID = ?", held)
			hold(t, db, "INSERT INTO cminmsgs (CMINMSGS_CLOB_MSG) VALUES ('not yet')")
			got := must[map[int64]MarkResult](t)(m.Mark(t.Context(), append(mine, 1<<40, 1<<40+1), always))
			for _, id := range mine {
				if got[id] != Marked {
					t.Fatalf("row %d: %s", id, got[id])
				}
			}
			if rows := rowsOf(t, db); rows[held].Processed != "" || len(got) != count+1 || got[1<<40] != Missing {
				t.Errorf("held row: %v; %d results", rows[held], len(got))
			}
		})
	}
}

// While rows are locked for the mark, writers go on inserting.
func TestMarkDoesNotBlockInserts(t *testing.T) {
	db := mytest.New(t)
	m := open(t, db, nil)
	a := db.Insert("x")
	exec(t, db, "INSERT INTO cminmsgs (CMINMSGS_ID, CMINMSGS_CLOB_MSG) VALUES (100, 'x')")
	tx, err := m.db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := tx.QueryContext(t.Context(), "SELECT CMINMSGS_ID FROM cminmsgs FORCE INDEX (PRIMARY) WHERE CMINMSGS_ID IN (?, 50, 100, 200) ORDER BY CMINMSGS_ID FOR UPDATE", a)
	if err != nil {
		t.Fatal(err)
	}
	if err := rows.Close(); err != nil {
		t.Fatal(err)
	}
	exec(t, db, "INSERT INTO cminmsgs (CMINMSGS_ID, CMINMSGS_CLOB_MSG) VALUES (50, 'between'), (150, 'beyond')")
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
}

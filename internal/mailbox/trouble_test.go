package mailbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"msgexchange/internal/mytest"
)

// through opens a mailbox whose network the test owns.
func through(t *testing.T, db *mytest.DB, change func(*Config)) (*Mailbox, *mytest.Relay) {
	t.Helper()
	relay, dsn := mytest.NewRelay(t, db.DSN)
	return open(t, db, func(c *Config) {
		c.DSN = dsn
		if change != nil {
			change(c)
		}
	}), relay
}

// TestPage: one statement tells rows above, rows below, the highest id and the server.
func TestPage(t *testing.T) {
	db := mytest.New(t)
	m := open(t, db, nil)
	read := func(after int64) (below, above []int64, page Page) {
		t.Helper()
		page = must[Page](t)(m.Page(t.Context(), after, 2))
		return ids(page.Below), ids(page.Positions), page
	}
	if below, above, page := read(0); len(below)+len(above) != 0 || page.Max != 0 || page.Server == "" {
		t.Errorf("an empty mailbox: %v %v %+v", below, above, page)
	}
	for range 7 {
		db.Insert("x")
	}
	below, above, page := read(4)
	if !slices.Equal(below, []int64{2, 3, 4}) || !slices.Equal(above, []int64{5, 6}) || page.Max != 7 || page.Next != 0 {
		t.Errorf("below %v, above %v, highest %d, next %d", below, above, page.Max, page.Next)
	}
	if below, above, page := read(9); !slices.Equal(below, []int64{5, 6, 7}) || len(above) != 0 || page.Max != 7 || page.Next != 8 {
		t.Errorf("after the last: below %v, above %v, highest %d, next %d", below, above, page.Max, page.Next)
	}
	exec(t, db, "TRUNCATE cminmsgs")
	if _, _, page := read(9); page.Max != 0 || page.Next != 1 {
		t.Errorf("after TRUNCATE: highest %d, next %d", page.Max, page.Next)
	}
	exec(t, db, "CREATE TABLE plain (CMINMSGS_ID bigint PRIMARY KEY, CMINMSGS_CLOB_MSG text, CMINMSGS_DATE_RECEIVED datetime)")
	for _, name := range []string{"plain", db.Name + ".plain"} {
		plain := open(t, db, func(c *Config) { c.Table = name })
		if page := must[Page](t)(plain.Page(t.Context(), 5, 1)); page.Next != 0 {
			t.Errorf("%s counts no ids, and says %d is next", name, page.Next)
		}
	}
}

// TestEveryPollIsASnapshotOfItsOwn: on one connection, with a DSN that asks for transactions that are never ended.
func TestEveryPollIsASnapshotOfItsOwn(t *testing.T) {
	db := mytest.New(t)
	m := open(t, db, func(c *Config) { c.DSN += "?autocommit=0&tx_isolation=%27REPEATABLE-READ%27" })
	m.db.SetMaxOpenConns(1)
	first := db.Insert("a")
	before := must[[]int64](t)(m.IDs(t.Context(), 0, 10))
	connection := func() (id int64) {
		if err := m.db.QueryRowContext(t.Context(), "SELECT CONNECTION_ID()").Scan(&id); err != nil {
			t.Fatal(err)
		}
		return id
	}
	was := connection()
	second := db.Insert("b")
	if diff := cmp.Diff([]int64{first, second}, ids(positions(t, m, 0, 10))); diff != "" {
		t.Errorf("a row committed between two polls (-want +got):\n%s", diff)
	}
	if len(before) != 1 || connection() != was {
		t.Error("not the same connection, or not one row before")
	}
	time.Sleep(200 * time.Millisecond) // the server refreshes the list no more often than every 100 ms
	var transactions int
	if err := db.SQL.QueryRowContext(t.Context(), "SELECT count(*) FROM information_schema.innodb_trx WHERE trx_mysql_thread_id = ?", was).Scan(&transactions); err != nil || transactions != 0 {
		t.Errorf("%d transactions left open, %v", transactions, err)
	}
	if open := must[map[int64]MarkResult](t)(m.Mark(t.Context(), []int64{first}, always)); open[first] != Marked {
		t.Error(open)
	}
}

// TestMarkIsRepeatedSafely: whatever breaks on the way, calling again leaves each row marked once.
func TestMarkIsRepeatedSafely(t *testing.T) {
	tests := map[string]struct {
		statement string // where it breaks
		kill      bool   // by KILL, as an administrator does
		fate      mytest.Fate
		again     MarkResult // what the next call finds
	}{
		"killed between lock and update": {statement: "UPDATE ", kill: true, again: Marked},
		"cut before the update":          {statement: "UPDATE ", fate: mytest.CutBefore, again: Marked},
		"cut after the update":           {statement: "UPDATE ", fate: mytest.CutAfter, again: Marked},
		"killed before the commit":       {statement: "COMMIT", kill: true, again: Marked},
		"cut before the commit":          {statement: "COMMIT", fate: mytest.CutBefore, again: Marked},
		"cut after the commit":           {statement: "COMMIT", fate: mytest.CutAfter, again: Already},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			db := mytest.New(t)
			m, relay := through(t, db, nil)
			m.db.SetMaxOpenConns(1)
			var connection int64
			if err := m.db.QueryRowContext(t.Context(), "SELECT CONNECTION_ID()").Scan(&connection); err != nil {
				t.Fatal(err)
			}
			first, second := db.Insert("a"), db.Insert("b")
			var met atomic.Bool
			relay.Watch(func(statement string) mytest.Fate {
				if !strings.HasPrefix(statement, tt.statement) || met.Swap(true) {
					return mytest.Pass
				}
				if tt.kill {
					if _, err := db.SQL.Exec(fmt.Sprintf("KILL %d", connection)); err != nil {
						t.Errorf("kill the connection: %v", err)
					}
				}
				return tt.fate
			})
			if results, err := m.Mark(t.Context(), []int64{first, second}, always); err == nil || results != nil || !met.Load() {
				t.Fatalf("results %v, error %v: the outcome is unknown", results, err)
			}
			was := rowsOf(t, db)
			results := must[map[int64]MarkResult](t)(m.Mark(t.Context(), []int64{first, second}, always))
			if results[first] != tt.again || results[second] != tt.again {
				t.Errorf("the next call finds %v, want %s", results, tt.again)
			}
			is := rowsOf(t, db)
			for id := range is {
				if is[id].Processed == "" {
					t.Errorf("row %d is not marked", id)
				}
				if tt.again == Already && is[id] != was[id] {
					t.Errorf("row %d was marked twice: %v, then %v", id, was[id], is[id])
				}
				if tt.again == Marked && was[id].Processed != "" {
					t.Errorf("row %d was marked before the commit", id)
				}
			}
		})
	}
}

// TestForgottenConnections: a firewall dropped them while they were idle; nobody sees an error.
func TestForgottenConnections(t *testing.T) {
	db := mytest.New(t)
	m, relay := through(t, db, func(c *Config) { c.ConnectTimeout, c.ReadTimeout = 200*time.Millisecond, 30*time.Second })
	id := db.Insert("a")
	if got := ids(positions(t, m, 0, 1)); len(got) != 1 {
		t.Fatal(got)
	}
	time.Sleep(checkEvery)
	if relay.Silence() == 0 {
		t.Fatal("no connection stood idle")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // less than the read timeout
	defer cancel()
	if page, err := m.Page(ctx, 0, 1); err != nil || len(page.Positions) != 1 {
		t.Errorf("the poll after it: %v", err)
	}
	if relay.Silence() == 0 {
		t.Fatal("no connection stood idle")
	}
	time.Sleep(checkEvery)
	if marks, err := m.Mark(ctx, []int64{id}, always); err != nil || marks[id] != Marked {
		t.Errorf("the mark after it: %v, %v", marks, err)
	}
}

// TestConnectionsAreReplacedInTime: none gets as old as a firewall's patience.
func TestConnectionsAreReplacedInTime(t *testing.T) {
	db := mytest.New(t)
	m := open(t, db, func(c *Config) { c.ConnMaxLifetime = 50 * time.Millisecond })
	connection := func() (id int64) {
		if err := m.db.QueryRowContext(t.Context(), "SELECT CONNECTION_ID()").Scan(&id); err != nil {
			t.Fatal(err)
		}
		return id
	}
	was := connection()
	time.Sleep(100 * time.Millisecond)
	if connection() == was {
		t.Error("a connection outlived its lifetime")
	}
}

// TestTooLargePacket: where something on the way takes no large packets, one text fails alone.
func TestTooLargePacket(t *testing.T) {
	db := mytest.New(t)
	m, relay := through(t, db, nil)
	before, big, after := db.Insert("before"), db.Insert(strings.Repeat("x", 1000)), db.Insert("after")
	relay.Watch(func(statement string) mytest.Fate {
		_, list, found := strings.Cut(statement, " IN (")
		if found && strings.Contains(statement, "CASE") && slices.Contains(strings.Split(strings.TrimSuffix(list, ")"), ","), fmt.Sprint(big)) {
			return mytest.TooLarge
		}
		return mytest.Pass
	})
	got := must[map[int64]Text](t)(m.Texts(t.Context(), []int64{before, big, after, 999}))
	want := map[int64]Text{
		before: {ID: before, Body: []byte("before"), Bytes: 6},
		big:    {ID: big, Oversized: true, Bytes: 1000},
		after:  {ID: after, Body: []byte("after"), Bytes: 5},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestHold: while ids are not trusted nothing goes by id, and polls go on.
func TestHold(t *testing.T) {
	db := mytest.New(t)
	m := open(t, db, nil)
	id := db.Insert("x")
	m.Hold("row 1 is another one")
	_, texts := m.Texts(t.Context(), []int64{id})
	_, mark := m.Mark(t.Context(), []int64{id}, always)
	_, insert := m.Insert(t.Context(), "y")
	for what, err := range map[string]error{"texts": texts, "mark": mark, "insert": insert} {
		if held, ok := errors.AsType[*HeldError](err); !ok || held.Why != "row 1 is another one" {
			t.Errorf("%s: %v", what, err)
		}
	}
	if got := ids(positions(t, m, 0, 10)); len(got) != 1 {
		t.Errorf("rows %v", got)
	}
	m.Hold("")
	if marks := must[map[int64]MarkResult](t)(m.Mark(t.Context(), []int64{id}, always)); marks[id] != Marked {
		t.Error(marks)
	}
}

// TestBrokenBytes: what a binary column holds comes as it is.
func TestBrokenBytes(t *testing.T) {
	db := mytest.New(t)
	exec(t, db, "ALTER TABLE cminmsgs MODIFY CMINMSGS_CLOB_MSG longblob NULL")
	m := open(t, db, nil)
	gbk := "\xba\xbd\xb0\xe0\xff\x00end"
	id := db.Insert(gbk)
	if got := must[map[int64]Text](t)(m.Texts(t.Context(), []int64{id})); string(got[id].Body) != gbk || got[id].Bytes != int64(len(gbk)) {
		t.Errorf("read %q", got[id].Body)
	}
}

// TestOtherCharacterSets: a column of any set is read as UTF-8; its length counts in its own bytes.
func TestOtherCharacterSets(t *testing.T) {
	for set, text := range map[string]string{"utf8mb4": "川航 𠮷 🛫", "utf8mb3": "川航雷雨", "gbk": "川航雷雨", "latin1": "café", "ucs2": "川航", "utf16": "川航 𠮷"} {
		t.Run(set, func(t *testing.T) {
			db := mytest.New(t)
			exec(t, db, "ALTER TABLE cminmsgs MODIFY CMINMSGS_CLOB_MSG mediumtext CHARACTER SET "+set+" NOT NULL")
			m := open(t, db, func(c *Config) { c.DSN += "?charset=latin1" })
			id := db.Insert(text)
			if got := must[map[int64]Text](t)(m.Texts(t.Context(), []int64{id})); string(got[id].Body) != text {
				t.Errorf("read %q, want %q", got[id].Body, text)
			}
		})
	}
}

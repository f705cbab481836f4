package mailbox

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/google/go-cmp/cmp"

	"msgexchange/internal/mytest"
)

// open opens a mailbox on the test's database, as UTC; change may alter the configuration.
func open(t *testing.T, db *mytest.DB, change func(*Config)) *Mailbox {
	t.Helper()
	cfg := Config{DSN: db.DSN, MarkStatus: true}
	if change != nil {
		change(&cfg)
	}
	m, err := Open(cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

func exec(t *testing.T, db *mytest.DB, query string, args ...any) {
	t.Helper()
	if _, err := db.SQL.ExecContext(t.Context(), query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// must fails the test on an error.
func must[T any](t *testing.T) func(T, error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// hold begins a transaction and runs a statement in it; the returned function rolls back.
func hold(t *testing.T, db *mytest.DB, query string, args ...any) (*sql.Tx, func()) {
	t.Helper()
	tx, err := db.SQL.BeginTx(context.WithoutCancel(t.Context()), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(t.Context(), query, args...); err != nil {
		t.Fatal(err)
	}
	end := func() {
		if err := tx.Rollback(); err != nil && !errors.Is(err, sql.ErrTxDone) {
			t.Error(err)
		}
	}
	t.Cleanup(end)
	return tx, end
}

func ids(positions []Position) []int64 {
	all := make([]int64, len(positions))
	for i, p := range positions {
		all[i] = p.ID
	}
	return all
}

// positions reads positions as a poll does.
func positions(t *testing.T, m *Mailbox, after int64, limit int) []Position {
	t.Helper()
	return must[Page](t)(m.Page(t.Context(), after, limit)).Positions
}

func TestPositions(t *testing.T) {
	db := mytest.New(t)
	m := open(t, db, nil)
	for _, id := range []int64{30, 10, 20, 1 << 40} {
		exec(t, db, "INSERT INTO cminmsgs (CMINMSGS_ID, CMINMSGS_CLOB_MSG, CMINMSGS_DATE_RECEIVED) VALUES (?, ?, '2026-04-17 07:44:18')", id, "𠮷"+strconv.FormatInt(id, 10))
	}
	all := positions(t, m, 0, 10)
	received := time.Date(2026, 4, 17, 7, 44, 18, 0, time.UTC)
	want := []Position{{10, &received, 6, false}, {20, &received, 6, false}, {30, &received, 6, false}, {1 << 40, &received, 17, false}}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Errorf("ids in order, lengths in bytes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int64{20, 30}, ids(positions(t, m, 10, 2))); diff != "" {
		t.Errorf("after and limit (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int64{30, 1 << 40}, must[[]int64](t)(m.IDs(t.Context(), 20, 5))); diff != "" {
		t.Errorf("IDs (-want +got):\n%s", diff)
	}
	if rest := positions(t, m, 1<<40, 10); len(rest) != 0 {
		t.Errorf("after the last: %v", rest)
	}
}

func TestZoneOfReceivedTimes(t *testing.T) {
	db := mytest.New(t)
	zone, err := time.LoadLocation("Asia/Shanghai")
	if err != nil {
		t.Fatal(err)
	}
	m := open(t, db, func(c *Config) { c.Zone = zone })
	exec(t, db, "INSERT INTO cminmsgs (CMINMSGS_CLOB_MSG, CMINMSGS_DATE_RECEIVED) VALUES ('x', '2026-04-17 07:44:18')")
	p := positions(t, m, 0, 1)[0]
	if got, want := p.ReceivedAt.UTC(), time.Date(2026, 4, 16, 23, 44, 18, 0, time.UTC); got != want {
		t.Errorf("received at %v, want %v", got, want)
	}
}

func TestOddDatesDoNotStopThePoll(t *testing.T) {
	db := mytest.New(t)
	m := open(t, db, nil)
	ctx := t.Context()
	conn, err := db.SQL.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	dates := []string{"NULL", "'0000-00-00 00:00:00'", "'2026-02-31 08:00:00'", "'2026-00-10 08:00:00'", "'0000-01-01 00:00:00'", "'2026-04-17 08:00:00'"}
	if _, err := conn.ExecContext(ctx, "SET SESSION sql_mode = 'ALLOW_INVALID_DATES'"); err != nil {
		t.Fatal(err)
	}
	for _, date := range dates {
		if _, err := conn.ExecContext(ctx, "INSERT INTO cminmsgs (CMINMSGS_CLOB_MSG, CMINMSGS_DATE_RECEIVED, CMINMSGS_DATE_PROCESSED) VALUES ('x', "+date+", "+date+")"); err != nil {
			t.Fatal(err)
		}
	}
	positions := positions(t, m, 0, 10)
	if len(positions) != len(dates) {
		t.Fatalf("%d rows, want %d", len(positions), len(dates))
	}
	for i, p := range positions {
		if got, want := p.ReceivedAt != nil, i == len(dates)-1; got != want {
			t.Errorf("%s reads as %v", dates[i], p.ReceivedAt)
		}
	}
	marks := must[map[int64]MarkResult](t)(m.Mark(ctx, ids(positions), always))
	if marks[positions[0].ID] != Marked || marks[positions[1].ID] != Already {
		t.Errorf("marks %v: null is unmarked, a zero date is somebody's mark", marks)
	}
}

func TestTexts(t *testing.T) {
	db := mytest.New(t)
	exec(t, db, "ALTER TABLE cminmsgs MODIFY CMINMSGS_CLOB_MSG mediumtext NULL")
	m := open(t, db, nil)
	rare := db.Insert("航班 𠮷 ✈️ 👨‍👩‍👧 end")
	empty := db.Insert("")
	exec(t, db, "INSERT INTO cminmsgs (CMINMSGS_CLOB_MSG) VALUES (NULL)")
	null := empty + 1
	got := must[map[int64]Text](t)(m.Texts(t.Context(), []int64{null, rare, empty, rare, 999}))
	want := map[int64]Text{
		rare:  {ID: rare, Body: []byte("航班 𠮷 ✈️ 👨‍👩‍👧 end"), Bytes: int64(len("航班 𠮷 ✈️ 👨‍👩‍👧 end"))},
		empty: {ID: empty, Body: []byte{}},
		null:  {ID: null, Null: true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("a missing id is absent (-want +got):\n%s", diff)
	}
	positions := positions(t, m, 0, 10)
	if !positions[2].Null || positions[1].Null {
		t.Errorf("null in positions: %+v", positions)
	}
	if got := must[map[int64]Text](t)(m.Texts(t.Context(), nil)); len(got) != 0 {
		t.Errorf("texts of nothing: %v", got)
	}
}

func TestOversizedTextsAreReportedNotFetched(t *testing.T) {
	db := mytest.New(t)
	m := open(t, db, func(c *Config) { c.MaxTextBytes = 100; c.PageBytes = 150 })
	small, limit, big := db.Insert("small"), db.Insert(strings.Repeat("x", 100)), db.Insert(strings.Repeat("𠮷", 26))
	after := db.Insert("after")
	got := must[map[int64]Text](t)(m.Texts(t.Context(), []int64{small, limit, big, after}))
	want := map[int64]Text{
		small: {ID: small, Body: []byte("small"), Bytes: 5},
		limit: {ID: limit, Body: bytes.Repeat([]byte("x"), 100), Bytes: 100},
		big:   {ID: big, Oversized: true, Bytes: 104},
		after: {ID: after, Body: []byte("after"), Bytes: 5},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	stale := must[map[int64]Text](t)(m.TextsOf(t.Context(), []Position{{ID: big, Bytes: 1}, {ID: small, Bytes: 1 << 20}, {ID: 999, Bytes: 1 << 20}}))
	if !stale[big].Oversized || string(stale[small].Body) != "small" || len(stale) != 2 {
		t.Errorf("a wrong length decides nothing: %v", stale)
	}
}

func TestTwentyMegabytesBesideOthers(t *testing.T) {
	db := mytest.New(t)
	exec(t, db, "ALTER TABLE cminmsgs MODIFY CMINMSGS_CLOB_MSG longtext NOT NULL")
	before := db.Insert("before")
	exec(t, db, "INSERT INTO cminmsgs (CMINMSGS_CLOB_MSG) VALUES (REPEAT('x', 20971520))")
	after := db.Insert("after")
	all := []int64{before, before + 1, after}

	m := open(t, db, nil)
	positions := positions(t, m, 0, 10)
	if len(positions) != 3 || positions[1].Bytes != 20<<20 {
		t.Fatalf("positions %+v", positions)
	}
	got := must[map[int64]Text](t)(m.TextsOf(t.Context(), positions))
	if !got[all[1]].Oversized || got[all[1]].Body != nil || string(got[before].Body) != "before" || string(got[after].Body) != "after" {
		t.Errorf("by default: oversized %v, others %q %q", got[all[1]].Oversized, got[before].Body, got[after].Body)
	}
	wide := open(t, db, func(c *Config) { c.MaxTextBytes = 32 << 20 })
	if got := must[map[int64]Text](t)(wide.Texts(t.Context(), all)); len(got[all[1]].Body) != 20<<20 || len(got) != 3 {
		t.Errorf("with a wider limit: %d bytes, %d texts", len(got[all[1]].Body), len(got))
	}
}

func TestPages(t *testing.T) {
	m := &Mailbox{cfg: Config{PageBytes: 10, MaxTextBytes: 20}}
	many := make([]Position, idsPerQuery+1)
	for i := range many {
		many[i] = Position{ID: int64(i), Null: true}
	}
	tests := map[string]struct {
		positions []Position
		want      []int // ids in each page
	}{
		"nothing":                       {nil, nil},
		"fits exactly":                  {[]Position{{ID: 1, Bytes: 5}, {ID: 2, Bytes: 5}}, []int{2}},
		"one byte over":                 {[]Position{{ID: 1, Bytes: 5}, {ID: 2, Bytes: 6}}, []int{1, 1}},
		"longer than a page goes alone": {[]Position{{ID: 1, Bytes: 1}, {ID: 2, Bytes: 15}, {ID: 3, Bytes: 1}}, []int{1, 1, 1}},
		"oversized costs nothing":       {[]Position{{ID: 1, Bytes: 5}, {ID: 2, Bytes: 21}, {ID: 3, Bytes: 5}}, []int{3}},
		"the same id twice":             {[]Position{{ID: 1, Bytes: 6}, {ID: 1, Bytes: 6}}, []int{1}},
		"too many ids":                  {many, []int{idsPerQuery, 1}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var got []int
			for _, page := range m.pages(tt.positions) {
				got = append(got, len(page))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestBounds(t *testing.T) {
	db := mytest.New(t)
	m := open(t, db, nil)
	if _, _, empty, err := m.Bounds(t.Context()); err != nil || !empty {
		t.Errorf("empty = %v, %v", empty, err)
	}
	first := db.Insert("a")
	last := db.Insert("b")
	if low, high, empty, err := m.Bounds(t.Context()); low != first || high != last || empty || err != nil {
		t.Errorf("%d to %d, %v, %v", low, high, empty, err)
	}
}

func TestClock(t *testing.T) {
	db := mytest.New(t)
	m := open(t, db, nil)
	if now := must[time.Time](t)(m.Now(t.Context())); time.Since(now).Abs() > 5*time.Second {
		t.Errorf("the mailbox has %v, we have %v", now, time.Now())
	}
	for dsn, want := range map[string]string{"%2B08%3A00": "Asia/Shanghai", "%2B00%3A00": "UTC"} {
		for _, zone := range []string{"Asia/Shanghai", "UTC"} {
			location, err := time.LoadLocation(zone)
			if err != nil {
				t.Fatal(err)
			}
			m := open(t, db, func(c *Config) { c.DSN += "?time_zone=%27" + dsn + "%27"; c.Zone = location })
			if err := m.CheckZone(t.Context()); (err == nil) != (zone == want) {
				t.Errorf("server in %s, configured %s: %v", want, zone, err)
			}
			if now := must[time.Time](t)(m.Now(t.Context())); time.Since(now).Abs() > 5*time.Second {
				t.Errorf("the clock depends on the zone: %v", now)
			}
		}
	}
}

func TestSessionIsOursWhateverTheDSNSays(t *testing.T) {
	db := mytest.New(t)
	m := open(t, db, func(c *Config) {
		c.DSN += "?charset=latin1&collation=latin1_swedish_ci&parseTime=true&loc=Local&autocommit=0&multiStatements=true&readTimeout=1h&innodb_lock_wait_timeout=50" +
			"&sql_mode=%27ANSI_QUOTES%27&allowAllFiles=true"
		c.LockWait = 1500 * time.Millisecond
	})
	text := "川航 𠮷 🛫"
	id := must[int64](t)(m.Insert(t.Context(), text))
	var stored string
	if err := db.SQL.QueryRowContext(t.Context(), "SELECT CMINMSGS_CLOB_MSG FROM cminmsgs").Scan(&stored); err != nil || stored != text {
		t.Errorf("stored %q, %v", stored, err)
	}
	if got := must[map[int64]Text](t)(m.Texts(t.Context(), []int64{id})); string(got[id].Body) != text {
		t.Errorf("read %q", got[id].Body)
	}
	var session [5]string
	if err := m.db.QueryRowContext(t.Context(),
		"SELECT @@character_set_client, @@character_set_results, @@autocommit, @@tx_isolation, @@innodb_lock_wait_timeout").
		Scan(&session[0], &session[1], &session[2], &session[3], &session[4]); err != nil {
		t.Fatal(err)
	}
	if want := [5]string{"utf8mb4", "utf8mb4", "1", "READ-COMMITTED", "2"}; session != want {
		t.Errorf("session %v, want %v", session, want)
	}
	if _, err := m.db.ExecContext(t.Context(), "SELECT 1; SELECT 2"); err == nil {
		t.Error("several statements in one are allowed")
	}
	if p := positions(t, m, 0, 1); p[0].ReceivedAt == nil {
		t.Error("the received time was not read")
	}
}

func TestUncommittedRowsAreInvisible(t *testing.T) {
	db := mytest.New(t)
	m := open(t, db, nil)
	tx, _ := hold(t, db, "INSERT INTO cminmsgs (CMINMSGS_CLOB_MSG) VALUES ('late')")
	second := db.Insert("early")
	if diff := cmp.Diff([]int64{second}, ids(positions(t, m, 0, 10))); diff != "" {
		t.Errorf("before the commit (-want +got):\n%s", diff)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int64{second - 1, second}, must[[]int64](t)(m.IDs(t.Context(), 0, 10))); diff != "" {
		t.Errorf("after the commit (-want +got):\n%s", diff)
	}
}

func TestInsert(t *testing.T) {
	db := mytest.New(t)
	m := open(t, db, nil)
	text := `it's "quoted" \ and % ? 𠮷` + "\x01\n"
	id := must[int64](t)(m.Insert(t.Context(), text))
	var stored, status string
	var recent bool
	if err := db.SQL.QueryRowContext(t.Context(), `SELECT CMINMSGS_CLOB_MSG, CMINMSGS_STATUS, CMINMSGS_DATE_RECEIVED BETWEEN NOW() - INTERVAL 5 SECOND AND NOW()
		FROM cminmsgs WHERE CMINMSGS_ID = ? AND CMINMSGS_DATE_PROCESSED IS NULL`, id).Scan(&stored, &status, &recent); err != nil {
		t.Fatal(err)
	}
	if stored != text || status != "VALID" || !recent {
		t.Errorf("stored %q, status %s, received now: %v", stored, status, recent)
	}
	if _, err := m.Insert(t.Context(), "\xff"); err == nil {
		t.Error("text that is not UTF-8 was accepted")
	}
	large := strings.Repeat("中", 3<<20)
	id = must[int64](t)(m.Insert(t.Context(), large))
	if got := must[map[int64]Text](t)(m.Texts(t.Context(), []int64{id})); string(got[id].Body) != large {
		t.Errorf("a text of %d bytes came back as %d", len(large), len(got[id].Body))
	}
}

func TestShadowNeverWrites(t *testing.T) {
	db := mytest.New(t)
	m := open(t, db, func(c *Config) { c.Shadow = true })
	id := db.Insert("x")
	if _, err := m.Mark(t.Context(), []int64{id}, always); !errors.Is(err, ErrShadow) {
		t.Errorf("mark: %v", err)
	}
	if _, err := m.Insert(t.Context(), "y"); !errors.Is(err, ErrShadow) {
		t.Errorf("insert: %v", err)
	}
	if p := positions(t, m, 0, 10); len(p) != 1 {
		t.Errorf("%d rows", len(p))
	}
}

func TestOtherNames(t *testing.T) {
	db := mytest.New(t)
	exec(t, db, "CREATE TABLE `in$box` (`no` bigint AUTO_INCREMENT PRIMARY KEY, body text, `from` datetime, done datetime, `key` varchar(20))")
	m := open(t, db, func(c *Config) {
		c.Table, c.ColumnID, c.ColumnText, c.ColumnReceived, c.ColumnProcessed, c.ColumnStatus = db.Name+".in$box", "no", "body", "from", "done", "key"
		c.ProcessedValue = "VALID"
	})
	id := must[int64](t)(m.Insert(t.Context(), "x"))
	if got := must[map[int64]MarkResult](t)(m.Mark(t.Context(), []int64{id}, always)); got[id] != Marked {
		t.Error(got)
	}
}

func TestOpenRefuses(t *testing.T) {
	tests := map[string]Config{
		"no DSN":                {DSN: "nonsense"},
		"unknown option":        {DSN: "u:hunter2@tcp(h)/d?parseTime=maybe"},
		"a quote in the table":  {DSN: "u@tcp(h)/d", Table: "a`; DROP TABLE b"},
		"three parts":           {DSN: "u@tcp(h)/d", Table: "a.b.c"},
		"an empty part":         {DSN: "u@tcp(h)/d", Table: ".a"},
		"two parts of a column": {DSN: "u@tcp(h)/d", ColumnID: "a.b"},
		"a blank in a column":   {DSN: "u@tcp(h)/d", ColumnText: "a b"},
		"a line after a column": {DSN: "u@tcp(h)/d", ColumnStatus: "a\n"},
	}
	for name, cfg := range tests {
		t.Run(name, func(t *testing.T) {
			m, err := Open(cfg, slog.New(slog.DiscardHandler))
			if err == nil {
				t.Fatalf("accepted: %v", m.Close())
			}
			if !strings.HasPrefix(err.Error(), "open mailbox: ") || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestErrorsSayWhatWasBeingDone(t *testing.T) {
	db := mytest.New(t)
	m := open(t, db, func(c *Config) { c.Table = "nowhere" })
	ctx := t.Context()
	_, positions := m.Page(ctx, 7, 1)
	_, list := m.IDs(ctx, 7, 1)
	_, texts := m.Texts(ctx, []int64{3, 4})
	_, textsOf := m.TextsOf(ctx, []Position{{ID: 3}, {ID: 4}})
	_, mark := m.Mark(ctx, []int64{3, 4}, always)
	_, insert := m.Insert(ctx, "x")
	_, _, _, bounds := m.Bounds(ctx)
	away := open(t, db, func(c *Config) { c.DSN = "u:hunter2@tcp(127.0.0.1:1)/d" })
	_, connect := away.Now(ctx)
	for want, err := range map[string]error{
		"read mailbox positions after 7: ": positions, "read mailbox ids after 7: ": list, "read lengths of mailbox texts 3 to 4: ": texts,
		"read mailbox texts 3 to 4: ": textsOf, "mark mailbox rows 3 to 4: lock: ": mark, "insert into mailbox: ": insert, "read mailbox bounds: ": bounds,
		"read mailbox clock: connect to mailbox: ": connect,
	} {
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v, want %s…", err, want)
			continue
		}
		if e, ok := errors.AsType[*mysql.MySQLError](err); err != connect && (!ok || e.Number != 1146) {
			t.Errorf("%v does not wrap the server's error", err)
		}
	}
}

func TestDriverMessagesGoToTheLog(t *testing.T) {
	var out bytes.Buffer
	driverLog{slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))}.Print("packets.go:58 ", errors.New("unexpected EOF"))
	if !strings.Contains(out.String(), "unexpected EOF") {
		t.Error(out.String())
	}
}

func TestSilentServerEndsByTimeout(t *testing.T) {
	db := mytest.New(t)
	m := open(t, db, func(c *Config) { c.ReadTimeout = 300 * time.Millisecond })
	started := time.Now()
	if _, err := m.db.ExecContext(t.Context(), "SELECT SLEEP(5)"); err == nil || time.Since(started) > 3*time.Second {
		t.Errorf("%v after %v", err, time.Since(started))
	}
	if _, err := m.Now(t.Context()); err != nil {
		t.Errorf("the next call: %v", err)
	}
}

func TestKilledConnectionIsReplaced(t *testing.T) {
	db := mytest.New(t)
	m := open(t, db, nil)
	var id int64
	if err := m.db.QueryRowContext(t.Context(), "SELECT CONNECTION_ID()").Scan(&id); err != nil {
		t.Fatal(err)
	}
	exec(t, db, fmt.Sprintf("KILL %d", id))
	time.Sleep(50 * time.Millisecond)
	if _, err := m.Page(t.Context(), 0, 1); err != nil {
		t.Errorf("after an idle connection was cut: %v", err)
	}
}

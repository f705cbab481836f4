package simulate

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"msgexchange/internal/mytest"
)

func open(t *testing.T, db *mytest.DB) *Writer {
	t.Helper()
	w, err := Open(db.DSN, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// stored reads the mailbox.
func stored(t *testing.T, db *mytest.DB) (ids []int64, texts map[int64]string) {
	t.Helper()
	rows, err := db.SQL.QueryContext(t.Context(), `SELECT CMINMSGS_ID, CMINMSGS_CLOB_MSG FROM cminmsgs
		WHERE CMINMSGS_STATUS = 'VALID' AND CMINMSGS_DATE_RECEIVED IS NOT NULL AND CMINMSGS_DATE_PROCESSED IS NULL ORDER BY CMINMSGS_ID`)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := rows.Close(); err != nil {
			t.Error(err)
		}
	}()
	texts = map[int64]string{}
	for rows.Next() {
		var id int64
		var text string
		if err := rows.Scan(&id, &text); err != nil {
			t.Fatal(err)
		}
		ids, texts[id] = append(ids, id), text
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return ids, texts
}

func TestWriteKeepsOrderAndTellsTheTrueIDs(t *testing.T) {
	db := mytest.New(t)
	w := open(t, db)
	opts := options(t)
	opts.Messages, opts.Holes, opts.LateCommits = 3000, 100, 20
	items := day(t, opts)
	var told []int64
	texts := map[int64]string{}
	stats, err := w.Write(t.Context(), slices.Values(items), func(id int64, it Item) error {
		told, texts[id] = append(told, id), it.Text
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	ids, kept := stored(t, db)
	if !slices.IsSorted(told) || !slices.Equal(ids, told) {
		t.Fatalf("ids in the mailbox are not those told: %d and %d", len(ids), len(told))
	}
	for i, id := range told {
		if kept[id] != texts[id] || texts[id] != items[i].Text {
			t.Fatalf("message %d is not the text it was", id)
		}
	}
	if last := int64(len(items) + opts.Holes); ids[len(ids)-1] != last {
		t.Errorf("last id %d, want %d: every hole is one id", ids[len(ids)-1], last)
	}
	if stats.Rows != len(items) || stats.Burnt != 100 || stats.Late != 20 || stats.FirstID != ids[0] || stats.LastID != ids[len(ids)-1] {
		t.Errorf("%+v", stats)
	}
}

func TestLateCommitsComeAfterLaterRows(t *testing.T) {
	db := mytest.New(t)
	w := open(t, db)
	opts := options(t)
	opts.Messages, opts.Holes, opts.LateCommits = 5, 0, 0
	items := day(t, opts)
	items[1].Late = time.Minute // it ends with the context of the write
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	written := make(chan error)
	var seen []int64
	go func() {
		_, err := w.Write(ctx, slices.Values(items), nil)
		written <- err
	}()
	for len(seen) < 4 {
		seen, _ = stored(t, db)
		select {
		case err := <-written:
			t.Fatalf("done without the late commit: %v", err)
		case <-time.After(5 * time.Millisecond):
		}
	}
	if want := []int64{1, 3, 4, 5}; !slices.Equal(seen, want) {
		t.Errorf("committed %v, want %v", seen, want)
	}
	cancel()
	if err := <-written; err != nil {
		t.Fatal(err)
	}
	if all, _ := stored(t, db); len(all) != 5 {
		t.Errorf("%v at the end", all)
	}
}

func TestSteadyKeepsItsRateAndEndsWithItsContext(t *testing.T) {
	db := mytest.New(t)
	w := open(t, db)
	w.Rate = 200
	opts := options(t)
	opts.Messages, opts.Flights = 40, 10
	g, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	told := 0
	stats, err := w.Steady(ctx, g, func(int64, Item) error {
		if told++; told == 100 {
			cancel()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if ids, _ := stored(t, db); len(ids) != told || stats.Rows != told {
		t.Errorf("%d rows, %d told, %d counted", len(ids), told, stats.Rows)
	}
	if stats.Elapsed < 400*time.Millisecond {
		t.Errorf("100 messages at 200/s took %s", stats.Elapsed)
	}
}

func TestWriteStopsAtAnErrorOfTheListener(t *testing.T) {
	db := mytest.New(t)
	_, err := open(t, db).Write(t.Context(), slices.Values(day(t, options(t))), func(int64, Item) error { return context.DeadlineExceeded })
	if err == nil || !strings.Contains(err.Error(), context.DeadlineExceeded.Error()) {
		t.Error(err)
	}
}

func TestCreateTable(t *testing.T) {
	db := mytest.New(t)
	if _, err := db.SQL.ExecContext(t.Context(), `DROP TABLE cminmsgs`); err != nil {
		t.Fatal(err)
	}
	w := open(t, db)
	if _, err := w.Write(t.Context(), slices.Values(day(t, options(t))[:1]), nil); err == nil {
		t.Error("wrote without a table")
	}
	for range 2 {
		if err := w.CreateTable(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if stats, err := w.Write(t.Context(), slices.Values(day(t, options(t))[:3]), nil); err != nil || stats.Rows != 3 {
		t.Errorf("%+v, %v", stats, err)
	}
}

package mailbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/go-sql-driver/mysql"
)

// MarkResult is what became of one row's mark.
type MarkResult string

// The results of Mark. A row that another user marked first keeps that mark;
// one that another session holds is left to it.
const (
	Marked  MarkResult = "marked"
	Already MarkResult = "already"
	Missing MarkResult = "missing"
	Held    MarkResult = "held"
)

// ErrDisturbed reports that a row changed under a mark although it was locked:
// something of the table's own, as a trigger, is at work.
var ErrDisturbed = errors.New("the row is not as it was locked")

// Mark marks the rows that are unmarked with the clock of the mailbox, in one transaction, and tells what it found. Rows are
// locked by primary key in the order of their ids, none but those named; one that another session holds is waited for no
// longer than Config.LockWait, and then the held ones are passed over without a wait. A server that cannot pass over them
// fails the call. sure is asked just before the commit: its error rolls everything back. An error around the commit leaves
// the result unknown: calling again is safe, and reports what was marked the first time as already marked. No ids, nothing
// done.
func (m *Mailbox) Mark(ctx context.Context, ids []int64, sure func() error) (map[int64]MarkResult, error) {
	if m.cfg.Shadow {
		return nil, fmt.Errorf("mark mailbox rows: %w", ErrShadow)
	}
	if len(ids) == 0 {
		return map[int64]MarkResult{}, nil
	}
	if err := m.trusted(); err != nil {
		return nil, fmt.Errorf("mark mailbox rows: %w", err)
	}
	ids = sortedUnique(ids)
	results, err := m.mark(ctx, ids, "", sure)
	if number(err) == lockWaitTimeout || number(err) == deadlock {
		passed, again := m.mark(ctx, ids, m.skipLocked, sure)
		if number(again) != parseError {
			results, err = passed, again
		}
	}
	if err != nil {
		return nil, fmt.Errorf("mark mailbox rows %d to %d: %w", ids[0], ids[len(ids)-1], err)
	}
	return results, nil
}

// Numbers of MySQL's errors that Mark answers.
const (
	parseError      = 1064
	lockWaitTimeout = 1205
	deadlock        = 1213
)

// number is that of MySQL's error, 0 for any other.
func number(err error) uint16 {
	if e, ok := errors.AsType[*mysql.MySQLError](err); ok {
		return e.Number
	}
	return 0
}

// mark is one transaction; held is what locks do about rows of others: wait for them, or "SKIP LOCKED".
func (m *Mailbox) mark(ctx context.Context, ids []int64, held string, sure func() error) (results map[int64]MarkResult, err error) {
	tx, err := m.db.BeginTx(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("begin: %w", err)
	}
	defer func() {
		if rollback := tx.Rollback(); !errors.Is(rollback, sql.ErrTxDone) {
			err = errors.Join(err, rollback)
		}
	}()
	results = make(map[int64]MarkResult, len(ids))
	var open []int64
	for page := range slices.Chunk(ids, idsPerQuery) {
		unmarked, err := m.lock(ctx, tx, page, held, results)
		if err != nil {
			return nil, err
		}
		open = append(open, unmarked...)
	}
	for page := range slices.Chunk(open, idsPerQuery) {
		if err := m.update(ctx, tx, page); err != nil {
			return nil, err
		}
	}
	if err := sure(); err != nil {
		return nil, fmt.Errorf("before the commit: %w", err)
	}
	if err := tx.Commit(); err != nil {
		return nil, fmt.Errorf("commit: %w", err)
	}
	return results, nil
}

// lock locks rows in the order of their ids, notes each in results, and returns those that are unmarked. FORCE INDEX, here
// and in update: a scan of a small table would meet, and wait for, rows that are none of ours.
func (m *Mailbox) lock(ctx context.Context, tx *sql.Tx, ids []int64, held string, results map[int64]MarkResult) (unmarked []int64, err error) {
	type row struct {
		id     int64
		marked bool
	}
	read := func(ids []int64, how string) ([]row, error) {
		marks, args := placeholders(ids)
		query := fmt.Sprintf("SELECT %s, %s IS NOT NULL FROM %s FORCE INDEX (PRIMARY) WHERE %s IN (%s) ORDER BY %s %s",
			m.id, m.processed, m.table, m.id, marks, m.id, how)
		return collect(ctx, tx, func(r *sql.Rows) (one row, err error) {
			err = r.Scan(&one.id, &one.marked)
			return one, err
		}, query, args...)
	}
	locked, err := read(ids, "FOR UPDATE "+held)
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	for _, r := range locked {
		results[r.id] = Already
		if !r.marked {
			results[r.id] = Marked
			unmarked = append(unmarked, r.id)
		}
	}
	var rest []int64
	for _, id := range ids {
		if _, ok := results[id]; !ok {
			results[id] = Missing
			rest = append(rest, id)
		}
	}
	if held == "" || len(rest) == 0 {
		return unmarked, nil
	}
	// A read without a lock sees what is passed over, also while its deletion is not committed.
	there, err := read(rest, "")
	if err != nil {
		return nil, fmt.Errorf("look for rows that were passed over: %w", err)
	}
	for _, r := range there {
		results[r.id] = Held
	}
	return unmarked, nil
}

// update writes the mark of rows that are locked and known to be unmarked.
func (m *Mailbox) update(ctx context.Context, tx *sql.Tx, ids []int64) error {
	marks, args := placeholders(ids)
	set := m.processed + " = NOW()"
	if m.cfg.MarkStatus {
		set += ", " + m.status + " = ?"
		args = append([]any{m.cfg.ProcessedValue}, args...)
	}
	query := fmt.Sprintf("UPDATE %s FORCE INDEX (PRIMARY) SET %s WHERE %s IN (%s) AND %s IS NULL", m.table, set, m.id, marks, m.processed)
	result, err := tx.ExecContext(ctx, query, args...)
	if err != nil {
		return fmt.Errorf("update: %w", err)
	}
	changed, err := result.RowsAffected()
	if err != nil {
		return fmt.Errorf("update: %w", err)
	}
	if changed != int64(len(ids)) {
		return fmt.Errorf("update: %d rows changed where %d were locked and unmarked: %w", changed, len(ids), ErrDisturbed)
	}
	return nil
}

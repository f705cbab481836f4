package mailbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
)

// MarkResult is what became of one row's mark.
type MarkResult string

// The results of Mark. A row that another user marked first keeps that mark.
const (
	Marked  MarkResult = "marked"
	Already MarkResult = "already"
	Missing MarkResult = "missing"
)

// ErrDisturbed reports that a row changed under a mark although it was locked:
// something of the table's own, as a trigger, is at work.
var ErrDisturbed = errors.New("the row is not as it was locked")

// Mark marks the rows that are unmarked with the clock of the mailbox, in one transaction, and tells what it found. Rows are
// locked by primary key in the order of their ids, none but those named; one that another session holds is waited for no
// longer than Config.LockWait. An error around the commit leaves the result unknown: calling again is safe, and reports
// what was marked the first time as already marked. No ids, nothing done.
func (m *Mailbox) Mark(ctx context.Context, ids []int64) (map[int64]MarkResult, error) {
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
	results, err := m.mark(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("mark mailbox rows %d to %d: %w", ids[0], ids[len(ids)-1], err)
	}
	return results, nil
}

func (m *Mailbox) mark(ctx context.Context, ids []int64) (results map[int64]MarkResult, err error) {
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
	for _, id := range ids {
		results[id] = Missing
	}
	var open []int64
	for page := range slices.Chunk(ids, idsPerQuery) {
		unmarked, err := m.lock(ctx, tx, page, results)
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
	if err := tx.Commit(); err != nil {
		return nil, fmt.Errorf("commit: %w", err)
	}
	return results, nil
}

// lock locks rows in the order of their ids, notes each in results, and returns those that are unmarked. FORCE INDEX, here
// and in update: a scan of a small table would meet, and wait for, rows that are none of ours.
func (m *Mailbox) lock(ctx context.Context, tx *sql.Tx, ids []int64, results map[int64]MarkResult) (unmarked []int64, err error) {
	marks, args := placeholders(ids)
	query := fmt.Sprintf("SELECT %s, %s IS NOT NULL FROM %s FORCE INDEX (PRIMARY) WHERE %s IN (%s) ORDER BY %s FOR UPDATE",
		m.id, m.processed, m.table, m.id, marks, m.id)
	type row struct {
		id     int64
		marked bool
	}
	rows, err := collect(ctx, tx, func(r *sql.Rows) (one row, err error) {
		err = r.Scan(&one.id, &one.marked)
		return one, err
	}, query, args...)
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	for _, r := range rows {
		results[r.id] = Already
		if !r.marked {
			results[r.id] = Marked
			unmarked = append(unmarked, r.id)
		}
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

package simulate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"
)

// The mailbox as its owner defines it, for mailboxes that are ours to make.
const table = `CREATE TABLE IF NOT EXISTS cminmsgs (
  CMINMSGS_ID bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
  CMINMSGS_CLOB_MSG mediumtext NOT NULL,
  CMINMSGS_DATE_RECEIVED datetime NULL,
  CMINMSGS_DATE_PROCESSED datetime NULL,
  CMINMSGS_SUBSYSTEM_NAME varchar(4) NULL,
  CMINMSGS_SUBSYSTEM_SEQUENCE mediumint NULL,
  CMINMSGS_SUBSYSTEM_DATE_SENT datetime NULL,
  CMINMSGS_SUBSYSTEM_SUBTYPE varchar(4) NULL,
  CMINMSGS_SUBSYSTEM_TYPE varchar(4) NULL,
  CMINMSGS_STATUS varchar(20) NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4`

const (
	insert = `INSERT INTO cminmsgs (CMINMSGS_CLOB_MSG, CMINMSGS_DATE_RECEIVED, CMINMSGS_STATUS) VALUES `
	row    = `(?, NOW(), 'VALID')`
)

const (
	batchRows  = 400
	batchBytes = 1 << 20
	patience   = 30 * time.Second      // for one statement
	quantum    = 20 * time.Millisecond // how much of a second's rate goes out at once
	openLates  = 16                    // late commits that wait at the same time
)

// Writer commits items to a mailbox. Ids are given in the order of the items,
// whatever the order of commits.
type Writer struct {
	Rate float64 // messages a second, 0 for as fast as possible

	db  *sql.DB
	now func() time.Time
}

// Stats count what a Writer wrote.
type Stats struct {
	Rows    int           // messages committed
	Bytes   int           // of their texts
	Burnt   int           // ids used up by transactions that were rolled back
	Late    int           // of the messages, those that committed after later ones
	FirstID int64         // 0 when there was none
	LastID  int64         // 0 when there was none
	Elapsed time.Duration // till the last commit
}

// Open makes a writer on a database of MySQL's kind. now is a monotonic clock
// for the pace; time.Now is one.
func Open(dsn string, now func() time.Time) (*Writer, error) {
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		return nil, fmt.Errorf("read the mailbox DSN: %w", err)
	}
	cfg.InterpolateParams = true
	if err := cfg.Apply(mysql.Charset("utf8mb4", "")); err != nil {
		return nil, fmt.Errorf("read the mailbox DSN: %w", err)
	}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, fmt.Errorf("open the mailbox: %w", err)
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(openLates + 2)
	return &Writer{db: db, now: now}, nil
}

// Close ends the writer's connections.
func (w *Writer) Close() error { return w.db.Close() }

// CreateTable makes the mailbox table unless there is one.
func (w *Writer) CreateTable(ctx context.Context) error {
	if _, err := w.db.ExecContext(ctx, table); err != nil {
		return fmt.Errorf("create the mailbox table: %w", err)
	}
	return nil
}

// Write commits the items until there are no more or ctx ends, and calls each
// for every item with its id, in order of id. It returns when all commits are
// done; the statistics hold on error too. When ctx ends, what was begun is
// finished, and the error is that of ctx.
func (w *Writer) Write(ctx context.Context, items iter.Seq[Item], each func(id int64, item Item) error) (stats Stats, err error) {
	r := run{w: w, each: each, lates: make(chan struct{}, openLates), start: w.now()}
	r.done, r.hurry = context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, r.hurry)
	defer stop()
	defer func() {
		if err != nil {
			r.hurry()
		}
		r.waiting.Wait()
		r.hurry()
		r.stats.Elapsed = w.now().Sub(r.start)
		stats, err = r.stats, errors.Join(err, r.lateErr)
	}()
	step, err := w.step(ctx)
	if err != nil {
		return stats, err
	}
	r.step = step
	sent := 0
	for item := range items {
		if err := r.pace(ctx, sent); err != nil {
			return stats, err
		}
		if err := r.add(ctx, item); err != nil {
			return stats, err
		}
		sent++
	}
	return stats, r.flush(ctx)
}

// Steady writes day after day, at the writer's rate, until ctx ends; that is no
// error. The generator goes on where it stands, so a day written before is
// followed by the next.
func (w *Writer) Steady(ctx context.Context, g *Generator, each func(id int64, item Item) error) (Stats, error) {
	stats, err := w.Write(ctx, g.Endless(), each)
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return stats, nil
	}
	return stats, err
}

// step is the distance between the ids of one statement.
func (w *Writer) step(ctx context.Context) (step int64, err error) {
	if err := w.db.QueryRowContext(ctx, `SELECT @@auto_increment_increment`).Scan(&step); err != nil {
		return 0, fmt.Errorf("read the distance of ids: %w", err)
	}
	return step, nil
}

// run is one call of Write.
type run struct {
	w       *Writer
	each    func(int64, Item) error
	start   time.Time
	step    int64
	pending []Item
	bytes   int
	stats   Stats

	waiting sync.WaitGroup
	lates   chan struct{}
	done    context.Context // ends when late commits shall wait no longer
	hurry   context.CancelFunc
	mu      sync.Mutex
	lateErr error
}

// pace waits until the n-th message is due.
func (r *run) pace(ctx context.Context, n int) error {
	if r.w.Rate > 0 {
		due := time.Duration(float64(n) / r.w.Rate * float64(time.Second))
		if wait := due - r.w.now().Sub(r.start); wait > 0 {
			if err := r.flush(ctx); err != nil {
				return err
			}
			pause(ctx, max(wait, quantum))
		}
	}
	if err := ctx.Err(); err != nil {
		return errors.Join(fmt.Errorf("write messages: %w", err), r.flush(ctx))
	}
	return nil
}

// pause waits, at most until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

func (r *run) add(ctx context.Context, item Item) error {
	if item.Burn > 0 || item.Late > 0 {
		if err := r.flush(ctx); err != nil {
			return err
		}
	}
	if item.Burn > 0 {
		if err := r.burn(ctx, item.Burn); err != nil {
			return err
		}
	}
	if item.Late > 0 {
		return r.late(ctx, item)
	}
	if len(r.pending) == batchRows || len(r.pending) > 0 && r.bytes+len(item.Text) > batchBytes {
		if err := r.flush(ctx); err != nil {
			return err
		}
	}
	r.pending, r.bytes = append(r.pending, item), r.bytes+len(item.Text)
	return nil
}

// flush commits what is pending: one statement, so one transaction.
func (r *run) flush(ctx context.Context) error {
	if len(r.pending) == 0 {
		return nil
	}
	args := make([]any, len(r.pending))
	for i, item := range r.pending {
		args[i] = item.Text
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	result, err := r.w.db.ExecContext(ctx, insert+strings.Repeat(row+", ", len(args)-1)+row, args...)
	if err != nil {
		return fmt.Errorf("insert %d messages: %w", len(args), err)
	}
	first, err := result.LastInsertId()
	if err != nil {
		return fmt.Errorf("read the ids of %d messages: %w", len(args), err)
	}
	for i, item := range r.pending {
		if err := r.note(first+int64(i)*r.step, item); err != nil {
			return err
		}
	}
	r.pending, r.bytes = r.pending[:0], 0
	return nil
}

func (r *run) note(id int64, item Item) error {
	if r.stats.FirstID == 0 {
		r.stats.FirstID = id
	}
	r.stats.LastID = id
	r.stats.Rows++
	r.stats.Bytes += len(item.Text)
	if r.each == nil {
		return nil
	}
	return r.each(id, item)
}

// burn uses up ids with rows that are rolled back.
func (r *run) burn(ctx context.Context, n int) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	tx, err := r.w.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin a transaction to roll back: %w", err)
	}
	for left := n; left > 0; {
		rows := min(left, batchRows)
		left -= rows
		args := make([]any, rows)
		for i := range args {
			args[i] = "rolled back"
		}
		if _, err := tx.ExecContext(ctx, insert+strings.Repeat(row+", ", rows-1)+row, args...); err != nil {
			return errors.Join(fmt.Errorf("use up ids: %w", err), tx.Rollback())
		}
	}
	if err := tx.Rollback(); err != nil {
		return fmt.Errorf("roll back used ids: %w", err)
	}
	r.stats.Burnt += n
	return nil
}

// late gives an item its id now and commits it after its delay.
func (r *run) late(ctx context.Context, item Item) error {
	r.lates <- struct{}{}
	settle := func() { <-r.lates }
	tx, err := r.w.db.BeginTx(context.WithoutCancel(ctx), nil)
	if err != nil {
		settle()
		return fmt.Errorf("begin a late commit: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	result, err := tx.ExecContext(ctx, insert+row, item.Text)
	if err != nil {
		settle()
		return errors.Join(fmt.Errorf("insert a message to commit late: %w", err), tx.Rollback())
	}
	id, err := result.LastInsertId()
	if err != nil {
		settle()
		return errors.Join(fmt.Errorf("read the id of a late commit: %w", err), tx.Rollback())
	}
	r.stats.Late++
	r.waiting.Go(func() {
		defer settle()
		pause(r.done, item.Late)
		if err := tx.Commit(); err != nil {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.lateErr = errors.Join(r.lateErr, fmt.Errorf("commit message %d late: %w", id, err))
		}
	})
	return r.note(id, item)
}

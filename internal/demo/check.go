package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"text/tabwriter"

	"github.com/jackc/pgx/v5"

	"msgexchange/internal/kafka"
	"msgexchange/internal/simulate"
)

// result is one line of the closing table.
type result struct {
	what      string
	want, got any
	faults    []string // up to a few, in words
}

func (r result) ok() bool { return len(r.faults) == 0 && reflect.DeepEqual(r.want, r.got) }

const shownFaults = 5 // faults of one check that are printed

// check compares what the product did with the expected end, by queries of
// its own.
func (p *place) check(ctx context.Context, want *simulate.Expected, stats simulate.Stats) ([]result, error) {
	var all []result
	for _, step := range []func(context.Context, *simulate.Expected, simulate.Stats) ([]result, error){
		p.checkMessages, p.checkFlights, p.checkChanges, p.checkStates, p.checkMarks,
	} {
		r, err := step(ctx, want, stats)
		if err != nil {
			return nil, err
		}
		all = append(all, r...)
	}
	return all, nil
}

func (p *place) checkMessages(ctx context.Context, want *simulate.Expected, stats simulate.Stats) ([]result, error) {
	rows, err := p.pool.Query(ctx, `SELECT msg_id, state, coalesce(error_class, ''), coalesce(first_error_class, ''), coalesce(outcome, '')
		FROM msgx.proc_state ORDER BY msg_id`)
	if err != nil {
		return nil, fmt.Errorf("read outcomes: %w", err)
	}
	got := make(map[int64]simulate.Outcome)
	var id int64
	var o simulate.Outcome
	_, err = pgx.ForEachRow(rows, []any{&id, &o.State, &o.ErrorClass, &o.FirstClass, &o.Outcome}, func() error {
		got[id] = o
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read outcomes: %w", err)
	}
	var released, open int
	err = p.pool.QueryRow(ctx, `SELECT coalesce(sum(hi - lo + 1) FILTER (WHERE state = 'RELEASED'), 0), coalesce(sum(hi - lo + 1) FILTER (WHERE state = 'OPEN'), 0)
		FROM msgx.inbox_hole`).Scan(&released, &open)
	if err != nil {
		return nil, fmt.Errorf("read holes: %w", err)
	}
	var disorder, innocent int
	err = p.pool.QueryRow(ctx, `SELECT (SELECT count(*) FROM (SELECT msg_id, lag(msg_id) OVER (ORDER BY event_id) AS before
			FROM msgx.msg_event WHERE target = 'KAFKA:msg') AS e WHERE e.msg_id < e.before),
		(SELECT count(*) FROM msgx.proc_state WHERE attempts > 0 AND state <> 'DEAD') + (SELECT count(*) FROM msgx.msg_event WHERE attempts > 0)
			+ (SELECT count(*) FROM msgx.proc_state WHERE backfill_attempts > 0)`).Scan(&disorder, &innocent)
	if err != nil {
		return nil, fmt.Errorf("read order and attempts: %w", err)
	}
	all := []result{
		{what: "messages taken, each once", want: stats.Rows, got: len(got)},
		{what: "changes in the order of message ids (steps back)", want: 0, got: disorder},
		{what: "attempts counted against what is not at fault", want: 0, got: innocent},
		{what: "ids released as holes", want: stats.Burnt, got: released},
		{what: "outcomes that differ from the model's", want: 0, got: 0},
	}
	last := &all[len(all)-1]
	diffs := simulate.CompareMessages(want.Messages, got)
	last.got, last.faults = len(diffs), words(diffs)
	ends := make(map[string]int)
	for _, c := range (&simulate.Expected{Messages: got}).Counts() {
		ends[c.End] = c.N
	}
	for _, c := range want.Counts() {
		all = append(all, result{what: "  " + c.End, want: c.N, got: ends[c.End]})
	}
	return all, nil
}

func (p *place) documents(ctx context.Context) (map[int64]json.RawMessage, error) {
	rows, err := p.pool.Query(ctx, `SELECT flid, document FROM msgx.flight_document(ARRAY(SELECT flid FROM msgx.flight_schd))`)
	if err != nil {
		return nil, fmt.Errorf("read flights: %w", err)
	}
	got := make(map[int64]json.RawMessage)
	var flid int64
	var doc json.RawMessage
	_, err = pgx.ForEachRow(rows, []any{&flid, &doc}, func() error {
		got[flid] = slices.Clone(doc)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read flights: %w", err)
	}
	return got, nil
}

func (p *place) checkFlights(ctx context.Context, want *simulate.Expected, _ simulate.Stats) ([]result, error) {
	got, err := p.documents(ctx)
	if err != nil {
		return nil, err
	}
	diffs, err := simulate.CompareFlights(want.Flights, got)
	if err != nil {
		return nil, err
	}
	var mismatches int
	if err := p.pool.QueryRow(ctx, `SELECT count(*) FROM msgx.flight_verify(0, 2000000000)`).Scan(&mismatches); err != nil {
		return nil, fmt.Errorf("verify flights: %w", err)
	}
	return []result{
		{what: "flights", want: len(want.Flights), got: len(got)},
		{what: "places where flights differ from the model's", want: 0, got: len(diffs), faults: words(diffs)},
		{what: "flights that differ from the fold of the log", want: 0, got: mismatches},
	}, nil
}

// checkChanges reads the topic msg back: every event once or again, in order
// for each flight.
func (p *place) checkChanges(ctx context.Context, want *simulate.Expected, _ simulate.Stats) ([]result, error) {
	seen := make(map[int64]bool)
	newest := make(map[string]int64)
	repeats, disorder := 0, 0
	err := kafka.Scan(ctx, []string{p.broker}, "msg", func(c kafka.Consumed) error {
		id, err := strconv.ParseInt(c.Header("ce_id"), 10, 64)
		if err != nil {
			return fmt.Errorf("record %d/%d: ce_id: %w", c.Partition, c.Offset, err)
		}
		switch {
		case seen[id]:
			repeats++
		case id < newest[string(c.Key)]:
			disorder++
		}
		seen[id] = true
		newest[string(c.Key)] = max(newest[string(c.Key)], id)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read topic msg back: %w", err)
	}
	repeatsWanted, allowed := 0, ""
	if p.o.Trouble.any() {
		// Delivery is at least once; each repeat was recognised by its id.
		repeatsWanted, allowed = repeats, ", which trouble may cause"
	}
	return []result{
		{what: "changes on topic msg, repeats aside", want: want.MsgEvents, got: len(seen)},
		{what: "changes out of order for their flight", want: 0, got: disorder},
		{what: "repeats on topic msg" + allowed, want: repeatsWanted, got: repeats},
	}, nil
}

// checkStates reads the topic schd back: the last record of each flight is the
// flight, or null for a deleted one.
func (p *place) checkStates(ctx context.Context, want *simulate.Expected, _ simulate.Stats) ([]result, error) {
	last := make(map[int64]json.RawMessage)
	records := 0
	err := kafka.Scan(ctx, []string{p.broker}, "schd", func(c kafka.Consumed) error {
		flid, err := strconv.ParseInt(string(c.Key), 10, 64)
		if err != nil {
			return fmt.Errorf("record %d/%d: key: %w", c.Partition, c.Offset, err)
		}
		last[flid] = slices.Clone(c.Value)
		records++
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read topic schd back: %w", err)
	}
	tombstones := 0
	live := make(map[int64]json.RawMessage)
	for flid, doc := range last {
		if doc == nil {
			tombstones++
		} else {
			live[flid] = doc
		}
	}
	active := make(map[int64]json.RawMessage)
	for flid, doc := range want.Flights {
		var head struct {
			State string `json:"state"`
		}
		if err := json.Unmarshal(doc, &head); err != nil {
			return nil, fmt.Errorf("expected flight %d: %w", flid, err)
		}
		if head.State == "ACTIVE" {
			active[flid] = doc
		}
	}
	diffs, err := simulate.CompareFlights(active, live)
	if err != nil {
		return nil, err
	}
	return []result{
		{what: "flights whose last record on topic schd is their state", want: want.Active, got: len(live), faults: words(diffs)},
		{what: "flights whose last record on topic schd is a tombstone", want: want.Deleted, got: tombstones},
		{what: "records on topic schd, merged from " + strconv.Itoa(want.MsgEvents) + " changes", want: records, got: records},
	}, nil
}

func (p *place) checkMarks(ctx context.Context, _ *simulate.Expected, stats simulate.Stats) ([]result, error) {
	var rows, marked int
	err := p.box.QueryRowContext(ctx, `SELECT COUNT(*), COALESCE(SUM(CMINMSGS_DATE_PROCESSED IS NOT NULL AND CMINMSGS_STATUS = 'PROCESSED'), 0) FROM cminmsgs`).
		Scan(&rows, &marked)
	if err != nil {
		return nil, fmt.Errorf("read marks: %w", err)
	}
	return []result{
		{what: "rows in the mailbox", want: stats.Rows, got: rows},
		{what: "of them marked", want: stats.Rows, got: marked},
	}, nil
}

func words[T fmt.Stringer](list []T) []string {
	var out []string
	for _, d := range list[:min(len(list), shownFaults)] {
		out = append(out, d.String())
	}
	return out
}

// table prints the results; true when all hold.
func table(out io.Writer, results []result) bool {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	all := true
	fmt.Fprintln(w, "check\texpected\tfound\t")
	for _, r := range results {
		mark := "ok"
		if !r.ok() {
			mark, all = "WRONG", false
		}
		fmt.Fprintf(w, "%s\t%v\t%v\t%s\n", r.what, r.want, r.got, mark)
	}
	if err := w.Flush(); err != nil {
		return false
	}
	for _, r := range results {
		for _, f := range r.faults {
			fmt.Fprintf(out, "  %s: %s\n", r.what, f)
		}
	}
	return all
}

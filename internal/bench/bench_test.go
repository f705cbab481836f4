package bench_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"msgexchange/internal/bench"
	"msgexchange/internal/pgtest"
)

// TestRun: a small run measures everything, and the naive loop does the same
// work as the pump (it fails otherwise). How fast is not asserted.
func TestRun(t *testing.T) {
	server := os.Getenv(pgtest.Env)
	if server == "" {
		t.Fatal(pgtest.HowToRun)
	}
	report, err := bench.Run(t.Context(), bench.Options{PGURL: server, Messages: 200, Flights: 20, History: []int{100, 1000}, Rounds: 5, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"limit: commits of one small update",
		"naive loop, a transaction a message",
		"pump, batches of 1",
		"pump, batches of 50",
		"pump, batches of 200",
		"limit: commits of one small update, commits 1 ms slower",
		"naive loop, a transaction a message, commits 1 ms slower",
		"pump, batches of 50, commits 1 ms slower",
		"limit: round trip of SELECT 1",
		"pump_next, 100 finished, not vacuumed",
		"pump_apply of one, 100 finished, not vacuumed",
		"pump_next, 1000 finished, not vacuumed",
		"pump_apply of one, 1000 finished, not vacuumed",
		"pump_next, 100 finished, vacuumed",
		"pump_apply of one, 100 finished, vacuumed",
		"pump_next, 1000 finished, vacuumed",
		"pump_apply of one, 1000 finished, vacuumed",
		"limit: bare insert, pages of 50",
		"inbox_advance, pages of 50",
		"limit: bare insert, pages of 1000",
		"inbox_advance, pages of 1000",
		"limit: 1000 records into a bare table",
		"schedule of 1000 new flights",
		"schedule of 1000 flights as they are",
		"schedule of 1000 flights at other gates",
		"limit: encoding/xml, FLOP of 2 KB",
		"decode, FLOP of 2 KB",
		"limit: encoding/xml, DNLD of 1000 flights",
		"decode, DNLD of 1000 flights",
	}
	var got []string
	for _, r := range report.Results {
		got = append(got, r.What)
		limit := strings.HasPrefix(r.What, "limit: ")
		if r.Value <= 0 || limit != (r.Of == "") || limit != (r.Ratio == 0) || r.Ratio < 0 {
			t.Errorf("%+v", r)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("measured\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if report.Cores < 1 || report.PostgreSQL == "" || report.Fsync == "" {
		t.Errorf("on %+v", report)
	}
}

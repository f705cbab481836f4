package bench_test

import (
	"os"
	"testing"
	"time"

	"msgexchange/internal/bench"
	"msgexchange/internal/pgtest"
)

// TestRun: a small run measures everything, and the naive loop does the same
// work as the pump (it fails otherwise).
func TestRun(t *testing.T) {
	server := os.Getenv(pgtest.Env)
	if server == "" {
		t.Fatal(pgtest.HowToRun)
	}
	results, err := bench.Run(t.Context(), bench.Options{PGURL: server, Messages: 300, Flights: 20, History: []int{100, 1000}, Rounds: 5, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	if len(results) != 9 {
		t.Errorf("%d figures", len(results))
	}
	for _, r := range results {
		if r.Value <= 0 || (r.Of != "") != (r.Ratio > 0) {
			t.Errorf("%+v", r)
		}
	}
}

package engine_test

import (
	"testing"
	"time"

	"msgexchange/internal/simulate"
)

// TestWholeProtocol: a download of 1,000 flights, the same as an answer, then
// 5,000 events of all kinds; whatever the simulator's model says must have come
// of it, outcome for outcome, document for document.
func TestWholeProtocol(t *testing.T) {
	w := newWorld(t, nil)
	zone := w.config().OperationDay.Zone
	day, err := simulate.New(simulate.Options{Seed: 11, Messages: 5002, Flights: 1000, Zone: zone})
	if err != nil {
		t.Fatal(err)
	}
	writer, err := simulate.Open(w.my.DSN, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := writer.Close(); err != nil {
			t.Error(err)
		}
	}()
	model := simulate.NewModel(zone)
	changed := map[string]int{} // by kind
	stats, err := writer.Write(t.Context(), day.Protocol(5000), func(id int64, item simulate.Item) error {
		o := model.Apply(id, item)
		if o.Outcome == "applied" {
			changed[item.Kind]++
		}
		if item.Kind == "SCHD/RESP" && o.Outcome != "no-change" {
			t.Errorf("the answer: %+v", o)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	// SCHD/DNLD and every event of the matrix.
	kinds := 1
	for _, r := range matrixRows() {
		if r.typ == "FLOP" && r.msg > 0 {
			kinds++
			if changed["FLOP/"+r.styp] == 0 {
				t.Errorf("no FLOP/%s changed a flight", r.styp)
			}
		}
	}
	if len(changed) != kinds {
		t.Errorf("%d kinds changed flights, want %d", len(changed), kinds)
	}
	w.start()
	w.idle(stats.LastID)
	w.equals(model)
}

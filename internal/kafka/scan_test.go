package kafka_test

import (
	"errors"
	"slices"
	"testing"

	"msgexchange/internal/kafka"
)

// TestScan: it ends where the topic ended, also when the beginning or all of a
// partition was deleted, and with the first error of its caller.
func TestScan(t *testing.T) {
	c := one(t, "scanned")
	p := open(t, c.ListenAddrs())
	if got := read(t, c.ListenAddrs(), "scanned"); len(got) != 0 {
		t.Errorf("%v", got)
	}
	acked(t, p.Produce(t.Context(), records("scanned", 10)))
	var n int
	stop := errors.New("enough")
	err := kafka.Scan(t.Context(), c.ListenAddrs(), "scanned", func(kafka.Consumed) error {
		n++
		if n == 3 {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) || n != 3 {
		t.Errorf("after %d: %v", n, err)
	}
	if err := c.DeleteRecords("scanned", 0, 8); err != nil {
		t.Fatal(err)
	}
	if got := values(read(t, c.ListenAddrs(), "scanned")); !slices.Equal(got, []string{"8", "9"}) {
		t.Errorf("%v", got)
	}
	if err := c.DeleteRecords("scanned", 0, 10); err != nil {
		t.Fatal(err)
	}
	if got := read(t, c.ListenAddrs(), "scanned"); len(got) != 0 {
		t.Errorf("%v", got)
	}
	if _, err := kafka.ReadAll(t.Context(), c.ListenAddrs(), "missing"); err == nil {
		t.Error("a topic that does not exist has no records")
	}
}

package demo

import (
	"slices"
	"testing"
	"time"
)

// TestPlan: the trouble of a run is a function of the seed alone, and has a bit
// of everything in it.
func TestPlan(t *testing.T) {
	some := Trouble{Some: true}
	if a, b := some.plan(1), some.plan(1); !slices.Equal(a, b) {
		t.Error("the same seed, another plan")
	}
	if a, b := some.plan(1), some.plan(2); slices.Equal(a, b) {
		t.Error("another seed, the same plan")
	}
	for _, k := range []kind{killActive, killStandby, freeze, stopPG, stopMySQL, stopKafka} {
		if !slices.ContainsFunc(some.plan(3), func(b blow) bool { return b.kind == k && b.after > 0 }) {
			t.Errorf("no %s", k)
		}
	}
	if n := len(Trouble{Kills: 200}.plan(1)); n != 200 {
		t.Errorf("%d kills", n)
	}
	outages := Trouble{Outages: 31 * time.Second}.plan(1)
	if len(outages) != 3 || slices.ContainsFunc(outages, func(b blow) bool { return b.lasts != 31*time.Second }) {
		t.Errorf("outages %v", outages)
	}
	if (Trouble{Servers: "x"}).any() || !some.any() {
		t.Error("trouble where there is none, or none where there is")
	}
}

// TestParking: the writer stands still while it is held, and only then.
func TestParking(t *testing.T) {
	p := newParking()
	passed := make(chan int, 100)
	go func() {
		for i := range 100 {
			p.pass()
			passed <- i
		}
		p.end()
	}()
	release := p.hold()
	n := len(passed)
	time.Sleep(20 * time.Millisecond)
	if len(passed) > n {
		t.Error("it went on while it was held")
	}
	release()
	for i := range 100 {
		if got := <-passed; got != i {
			t.Fatalf("%d instead of %d", got, i)
		}
	}
	p.hold()() // it writes no more: nothing to wait for
}

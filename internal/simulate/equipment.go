package simulate

import (
	"fmt"
	"strconv"
	"time"
)

// What is done to an aircraft on the ground, and with what.

// listOf sends a list of one or two members, rarely an empty one or none at
// all: both clear it.
func listOf(name string, make func(g *Generator, l *leg, n int) []node) func(*Generator, *leg) []node {
	return func(g *Generator, l *leg) []node {
		switch roll := g.rng.IntN(50); {
		case roll == 0:
			return nil
		case roll < 3:
			return []node{el(name, "")}
		case roll < 15:
			return make(g, l, 2)
		}
		return make(g, l, 1)
	}
}

// membersOf sends members by key, sometimes a blank one, which clears the list.
func membersOf(name string, blank int, make func(g *Generator, l *leg, n int) []node) func(*Generator, *leg) []node {
	return func(g *Generator, l *leg) []node {
		if g.chance(blank) {
			return []node{el(name, "")}
		}
		return make(g, l, 1+g.rng.IntN(2))
	}
}

// indicator is D or I, as the flight is.
func (l *leg) indicator() string {
	if l.flin == "I" {
		return "I"
	}
	return "D"
}

func (g *Generator) belts(l *leg, n int) []node {
	var nodes []node
	for i := range n {
		belt := box("CLDT", el("BELT", fmt.Sprintf("b%d", 1+g.rng.IntN(9))), el("BCLS", []string{"Y", "F", ""}[g.rng.IntN(3)]),
			el("PCOT", dt(l.due().Add(10*time.Minute))), el("PCCT", dt(l.due().Add(50*time.Minute))))
		if g.chance(400) {
			belt.kids = append(belt.kids, el("FBAG", dt(g.clock)), g.maybe(el("LBAG", dt(g.clock.Add(20*time.Minute))), 500))
		}
		belt.kids = append(belt.kids, el("BTYP", l.indicator()))
		nodes = append(nodes, belt.with("CLNO", strconv.Itoa(i+1)))
	}
	return nodes
}

func (g *Generator) chutes(l *leg, n int) []node {
	var nodes []node
	for i := range n {
		open := l.due().Add(-2 * time.Hour)
		chute := box("CHDT", el("CHUT", fmt.Sprintf("K%02d", 1+g.rng.IntN(20))), el("CCLS", []string{"Y", "C", "F"}[g.rng.IntN(3)]),
			el("PCBT", dt(open)), el("PCET", dt(l.due().Add(-20*time.Minute))))
		if g.chance(300) {
			chute.kids = append(chute.kids, el("CBTM", dt(open.Add(5*time.Minute))), g.maybe(el("CETM", dt(g.clock)), 500))
		}
		chute.kids = append(chute.kids, el("CTYP", []string{l.indicator(), l.indicator(), "E"}[g.rng.IntN(3)]))
		nodes = append(nodes, chute.with("CHNO", strconv.Itoa(i+1)))
	}
	return nodes
}

func (g *Generator) chocks(l *leg, n int) []node {
	var nodes []node
	for i := range n {
		nodes = append(nodes, box("CHOT", el("CHTM", dt(g.clock.Add(time.Duration(i)*40*time.Minute))), el("CHID", []string{"ON", "OFF"}[i%2]), el("CHST", l.stand)).
			with("CSNO", strconv.Itoa(i+1)))
	}
	return nodes
}

func (g *Generator) bridges(_ *leg, n int) []node {
	var nodes []node
	for i := range n {
		bridge := box("ABTM", el("ABDG", fmt.Sprintf("J%02d", 1+g.rng.IntN(40))), el("ABOP", []string{"A", "D"}[g.rng.IntN(2)]), el("AOTM", dt(g.clock)))
		if g.chance(30) {
			bridge = bridge.with("ARM", "2")
		}
		nodes = append(nodes, bridge.with("ASNO", strconv.Itoa(i+1)))
	}
	return nodes
}

var services = []string{"GPU", "ACU", "WATR", "FUEL", "CLEN", "DEIC"}

func (g *Generator) services(l *leg, n int) []node {
	var nodes []node
	first := g.rng.IntN(len(services))
	for i := range n {
		s := box("SRVT", el("SRTC", services[(first+i)%len(services)]), el("SRQT", strconv.Itoa(g.rng.IntN(4))))
		if g.chance(600) {
			s.kids = append(s.kids, el("SRST", dt(g.clock)), g.maybe(el("SRET", dt(g.clock.Add(25*time.Minute))), 300))
		}
		if g.chance(500) {
			s.kids = append(s.kids, el("SRPR", strconv.Itoa(l.carrier.field)))
		}
		if g.chance(80) {
			s.kids = append(s.kids, el("SANR", "LATE"), g.maybe(el("SARR", g.remark()), 300))
		}
		nodes = append(nodes, s)
	}
	return nodes
}

// vips are persons, some with services, some of whom services are taken back;
// most are sent without a word of services, and keep them.
func (g *Generator) vips(_ *leg, n int) []node {
	var nodes []node
	first := g.rng.IntN(4)
	for i := range n {
		v := box("VIPF", el("VPCD", fmt.Sprintf("VP%03d", (first+i)%4)), g.maybe(el("VFES", strconv.Itoa(g.rng.IntN(9))), 150))
		switch roll := g.rng.IntN(10); {
		case roll == 0:
			v.kids = append(v.kids, el("VIPT", ""))
		case roll < 5:
			which := g.rng.IntN(3)
			for s := range 1 + g.rng.IntN(2) {
				v.kids = append(v.kids, box("VIPT", el("VSCD", []string{"CAR", "LNGE", "ESCT"}[(which+s)%3]),
					g.maybe(el("VTQY", strconv.Itoa(g.rng.IntN(5))), 200), el("VTST", dt(g.clock)), g.maybe(el("VTET", dt(g.clock.Add(time.Hour))), 300)))
			}
		}
		nodes = append(nodes, v)
	}
	return nodes
}

// pushes are of the flight's stand and others; an empty time takes one back.
func (g *Generator) pushes(l *leg, n int) []node {
	var nodes []node
	for i := range n {
		nodes = append(nodes, box("PSHT", g.maybe(el("PSTM", dt(g.clock.Add(15*time.Minute))), 120), g.maybe(el("PSID", "IN"), 200), el("PUST", g.standFor(l, i))).
			with("PSHN", strconv.Itoa(i+1)))
	}
	return nodes
}

func (g *Generator) tractors(l *leg, n int) []node {
	var nodes []node
	for i := range n {
		nodes = append(nodes, box("TIPT", g.maybe(el("TRTM", dt(g.clock)), 120), el("TRST", g.standFor(l, i))))
	}
	return nodes
}

// standFor is the flight's own stand, or for i above 0 one beside it.
func (g *Generator) standFor(l *leg, i int) string {
	if i == 0 {
		return l.stand
	}
	return fmt.Sprintf("X%02d", 1+g.rng.IntN(5))
}

package simulate

import (
	"fmt"
	"strconv"
	"time"
)

// event is a kind of FLOP: how often it comes, for which flights, and when
// around the expected time of the flight.
type event struct {
	styp     string
	weight   int
	mvin     string // "" for both
	from, to int    // minutes after the scheduled time
	body     func(g *Generator, l *leg) []node
}

// timed sends a time some minutes around now, sometimes empty, sometimes not
// there at all: both clear it.
func timed(name string, low, high int) func(*Generator, *leg) []node {
	return func(g *Generator, _ *leg) []node {
		switch roll := g.rng.IntN(100); {
		case roll < 4:
			return []node{el(name, "")}
		case roll < 6:
			return nil
		}
		t := g.clock.Add(time.Duration(low+g.rng.IntN(high-low+1)) * time.Minute)
		form := dt(t)
		if g.chance(10) {
			form = t.Format("02Jan061504")
		}
		return []node{el(name, form)}
	}
}

// expected sends the time the flight is expected, with some drift.
func expected(name string) func(*Generator, *leg) []node {
	return func(g *Generator, l *leg) []node {
		if g.chance(25) {
			return []node{el(name, "")}
		}
		if g.chance(400) {
			l.delay = max(-20, l.delay+g.rng.IntN(31)-10)
		}
		return []node{el(name, dt(l.due()))}
	}
}

// optional sends a value, sometimes empty, which clears it.
func optional(name string, empty int, value func(*Generator, *leg) string) func(*Generator, *leg) []node {
	return func(g *Generator, l *leg) []node {
		if g.chance(empty) {
			return []node{el(name, "")}
		}
		return []node{el(name, value(g, l))}
	}
}

func oneOf(values ...string) func(*Generator, *leg) string {
	return func(g *Generator, _ *leg) string { return values[g.rng.IntN(len(values))] }
}

func count(low, high int) func(*Generator, *leg) string {
	return func(g *Generator, _ *leg) string { return strconv.Itoa(low + g.rng.IntN(high-low+1)) }
}

// events are the FLOPs of an airport by how often they come.
var events = []event{
	{"ESTT", 90, "", -180, 40, expected("ESTT")},
	{"ACTT", 70, "", -10, 60, timed("ACTT", -6, 0)},
	{"FTSS", 70, "", -150, 60, optional("FTSS", 10, oneOf("SCHED", "CKIN", "BORD", "DELAY", "LAND", "DEPT", "ONBK"))},
	{"EOBT", 55, "D", -150, 20, timed("EOBT", 10, 60)},
	{"COBT", 50, "D", -120, 20, timed("COBT", 10, 50)},
	{"TOBT", 60, "D", -120, 20, timed("TOBT", 10, 45)},
	{"CTOT", 50, "D", -120, 30, timed("CTOT", 20, 70)},
	{"BOTM", 40, "D", -60, 0, timed("BOTM", -2, 5)},
	{"LACL", 30, "D", -35, 10, timed("LACL", -2, 3)},
	{"FINT", 30, "D", -30, 15, timed("FINT", -2, 3)},
	{"PORT", 30, "", -60, 60, door},
	{"RUNW", 30, "", -60, 30, optional("RUNW", 20, oneOf("05", "23", "05L", "23R"))},
	{"RENO", 25, "", -180, 20, optional("RENO", 20, func(g *Generator, l *leg) string {
		l.reno = fmt.Sprintf("B%d", 1000+g.rng.IntN(8999))
		return l.reno
	})},
	{"STND", 25, "", -120, 30, optional("STND", 20, func(g *Generator, l *leg) string {
		l.stand = g.standCode()
		return l.stand
	})},
	{"PSDT", 28, "", -180, 40, standList},
	{"GTDT", 26, "D", -180, 10, gateList},
	{"CKDT", 22, "D", -240, -30, deskList},
	{"DELY", 20, "", -120, 60, delayList},
	{"CLDT", 16, "A", -60, 60, listOf("CLDT", (*Generator).belts)},
	{"CHDT", 14, "D", -150, 10, listOf("CHDT", (*Generator).chutes)},
	{"CHOT", 14, "", -60, 60, listOf("CHOT", (*Generator).chocks)},
	{"ABTM", 12, "", -60, 60, listOf("ABTM", (*Generator).bridges)},
	{"SRVT", 14, "", -120, 60, membersOf("SRVT", 60, (*Generator).services)},
	{"VIPF", 8, "", -240, 30, membersOf("VIPF", 60, (*Generator).vips)},
	{"PSHT", 14, "D", -40, 40, membersOf("PSHT", 40, (*Generator).pushes)},
	{"TIPT", 10, "D", -60, 20, membersOf("TIPT", 40, (*Generator).tractors)},
	{"REMC", 25, "", -180, 60, optional("REMC", 80, func(g *Generator, _ *leg) string { return g.remark() })},
	{"EXSS", 25, "", -150, 60, externalStatus},
	{"IEST", 15, "", -120, 30, timed("IEST", 5, 60)},
	{"PEDT", 15, "A", -200, -40, timed("PEDT", 0, 60)},
	{"PADT", 15, "A", -180, -20, timed("PADT", -5, 0)},
	{"NEAT", 15, "D", -30, 120, timed("NEAT", 60, 180)},
	{"NAAT", 15, "D", 40, 240, timed("NAAT", -5, 0)},
	{"EGSR", 10, "D", -15, 20, timed("EGSR", -1, 2)},
	{"EGST", 12, "D", -10, 25, timed("EGST", -1, 3)},
	{"APPT", 6, "", -120, 30, timed("APPT", 0, 60)},
	{"ACFT", 8, "", -240, -30, func(g *Generator, l *leg) []node {
		m := fleet[g.rng.IntN(len(fleet))]
		l.acft, l.seats = m.code, m.seats
		return []node{el("ACFT", m.code)}
	}},
	{"MAXP", 8, "", -240, -30, optional("MAXP", 50, count(70, 310))},
	{"HNAG", 8, "", -240, 0, agents},
	{"TAOP", 8, "", -240, 0, turnaround},
	{"CNCL", 8, "", -180, 60, cancellation},
	{"TRML", 6, "", -240, -30, optional("TRML", 20, oneOf("TA", "TB"))},
	{"VIPP", 6, "", -240, 0, func(g *Generator, _ *leg) []node {
		var nodes []node
		if g.chance(850) {
			nodes = append(nodes, g.maybe(el("VIPP", strconv.Itoa(g.rng.IntN(12))), 100))
		}
		if g.chance(700) {
			nodes = append(nodes, g.maybe(el("VIPR", strconv.Itoa(1+g.rng.IntN(5))), 100))
		}
		return nodes
	}},
	{"PAXC", 6, "D", -30, 10, optional("PAXC", 30, count(20, 300))},
	{"LBNO", 4, "D", -30, 10, optional("LBNO", 30, count(0, 250))},
	{"LBWT", 4, "D", -30, 10, optional("LBWT", 30, func(g *Generator, _ *leg) string {
		return fmt.Sprintf("%d.%02d", g.rng.IntN(4000), g.rng.IntN(100))
	})},
	{"ERUT", 6, "", -300, 0, func(g *Generator, l *leg) []node {
		if g.chance(500) {
			l.via = g.viaOf(l)
		} else {
			l.via = ""
		}
		return l.routes("ERUT")
	}},
	{"FDIV", 5, "", -60, 30, func(g *Generator, _ *leg) []node {
		switch roll := g.rng.IntN(10); {
		case roll == 0:
			return nil
		case roll == 1:
			return []node{el("FDIV", "")}
		case roll == 2:
			return []node{el("FDIV", "").with("DDES", "").with("DDIR", "TO")}
		}
		reason := ""
		if g.chance(700) {
			reason = g.remark()
		}
		return []node{el("FDIV", reason).with("DDES", stations[g.rng.IntN(domestic)].code).
			with("DDIR", []string{"TO", "FROM"}[g.rng.IntN(2)])}
	}},
	{"FRET", 4, "D", 0, 60, coded("FRET", "REID", "A", "G")},
	{"FLAB", 4, "A", -15, 20, coded("FLAB", "ARES", "O", "G")},
	{"FLTY", 2, "", -240, 0, func(g *Generator, l *leg) []node {
		l.flty = []string{"G", "P", "H", "C"}[g.rng.IntN(4)]
		return []node{el("FLTY", l.flty)}
	}},
	{"FLIN", 2, "", -240, 0, func(g *Generator, l *leg) []node {
		l.flin = []string{"D", "I", "M"}[g.rng.IntN(3)]
		return []node{el("FLIN", l.flin)}
	}},
	{"CSOP", 3, "", -240, 0, masterFlight},
	{"CSFT", 2, "", -240, 0, masterFlight},
	{"FDEL", 3, "", -300, 60, func(_ *Generator, _ *leg) []node { return []node{el("FDEL", "")} }},
}

func door(g *Generator, _ *leg) []node {
	id := []string{"O", "C"}[g.rng.IntN(2)]
	return []node{box("PORT", g.maybe(el("POTM", dt(g.clock)), 50), el("POID", id))}
}

// coded is a code with a reason in words; either the whole is empty or the code is there.
func coded(name, attribute string, codes ...string) func(*Generator, *leg) []node {
	return func(g *Generator, _ *leg) []node {
		switch roll := g.rng.IntN(10); {
		case roll == 0:
			return nil
		case roll == 1:
			return []node{el(name, "")}
		case roll == 2:
			return []node{el(name, "").with(attribute, "")}
		}
		reason := ""
		if g.chance(700) {
			reason = g.remark()
		}
		return []node{el(name, reason).with(attribute, codes[g.rng.IntN(len(codes))])}
	}
}

func externalStatus(g *Generator, _ *leg) []node {
	code := el("EXSC", []string{"PLAN", "OPEN", "BOARD", "CLOSE", "END"}[g.rng.IntN(5)])
	switch roll := g.rng.IntN(10); {
	case roll == 0:
		return []node{el("EXSC", ""), el("EXSR", g.remark())}
	case roll < 5:
		return []node{code}
	case roll == 5:
		return []node{code, el("EXSR", "")}
	}
	return []node{code, el("EXSR", g.remark())}
}

func agents(g *Generator, l *leg) []node {
	var nodes []node
	for _, a := range []struct {
		name string
		id   int
	}{{"FHAG", l.carrier.field}, {"PHAG", l.carrier.pax}, {"MHAG", l.carrier.mechanic}} {
		if g.chance(850) {
			nodes = append(nodes, g.maybe(el(a.name, strconv.Itoa(a.id+g.rng.IntN(3))), 80))
		}
	}
	return nodes
}

// turnaround links two flights; a missing or empty part breaks the link.
func turnaround(g *Generator, l *leg) []node {
	other := l.pair
	if other == nil || g.chance(300) {
		other = g.anyLeg()
	}
	id := el("TAID", strconv.FormatInt(other.flid, 10))
	if g.chance(100) {
		return []node{el("TAOP", other.carrier.code), id}
	}
	return []node{el("TAOP", other.carrier.code), el("TAFL", other.flno), g.maybe(id, 150)}
}

// masterFlight makes a flight a code share of another, or ends that.
func masterFlight(g *Generator, _ *leg) []node {
	if g.chance(200) {
		return []node{el("CSOP", ""), el("CSFT", ""), el("MAID", "")}
	}
	master := g.anyLeg()
	return []node{el("CSOP", master.carrier.code), el("CSFT", master.flno), el("MAID", strconv.FormatInt(master.flid, 10))}
}

// cancellation cancels a flight, or withdraws that.
func cancellation(g *Generator, l *leg) []node {
	l.cancelled = !l.cancelled
	if l.cancelled {
		return []node{el("CNCL", dt(g.clock))}
	}
	if g.chance(300) {
		return nil
	}
	return []node{el("CNCL", "")}
}

func standList(g *Generator, l *leg) []node {
	switch roll := g.rng.IntN(50); {
	case roll == 0:
		return nil
	case roll == 1:
		return []node{el("PSDT", "")}
	case roll < 15:
		return g.stands(l, 2+g.rng.IntN(2))
	}
	l.stand = g.standCode()
	return g.stands(l, 1)
}

func gateList(g *Generator, l *leg) []node {
	switch roll := g.rng.IntN(50); {
	case roll == 0:
		return nil
	case roll == 1:
		return []node{el("GTDT", "")}
	case roll < 10:
		return g.gates(l, 2)
	}
	if g.chance(500) {
		l.gate = g.gateCode(l)
	}
	return g.gates(l, 1)
}

func deskList(g *Generator, l *leg) []node {
	if g.chance(30) {
		return []node{el("CKDT", "")}
	}
	if g.chance(300) {
		l.desks = append(l.desks[:min(len(l.desks), 3):min(len(l.desks), 3)], fmt.Sprintf("%02d", 1+g.rng.IntN(48)))
	}
	return g.checkIns(l)
}

func delayList(g *Generator, l *leg) []node {
	if g.chance(80) {
		return []node{el("DELY", "")}
	}
	return g.delays(l, 1+g.rng.IntN(2))
}

// record writes a flight as a download carries it.
func (g *Generator) record(l *leg) node {
	r := box("FLTR", el("FLID", flid(g, l.flid)), el("ALCD", l.carrier.code))
	add := func(nodes ...node) { r.kids = append(r.kids, nodes...) }
	if l.carrier.sub != "" {
		add(el("ALSC", l.carrier.sub))
	}
	add(el("FLNO", l.flno), el("MVIN", l.mvin), el("SODT", dt(l.sodt)), el("FLTY", l.flty), el("FLIN", l.flin))
	add(l.routes("ROUT")...)
	add(el("ACFT", l.acft), el("RENO", l.reno))
	if l.pair != nil {
		add(el("TAOP", l.pair.carrier.code), el("TAFL", l.pair.flno), el("TAID", strconv.FormatInt(l.pair.flid, 10)))
	}
	add(el("TRML", l.terminal), el("MAXP", strconv.Itoa(l.seats)))
	if l.mvin == "D" && g.chance(500) {
		add(g.chutes(l, 1)...)
	}
	if l.mvin == "D" && g.chance(700) {
		add(g.gates(l, 1)...)
	}
	add(el("STND", l.stand))
	add(g.stands(l, 1)...)
	if l.mvin == "D" {
		add(g.checkIns(l)...)
	}
	add(el("PHAG", strconv.Itoa(l.carrier.pax)))
	if l.mvin == "A" && g.chance(500) {
		add(g.belts(l, 1)...)
	}
	add(el("FHAG", strconv.Itoa(l.carrier.field)), el("MHAG", strconv.Itoa(l.carrier.mechanic)))
	if l.master != nil {
		add(el("CSOP", l.master.carrier.code), el("CSFT", l.master.flno), el("MAID", strconv.FormatInt(l.master.flid, 10)))
	}
	if g.chance(60) {
		add(el("FDIV", ""))
	}
	add(l.routes("ERUT")...)
	add(el("EXSC", "PLAN"), el("FTSS", "SCHED"))
	if g.chance(80) {
		add(g.delays(l, 1)...)
	}
	if g.chance(60) {
		add(g.services(l, 2)...)
	}
	if g.chance(30) {
		add(g.vips(l, 2)...)
	}
	if l.mvin == "D" && g.chance(40) {
		add(g.pushes(l, 2)...)
		add(g.tractors(l, 1)...)
	}
	add(g.unknown(l)...)
	return r
}

// update writes what an RESP or ADFT may say about a flight that is known:
// some values, some empty elements, some lists, and little else.
func (g *Generator) update(l *leg) node {
	if g.chance(150) {
		if t := l.sodt.Add(time.Duration(5*(g.rng.IntN(7)-3)) * time.Minute); sameDay(l, t) {
			l.sodt = t
		}
	}
	r := box("FLTR", el("FLID", flid(g, l.flid)), el("SODT", dt(l.sodt)))
	if g.chance(300) {
		r = g.record(l)
	}
	have := map[string]bool{}
	for _, k := range r.kids {
		have[k.name] = true
	}
	add := func(perMille int, nodes ...node) {
		if g.chance(perMille) && len(nodes) > 0 && !have[nodes[0].name] {
			r.kids = append(r.kids, nodes...)
			have[nodes[0].name] = true
		}
	}
	add(400, g.maybe(el("ESTT", dt(l.due())), 200))
	add(150, g.maybe(el("ACTT", dt(g.clock)), 400))
	add(300, g.maybe(el("REMC", g.remark()), 300))
	add(300, g.maybe(el("FTSS", "DELAY"), 100))
	add(200, g.maybe(el("MAXP", strconv.Itoa(l.seats)), 200))
	add(200, g.maybe(el("STND", l.stand), 200))
	add(150, g.maybe(el("CTOT", dt(l.due().Add(15*time.Minute))), 300))
	add(100, g.maybe(el("TAID", ""), 1000))
	add(150, g.maybe(el("LBWT", fmt.Sprintf("%d.5", g.rng.IntN(3000))), 200))
	add(150, g.stands(l, 1+g.rng.IntN(2))...)
	add(100, g.gates(l, 1)...)
	add(100, el("CKDT", ""))
	add(100, el("GTDT", ""))
	add(120, g.delays(l, 1+g.rng.IntN(3))...)
	add(80, el("DELY", ""))
	add(80, g.belts(l, 1+g.rng.IntN(2))...)
	add(80, g.chutes(l, 1+g.rng.IntN(2))...)
	add(80, g.chocks(l, 1+g.rng.IntN(2))...)
	add(80, g.bridges(l, 1+g.rng.IntN(2))...)
	add(80, g.services(l, 1+g.rng.IntN(2))...)
	add(80, g.vips(l, 1+g.rng.IntN(2))...)
	add(80, g.pushes(l, 1+g.rng.IntN(2))...)
	add(80, g.tractors(l, 1+g.rng.IntN(2))...)
	for _, name := range []string{"CLDT", "CHDT", "CHOT", "ABTM", "SRVT", "VIPF", "PSHT", "TIPT"} {
		add(25, el(name, ""))
	}
	add(100, l.routes("ERUT")...)
	add(60, el("ROUT", ""))
	add(100, box("PORT", g.maybe(el("POTM", dt(g.clock)), 300), el("POID", "O")), box("PORT", el("POTM", ""), el("POID", "C")))
	add(60, el("FLAB", "复飞").with("ARES", "G"))
	add(60, el("FRET", ""))
	if g.chance(150) {
		r.kids = append(r.kids, g.unknown(l)...)
	}
	return r
}

// unknown are elements that no column takes: names nobody knows, some repeated.
func (g *Generator) unknown(l *leg) []node {
	var nodes []node
	if g.chance(40) {
		nodes = append(nodes, el("XPRK", "P"+strconv.Itoa(g.rng.IntN(9))+" 停车楼"))
	}
	if g.chance(40) {
		nodes = append(nodes, box("XCTX", el("ZONE", "Z"+strconv.Itoa(g.rng.IntN(9))), el("NOTE", "𠮷")).with("LVL", strconv.Itoa(g.rng.IntN(4))))
	}
	if l.mvin == "D" && g.chance(150) {
		for i := range 1 + g.rng.IntN(2) {
			nodes = append(nodes, box("XCRT", el("CART", fmt.Sprintf("K%02d", 1+g.rng.IntN(20))), el("PCBT", dt(l.sodt.Add(-2*time.Hour)))).with("CANO", strconv.Itoa(i+1)))
		}
	}
	return nodes
}

// flid writes a flight's number, sometimes with leading zeros.
func flid(g *Generator, id int64) string {
	if g.chance(5) {
		return fmt.Sprintf("%012d", id)
	}
	return strconv.FormatInt(id, 10)
}

// flop writes one event of one flight.
func (g *Generator) flop(l *leg, body []node) node {
	n := box("FLOP", el("FLID", flid(g, l.flid)))
	if g.chance(800) {
		n.kids = append(n.kids, el("FFID", l.ffid()))
	}
	n.kids = append(n.kids, body...)
	return n
}

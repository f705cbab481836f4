package simulate

import (
	"fmt"
	"slices"
	"strconv"
	"time"
)

// home is the simulated airport.
const home = "NNG"

// A carrier and the agents that serve it.
type carrier struct {
	code, sub            string
	pax, field, mechanic int
}

var carriers = []carrier{
	{"GX", "GX01", 300120, 300128, 300131}, {"CZ", "", 300121, 300128, 300132}, {"MU", "MU05", 300122, 300129, 300131},
	{"CA", "", 300123, 300129, 300133}, {"ZH", "ZH02", 300127, 300128, 300131}, {"MF", "", 300124, 300128, 300132},
	{"GJ", "", 300127, 300128, 300131}, {"HU", "", 300125, 300130, 300133}, {"3U", "", 300126, 300130, 300132},
	{"SC", "", 300121, 300129, 300131}, {"9C", "", 300120, 300130, 300132}, {"TG", "", 300127, 300129, 300133},
}

type station struct {
	code    string
	minutes int // of flight
	abroad  bool
}

var stations = []station{
	{"CAN", 70, false}, {"PEK", 200, false}, {"SHA", 155, false}, {"PVG", 160, false}, {"SZX", 75, false}, {"CTU", 110, false},
	{"KMG", 75, false}, {"XIY", 150, false}, {"HGH", 145, false}, {"WNZ", 140, false}, {"KHN", 110, false}, {"HAK", 60, false},
	{"SYX", 75, false}, {"CKG", 95, false}, {"WUH", 120, false}, {"NKG", 145, false}, {"SGN", 110, true}, {"BKK", 130, true},
	{"SIN", 220, true}, {"KUL", 205, true}, {"HAN", 55, true},
}

// domestic is how many of the stations, the first ones, are in the country.
const domestic = 16

type aircraft struct {
	code  string
	seats int
}

var fleet = []aircraft{{"32Q", 194}, {"320", 180}, {"319", 136}, {"7M8", 178}, {"738", 172}, {"E90", 98}, {"333", 303}, {"789", 290}}

// byHour is how many movements are scheduled in each hour of the day.
var byHour = []int{3, 1, 0, 0, 0, 1, 5, 9, 9, 8, 8, 8, 7, 8, 8, 8, 8, 9, 9, 9, 8, 7, 6, 4}

// leg is one flight as the generator knows it.
type leg struct {
	flid                               int64
	carrier                            carrier
	flno, mvin, flty, flin, acft, reno string
	seats                              int
	sodt                               time.Time
	station                            station
	via                                string
	terminal, stand, gate              string
	desks                              []string
	pair, master                       *leg
	delay                              int // minutes
	cancelled                          bool
	lastSTYP                           string // of the last FLOP sent for it
	lastBody                           []node
}

// due is when the flight is expected.
func (l *leg) due() time.Time { return l.sodt.Add(time.Duration(l.delay) * time.Minute) }

func (l *leg) ffid() string {
	return l.carrier.code + "-" + l.flno + "-" + l.mvin + "-" + dt(l.sodt) + "-" + l.flin
}

// planDay makes the flights of one operating day, in order of schedule.
func (g *Generator) planDay(n int) []*leg {
	legs := make([]*leg, 0, n+2)
	for len(legs) < n {
		room := n - len(legs)
		at := g.scheduled()
		switch roll := g.rng.IntN(100); {
		case room >= 2 && roll < 76:
			legs = append(legs, g.rotation(at)...)
		case room >= 2 && roll < 86:
			d := g.newLeg("D", at)
			legs = append(legs, d, g.codeShare(d))
		case roll < 93:
			legs = append(legs, g.newLeg("A", at))
		default:
			legs = append(legs, g.newLeg("D", at))
		}
	}
	slices.SortStableFunc(legs, func(a, b *leg) int { return a.sodt.Compare(b.sodt) })
	return legs
}

// scheduled draws a time of the day.
func (g *Generator) scheduled() time.Time {
	sum := 0
	for _, n := range byHour {
		sum += n
	}
	roll, hour := g.rng.IntN(sum), 0
	for roll >= byHour[hour] {
		roll -= byHour[hour]
		hour++
	}
	return g.at(hour, 5*g.rng.IntN(12))
}

// at is a wall-clock time of the current day.
func (g *Generator) at(hour, minute int) time.Time {
	return time.Date(g.day.Year(), g.day.Month(), g.day.Day(), hour, minute, 0, 0, g.opts.Zone)
}

// sameDay tells whether a time lies in the operating day of the leg.
func sameDay(l *leg, t time.Time) bool {
	y, m, d := l.sodt.Date()
	ty, tm, td := t.Date()
	return y == ty && m == tm && d == td
}

// rotation is an arrival and the departure of the same aircraft; when the
// departure would fall into the next day the aircraft stays overnight.
func (g *Generator) rotation(at time.Time) []*leg {
	arr := g.newLeg("A", at)
	off := at.Add(time.Duration(45+5*g.rng.IntN(14)) * time.Minute)
	if !sameDay(arr, off) {
		return []*leg{arr}
	}
	dep := g.newLeg("D", off)
	dep.carrier, dep.acft, dep.seats, dep.reno = arr.carrier, arr.acft, arr.seats, arr.reno
	dep.station, dep.flin, dep.stand, dep.terminal = arr.station, arr.flin, arr.stand, arr.terminal
	number, err := strconv.Atoi(arr.flno[2:])
	if err == nil {
		dep.flno = dep.carrier.code + strconv.Itoa(number+1)
	}
	arr.pair, dep.pair = dep, arr
	return []*leg{arr, dep}
}

// codeShare is another airline's number on the same flight.
func (g *Generator) codeShare(master *leg) *leg {
	share := *master
	share.flid = g.nextFLID()
	share.carrier = carriers[g.rng.IntN(len(carriers))]
	share.flno = share.carrier.code + strconv.Itoa(4000+g.rng.IntN(5000))
	share.pair, share.master = nil, master
	share.lastSTYP, share.lastBody = "", nil
	return &share
}

func (g *Generator) newLeg(mvin string, at time.Time) *leg {
	c, s, m := carriers[g.rng.IntN(len(carriers))], stations[g.rng.IntN(len(stations))], fleet[g.rng.IntN(len(fleet))]
	l := &leg{
		flid: g.nextFLID(), carrier: c, mvin: mvin, flin: "D", sodt: at, station: s,
		flty: []string{"G", "G", "G", "G", "P", "H"}[g.rng.IntN(6)],
		flno: c.code + strconv.Itoa(1000+2*g.rng.IntN(4400)),
		acft: m.code, seats: m.seats, reno: fmt.Sprintf("B%d%s", 1000+g.rng.IntN(8999), []string{"", "X", "KX"}[g.rng.IntN(3)]),
		terminal: "TA",
		stand:    g.standCode(),
	}
	if s.abroad {
		l.flin, l.terminal = "I", "TB"
	}
	if s.minutes > 140 && g.rng.IntN(4) == 0 {
		l.via = g.viaOf(l)
	}
	if mvin == "D" {
		l.gate = g.gateCode(l)
		for range 1 + g.rng.IntN(3) {
			l.desks = append(l.desks, fmt.Sprintf("%02d", 1+g.rng.IntN(48)))
		}
	}
	return l
}

// viaOf draws a stop on the way.
func (g *Generator) viaOf(l *leg) string {
	for {
		if s := stations[g.rng.IntN(domestic)]; s.code != l.station.code {
			return s.code
		}
	}
}

func (g *Generator) standCode() string {
	return fmt.Sprintf("%s%02d", []string{"N", "W", "E"}[g.rng.IntN(3)], 1+g.rng.IntN(30))
}

func (g *Generator) gateCode(l *leg) string {
	pier := "A"
	if l.flin == "I" {
		pier = "E"
	}
	return pier + strconv.Itoa(1+g.rng.IntN(24))
}

// nextFLID numbers the flights of a day within the day's own hundred thousand;
// the last ten thousand of it are never used.
func (g *Generator) nextFLID() int64 {
	g.flights++
	return g.base() + int64(g.flights)
}

const perDay = 100_000

func (g *Generator) base() int64 {
	days := g.day.Unix() / 86400
	return days * perDay
}

// unknownFLID is a flight that nobody will ever hear of.
func (g *Generator) unknownFLID() int64 { return g.base() + perDay - 1 - int64(g.rng.IntN(9_000)) }

// routes writes the whole route, or with kind ROUT the stops other than home.
func (l *leg) routes(kind string) []node {
	minutes := func(n int) string { return dt(l.sodt.Add(time.Duration(n) * time.Minute)) }
	type stop struct{ code, in, out string }
	fly := l.station.minutes
	var stops []stop
	if l.mvin == "A" {
		stops = append(stops, stop{l.station.code, "", minutes(-fly)})
		if l.via != "" {
			stops = append(stops, stop{l.via, minutes(-fly / 2), minutes(-fly/2 + 40)})
		}
		stops = append(stops, stop{home, dt(l.sodt), ""})
	} else {
		stops = append(stops, stop{home, "", dt(l.sodt)})
		if l.via != "" {
			stops = append(stops, stop{l.via, minutes(fly / 2), minutes(fly/2 + 40)})
		}
		stops = append(stops, stop{l.station.code, minutes(fly), ""})
	}
	var nodes []node
	for _, s := range stops {
		if kind == "ROUT" && s.code == home {
			continue
		}
		n := box(kind, el("APCD", s.code))
		if s.in != "" {
			n.kids = append(n.kids, el("SCAT", s.in))
		}
		if s.out != "" {
			n.kids = append(n.kids, el("SCDT", s.out))
		}
		nodes = append(nodes, n.with("RTNO", strconv.Itoa(len(nodes)+1)))
	}
	return nodes
}

// stands allocates n stands, the first of them the flight's own.
func (g *Generator) stands(l *leg, n int) []node {
	var nodes []node
	from := l.due().Add(-10 * time.Minute)
	for i := range n {
		code, to := l.stand, from.Add(time.Duration(45+g.rng.IntN(60))*time.Minute)
		if i > 0 {
			code = g.standCode()
		}
		s := box("PSDT", el("PSST", code), el("STST", dt(from)), g.maybe(el("STET", dt(to)), 150))
		if g.chance(20) {
			s.kids = append(s.kids, el("PSRM", "拖至"+code))
		}
		nodes = append(nodes, s.with("PSNO", strconv.Itoa(i+1)))
		from = to
	}
	return nodes
}

func (g *Generator) gates(l *leg, n int) []node {
	var nodes []node
	for i := range n {
		code := l.gate
		if i > 0 || code == "" {
			code = g.gateCode(l)
		}
		open := l.due().Add(-40 * time.Minute)
		gate := box("GTDT", el("GATE", code), el("PGOT", dt(open)), el("PGCT", dt(l.due().Add(-10*time.Minute))))
		if g.chance(400) {
			gate.kids = append(gate.kids, g.maybe(el("GOTM", dt(open.Add(time.Duration(g.rng.IntN(15))*time.Minute))), 200))
		}
		gate.kids = append(gate.kids, el("GTYP", map[bool]string{true: "I", false: "D"}[l.flin == "I"]))
		nodes = append(nodes, gate.with("GTNO", strconv.Itoa(i+1)))
	}
	return nodes
}

func (g *Generator) checkIns(l *leg) []node {
	desks := l.desks
	if len(desks) == 0 {
		desks = []string{fmt.Sprintf("%02d", 1+g.rng.IntN(48))}
	}
	var nodes []node
	for i, code := range desks {
		open := l.sodt.Add(-120 * time.Minute)
		desk := box("CKDT", el("CHKC", code), el("CCLS", []string{"Y", "Y", "Y", "C", "F"}[g.rng.IntN(5)]),
			el("PCOT", dt(open)), el("PCCT", dt(l.sodt.Add(-40*time.Minute))))
		if g.chance(300) {
			desk.kids = append(desk.kids, g.maybe(el("COTM", dt(open.Add(time.Duration(g.rng.IntN(9))*time.Minute))), 100))
		}
		desk.kids = append(desk.kids, el("CTYP", map[bool]string{true: "I", false: "D"}[l.flin == "I"]))
		nodes = append(nodes, desk.with("CKNO", strconv.Itoa(i+1)))
	}
	return nodes
}

var delayCodes = []string{"4F", "8C", "41", "93", "81", "WX", "ATC", "16", "89"}

// delays are n delays of different codes.
func (g *Generator) delays(l *leg, n int) []node {
	var nodes []node
	first := g.rng.IntN(len(delayCodes))
	for i := range n {
		minutes := 5 + 5*g.rng.IntN(40)
		d := el("DELY", "")
		if g.chance(700) {
			d.text = g.remark()
		}
		nodes = append(nodes, d.with("CODE", delayCodes[(first+i)%len(delayCodes)]).
			with("STRT", dt(l.sodt)).with("DURA", fmt.Sprintf("%02d%02d", minutes/60, minutes%60)))
	}
	return nodes
}

// maybe leaves the element empty so many times in a thousand.
func (g *Generator) maybe(n node, perMille int) node {
	if g.chance(perMille) {
		return el(n.name, "")
	}
	return n
}

var phrases = []string{
	"雷雨绕飞", "等待旅客", "机位冲突，改靠桥", "流量控制", "late crew bus", "旅客𠮷田先生轮椅服务", "鑫𨭎航材到货后放行",
	"A&B 共享货舱 <核对>", "去冰", "missing pax", "前序航班延误", "𪚥字旅客证件核验", "行李补拖", "gate changed \"E\" side", "晚到机组",
}

// remark is a free text, never the same twice in a day.
func (g *Generator) remark() string {
	g.remarks++
	return phrases[g.rng.IntN(len(phrases))] + " #" + strconv.Itoa(g.remarks)
}

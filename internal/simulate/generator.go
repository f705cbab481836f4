package simulate

import (
	"iter"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"
)

// Item is one message on its way into a mailbox.
type Item struct {
	Text  string
	Kind  string        // TYPE/STYP
	Fault Fault         // zero for a sound message
	Burn  int           // ids to use up with a rolled-back transaction before it
	Late  time.Duration // over 0: commit it so much later than it gets its id

	msg *message
}

// Generator makes one operating day after another.
type Generator struct {
	opts Options
	rng  *rand.Rand
	out  printer

	day   time.Time // the operating day
	clock time.Time // when the next message is written, at the sender
	seqn  int
	run   int // times SEQN was used up

	legs    []*leg // of this day, in order of schedule
	before  []*leg // of the day before
	deleted []*leg // of this day
	flights int    // flight numbers given this day
	remarks int

	recent []Item        // messages to repeat, a ring
	next   int           // place of the ring to fill
	deck   []Class       // classes still to come before each came again
	turn   map[Class]int // variants used of each class
}

// keepRecent bounds how far back a duplicate or a conflict reaches.
const keepRecent = 300

// New makes a generator; it reports everything wrong with the options.
func New(opts Options) (*Generator, error) {
	opts = opts.withDefaults()
	if err := opts.check(); err != nil {
		return nil, err
	}
	g := &Generator{opts: opts, turn: map[Class]int{}, rng: rand.New(rand.NewPCG(opts.Seed, 0x6d736778)), seqn: opts.SEQN}
	g.out.rng = g.rng
	y, m, d := opts.Day.Date()
	g.day = time.Date(y, m, d, 0, 0, 0, 0, time.UTC).AddDate(0, 0, -1)
	return g, nil
}

// Generate yields the messages of the first operating day.
func Generate(opts Options) (iter.Seq[Item], error) {
	g, err := New(opts)
	if err != nil {
		return nil, err
	}
	return g.Day(), nil
}

// Day yields the messages of the next operating day, Options.Messages of them.
func (g *Generator) Day() iter.Seq[Item] {
	return func(yield func(Item) bool) {
		g.startDay()
		downloads := g.downloads()
		left := g.opts.Messages
		holes, lates := g.opts.Holes, g.opts.LateCommits
		for i := range g.opts.Messages {
			g.clock = g.busy(i)
			var item Item
			if len(downloads) > 0 {
				item, downloads = g.download(downloads[0]), downloads[1:]
			} else {
				item = g.item()
			}
			item.Burn = g.share(holes, left)
			holes -= item.Burn
			if g.rng.IntN(left) < lates {
				lates--
				item.Late = time.Duration(1+g.rng.IntN(int(g.opts.LateBound.Milliseconds()))) * time.Millisecond
			}
			left--
			if !yield(item) {
				return
			}
		}
	}
}

// Protocol yields a download of a day's flights, the same as an answer, and then
// n events, each kind in its turn, all of them sound.
func (g *Generator) Protocol(n int) iter.Seq[Item] {
	return func(yield func(Item) bool) {
		g.startDay()
		g.clock = g.busy(0)
		body := g.schedule(g.downloads()[0])
		for _, styp := range []string{"DNLD", "RESP"} {
			if !yield(g.sound(g.message("SCHD", styp, body))) {
				return
			}
		}
		for i := range n {
			g.clock = g.busy(i * g.opts.Messages / n)
			if !yield(g.sound(g.eventOf(events[i%len(events)]))) {
				return
			}
		}
	}
}

// Endless yields day after day.
func (g *Generator) Endless() iter.Seq[Item] {
	return func(yield func(Item) bool) {
		for {
			for item := range g.Day() {
				if !yield(item) {
					return
				}
			}
		}
	}
}

// busy is when the i-th message of the day is written: the more flights an hour
// and its neighbours have, the more is said in it.
func (g *Generator) busy(i int) time.Time {
	loads, sum := [24]int{}, 0
	for h := range loads {
		loads[h] = 1 + byHour[h] + (byHour[(h+1)%24]+byHour[(h+23)%24])/2
		sum += loads[h]
	}
	at, hour := i*sum, 0
	for at >= loads[hour]*g.opts.Messages {
		at -= loads[hour] * g.opts.Messages
		hour++
	}
	return g.at(hour, 0).Add(time.Duration(at*3600/(loads[hour]*g.opts.Messages)) * time.Second)
}

// share draws how many of n things fall on the first of left places; the last
// place takes what is left over.
func (g *Generator) share(n, left int) int {
	if left == 1 || n == 0 {
		return n
	}
	if n >= left {
		return n / left
	}
	if g.rng.IntN(2*left) >= n { // a draw takes two of them on average
		return 0
	}
	return min(n, []int{1, 1, 1, 2, 5}[g.rng.IntN(5)])
}

func (g *Generator) startDay() {
	g.day = g.day.AddDate(0, 0, 1)
	g.flights, g.deleted, g.remarks = 0, nil, 0
	g.before, g.legs = g.legs, g.planDay(g.opts.Flights)
}

// downloadSize is the most flights one download carries.
const downloadSize = 1000

func (g *Generator) downloads() [][]*leg {
	var parts [][]*leg
	for rest := g.legs; len(rest) > 0; {
		n := min(downloadSize, len(rest))
		parts = append(parts, rest[:n])
		rest = rest[n:]
	}
	return parts
}

// download is the schedule of the day, or a part of it.
func (g *Generator) download(legs []*leg) Item {
	return g.sound(g.message("SCHD", "DNLD", g.schedule(legs)))
}

// schedule is the records of flights in their container.
func (g *Generator) schedule(legs []*leg) node {
	all := make([]node, len(legs))
	for i, l := range legs {
		all[i] = g.record(l)
	}
	return schedule(all...)
}

// schedule puts records into their container.
func schedule(records ...node) node {
	return box("SCHD", append([]node{el("RECS", strconv.Itoa(len(records)))}, records...)...)
}

// message numbers a message and stamps it with the sender's clock.
func (g *Generator) message(typ, styp string, body ...node) *message {
	m := newMessage(sender(g.run), typ, styp, g.seqn, g.clock, body...)
	if g.seqn++; g.seqn > maxSEQN {
		g.seqn = 1
		g.run++
	}
	return m
}

// finish prints a message and remembers it for repetition when it has an
// identity of its own.
func (g *Generator) finish(m *message, fault Fault) Item {
	item := Item{Text: g.out.print(m), Kind: m.typ + "/" + m.styp, Fault: fault, msg: m}
	if owner := fault.Class != Malformed && fault.Class != Conflict; owner && m.styp != "DNLD" {
		if len(g.recent) < keepRecent {
			g.recent = append(g.recent, item)
		} else {
			g.recent[g.next] = item
			g.next = (g.next + 1) % keepRecent
		}
	}
	return item
}

func (g *Generator) chance(perMille int) bool { return g.rng.IntN(1000) < perMille }

// item is the next message of the day: mostly sound traffic.
func (g *Generator) item() Item {
	if class, ok := g.drawFault(); ok {
		return g.faulty(class)
	}
	switch roll := g.rng.IntN(1000); {
	case roll < 18:
		return g.sound(g.known())
	case roll < 23:
		return g.sound(g.addition())
	case roll < 26:
		return g.sound(g.removal())
	case roll < 31:
		return g.sound(g.revival())
	case roll < 36:
		return g.sound(g.toNobody())
	case roll < 56:
		return g.sound(g.again())
	case roll < 76:
		return g.sound(g.several())
	}
	return g.sound(g.event())
}

func (g *Generator) sound(m *message) Item { return g.finish(m, Fault{}) }

// event is one FLOP for one flight.
func (g *Generator) event() *message { return g.eventOf(g.drawEvent()) }

// eventOf is one of that kind; the last flight is not deleted.
func (g *Generator) eventOf(e event) *message {
	for e.styp == "FDEL" && len(g.legs) < 2 {
		e = g.drawEvent()
	}
	l := g.near(e)
	body := e.body(g, l)
	if e.styp == "FDEL" {
		g.remove(l)
	} else {
		l.lastSTYP, l.lastBody = e.styp, body
	}
	n := g.flop(l, body)
	if g.chance(10) && e.styp != "REMC" {
		n.kids = append(n.kids, el("REMC", "not of this event")) // belongs to another STYP and says nothing here
	}
	return g.message("FLOP", e.styp, n)
}

// again repeats the last event of a flight under a new number; mostly it changes nothing.
func (g *Generator) again() *message {
	for range 20 {
		if l := g.anyLeg(); l.lastSTYP != "" {
			return g.message("FLOP", l.lastSTYP, g.flop(l, l.lastBody))
		}
	}
	return g.event()
}

// several is one message with events for some flights, one of them perhaps
// unknown, one of them perhaps named twice.
func (g *Generator) several() *message {
	if g.chance(150) {
		l := g.anyLeg()
		return g.message("FLOP", "REMC", g.flop(l, []node{el("REMC", g.remark())}), g.flop(l, []node{el("REMC", g.remark())}))
	}
	e := g.drawEvent()
	for e.styp == "FDEL" {
		e = g.drawEvent()
	}
	var nodes []node
	named := map[int64]bool{}
	for range 2 + g.rng.IntN(4) {
		l := g.near(e)
		if named[l.flid] {
			continue
		}
		named[l.flid] = true
		body := e.body(g, l)
		l.lastSTYP, l.lastBody = e.styp, body
		n := g.flop(l, body)
		nodes = append(nodes, n)
		if g.chance(100) {
			nodes = append(nodes, n)
		}
		if g.chance(80) {
			stranger := *l
			stranger.flid = g.unknownFLID()
			nodes = append(nodes, g.flop(&stranger, e.body(g, &stranger)))
		}
	}
	return g.message("FLOP", e.styp, nodes...)
}

// toNobody is an event for flights that do not exist.
func (g *Generator) toNobody() *message {
	e := g.drawEvent()
	var nodes []node
	for range 1 + g.rng.IntN(4)/3 {
		l := *g.near(e)
		l.flid = g.unknownFLID()
		if len(g.deleted) > 0 && g.chance(500) {
			l.flid = g.deleted[g.rng.IntN(len(g.deleted))].flid
		}
		nodes = append(nodes, g.flop(&l, e.body(g, &l)))
	}
	return g.message("FLOP", e.styp, nodes...)
}

// known is a schedule message about flights that exist.
func (g *Generator) known() *message {
	styp, n := "ADFT", 1+g.rng.IntN(4)
	if g.chance(250) {
		styp, n = "RESP", 3+g.rng.IntN(12)
	}
	var records []node
	named := map[int64]bool{}
	for range n {
		if l := g.anyLeg(); !named[l.flid] {
			named[l.flid] = true
			records = append(records, g.update(l))
		}
	}
	return g.scheduleMessage(styp, records...)
}

// scheduleMessage writes additions in each of the forms that are in use.
func (g *Generator) scheduleMessage(styp string, records ...node) *message {
	typ := "SCHD"
	if styp == "ADFT" {
		switch g.rng.IntN(20) {
		case 0:
			styp = "ADD"
		case 1:
			styp = "UPD"
		case 2:
			typ = "ADFT"
		}
	}
	return g.message(typ, styp, schedule(records...))
}

// addition is a flight nobody planned in the morning, alone or beside others.
func (g *Generator) addition() *message {
	var added []*leg
	at := g.clock.Add(time.Duration(60+g.rng.IntN(240)) * time.Minute).Truncate(5 * time.Minute)
	if last := g.at(23, 55); at.After(last) {
		at = last
	}
	switch g.rng.IntN(3) {
	case 0:
		added = g.rotation(at)
	case 1:
		added = append(added, g.newLeg("D", at))
	default:
		added = append(added, g.codeShare(g.anyLeg()))
	}
	var records []node
	for _, l := range added {
		records = append(records, g.record(l))
		g.insert(l)
	}
	if other := g.anyLeg(); g.chance(200) && !slices.Contains(added, other) {
		records = append(records, g.update(other))
	}
	return g.scheduleMessage("ADFT", records...)
}

// revival is a deleted flight that comes back on its day.
func (g *Generator) revival() *message {
	if len(g.deleted) == 0 {
		return g.addition()
	}
	last := len(g.deleted) - 1
	l := g.deleted[last]
	g.deleted = g.deleted[:last]
	l.lastSTYP, l.lastBody, l.cancelled = "", nil, false
	g.insert(l)
	return g.scheduleMessage("ADFT", g.record(l))
}

// removal deletes flights by a schedule message, one of them perhaps unknown.
func (g *Generator) removal() *message {
	var records []node
	for range 1 + g.rng.IntN(2) {
		if l := g.anyLeg(); len(g.legs) > 1 {
			g.remove(l)
			record := box("FLTR", el("FLID", flid(g, l.flid)))
			if g.chance(300) {
				record = g.record(l)
			}
			records = append(records, record)
		}
	}
	if len(records) == 0 || g.chance(200) {
		records = append(records, box("FLTR", el("FLID", strconv.FormatInt(g.unknownFLID(), 10))))
	}
	return g.message("SCHD", "DEL", schedule(records...))
}

func (g *Generator) drawEvent() event {
	sum := 0
	for _, e := range events {
		sum += e.weight
	}
	roll := g.rng.IntN(sum)
	for _, e := range events {
		if roll -= e.weight; roll < 0 {
			return e
		}
	}
	return events[0]
}

// near draws a flight for which the event is due about now; when there is none, any of its direction.
func (g *Generator) near(e event) *leg {
	from := g.clock.Add(-time.Duration(e.to) * time.Minute)
	to := g.clock.Add(-time.Duration(e.from) * time.Minute)
	for range 8 {
		legs := within(g.legs, from, to)
		if late := within(g.before, from, to); len(late) > 0 && (len(legs) == 0 || g.chance(300)) {
			legs = late
		}
		if len(legs) == 0 {
			break
		}
		if l := legs[g.rng.IntN(len(legs))]; e.mvin == "" || e.mvin == l.mvin {
			if e.styp == "FDEL" && !sameDay(l, g.at(0, 0)) {
				continue
			}
			return l
		}
	}
	for range 20 {
		if l := g.anyLeg(); e.mvin == "" || e.mvin == l.mvin {
			return l
		}
	}
	return g.anyLeg()
}

// anyLeg draws a living flight of the day.
func (g *Generator) anyLeg() *leg { return g.legs[g.rng.IntN(len(g.legs))] }

// within returns the flights of an ordered list scheduled in a period.
func within(legs []*leg, from, to time.Time) []*leg {
	return legs[search(legs, from):search(legs, to.Add(1))]
}

// search finds the first flight not scheduled before t.
func search(legs []*leg, t time.Time) int {
	low, high := 0, len(legs)
	for low < high {
		if mid := (low + high) / 2; legs[mid].sodt.Before(t) {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

func (g *Generator) insert(l *leg) {
	g.legs = slices.Insert(g.legs, search(g.legs, l.sodt), l)
}

// remove takes a flight out of the day. Callers leave at least one, so that
// there is always a flight to speak about.
func (g *Generator) remove(l *leg) {
	if i := slices.Index(g.legs, l); i >= 0 {
		g.legs = slices.Concat(g.legs[:i], g.legs[i+1:])
		g.deleted = append(g.deleted, l)
	}
}

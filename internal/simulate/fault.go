package simulate

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// drawFault decides whether the next message is faulty, and how.
func (g *Generator) drawFault() (Class, bool) {
	roll := g.rng.IntN(1000)
	for _, class := range Classes() {
		if roll -= g.opts.Faults[class]; roll < 0 {
			return class, true
		}
	}
	if roll -= g.opts.BadPerMille; roll >= 0 {
		return "", false
	}
	if len(g.deck) == 0 {
		g.deck = Classes()
		g.rng.Shuffle(len(g.deck), func(i, j int) { g.deck[i], g.deck[j] = g.deck[j], g.deck[i] })
	}
	class := g.deck[0]
	g.deck = g.deck[1:]
	return class, true
}

// spoiler makes a faulty message of one variant.
type spoiler struct {
	variant string
	make    func(g *Generator) Item
}

// faulty makes the next variant of a class; the variants take turns.
func (g *Generator) faulty(class Class) Item {
	variants := spoilers[class]
	s := variants[g.turn[class]%len(variants)]
	g.turn[class]++
	item := s.make(g)
	if !item.Fault.Sound() { // it is sound when there was nothing to repeat yet
		item.Fault.Variant = s.variant
	}
	return item
}

// broken prints a sound message and spoils its text.
func broken(spoil func(g *Generator, text string) string) func(*Generator) Item {
	return func(g *Generator) Item {
		m := g.bystander()
		item := g.finish(m, Fault{Class: Malformed})
		item.Text = spoil(g, item.Text)
		m.unreadable = true
		return item
	}
}

// reheaded gives a sound message another header.
func reheaded(change func(head node) []node) func(*Generator) Item {
	return func(g *Generator) Item {
		m := g.bystander()
		m.heads, m.unreadable = change(m.heads[0]), true
		return g.finish(m, Fault{Class: Malformed})
	}
}

// bystander is a sound FLOP for a living flight; the generator does not note
// it, so that it may be spoilt.
func (g *Generator) bystander() *message {
	l := *g.anyLeg()
	e := g.drawEvent()
	for e.styp == "FDEL" || e.mvin != "" && e.mvin != l.mvin {
		e = g.drawEvent()
	}
	return g.message("FLOP", e.styp, g.flop(&l, e.body(g, &l)))
}

// flopOf is an event of any flight with a body of one's own.
func flopOf(styp string, class Class, body ...node) func(*Generator) Item {
	return func(g *Generator) Item {
		return g.finish(g.message("FLOP", styp, g.flop(g.anyLeg(), body)), Fault{Class: class})
	}
}

// plain is a message without flights.
func plain(typ, styp string, class Class, body ...node) func(*Generator) Item {
	return func(g *Generator) Item {
		return g.finish(g.message(typ, styp, body...), Fault{Class: class})
	}
}

// scheduleOf is a schedule message made of records of one's own.
func scheduleOf(styp string, class Class, make func(g *Generator) []node) func(*Generator) Item {
	return func(g *Generator) Item {
		return g.finish(g.message("SCHD", styp, schedule(make(g)...)), Fault{Class: class})
	}
}

// stub is the least that a record about a known flight says.
func (g *Generator) stub(l *leg, more ...node) node {
	return box("FLTR", append([]node{el("FLID", strconv.FormatInt(l.flid, 10)), el("SODT", dt(l.sodt))}, more...)...)
}

// without takes an element out of a record.
func without(n node, name string) node {
	n.kids = slices.DeleteFunc(slices.Clone(n.kids), func(k node) bool { return k.name == name })
	return n
}

var spoilers = map[Class][]spoiler{
	Duplicate: {{"", func(g *Generator) Item {
		if len(g.recent) == 0 {
			return g.sound(g.event())
		}
		return g.recent[g.rng.IntN(len(g.recent))].again()
	}}},
	Conflict: {{"", func(g *Generator) Item {
		if len(g.recent) == 0 {
			return g.sound(g.event())
		}
		first := g.recent[g.rng.IntN(len(g.recent))]
		m := *first.msg
		m.dttm = g.clock
		m.heads = []node{m.head()}
		if m.typ == "FLOP" { // for another flight, so that it shows when it is applied
			m.body = slices.Clone(m.body)
			other := m.body[0]
			other.kids = slices.Clone(other.kids)
			other.kids[0] = el("FLID", strconv.FormatInt(g.anyLeg().flid, 10))
			m.body[0] = other
		}
		item := g.finish(&m, Fault{Class: Conflict})
		if item.Text == first.Text {
			item.Text += "\n"
		}
		return item
	}}},
	Malformed: {
		{"truncated", broken(func(g *Generator, text string) string {
			end := strings.LastIndex(text, "</MSG")
			cut := end/3 + g.rng.IntN(end-end/3)
			for !utf8.RuneStart(text[cut]) {
				cut--
			}
			return text[:cut]
		})},
		{"no-meta", reheaded(func(node) []node { return nil })},
		{"no-seqn", reheaded(func(head node) []node { return []node{without(head, "SEQN")} })},
		{"not-xml", broken(func(g *Generator, _ string) string { return "AODB: 连接中断 " + g.remark() })},
		{"flid-not-a-number", func(g *Generator) Item {
			m := g.bystander()
			m.body[0].kids[0] = el("FLID", "GX8841")
			return g.finish(m, Fault{Class: Malformed})
		}},
		{"flid-missing", func(g *Generator) Item {
			m := g.bystander()
			m.body[0] = without(m.body[0], "FLID")
			return g.finish(m, Fault{Class: Malformed})
		}},
		{"stray-end", broken(func(_ *Generator, text string) string { return text + "</MSG>" })},
		{"seqn-not-a-number", reheaded(func(head node) []node {
			head = without(head, "SEQN")
			head.kids = append(head.kids, el("SEQN", "6O0402"))
			return []node{head}
		})},
		{"two-meta", reheaded(func(head node) []node { return []node{head, head} })},
		{"flid-in-record", scheduleOf("ADFT", Malformed, func(g *Generator) []node {
			bad := g.stub(g.anyLeg(), el("FTSS", "CKIN"))
			bad.kids[0] = el("FLID", "-5")
			return []node{g.stub(g.anyLeg(), el("FTSS", "CKIN")), bad}
		})},
	},
	Codec: {
		{"impossible-date", flopOf("BOTM", Codec, el("BOTM", "31FEB261130"))},
		{"hour-24", flopOf("ESTT", Codec, el("ESTT", "01DEC262400"))},
		{"no-month", flopOf("TOBT", Codec, el("TOBT", "01DEZ261130"))},
		{"not-a-number", flopOf("MAXP", Codec, el("MAXP", "many"))},
		{"second-of-two", func(g *Generator) Item {
			m := g.message("FLOP", "LACL", g.flop(g.anyLeg(), []node{el("LACL", dt(g.clock))}),
				g.flop(g.anyLeg(), []node{el("LACL", "1DEC261130")}))
			return g.finish(m, Fault{Class: Codec})
		}},
		{"in-a-list", flopOf("GTDT", Codec, box("GTDT", el("GATE", "A1"), el("PGOT", "40DEC261130"), el("GTYP", "D")).with("GTNO", "1"))},
		{"in-a-record", scheduleOf("RESP", Codec, func(g *Generator) []node {
			a, b := g.twoLegs()
			return []node{g.stub(a, el("REMC", g.remark())), g.stub(b, el("ESTT", "00DEC261130"))}
		})},
	},
	Protocol: {
		{"records", func(g *Generator) Item {
			body := schedule(g.stub(g.anyLeg(), el("REMC", g.remark())))
			body.kids[0] = el("RECS", "3")
			return g.finish(g.message("SCHD", "ADFT", body), Fault{Class: Protocol})
		}},
		{"flight-twice", scheduleOf("ADFT", Protocol, func(g *Generator) []node {
			l := g.anyLeg()
			return []node{g.stub(l, el("REMC", g.remark())), g.stub(l, el("REMC", g.remark()))}
		})},
		{"operation-day", scheduleOf("ADFT", Protocol, func(g *Generator) []node {
			a, b := g.twoLegs()
			moved := *b
			moved.sodt = moved.sodt.Add(24 * time.Hour)
			return []node{g.stub(a, el("REMC", g.remark())), g.stub(&moved, el("REMC", g.remark()))}
		})},
		{"new-flight-incomplete", scheduleOf("ADFT", Protocol, func(g *Generator) []node {
			stranger := *g.anyLeg()
			stranger.flid = g.unknownFLID()
			return []node{g.stub(g.anyLeg(), el("REMC", g.remark())), without(g.record(&stranger), "ACFT")}
		})},
		{"no-schedule", scheduleOf("ADFT", Protocol, func(g *Generator) []node {
			return []node{without(g.stub(g.anyLeg(), el("REMC", g.remark())), "SODT")}
		})},
		{"element-missing", flopOf("REMC", Protocol)},
		{"number-twice", flopOf("PSDT", Protocol, box("PSDT", el("PSST", "N01")).with("PSNO", "1"), box("PSDT", el("PSST", "N02")).with("PSNO", "1"))},
		{"number-missing", flopOf("GTDT", Protocol, box("GTDT", el("GATE", "A1"), el("GTYP", "D")))},
		{"blank-beside-keyed", flopOf("DELY", Protocol, el("DELY", "").with("CODE", "41"), el("DELY", ""))},
		{"revival-incomplete", scheduleOf("ADFT", Protocol, func(g *Generator) []node {
			l := g.anyLeg()
			if len(g.deleted) > 0 {
				l = g.deleted[len(g.deleted)-1]
			}
			gone := *l
			if len(g.deleted) == 0 {
				gone.flid = g.unknownFLID()
			}
			return []node{g.stub(&gone, el("REMC", g.remark()))}
		})},
	},
	Unsupported: append([]spoiler{
		{"service", flopOf("SRVX", Unsupported, box("SRVX", el("SRTC", "GPU"), el("SRQT", "1")))},
		{"subtype", flopOf("ZZZZ", Unsupported, el("ZZZZ", "1"))},
		{"type", plain("WXYZ", "ADD", Unsupported, el("WXYZ", "1"))},
		{"request", plain("RQRD", "GLST", Unsupported, box("RQRD", el("RTYP", "GLST")))},
	}, referenceFaults()...),
	Ignored: {
		{"LDM", plain("LDM", "ADD", Ignored, el("LDM", "-GX8841/01.B6532"))},
		{"REGN", func(g *Generator) Item {
			return g.reference("REGN", referenceSubtypes[g.rng.IntN(len(referenceSubtypes))], Ignored)
		}},
		{"RSTA", plain("RSTA", "ADD", Ignored, el("RSTA", ""))},
		{"EROR", plain("EROR", "NONE", Ignored, el("EROR", "SEQN 417 refused"))},
	},
}

// again is the same text once more.
func (i Item) again() Item {
	i.Burn, i.Late, i.Fault = 0, 0, Fault{Class: Duplicate}
	return i
}

// twoLegs draws two flights, which are the same only when there is but one.
func (g *Generator) twoLegs() (*leg, *leg) {
	a := g.anyLeg()
	for range 8 {
		if b := g.anyLeg(); b != a {
			return a, b
		}
	}
	i := slices.Index(g.legs, a)
	return a, g.legs[(i+1)%len(g.legs)]
}

package simulate

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// node is an element as it stands on the wire.
type node struct {
	name  string
	attrs []attr
	text  string
	kids  []node
}

type attr struct{ name, value string }

// el makes an element with text; an empty text is an empty element.
func el(name, text string) node { return node{name: name, text: text} }

// box makes an element with children.
func box(name string, kids ...node) node { return node{name: name, kids: kids} }

// with adds an attribute.
func (n node) with(name, value string) node {
	n.attrs = append(n.attrs[:len(n.attrs):len(n.attrs)], attr{name, value})
	return n
}

// all returns the children of that name.
func (n node) all(name string) []node {
	var found []node
	for _, k := range n.kids {
		if k.name == name {
			found = append(found, k)
		}
	}
	return found
}

// get returns the first child of that name.
func (n node) get(name string) (node, bool) {
	for _, k := range n.kids {
		if k.name == name {
			return k, true
		}
	}
	return node{}, false
}

// attr returns an attribute's trimmed value, "" when it is absent or empty.
func (n node) attr(name string) string {
	for _, a := range n.attrs {
		if a.name == name {
			return strings.TrimSpace(a.value)
		}
	}
	return ""
}

// value returns the trimmed text.
func (n node) value() string { return strings.TrimSpace(n.text) }

// blank tells whether nothing stands in the element, its attributes included.
func (n node) blank() bool {
	for _, a := range n.attrs {
		if strings.TrimSpace(a.value) != "" {
			return false
		}
	}
	for _, k := range n.kids {
		if !k.blank() {
			return false
		}
	}
	return n.value() == ""
}

// message is one message as its sender means it.
type message struct {
	sndr, typ, styp string
	seqn            int
	dttm            time.Time // seconds; the airport's wall clock
	heads           []node    // the META elements: one, unless that is the fault
	body            []node
	unreadable      bool // spoilt on purpose: nothing of it can be used
}

// newMessage makes a message with a sound META.
func newMessage(sndr, typ, styp string, seqn int, dttm time.Time, body ...node) *message {
	m := &message{sndr: sndr, typ: typ, styp: styp, seqn: seqn, dttm: dttm, body: body}
	m.heads = []node{m.head()}
	return m
}

func (m *message) head() node {
	return box("META", el("SNDR", m.sndr), el("SEQN", strconv.Itoa(m.seqn)),
		el("DTTM", m.dttm.Format("20060102150405")), el("TYPE", m.typ), el("STYP", m.styp))
}

// dt writes a flight time: day, month, year, hour, minute.
func dt(t time.Time) string { return strings.ToUpper(t.Format("02Jan061504")) }

// The attributes of the root, as the AODB writes them.
const (
	xsi    = "http://www.w3.org/2001/XMLSchema-instance"
	schema = "unisysaodbsis.xsd"
)

// printer writes messages with the oddities of real ones: blanks round the
// equals sign, tabs and spaces mixed, blank lines after the root, empty pairs
// and self-closed elements, blanks round texts.
type printer struct {
	rng *rand.Rand
	b   strings.Builder

	// Drawn anew for every message.
	spaced  bool // blanks round every equals sign
	compact bool // META on one line
	unit    string
}

func (p *printer) chance(perMille int) bool { return p.rng.IntN(1000) < perMille }

func (p *printer) print(m *message) string {
	p.b.Reset()
	p.spaced, p.compact = p.chance(60), p.chance(350)
	switch n := p.rng.IntN(10); {
	case n < 7:
		p.unit = "\t"
	case n < 9:
		p.unit = "    "
	default:
		p.unit = "" // drawn anew for every line
	}
	rootEq := "="
	if p.chance(700) {
		rootEq = " = "
	}
	p.b.WriteString("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<MSG xmlns:xsi" + rootEq + `"` + xsi + `"`)
	if p.chance(850) {
		p.b.WriteString(` xsi:noNamespaceSchemaLocation` + rootEq + `"` + schema + `"`)
	}
	p.b.WriteString(">")
	if p.chance(60) {
		p.b.WriteString("    ")
	}
	p.b.WriteByte('\n')
	for _, h := range m.heads {
		p.element(h, 1, p.compact)
	}
	if p.chance(5) {
		p.b.WriteString("<!-- " + m.typ + " -->\n")
	}
	for _, n := range m.body {
		p.element(n, 1, false)
	}
	if p.chance(100) {
		p.b.WriteByte('\t')
	}
	p.b.WriteString("</MSG>")
	if p.chance(450) {
		p.b.WriteString(strings.Repeat("\n", 1+p.rng.IntN(3)))
	}
	return p.b.String()
}

func (p *printer) indent(depth int) {
	for range depth {
		unit := p.unit
		if unit == "" {
			unit = []string{"\t", "    "}[p.rng.IntN(2)]
		}
		p.b.WriteString(unit)
	}
}

// element writes one element and, unless flat, its line break.
func (p *printer) element(n node, depth int, flat bool) {
	if !flat || depth == 1 {
		p.indent(depth)
	}
	p.b.WriteString("<" + n.name)
	for _, a := range n.attrs {
		eq := "="
		if p.spaced {
			eq = " = "
		}
		p.b.WriteString(" " + a.name + eq + `"` + escape(a.value) + `"`)
	}
	switch {
	case len(n.kids) > 0:
		p.open(n)
		if !flat {
			if p.chance(30) {
				p.b.WriteString("\t")
			}
			p.b.WriteByte('\n')
		}
		for _, k := range n.kids {
			p.element(k, depth+1, flat)
		}
		if !flat {
			p.indent(depth)
		}
		p.b.WriteString("</" + n.name + ">")
	case n.text == "" && p.chance(250):
		p.b.WriteString("/>")
	default:
		p.open(n)
		p.text(n.text)
		p.b.WriteString("</" + n.name + ">")
	}
	if !flat || depth == 1 {
		p.b.WriteByte('\n')
	}
}

// open ends a start tag.
func (p *printer) open(n node) {
	if len(n.attrs) > 0 && p.chance(40) {
		p.b.WriteByte(' ')
	}
	p.b.WriteByte('>')
}

func (p *printer) text(s string) {
	switch {
	case s == "":
		if p.chance(50) {
			p.b.WriteString("  ")
		}
	case p.chance(5) && !strings.Contains(s, "]]>"):
		p.b.WriteString("<![CDATA[" + s + "]]>")
	case p.chance(10):
		p.b.WriteString(" " + escape(s) + " ")
	default:
		p.b.WriteString(escape(s))
	}
}

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")

func escape(s string) string { return escaper.Replace(s) }

// sender names the writer of the n-th run through the sequence numbers, so that
// no identity comes back by accident when there are more than a million messages.
func sender(run int) string {
	if run == 0 {
		return "AODB"
	}
	return fmt.Sprintf("A%03d", run%1000)
}

package sis

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// decoding is the state of one call of Decode.
type decoding struct {
	codec *Codec
	xml   *scanner
	msg   Message
	year  int    // anchor of two-digit years
	fault *Error // what is wrong with the content; the rest is read to see that it is XML

	op     string // of the records, item or season; "" until META says what the message is
	counts int    // RECS seen beside reference records
	body   string // element that carries them
	event  event  // what the FLOP does

	tree      tree // the record at hand
	patch     patch
	keys      nameSet // of the list at hand
	innerKeys nameSet // of a list inside its member
	items     items
	headers   map[string]string // of a seasonal schedule, JSON by column
}

// Decode reads a message. The error is an *Error; Meta is filled as far as it
// is readable also then. now anchors two-digit years when DTTM is unusable
// (wire D12).
//
// Malformed goes before all other classes, wherever it is in the text; of the
// others the first fault counts. Where a limit is passed reading ends at once.
func (c *Codec) Decode(text []byte, now time.Time) (Message, error) {
	d := &decoding{codec: c, year: now.In(c.opts.Zone).Year()}
	if err := d.run(text); err != nil {
		return Message{Meta: d.msg.Meta}, err
	}
	return d.msg, nil
}

func (d *decoding) run(text []byte) error {
	switch {
	case len(bytes.TrimSpace(text)) == 0:
		return newError(Malformed, "", "", "the text is empty")
	case len(text) > d.codec.opts.MaxBytes:
		return newError(CodecError, "", "", fmt.Sprintf("the text has %d bytes, sis.max-bytes allows %d", len(text), d.codec.opts.MaxBytes))
	case !utf8.Valid(text):
		at := invalidAt(text)
		return newError(Malformed, "", "", fmt.Sprintf("byte %d is not UTF-8", at)).in(string(text), at)
	}
	var err error
	if d.xml, err = newScanner(string(text), d.codec.opts.MaxDepth); err != nil {
		return err
	}
	if err := d.message(); err != nil {
		return err
	}
	if d.fault != nil {
		return d.fault
	}
	return nil
}

// refuse remembers what is wrong with the content: with a node, or with what
// more names of it, an @attribute or a /child.
func (d *decoding) refuse(class Class, n *node, more, value, reason string) {
	if d.fault == nil || (class == Malformed && d.fault.Class != Malformed) {
		d.fault = newError(class, n.path(more), value, reason).in(d.xml.text, n.place(more))
	}
}

// message reads MSG: META first, then the body.
func (d *decoding) message() error {
	if err := d.xml.root(); err != nil {
		return err
	}
	msg := d.node(nil)
	if msg.name != "MSG" && !strings.HasSuffix(msg.name, ":MSG") {
		d.refuse(Malformed, msg, "", "", "expected MSG as root")
	}
	d.namespace(msg)
	children, metas, bodies := 0, 0, 0
	for {
		more, err := d.xml.child()
		if err != nil {
			return err
		}
		if !more {
			break
		}
		children++
		n := d.node(msg)
		switch {
		case n.name == "META":
			metas++
			err = d.meta(n, metas, children)
		case metas == 0:
			d.refuse(Malformed, n, "", "", "META must come first")
			err = d.xml.skip()
		case d.op == "":
			err = d.xml.skip()
		default:
			if n.name == d.body {
				bodies++
			}
			err = d.part(n, bodies)
		}
		if err != nil {
			return err
		}
	}
	if err := d.xml.end(); err != nil {
		return err
	}
	switch {
	case metas == 0:
		d.refuse(Malformed, msg, "/META", "", "META is missing")
	case d.op != "" && d.op != "item" && bodies == 0:
		d.refuse(Protocol, msg, "/"+d.body, "", d.body+" is missing")
	}
	return nil
}

// node is the element that was just opened.
func (d *decoding) node(parent *node) *node {
	return &node{parent: parent, name: d.xml.name, attrs: d.xml.attrs, at: d.xml.at}
}

// namespace refuses an element that is in a namespace.
func (d *decoding) namespace(n *node) {
	prefix, _, prefixed := strings.Cut(n.name, ":")
	if prefixed {
		d.refuse(Protocol, n, "", prefix, "elements have no namespace")
	}
	for _, a := range n.attrs {
		if a.prefix == "" && a.name == "xmlns" && a.value != "" {
			d.refuse(Protocol, n, "", a.value, "elements have no namespace")
		}
	}
}

// fill reads what is inside an element that was just opened.
func (d *decoding) fill(top *node) error {
	d.tree.reset()
	d.namespace(top)
	for open := top; ; {
		t, err := d.xml.next()
		if err != nil {
			return err
		}
		switch t {
		case startToken:
			if d.tree.used >= maxElements {
				return newError(CodecError, top.path(""), "", fmt.Sprintf("more than %d elements in one record", maxElements)).in(d.xml.text, d.xml.at)
			}
			c := d.tree.add(open, d.xml)
			d.namespace(c)
			open = c
		case textToken:
			open.write(d.xml.piece)
		case endToken:
			open.finish()
			if open == top {
				return nil
			}
			open = open.parent
		}
	}
}

// meta reads the header.
func (d *decoding) meta(n *node, nth, child int) error {
	if err := d.fill(n); err != nil {
		return err
	}
	if nth > 1 {
		d.refuse(Malformed, n, "", "", "META stands in the message twice")
		return nil
	}
	if child > 1 {
		d.refuse(Malformed, n, "", "", "META must come first")
	}
	m := &d.msg.Meta
	group(n)
	for c := n.kinds; c != nil; c = c.nextKind {
		switch c.name {
		case "SNDR", "SEQN", "DTTM", "TYPE", "STYP":
		default:
			continue
		}
		switch {
		case c.same != nil:
			d.refuse(Malformed, c, "", c.same.text, "it stands in META twice")
			continue
		case c.first != nil:
			d.refuse(Malformed, c, "", c.first.name, "expected a text, not elements")
			continue
		}
		switch c.name {
		case "SNDR":
			m.Sender = strings.Clone(d.name(c)) // not to keep the text
		case "TYPE":
			m.Type = strings.Clone(strings.ToUpper(d.name(c)))
		case "STYP":
			m.Subtype = strings.Clone(strings.ToUpper(d.name(c)))
		case "SEQN":
			seqn, err := strconv.ParseInt(c.text, 10, 64)
			if err != nil || !allDigits(c.text) {
				d.refuse(Malformed, c, "", c.text, "expected a whole number")
				continue
			}
			m.Seqn = &seqn
		case "DTTM":
			if t, ok := parseStamp(c.text, d.codec.opts.Zone); ok {
				m.Dttm, d.year = &t, t.Year()
			}
		}
	}
	for _, part := range [...]struct {
		name string
		lost bool
	}{{"SEQN", m.Seqn == nil}, {"SNDR", m.Sender == ""}, {"TYPE", m.Type == ""}, {"STYP", m.Subtype == ""}} {
		if part.lost {
			d.refuse(Malformed, n, "/"+part.name, "", part.name+" is missing")
		}
	}
	if d.fault == nil || d.fault.Class != Malformed {
		d.dispatch(n)
	}
	return nil
}

// name reads a text that is part of the identity, and so of a key.
func (d *decoding) name(n *node) string {
	if len(n.text) > maxKey {
		d.refuse(Malformed, n, "", n.text, fmt.Sprintf("expected at most %d bytes", maxKey))
		return ""
	}
	return n.text
}

// dispatch finds out what the message is: its records are looked at only when
// it is supported.
func (d *decoding) dispatch(meta *node) {
	typ, styp := d.msg.Meta.Type, d.msg.Meta.Subtype
	switch {
	case typ == "FLOP":
		event, known := d.codec.events[styp]
		if !known {
			d.refuse(Unsupported, meta, "/STYP", styp, "this subtype of an event is not supported")
			return
		}
		d.body, d.op, d.event = "FLOP", "change", event
		if styp == "FDEL" {
			d.op = "delete"
		}
	case typ == "SCHD" && styp == "DEL":
		d.body, d.op = "SCHD", "delete"
	case typ == "SCHD" && (styp == "DNLD" || styp == "RESP" || styp == "ADFT" || styp == "ADD" || styp == "UPD"),
		typ == "ADFT" && styp != "DEL": // as SCHD/ADFT, whatever its subtype is called (wire D13)
		d.body, d.op = "SCHD", "create"
	case typ == "SCHD" || typ == "ADFT":
		d.refuse(Unsupported, meta, "/STYP", styp, "this subtype of a schedule is not supported")
	case typ == "SCHS" && (styp == "DNLD" || styp == "RESP"):
		d.body, d.op, d.headers = "SCHS", "season", map[string]string{}
	case d.codec.refs[typ] != nil && (styp == "DNLD" || styp == "RESP" || styp == "ADD" || styp == "UPD" || styp == "DEL"):
		d.body, d.op = typ, "item"
	case typ == "SCHS" || d.codec.refs[typ] != nil:
		d.refuse(Unsupported, meta, "/STYP", styp, "this subtype of "+typ+" is not supported")
	default:
		d.refuse(Unsupported, meta, "/TYPE", typ+"/"+styp, "messages of this type are not supported")
	}
}

// part reads one child of MSG after META. Elements that no type has are passed
// over (wire 1.5).
func (d *decoding) part(n *node, nth int) error {
	switch {
	case n.name == "RECS" && d.op == "item":
		d.counts++
		if err := d.fill(n); err != nil {
			return err
		}
		d.recs(n, d.counts)
		return nil
	case n.name != d.body && d.codec.bodies[n.name]:
		d.refuse(Protocol, n, "", "", fmt.Sprintf("a message of type %s has no such element", d.msg.Meta.Type))
		return d.xml.skip()
	case n.name != d.body:
		d.namespace(n)
		return d.xml.skip()
	case d.body == "FLOP":
		if nth > 1 {
			n.index = nth
		}
		if err := d.fill(n); err != nil {
			return err
		}
		d.record(n)
		return nil
	case d.op == "item":
		n.index = nth
		if err := d.fill(n); err != nil {
			return err
		}
		if d.fault == nil {
			d.item(d.codec.refs[d.body], n, 1, d.msg.Meta.Subtype != "DEL")
		}
		return nil
	}
	if nth > 1 {
		d.refuse(Protocol, n, "", "", d.body+" stands in the message twice")
	}
	return d.schedule(n)
}

// schedule reads the body of a schedule: RECS and FLTR. Elements that it does
// not know are passed over.
func (d *decoding) schedule(body *node) error {
	d.namespace(body)
	declared, records := 0, 0
	for {
		more, err := d.xml.child()
		if err != nil {
			return err
		}
		if !more {
			if d.op == "season" {
				d.endSeason(body)
			}
			return nil
		}
		n := d.node(body)
		switch n.name {
		case "RECS":
			declared++
			if err := d.fill(n); err != nil {
				return err
			}
			d.recs(n, declared)
		case "FLTR":
			records++
			n.index = records
			if err := d.fill(n); err != nil {
				return err
			}
			switch {
			case d.op != "season":
				d.record(n)
			case d.fault == nil:
				d.item(&d.codec.season.record, n, d.codec.season.key, true)
			}
		case "SNAM", "APCD", "SDAT", "EDAT":
			if err := d.fill(n); err != nil {
				return err
			}
			if d.op == "season" {
				d.seasonHeader(n)
			}
		default:
			d.namespace(n)
			if err := d.xml.skip(); err != nil {
				return err
			}
		}
	}
}

// recs reads the number of records that the sender says it sent.
func (d *decoding) recs(n *node, nth int) {
	value, ok := d.value(n)
	count, fits := parseInteger(value, 32)
	switch {
	case !ok:
	case nth > 1:
		d.refuse(Protocol, n, "", value, "RECS stands in the message twice")
	case !fits || count < 0:
		d.refuse(CodecError, n, "", value, "expected a whole number, 0 or more")
	default:
		d.msg.Declared = &count
	}
}

// value is the text of an element that may hold nothing but a text.
func (d *decoding) value(n *node) (string, bool) {
	if n.first != nil {
		d.refuse(CodecError, n, "", n.first.name, "expected a text, not elements")
		return "", false
	}
	return n.text, true
}

// record decodes one record: its FLID, and its patch. Behind a fault only the
// FLID is looked at.
func (d *decoding) record(n *node) {
	group(n)
	id := n.kind("FLID")
	if id == nil {
		d.refuse(Malformed, n, "/FLID", "", "FLID is missing")
		return
	}
	flid, ok := parseFLID(id.text)
	switch {
	case id.same != nil:
		d.refuse(Protocol, id, "", id.same.text, "it stands in the record twice")
	case !ok || id.first != nil:
		d.refuse(Malformed, id, "", id.text, wantFLID)
	}
	if d.fault != nil {
		return
	}
	d.patch.reset()
	switch {
	case d.body == "FLOP":
		d.flop(n)
	case d.op == "create":
		d.fltr(n)
	}
	if d.fault == nil {
		d.msg.Records = append(d.msg.Records, Record{Op: d.op, FLID: flid, Patch: d.patch.json()})
	}
}

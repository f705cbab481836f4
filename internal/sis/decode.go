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
	xml   *reader
	msg   Message
	year  int    // anchor of two-digit years
	fault *Error // first fault of the content; the rest is read only to see that it is XML
}

// Decode reads a message. The error is an *Error; Meta is filled as far as it
// is readable also then. now anchors two-digit years when DTTM is unusable.
//
// A text that is not well-formed is malformed whatever its content says.
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
		return &Error{Class: Malformed, Reason: "the text is empty"}
	case len(text) > d.codec.opts.MaxBytes:
		return &Error{Class: CodecError, Reason: fmt.Sprintf("the text has %d bytes, sis.max-bytes allows %d", len(text), d.codec.opts.MaxBytes)}
	case !utf8.Valid(text):
		return &Error{Class: Malformed, Reason: fmt.Sprintf("byte %d is not UTF-8", invalidAt(text))}
	}
	var err error
	if d.xml, err = newReader(text, d.codec.opts.MaxDepth); err != nil {
		return err
	}
	if err := d.root(); err != nil {
		return err
	}
	if d.fault != nil {
		return d.fault
	}
	return nil
}

func invalidAt(text []byte) int {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(text)
}

// refuse remembers the first fault of the content.
func (d *decoding) refuse(class Class, path, value, format string, args ...any) {
	if d.fault == nil {
		d.fault = &Error{Class: class, Path: path, Value: shorten(value), Reason: fmt.Sprintf(format, args...)}
	}
}

// root reads MSG: META first, then the body.
func (d *decoding) root() error {
	start, err := d.xml.root()
	if err != nil {
		return err
	}
	if start.name != "MSG" {
		d.refuse(Malformed, start.name, "", "expected MSG as root")
		return d.xml.skipRest()
	}
	d.namespace(start, "MSG")
	seen := make(map[string]int)
	for {
		n, err := d.xml.child()
		if err != nil {
			return err
		}
		if n == nil {
			break
		}
		seen[n.name]++
		switch {
		case n.name == "META":
			err = d.meta(n, seen["META"], len(seen) == 1)
		case seen["META"] == 0 && d.fault == nil:
			d.refuse(Malformed, "MSG/"+n.name, "", "META must come first")
			err = d.xml.skip()
		default:
			err = d.body(n, seen[n.name])
		}
		if err != nil {
			return err
		}
	}
	if err := d.xml.end(); err != nil {
		return err
	}
	if seen["META"] == 0 {
		d.refuse(Malformed, "MSG", "", "META is missing")
	}
	d.complete(seen)
	return nil
}

// complete refuses a message without a body.
func (d *decoding) complete(seen map[string]int) {
	want := ""
	switch d.msg.Meta.Type {
	case "FLOP":
		want = "FLOP"
	case "SCHD", "ADFT":
		want = "SCHD"
	}
	if want != "" && seen[want] == 0 {
		d.refuse(Malformed, "MSG", "", "%s is missing", want)
	}
}

// namespace refuses elements that are in a namespace.
func (d *decoding) namespace(n *node, path string) {
	if n.prefix != "" {
		d.refuse(Protocol, path, n.prefix, "elements have no namespace")
	}
	if ns := n.attr("xmlns"); ns != "" {
		d.refuse(Protocol, path, ns, "elements have no namespace")
	}
}

// meta reads the header.
func (d *decoding) meta(n *node, nth int, first bool) error {
	if err := d.xml.fill(n); err != nil {
		return err
	}
	d.namespace(n, "MSG/META")
	if nth > 1 {
		d.refuse(Malformed, "MSG/META", "", "META stands in it twice")
		return nil
	}
	if !first {
		d.refuse(Malformed, "MSG/META", "", "META must come first")
	}
	m := &d.msg.Meta
	for _, c := range n.children {
		path := "MSG/META/" + c.name
		value := c.value()
		switch c.name {
		case "SNDR":
			d.once(&m.Sender, value, path)
		case "TYPE":
			d.once(&m.Type, strings.ToUpper(value), path)
		case "STYP":
			d.once(&m.Subtype, strings.ToUpper(value), path)
		case "SEQN":
			seqn, err := strconv.ParseInt(value, 10, 64)
			if err != nil || seqn < 0 || m.Seqn != nil {
				d.refuse(Malformed, path, value, "expected one whole number")
				continue
			}
			m.Seqn = &seqn
		case "DTTM":
			if t, ok := parseStamp(value, d.codec.opts.Zone); ok {
				m.Dttm, d.year = &t, t.Year()
			}
		}
	}
	switch {
	case m.Seqn == nil:
		d.refuse(Malformed, "MSG/META/SEQN", "", "SEQN is missing")
	case m.Sender == "":
		d.refuse(Malformed, "MSG/META/SNDR", "", "SNDR is missing")
	case m.Type == "":
		d.refuse(Malformed, "MSG/META/TYPE", "", "TYPE is missing")
	case m.Subtype == "":
		d.refuse(Malformed, "MSG/META/STYP", "", "STYP is missing")
	}
	return nil
}

func (d *decoding) once(to *string, value, path string) {
	if *to != "" {
		d.refuse(Malformed, path, value, "it stands in META twice")
	}
	*to = value
}

// body reads one child of MSG after META.
func (d *decoding) body(n *node, nth int) error {
	path := "MSG/" + n.name
	if d.fault != nil {
		return d.xml.skip()
	}
	d.namespace(n, path)
	typ, styp := d.msg.Meta.Type, d.msg.Meta.Subtype
	switch {
	case typ == "FLOP" && n.name == "FLOP":
		return d.flop(n, path, nth)
	case (typ == "SCHD" || typ == "ADFT") && n.name == "SCHD":
		return d.schd(n, path, nth)
	case typ == "FLOP" || typ == "SCHD" || typ == "ADFT":
		d.refuse(Protocol, path, "", "a message of type %s has no such element", typ)
	default:
		d.refuse(Unsupported, "MSG/META/TYPE", typ+"/"+styp, "messages of this type are not supported")
	}
	return d.xml.skip()
}

// schd reads the body of a schedule: RECS and FLTR.
func (d *decoding) schd(n *node, path string, nth int) error {
	if nth > 1 {
		d.refuse(Protocol, path, "", "SCHD stands in the message twice")
	}
	op := "create"
	switch d.msg.Meta.Subtype {
	case "DNLD", "RESP", "ADFT", "ADD", "UPD":
	case "DEL":
		op = "delete"
	default:
		d.refuse(Unsupported, "MSG/META/STYP", d.msg.Meta.Subtype, "this subtype of a schedule is not supported")
	}
	records, declared := 0, 0
	for {
		c, err := d.xml.child()
		if err != nil {
			return err
		}
		if c == nil {
			return nil
		}
		if d.fault != nil {
			if err := d.xml.skip(); err != nil {
				return err
			}
			continue
		}
		if err := d.xml.fill(c); err != nil {
			return err
		}
		switch c.name {
		case "RECS":
			declared++
			value := c.value()
			recs, err := strconv.ParseInt(value, 10, 32)
			switch {
			case declared > 1:
				d.refuse(Protocol, path+"/RECS", value, "RECS stands in it twice")
			case err != nil:
				d.refuse(CodecError, path+"/RECS", value, "expected a whole number")
			default:
				d.msg.Declared = &recs
			}
		case "FLTR":
			records++
			d.record(op, c, fmt.Sprintf("%s/FLTR[%d]", path, records), d.fltr)
		default:
			d.namespace(c, path+"/"+c.name)
		}
	}
}

// flop reads one operational event.
func (d *decoding) flop(n *node, path string, nth int) error {
	if err := d.xml.fill(n); err != nil {
		return err
	}
	if nth > 1 {
		path = fmt.Sprintf("%s[%d]", path, nth)
	}
	op := "change"
	if d.msg.Meta.Subtype == "FDEL" {
		op = "delete"
	}
	d.record(op, n, path, d.event)
	return nil
}

// record decodes one record: its FLID, and its patch by the given rules.
func (d *decoding) record(op string, n *node, path string, rules func(*patch, *node, string)) {
	var flids []*node
	for _, c := range n.children {
		d.namespace(c, path+"/"+c.name)
		if c.name == "FLID" {
			flids = append(flids, c)
		}
	}
	switch len(flids) {
	case 0:
		d.refuse(Malformed, path+"/FLID", "", "FLID is missing")
		return
	case 1:
	default:
		d.refuse(Protocol, path+"/FLID", flids[1].value(), "FLID stands in it twice")
		return
	}
	flid, err := parseFLID(flids[0].value())
	if err != nil {
		d.refuse(Malformed, path+"/FLID", flids[0].value(), "%v", err)
		return
	}
	p := &patch{}
	if op != "delete" || d.msg.Meta.Subtype == "FDEL" {
		rules(p, n, path)
	}
	if d.fault == nil {
		d.msg.Records = append(d.msg.Records, Record{Op: op, FLID: flid, Patch: p.json()})
	}
}

package sis

import (
	"fmt"
	"strconv"
	"strings"
)

// patch collects what one record says, each part as JSON.
type patch struct {
	set, lists, upsert, extra object
}

// object is a JSON object being written.
type object struct{ body []byte }

// key begins a member.
func (o *object) key(name string) {
	if len(o.body) > 0 {
		o.body = append(o.body, ',')
	}
	o.body = appendString(o.body, name)
	o.body = append(o.body, ':')
}

// raw adds a member that is JSON already.
func (o *object) raw(name string, value []byte) {
	o.key(name)
	o.body = append(o.body, value...)
}

// null adds a member without a value.
func (o *object) null(name string) { o.raw(name, []byte("null")) }

// bytes returns the object.
func (o *object) bytes() []byte {
	out := make([]byte, 0, len(o.body)+2)
	out = append(out, '{')
	return append(append(out, o.body...), '}')
}

// json returns the patch; empty parts are left out.
func (p *patch) json() []byte {
	var out object
	for _, part := range [...]struct {
		name string
		o    *object
	}{{"set", &p.set}, {"lists", &p.lists}, {"upsert", &p.upsert}, {"extra", &p.extra}} {
		if len(part.o.body) > 0 {
			out.raw(part.name, part.o.bytes())
		}
	}
	return out.bytes()
}

// fltr reads a schedule record: absent keeps, empty clears, a value sets; a
// list that is present replaces the list (wire D3).
func (d *decoding) fltr(p *patch, n *node, path string) {
	seen := make(map[string]bool, len(n.children))
	for _, c := range n.children {
		at := path + "/" + c.name
		again := seen[c.name]
		seen[c.name] = true
		switch {
		case c.name == "FLID":
		case d.codec.scalars[c.name] != nil:
			if again {
				d.refuse(Protocol, at, c.value(), "it stands in the record twice")
				return
			}
			d.scalar(p, d.codec.scalars[c.name], c.value(), at)
		case d.codec.composites[c.name] != nil:
			if again {
				d.refuse(Protocol, at, c.value(), "it stands in the record twice")
				return
			}
			d.composite(p, d.codec.composites[c.name], c, at)
		case c.name == "PORT":
			if !again {
				d.doors(p, n.find("PORT"), path)
			}
		case d.codec.lists[c.name] != nil:
			if !again {
				l := d.codec.lists[c.name]
				if members, ok := d.members(l, n.find(c.name), path); ok {
					p.lists.raw(l.name, members)
				}
			}
		default:
			if !again {
				p.extra.key(c.name)
				p.extra.body = appendRaw(p.extra.body, n.find(c.name))
			}
		}
		if d.fault != nil {
			return
		}
	}
}

// event reads an operational event: only the elements of its subtype count
// (wire R3).
func (d *decoding) event(p *patch, n *node, path string) {
	styp := d.msg.Meta.Subtype
	switch s, l := d.codec.scalars[styp], d.codec.lists[styp]; {
	case styp == "FDEL":
		for _, c := range n.find("FDEL") {
			if c.value() != "" {
				d.refuse(Protocol, path+"/FDEL", c.value(), "FDEL must be empty")
			}
		}
	case d.codec.groups[styp] != nil:
		d.group(p, d.codec.groups[styp], n, path)
	case d.codec.composites[styp] != nil:
		c := d.single(n, styp, path)
		if c == nil {
			c = &node{name: styp}
		}
		d.composite(p, d.codec.composites[styp], c, path+"/"+styp)
	case styp == "PORT":
		doors := n.find("PORT")
		if len(doors) == 0 {
			d.refuse(Protocol, path+"/PORT", "", "PORT is missing")
			return
		}
		d.doors(p, doors, path)
	case l != nil && l.inFlop:
		d.eventList(p, l, n, path)
	case s != nil && s.class != notInFlop:
		d.eventScalar(p, s, n, path)
	default:
		d.refuse(Unsupported, "MSG/META/STYP", styp, "this subtype of an event is not supported")
	}
}

// single returns the only element of that name, nil when there is none.
func (d *decoding) single(n *node, name, path string) *node {
	found := n.find(name)
	if len(found) > 1 {
		d.refuse(Protocol, path+"/"+name, found[1].value(), "it stands in the record twice")
	}
	if len(found) == 0 {
		return nil
	}
	return found[0]
}

func (d *decoding) eventScalar(p *patch, s *scalar, n *node, path string) {
	c := d.single(n, s.element, path)
	at := path + "/" + s.element
	value := ""
	if c != nil {
		value = c.value()
	}
	switch {
	case c == nil && s.class != clearable:
		d.refuse(Protocol, at, "", "%s is missing", s.element)
	case value == "" && s.class == mandatory:
		d.refuse(Protocol, at, "", "%s must have a value", s.element)
	default:
		d.scalar(p, s, value, at)
	}
}

// scalar sets one column, or clears it.
func (d *decoding) scalar(p *patch, s *scalar, value, at string) {
	p.set.key(s.column)
	if value == "" {
		p.set.body = append(p.set.body, "null"...)
		return
	}
	body, err := d.appendValue(p.set.body, s.kind, value)
	if err != nil {
		d.refuse(CodecError, at, value, "%v", err)
		return
	}
	p.set.body = body
}

// group sets the columns of an event of several elements.
func (d *decoding) group(p *patch, g *group, n *node, path string) {
	values := make([]string, len(g.elements))
	gone := false
	for i, name := range g.elements {
		c := d.single(n, name, path)
		if c != nil {
			values[i] = c.value()
		}
		gone = gone || values[i] == ""
		if c == nil && i == 0 && g.how == leading {
			d.refuse(Protocol, path+"/"+name, "", "%s is missing", name)
			return
		}
	}
	clearAll := (g.how == allOrNone && gone) || (g.how == leading && values[0] == "")
	for i, name := range g.elements {
		if clearAll {
			values[i] = ""
		}
		d.scalar(p, d.codec.scalars[name], values[i], path+"/"+name)
	}
}

// composite sets the columns of an element with an attribute and a text. An
// element that is empty, or whose first attribute is empty and nothing but it
// is required, clears them all.
func (d *decoding) composite(p *patch, x *composite, n *node, at string) {
	first, words := n.attr(x.attribute), n.value()
	second := ""
	if x.second != "" {
		second = n.attr(x.second)
	}
	switch {
	case first == "" && (x.second != "" || words == ""):
		second, words = "", ""
	case first == "":
		d.refuse(Protocol, at+"@"+x.attribute, "", "a text needs %s", x.attribute)
		return
	case x.second != "" && !contains(x.allowed, second):
		d.refuse(CodecError, at+"@"+x.second, second, "expected %s", strings.Join(x.allowed, " or "))
		return
	}
	put := func(column, value string) {
		if value == "" {
			p.set.null(column)
			return
		}
		p.set.key(column)
		p.set.body = appendString(p.set.body, value)
	}
	put(x.column, first)
	if x.second != "" {
		put(x.secondCol, second)
	}
	put(x.textCol, words)
}

func contains(list []string, s string) bool {
	for _, v := range list {
		if v == s {
			return true
		}
	}
	return false
}

// doors reads PORT: POID O or C chooses the time that POTM sets or clears. A
// wholly blank PORT says nothing.
func (d *decoding) doors(p *patch, ports []*node, path string) {
	seen := make(map[string]bool)
	for i, n := range ports {
		at := fmt.Sprintf("%s/PORT[%d]", path, i+1)
		if n.blank() && len(ports) > 1 {
			continue
		}
		id := ""
		if c := d.single(n, "POID", at); c != nil {
			id = c.value()
		}
		column := ""
		switch id {
		case "O":
			column = "door_open_time"
		case "C":
			column = "door_close_time"
		case "":
			d.refuse(Protocol, at+"/POID", "", "POID is missing")
			return
		default:
			d.refuse(CodecError, at+"/POID", id, "expected O or C")
			return
		}
		if seen[column] {
			d.refuse(Protocol, at+"/POID", id, "the same door time twice")
			return
		}
		seen[column] = true
		when := ""
		if c := d.single(n, "POTM", at); c != nil {
			when = c.value()
		}
		d.scalar(p, &scalar{column: column, kind: moment}, when, at+"/POTM")
	}
}

// eventList reads a list event: a numbered list is replaced, a keyed one is
// upserted; a wholly blank member clears (wire D4).
func (d *decoding) eventList(p *patch, l *list, n *node, path string) {
	found := n.find(l.element)
	if len(found) == 0 && (l.keyed || d.codec.opts.RefuseEmptyList) {
		d.refuse(Protocol, path+"/"+l.element, "", "%s is missing", l.element)
		return
	}
	members, ok := d.members(l, found, path)
	switch {
	case !ok:
	case l.keyed && len(members) == len("{}"):
		p.upsert.null(l.name)
	case l.keyed, l.element == "ERUT" && d.codec.opts.ErutMerge:
		p.upsert.raw(l.name, members)
	case len(members) == len("{}") && d.codec.opts.RefuseEmptyList:
		d.refuse(Protocol, path+"/"+l.element, "", "%s has no member, and sis.empty-list refuses that", l.element)
	default:
		p.lists.raw(l.name, members)
	}
}

// members returns the members by key as a JSON object. Blank ones are dropped
// from a numbered list (wire D3); beside keyed ones they are a fault.
func (d *decoding) members(l *list, found []*node, path string) ([]byte, bool) {
	var out object
	seen := make(map[string]bool, len(found))
	blanks := 0
	for i, n := range found {
		at := fmt.Sprintf("%s/%s[%d]", path, l.element, i+1)
		if n.blank() {
			blanks++
			continue
		}
		key, body, ok := d.member(l, n, at)
		if !ok {
			return nil, false
		}
		if seen[key] {
			d.refuse(Protocol, at, key, "the same %s twice", strings.TrimPrefix(l.fields[0].name, "@"))
			return nil, false
		}
		seen[key] = true
		out.raw(key, body)
	}
	if l.keyed && blanks > 0 && len(seen) > 0 {
		d.refuse(Protocol, path+"/"+l.element, "", "a blank member beside others")
		return nil, false
	}
	return out.bytes(), true
}

// member reads one member: its key and its columns.
func (d *decoding) member(l *list, n *node, at string) (key string, body []byte, ok bool) {
	var out, extra object
	known := make(map[string]bool, len(l.fields))
	for i, f := range l.fields {
		known[f.name] = true
		value, where := "", at+"/"+f.name
		switch {
		case f.name == "#":
			value, where = n.value(), at
		case f.name[0] == '@':
			value, where = n.attr(f.name[1:]), at+f.name
		default:
			if c := d.single(n, f.name, at); c != nil {
				value = c.value()
			}
		}
		if d.fault != nil {
			return "", nil, false
		}
		if value == "" {
			if f.required {
				d.refuse(Protocol, where, "", "%s is missing", strings.TrimPrefix(f.name, "@"))
				return "", nil, false
			}
			continue
		}
		out.key(f.column)
		filled, err := d.appendValue(out.body, f.kind, value)
		if err != nil {
			d.refuse(CodecError, where, value, "%v", err)
			return "", nil, false
		}
		out.body = filled
		if i == 0 {
			if key = value; f.kind == integer {
				// "01" and "1" are one number.
				number, err := strconv.ParseInt(value, 10, 32)
				if err != nil || number < 0 {
					d.refuse(CodecError, where, value, "expected a number")
					return "", nil, false
				}
				key = strconv.FormatInt(number, 10)
			}
		}
	}
	for _, a := range n.attrs {
		if a.Name.Space == "" && a.Name.Local != "xmlns" && !known["@"+a.Name.Local] {
			extra.key("@" + a.Name.Local)
			extra.body = appendString(extra.body, strings.TrimSpace(a.Value))
		}
	}
	done := make(map[string]bool)
	for _, c := range n.children {
		if !known[c.name] && !done[c.name] {
			done[c.name] = true
			extra.key(c.name)
			extra.body = appendRaw(extra.body, n.find(c.name))
		}
	}
	if len(extra.body) > 0 {
		out.raw("extra", extra.bytes())
	}
	return key, out.bytes(), true
}

// appendRaw appends elements that the catalogue does not know, as they came:
// a text as a string, more as an object, several as an array.
func appendRaw(dst []byte, list []*node) []byte {
	if len(list) > 1 {
		dst = append(dst, '[')
		for i, n := range list {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendRaw(dst, []*node{n})
		}
		return append(dst, ']')
	}
	n := list[0]
	var out object
	for _, a := range n.attrs {
		if a.Name.Space == "" && a.Name.Local != "xmlns" {
			out.key("@" + a.Name.Local)
			out.body = appendString(out.body, strings.TrimSpace(a.Value))
		}
	}
	if len(out.body) == 0 && len(n.children) == 0 {
		return appendString(dst, n.value())
	}
	if v := n.value(); v != "" {
		out.key("#text")
		out.body = appendString(out.body, v)
	}
	done := make(map[string]bool)
	for _, c := range n.children {
		if !done[c.name] {
			done[c.name] = true
			out.key(c.name)
			out.body = appendRaw(out.body, n.find(c.name))
		}
	}
	return append(dst, out.bytes()...)
}

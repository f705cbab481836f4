package sis

import (
	"fmt"
	"strconv"
	"strings"
)

// patch collects what one record says; each part is the inside of a JSON object.
type patch struct {
	set, lists, upsert, extra []byte
}

func (p *patch) reset() {
	p.set, p.lists, p.upsert, p.extra = p.set[:0], p.lists[:0], p.upsert[:0], p.extra[:0]
}

// json returns the patch; empty parts are left out.
func (p *patch) json() []byte {
	const frame = len(`{"set":{},"lists":{},"upsert":{},"extra":{}}`)
	out := make([]byte, 0, frame+len(p.set)+len(p.lists)+len(p.upsert)+len(p.extra))
	out = append(out, '{')
	for _, part := range [...]struct {
		name string
		body []byte
	}{{"set", p.set}, {"lists", p.lists}, {"upsert", p.upsert}, {"extra", p.extra}} {
		if len(part.body) > 0 {
			out = append(appendKey(out, part.name), '{')
			out = append(append(out, part.body...), '}')
		}
	}
	return append(out, '}')
}

// fltr reads a schedule record: absent keeps, empty clears, a value sets; a
// list that is present replaces the list (wire D3).
func (d *decoding) fltr(n *node) {
	p := &d.patch
	d.strange("", n, nil)
	for c := n.kinds; c != nil && d.fault == nil; c = c.nextKind {
		if c.name == "FLID" {
			continue
		}
		switch e := d.codec.elements[c.name]; {
		case e.scalar != nil:
			d.once(c)
			d.scalar(e.scalar, c)
			d.strange(c.name, c, nil)
		case e.composite != nil:
			d.once(c)
			d.composite(e.composite, c)
			d.strange(c.name, c, e.composite)
		case e.doors != nil:
			d.strangeDoors(c)
			if blanks(c) == all {
				for _, door := range e.doors {
					d.set(door.column, text, "", c)
				}
				continue
			}
			d.doors(e.doors, c)
		case e.list != nil:
			p.lists = append(appendKey(p.lists, e.list.name), '{')
			p.lists, _ = d.members(p.lists, e.list, c, inRecord, &d.keys)
			p.lists = append(p.lists, '}')
		default:
			p.extra = appendRaw(appendKey(p.extra, c.name), c)
		}
	}
}

// strange keeps the attributes that nobody knows of an element, as extra under
// its name. x is nil for an element without attributes of its own.
func (d *decoding) strange(name string, n *node, x *composite) {
	for _, a := range n.attrs {
		if !own(a) || (x != nil && x.has("@"+a.name)) {
			continue
		}
		d.patch.extra = appendKey(d.patch.extra, name+"@"+a.name)
		d.patch.extra = appendString(d.patch.extra, strings.TrimSpace(a.value))
	}
}

// strangeDoors keeps PORT elements as they came when there is more in them
// than anybody knows.
func (d *decoding) strangeDoors(first *node) {
	for c := first; c != nil; c = c.same {
		known := true
		for _, a := range c.attrs {
			known = known && !own(a)
		}
		for in := c.first; in != nil; in = in.next {
			known = known && (in.name == "POTM" || in.name == "POID")
		}
		if !known {
			d.patch.extra = appendRaw(appendKey(d.patch.extra, first.name), first)
			return
		}
	}
}

// has tells whether a composite has that part.
func (x *composite) has(name string) bool {
	for i := range x.fields {
		if x.fields[i].name == name {
			return true
		}
	}
	return false
}

// unknown keeps the elements of an event that nobody knows. Those that belong
// to other subtypes say nothing (wire R3), and FFID is for people (wire Q16).
func (d *decoding) unknown(n *node) {
	d.strange("", n, nil)
	for c := n.kinds; c != nil; c = c.nextKind {
		if c.name == "FLID" || c.name == "FFID" || c.name == d.msg.Meta.Subtype {
			continue
		}
		if _, known := d.codec.elements[c.name]; !known {
			d.patch.extra = appendRaw(appendKey(d.patch.extra, c.name), c)
		}
	}
}

// flop reads an operational event: only the elements of its subtype count
// (wire R3).
func (d *decoding) flop(n *node) {
	styp := d.msg.Meta.Subtype
	first := n.kind(styp)
	d.unknown(n)
	switch e := d.event; {
	case e.scalars != nil:
		d.flopScalars(e.scalars, n)
	case e.composite != nil:
		if first == nil {
			first = &node{parent: n, name: styp}
		}
		d.once(first)
		d.composite(e.composite, first)
		d.strange(styp, first, e.composite)
	case e.doors != nil:
		if first == nil {
			d.missing(n, styp)
			return
		}
		d.strangeDoors(first)
		d.doors(e.doors, first)
	case e.list != nil:
		d.flopList(e.list, n, first)
	case first != nil: // FDEL
		d.once(first)
		if !first.blank() {
			d.refuse(Protocol, first, "", first.text, "it must be empty")
		}
	}
}

// once refuses a second element of that name.
func (d *decoding) once(c *node) {
	if c.same != nil {
		d.refuse(Protocol, c, "", c.same.text, "it stands in the record twice")
	}
}

// missing refuses a node without an element or attribute.
func (d *decoding) missing(n *node, name string) {
	d.refuse(Protocol, n, "/"+name, "", name+" is missing")
}

// flopScalars sets the columns of a FLOP of one or more single values, each
// element by its class.
func (d *decoding) flopScalars(scalars []*scalar, n *node) {
	clear, leader := false, false // all of them; those behind an empty leader
	for _, s := range scalars {
		c, value := n.kind(s.element), ""
		if c != nil {
			d.once(c)
			value, _ = d.value(c)
		}
		switch {
		case c == nil && (s.class == mandatory || s.class == optional):
			d.missing(n, s.element)
		case s.class == mandatory && value == "":
			d.refuse(Protocol, c, "", "", s.element+" must have a value")
		}
		clear = clear || (s.class == together && value == "")
		leader = leader || (s.class == optional && value == "")
	}
	for _, s := range scalars {
		c := n.kind(s.element)
		if c != nil {
			d.strange(s.element, c, nil)
		}
		if c == nil || clear || (leader && s.class == follower) {
			c = &node{parent: n, name: s.element}
		}
		d.scalar(s, c)
	}
}

// scalar sets the column of an element, or clears it.
func (d *decoding) scalar(s *scalar, c *node) {
	if value, ok := d.value(c); ok {
		d.set(s.column, s.kind, value, c)
	}
}

// set sets a column from a value of that node, or clears it.
func (d *decoding) set(column string, k kind, value string, from *node) {
	d.patch.set = appendKey(d.patch.set, column)
	if value == "" {
		d.patch.set = append(d.patch.set, "null"...)
		return
	}
	var wrong string
	if d.patch.set, wrong = d.appendValue(d.patch.set, k, value); wrong != "" {
		d.refuse(CodecError, from, "", value, wrong)
	}
}

// composite sets the columns of an element of attributes and a text. Without
// its leading field all are cleared.
func (d *decoding) composite(x *composite, n *node) {
	if _, ok := d.value(n); !ok {
		return
	}
	lead := n.attr(x.fields[0].name[1:])
	if lead == "" && x.alone && n.text != "" {
		d.refuse(Protocol, n, x.fields[0].name, "", "a text needs "+x.fields[0].name[1:])
		return
	}
	for i := range x.fields {
		f, value := &x.fields[i], ""
		if lead != "" {
			value = n.text
			if f.name != "#" {
				value = n.attr(f.name[1:])
			}
			if f.oneOf != "" && !oneOf(f.oneOf, value) {
				d.refuse(CodecError, n, f.name, value, "expected "+strings.ReplaceAll(f.oneOf, " ", " or "))
			}
		}
		d.set(f.column, f.kind, value, n)
	}
}

// oneOf tells whether value is one of the words.
func oneOf(words, value string) bool {
	for word := range strings.FieldsSeq(words) {
		if word == value {
			return true
		}
	}
	return false
}

// share says how many of some elements are wholly blank.
type share uint8

const (
	no share = iota
	some
	all
)

func blanks(first *node) share {
	blank, filled := false, false
	for c := first; c != nil; c = c.same {
		if c.blank() {
			blank = true
		} else {
			filled = true
		}
	}
	switch {
	case blank && filled:
		return some
	case blank:
		return all
	}
	return no
}

// doors reads PORT: POID chooses the time that POTM sets or clears. A blank one
// beside others says nothing.
func (d *decoding) doors(doors []door, first *node) {
	skip := blanks(first) == some
	seen := make(map[string]bool, len(doors))
	i := 0
	for c := first; c != nil && d.fault == nil; c = c.same {
		i++
		c.index = i
		if skip && c.blank() {
			continue
		}
		group(c)
		id, at, poid, potm := c.kind("POID"), c.kind("POTM"), "", ""
		if id != nil {
			d.once(id)
			poid, _ = d.value(id)
		}
		if at != nil {
			d.once(at)
			potm, _ = d.value(at)
		}
		if poid == "" {
			d.missing(c, "POID")
			return
		}
		column := ""
		for _, door := range doors {
			if door.poid == poid {
				column = door.column
			}
		}
		switch {
		case column == "":
			d.refuse(CodecError, id, "", poid, "expected O or C")
			return
		case seen[column]:
			d.refuse(Protocol, id, "", poid, "the same door twice")
			return
		}
		seen[column] = true
		if at == nil {
			at = c
		}
		d.set(column, moment, potm, at)
	}
}

// use says what a list is for.
type use uint8

const (
	inRecord use = iota // of FLTR: replaces
	replace             // a FLOP of the whole list
	upsert              // a FLOP of members by key
)

// flopList reads a FLOP of a list: a numbered one is replaced, a keyed one
// upserted; a wholly blank member clears (wire D4).
func (d *decoding) flopList(l *list, n, first *node) {
	use, part := replace, &d.patch.lists
	if l.keyed || (l.element == "ERUT" && d.codec.opts.ErutMerge) {
		use, part = upsert, &d.patch.upsert
	}
	if first == nil && (use == upsert || d.codec.opts.RefuseEmptyList) {
		d.missing(n, l.element)
		return
	}
	members := 0
	*part = append(appendKey(*part, l.name), '{')
	*part, members = d.members(*part, l, first, use, &d.keys)
	*part = append(*part, '}')
	switch {
	case members > 0:
	case use == upsert:
		*part = append(appendKey((*part)[:0], l.name), "null"...)
	case d.codec.opts.RefuseEmptyList:
		d.refuse(Protocol, n, "/"+l.element, "", l.element+" has no member, and sis.empty-list refuses that")
	}
}

// members appends the members of a list by key, and counts them. Blank ones are
// dropped (wire D3, Q10), but beside members to upsert they are a fault.
func (d *decoding) members(dst []byte, l *list, first *node, use use, keys *nameSet) ([]byte, int) {
	mixed := use == upsert && blanks(first) == some
	keys.reset()
	i, count := 0, 0
	for c := first; c != nil && d.fault == nil; c = c.same {
		i++
		c.index = i
		switch blank := c.blank(); {
		case blank && mixed:
			d.refuse(Protocol, c, "", "", "a blank member beside others")
		case !blank:
			dst = d.member(dst, l, c, use, keys)
			count++
		}
	}
	return dst, count
}

// member appends one member: its key and its columns; what is empty is left
// out. What every FLTR must have is the key alone. Without its lasting field a
// member is none: a record leaves it out, an event takes it away.
func (d *decoding) member(dst []byte, l *list, n *node, use use, keys *nameSet) []byte {
	begin, body := len(dst), 0
	for i := range l.fields {
		f := &l.fields[i]
		value, from, more := d.fieldValue(f, n)
		if i == 0 {
			dst = d.memberKey(dst, f, value, n, keys)
			dst = append(dst, ':')
			body = len(dst)
			dst = append(dst, '{')
		}
		switch {
		case d.fault != nil:
			return dst
		case value != "":
			var wrong string
			if dst, wrong = d.appendValue(appendKey(dst, f.column), f.kind, value); wrong != "" {
				d.refuse(CodecError, from, more, value, wrong)
				return dst
			}
		case f.name == l.lasting && use == upsert:
			return append(dst[:body], "null"...)
		case f.name == l.lasting:
			return dst[:begin]
		case f.required && use != inRecord:
			d.refuse(Protocol, from, more, "", strings.TrimPrefix(f.name, "@")+" is missing")
			return dst
		}
	}
	if l.inner != nil {
		group(n)
		if first := n.kind(l.inner.element); first != nil {
			dst = append(appendKey(dst, l.inner.name), '{')
			dst, _ = d.members(dst, l.inner, first, inRecord, &d.innerKeys)
			dst = append(dst, '}')
		}
	}
	return append(appendUnknown(dst, l, n), '}')
}

// fieldValue reads a field of an element: an attribute, the text, or a child.
func (d *decoding) fieldValue(f *field, n *node) (value string, from *node, more string) {
	switch f.name[0] {
	case '@':
		return n.attr(f.name[1:]), n, f.name
	case '#':
		return n.text, n, ""
	}
	if c := n.child(f.name); c != nil {
		if n.again(c) {
			d.refuse(Protocol, c, "", c.text, "it stands in the member twice")
		}
		value, _ = d.value(c)
	}
	return value, n, "/" + f.name
}

// memberKey appends the key of a member as text.
func (d *decoding) memberKey(dst []byte, f *field, value string, n *node, keys *nameSet) []byte {
	name := strings.TrimPrefix(f.name, "@")
	switch {
	case value == "":
		d.refuse(Protocol, n, f.place(), "", name+" is missing")
		return dst
	case len(value) > maxKey:
		d.refuse(CodecError, n, f.place(), value, fmt.Sprintf("expected at most %d bytes", maxKey))
		return dst
	}
	if f.kind == number {
		no, ok := parseInteger(value, 32)
		if !ok || no < 0 {
			d.refuse(CodecError, n, f.place(), value, "expected a whole number, 0 or more")
			return dst
		}
		value = strconv.FormatInt(no, 10) // "01" and "1" are one number
	}
	if !keys.add(value) {
		d.refuse(Protocol, n, f.place(), value, "the same "+name+" twice")
	}
	return appendString(appendComma(dst), value)
}

// child returns the first child of that name.
func (n *node) child(name string) *node {
	for c := n.first; c != nil; c = c.next {
		if c.name == name {
			return c
		}
	}
	return nil
}

// again tells whether a sibling behind c has its name.
func (n *node) again(c *node) bool {
	for o := c.next; o != nil; o = o.next {
		if o.name == c.name {
			return true
		}
	}
	return false
}

// appendUnknown appends what the list does not know of a member, as it came.
func appendUnknown(dst []byte, l *list, n *node) []byte {
	known := func(mark, name string) bool {
		for i := range l.fields {
			if f := l.fields[i].name; len(f) == len(mark)+len(name) && f[:len(mark)] == mark && f[len(mark):] == name {
				return true
			}
		}
		return mark == "" && l.inner != nil && name == l.inner.element
	}
	any := false
	key := func(name string) {
		if !any {
			any = true
			dst = append(appendKey(dst, "extra"), '{')
		}
		dst = appendKey(dst, name)
	}
	for _, a := range n.attrs {
		if own(a) && !known("@", a.name) {
			key("@" + a.name)
			dst = appendString(dst, strings.TrimSpace(a.value))
		}
	}
	grouped := false
	for c := n.first; c != nil; c = c.next {
		if known("", c.name) {
			continue
		}
		if !grouped {
			grouped = true
			group(n)
		}
	}
	if grouped {
		for c := n.kinds; c != nil; c = c.nextKind {
			if !known("", c.name) {
				key(c.name)
				dst = appendRaw(dst, c)
			}
		}
	}
	if any {
		dst = append(dst, '}')
	}
	return dst
}

// appendRaw appends the elements of one name as they came: a text as a string,
// more as an object, several as an array.
func appendRaw(dst []byte, first *node) []byte {
	if first.same == nil {
		return appendElement(dst, first)
	}
	dst = append(dst, '[')
	for c := first; c != nil; c = c.same {
		dst = appendElement(appendComma(dst), c)
	}
	return append(dst, ']')
}

func appendElement(dst []byte, n *node) []byte {
	plain := n.first == nil
	for _, a := range n.attrs {
		plain = plain && !own(a)
	}
	if plain {
		return appendString(dst, n.text)
	}
	dst = append(dst, '{')
	for _, a := range n.attrs {
		if own(a) {
			dst = appendString(appendKey(dst, "@"+a.name), strings.TrimSpace(a.value))
		}
	}
	if n.text != "" {
		dst = appendString(appendKey(dst, "#text"), n.text)
	}
	group(n)
	for c := n.kinds; c != nil; c = c.nextKind {
		dst = appendRaw(appendKey(dst, c.name), c)
	}
	return append(dst, '}')
}

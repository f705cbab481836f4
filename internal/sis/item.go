package sis

import (
	"fmt"
	"strings"
)

// Item is a record of reference data, or of a seasonal schedule.
type Item struct {
	Key  string // the key field; of a seasonal record its first fields, joined with |
	Data []byte // JSON object by column; of a deletion the key alone
}

// item decodes one record that is no flight. keys is how many fields at its
// front make its key; whole is false for a deletion, of which only the key
// counts (wire 3.6).
func (d *decoding) item(r *reference, n *node, keys int, whole bool) {
	group(n)
	d.items.begin()
	var key []string
	for i := range r.fields {
		f := &r.fields[i]
		if i >= keys && !whole {
			break
		}
		value := d.itemField(f, n)
		if d.fault != nil {
			return
		}
		if i < keys {
			if len(value) > maxKey {
				d.refuse(CodecError, n, f.place(), value, fmt.Sprintf("expected at most %d bytes", maxKey))
				return
			}
			key = append(key, value)
		}
	}
	if whole {
		for i := range r.sets {
			d.itemSet(&r.sets[i], n)
		}
		d.items.out = appendUnknownItem(d.items.out, r, n)
	}
	if d.fault == nil {
		d.msg.Items = append(d.msg.Items, Item{Key: strings.Clone(strings.Join(key, "|")), Data: d.items.end()})
	}
}

// items collects the JSON of an item.
type items struct{ out []byte }

func (i *items) begin() { i.out = append(i.out[:0], '{') }

func (i *items) end() []byte { return append(append([]byte(nil), i.out...), '}') }

// itemField appends one field of an item and returns it in the form it has
// there; what is empty is left out.
func (d *decoding) itemField(f *field, n *node) string {
	value, from, more := "", n, f.place()
	switch f.name[0] {
	case '@':
		value = n.attr(f.name[1:])
	case '#':
		value = n.text
	default:
		if c := n.kind(f.name); c != nil {
			d.once(c)
			value, _ = d.value(c)
		}
	}
	if d.fault != nil {
		return ""
	}
	if value == "" {
		if f.required {
			d.refuse(Protocol, from, more, "", strings.TrimPrefix(f.name, "@")+" is missing")
		}
		return ""
	}
	d.items.out = appendKey(d.items.out, f.column)
	at := len(d.items.out)
	var wrong string
	if d.items.out, wrong = d.appendValue(d.items.out, f.kind, value); wrong != "" {
		d.refuse(CodecError, from, more, value, wrong)
		return ""
	}
	if f.kind == text {
		return value
	}
	return strings.Trim(string(d.items.out[at:]), `"`)
}

// itemSet appends a repeated element; blank members are dropped (wire Q10).
func (d *decoding) itemSet(s *set, n *node) {
	first := n.kind(s.element)
	if first == nil || blanks(first) == all {
		return
	}
	d.items.out = append(appendKey(d.items.out, s.column), '[')
	d.keys.reset()
	i := 0
	for c := first; c != nil && d.fault == nil; c = c.same {
		i++
		c.index = i
		if c.blank() {
			continue
		}
		d.items.out = appendComma(d.items.out)
		if s.fields == nil {
			value, _ := d.value(c)
			d.items.out = appendString(d.items.out, value)
			continue
		}
		group(c)
		d.items.out = append(d.items.out, '{')
		var key strings.Builder
		for f := range s.fields {
			value := d.itemField(&s.fields[f], c)
			if f < s.unique {
				key.WriteString(value + "|")
			}
		}
		d.items.out = append(d.items.out, '}')
		if d.fault == nil && !d.keys.add(key.String()) {
			d.refuse(Protocol, c, "", strings.Trim(key.String(), "|"), "it stands in the record twice")
		}
	}
	d.items.out = append(d.items.out, ']')
}

// appendUnknownItem appends what nobody knows of a record, as it came.
func appendUnknownItem(dst []byte, r *reference, n *node) []byte {
	any := false
	key := func(name string) {
		if !any {
			any = true
			dst = append(appendKey(dst, "extra"), '{')
		}
		dst = appendKey(dst, name)
	}
	for _, a := range n.attrs {
		if own(a) {
			key("@" + a.name)
			dst = appendString(dst, strings.TrimSpace(a.value))
		}
	}
	for c := n.kinds; c != nil; c = c.nextKind {
		if !r.knows(c.name) {
			key(c.name)
			dst = appendRaw(dst, c)
		}
	}
	if any {
		dst = append(dst, '}')
	}
	return dst
}

func (r *reference) knows(name string) bool {
	for i := range r.fields {
		if r.fields[i].name == name {
			return true
		}
	}
	for i := range r.sets {
		if r.sets[i].element == name {
			return true
		}
	}
	return false
}

// seasonHeader reads one header element of a seasonal schedule.
func (d *decoding) seasonHeader(n *node) {
	s := &d.codec.season
	for i := range s.header {
		f := &s.header[i]
		if f.name != n.name {
			continue
		}
		value, ok := d.value(n)
		switch {
		case !ok:
			return
		case d.headers[f.column] != "":
			d.refuse(Protocol, n, "", value, "it stands in the header twice")
			return
		case value == "" && f.required:
			d.refuse(Protocol, n, "", "", f.name+" is missing")
			return
		case value == "":
			return
		}
		json, wrong := d.appendValue(nil, f.kind, value)
		if wrong != "" {
			d.refuse(CodecError, n, "", value, wrong)
			return
		}
		d.headers[f.column] = string(json)
		return
	}
}

// endSeason puts the header together; the required parts must be there.
func (d *decoding) endSeason(body *node) {
	out := []byte{'{'}
	for i := range d.codec.season.header {
		f := &d.codec.season.header[i]
		switch v := d.headers[f.column]; {
		case v != "":
			out = append(appendKey(out, f.column), v...)
		case f.required:
			d.refuse(Protocol, body, "/"+f.name, "", f.name+" is missing")
		}
	}
	d.msg.Season = append(out, '}')
}

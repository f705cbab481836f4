package sis

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
	"time"
)

// EncodeRecord writes a schedule record back as FLTR, from nothing but its
// patch: what the patch lost cannot be in it.
func EncodeRecord(zone *time.Location, r Record) string {
	d := json.NewDecoder(bytes.NewReader(r.Patch))
	d.UseNumber()
	var p struct {
		Set    map[string]any
		Lists  map[string]map[string]map[string]any
		Upsert map[string]any
		Extra  map[string]any
	}
	if err := d.Decode(&p); err != nil {
		panic(err)
	}
	e := encoder{zone: zone, attrs: map[string]string{}}
	for _, key := range sorted(p.Extra) {
		if name, attr, found := strings.Cut(key, "@"); found {
			e.attrs[name] += " " + attr + `="` + escape(p.Extra[key].(string)) + `"`
			delete(p.Extra, key)
		}
	}
	e.element("FLID", fmt.Sprint(r.FLID))
	for _, s := range scalars() {
		if v, said := p.Set[s.column]; said {
			e.element(s.element, e.wire(s.kind, v))
		}
	}
	for _, x := range composites() {
		if _, said := p.Set[x.fields[0].column]; !said {
			continue
		}
		attrs, inside := "", ""
		for _, f := range x.fields {
			if v := e.wire(f.kind, p.Set[f.column]); f.name == "#" {
				inside = v
			} else {
				attrs += " " + f.name[1:] + `="` + escape(v) + `"`
			}
		}
		fmt.Fprintf(&e.b, "<%s%s%s>%s</%s>", x.element, attrs, e.attrs[x.element], escape(inside), x.element)
	}
	if _, strange := p.Extra["PORT"]; !strange {
		for _, door := range doors() {
			if v, said := p.Set[door.column]; said {
				fmt.Fprintf(&e.b, "<PORT><POID>%s</POID><POTM>%s</POTM></PORT>", door.poid, e.wire(moment, v))
			}
		}
	}
	for _, l := range lists() {
		members, said := p.Lists[l.name]
		if said && len(members) == 0 {
			e.b.WriteString("<" + l.element + "/>")
		}
		for _, key := range sorted(members) {
			e.member(&l, members[key])
		}
	}
	for _, key := range sorted(p.Extra) {
		e.raw(key, p.Extra[key])
	}
	return "<FLTR" + e.attrs[""] + ">" + e.b.String() + "</FLTR>"
}

type encoder struct {
	zone  *time.Location
	b     strings.Builder
	attrs map[string]string // unknown ones, by element
}

func (e *encoder) element(name, value string) {
	fmt.Fprintf(&e.b, "<%s%s>%s</%s>", name, e.attrs[name], escape(value), name)
}

// member writes a member of a list, unknown parts too.
func (e *encoder) member(l *list, m map[string]any) {
	extra, _ := m["extra"].(map[string]any)
	attrs, inside := "", ""
	for _, f := range l.fields {
		v, said := m[f.column]
		if f.name[0] == '@' && said {
			attrs += " " + f.name[1:] + `="` + escape(e.wire(f.kind, v)) + `"`
		} else if f.name == "#" && said {
			inside = e.wire(f.kind, v)
		}
	}
	for _, key := range sorted(extra) {
		if key[0] == '@' {
			attrs += " " + key[1:] + `="` + escape(extra[key].(string)) + `"`
		}
	}
	e.b.WriteString("<" + l.element + attrs + ">" + escape(inside))
	for _, f := range l.fields {
		if v, said := m[f.column]; said && f.name[0] != '@' && f.name != "#" {
			e.b.WriteString("<" + f.name + ">" + escape(e.wire(f.kind, v)) + "</" + f.name + ">")
		}
	}
	if l.inner != nil {
		services, said := m[l.inner.name].(map[string]any)
		if said && len(services) == 0 {
			e.b.WriteString("<" + l.inner.element + "/>")
		}
		for _, key := range sorted(services) {
			e.member(l.inner, services[key].(map[string]any))
		}
	}
	for _, key := range sorted(extra) {
		if key[0] != '@' {
			e.raw(key, extra[key])
		}
	}
	e.b.WriteString("</" + l.element + ">")
}

// raw writes what came from appendRaw.
func (e *encoder) raw(name string, v any) {
	switch v := v.(type) {
	case string:
		e.b.WriteString("<" + name + ">" + escape(v) + "</" + name + ">")
	case []any:
		for _, one := range v {
			e.raw(name, one)
		}
	case map[string]any:
		e.b.WriteString("<" + name)
		for _, key := range sorted(v) {
			if key[0] == '@' {
				e.b.WriteString(" " + key[1:] + `="` + escape(v[key].(string)) + `"`)
			}
		}
		e.b.WriteString(">")
		if text, said := v["#text"]; said {
			e.b.WriteString(escape(text.(string)))
		}
		for _, key := range sorted(v) {
			if key[0] != '@' && key != "#text" {
				e.raw(key, v[key])
			}
		}
		e.b.WriteString("</" + name + ">")
	default:
		panic(fmt.Sprintf("%s: %T", name, v))
	}
}

// wire writes a value in its form on the wire; null is empty.
func (e *encoder) wire(k kind, v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case json.Number:
		if k == duration {
			n, err := v.Int64()
			if err != nil {
				panic(err)
			}
			return fmt.Sprintf("%02d%02d", n/60, n%60)
		}
		return v.String()
	case string:
		if k == moment {
			t, err := time.Parse(time.RFC3339, v)
			if err != nil {
				panic(err)
			}
			return strings.ToUpper(t.In(e.zone).Format(wireMoment))
		}
		return v
	}
	panic(fmt.Sprintf("%T", v))
}

func escape(s string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(s)); err != nil {
		panic(err)
	}
	return b.String()
}

func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

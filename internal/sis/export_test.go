package sis

import (
	"fmt"
	"strings"
)

// Columns are the columns that the catalogue fills: of the flight under "", of
// each list under its name.
func Columns() map[string][]string {
	out := map[string][]string{}
	for _, s := range scalars() {
		out[""] = append(out[""], s.column)
	}
	for _, x := range composites() {
		for _, f := range x.fields {
			out[""] = append(out[""], f.column)
		}
	}
	for _, d := range doors() {
		out[""] = append(out[""], d.column)
	}
	for _, l := range lists() {
		for _, f := range l.fields {
			out[l.name] = append(out[l.name], f.column)
		}
		if l.inner != nil {
			for _, f := range l.inner.fields {
				out[l.inner.name] = append(out[l.inner.name], f.column)
			}
		}
	}
	return out
}

// ReferenceField is what a test has to know of a field of reference data.
type ReferenceField struct {
	Element, Form string
	Required, Key bool
}

// Reference is the fields of a type by column.
func Reference(typ string) map[string]ReferenceField {
	out := map[string]ReferenceField{}
	for _, r := range append(references(), seasonal().record) {
		if r.typ != typ {
			continue
		}
		for i, f := range r.fields {
			form := map[kind]string{text: "text", integer: "integer", long: "integer", decimal: "decimal", yesNo: "yesNo"}[f.kind]
			out[f.column] = ReferenceField{f.name, form, f.required, i == 0}
		}
	}
	return out
}

// ReferenceExample is a record of a type with each element in it.
func ReferenceExample(typ string) string {
	out := ""
	for _, r := range references() {
		if r.typ != typ {
			continue
		}
		element := func(f field) string {
			value := map[kind]string{text: "X", integer: "7", long: "7", decimal: "1.5", yesNo: "Y"}[f.kind]
			return "<" + f.name + ">" + value + "</" + f.name + ">"
		}
		for _, f := range r.fields {
			out += element(f)
		}
		for _, s := range r.sets {
			attrs, inside := "", ""
			for _, f := range s.fields {
				switch f.name[0] {
				case '@':
					attrs += " " + f.name[1:] + `="X"`
				case '#':
					inside += "X"
				default:
					inside += element(f)
				}
			}
			if s.fields == nil {
				inside = "X"
			}
			out += "<" + s.element + attrs + ">" + inside + "</" + s.element + "><" + s.element + "/>"
		}
	}
	return "<" + typ + ">" + out + "</" + typ + ">"
}

// MappedField is a line of docs/field-map.md.
type MappedField struct {
	Element  string // path below the record
	List     string // name of the list, of one inside another after a dot; "" for a single value
	Column   string
	Form     string // on the wire
	Event    string // STYP of the FLOP that sets it
	Required bool
}

// wire is the form on the wire as people write it.
func (k kind) wire(max int) string {
	if k == text && max > 0 {
		return fmt.Sprintf("text, %d", max)
	}
	return map[kind]string{text: "text", integer: "integer, 32 bits", long: "integer, 64 bits", number: "number, 0 or more", flightRef: "FLID",
		decimal: "decimal", moment: "DDMONYYHHMM", duration: "HHMM, a duration", yesNo: "Y or N", day: "DDMONYY", clockTime: "HHMM", weekdays: "7 digits, 0 for none"}[k]
}

func mapped(path, list, event string, fields []field) []MappedField {
	var out []MappedField
	for _, f := range fields {
		element := strings.TrimPrefix(path+"/"+strings.TrimPrefix(f.place(), "/"), "/")
		if f.name == "#" {
			element = path + ", its text"
		}
		out = append(out, MappedField{element, list, f.column, f.kind.wire(f.max), event, f.required})
	}
	return out
}

// FlightFields are the fields of FLTR and FLOP.
func FlightFields() []MappedField {
	var out []MappedField
	for _, s := range scalars() {
		out = append(out, MappedField{s.element, "", s.column, s.kind.wire(s.max), s.styps, false})
	}
	for _, x := range composites() {
		out = append(out, mapped(x.element, "", x.element, x.fields)...)
	}
	for _, d := range doors() {
		out = append(out, MappedField{"PORT/POTM where POID is " + d.poid, "", d.column, moment.wire(0), "PORT", false})
	}
	for _, l := range lists() {
		event := ""
		if l.styp {
			event = l.element
		}
		out = append(out, mapped(l.element, l.name, event, l.fields)...)
		if l.inner != nil {
			out = append(out, mapped(l.element+"/"+l.inner.element, l.name+"."+l.inner.name, event, l.inner.fields)...)
		}
	}
	return out
}

// OtherFields are those of reference data and of the season, by type.
func OtherFields() map[string][]MappedField {
	out := map[string][]MappedField{"SCHS": mapped("", "", "", seasonal().header)}
	for _, r := range append(references(), seasonal().record) {
		path := ""
		if r.typ == "SCHS" {
			path = "FLTR"
		}
		out[r.typ] = append(out[r.typ], mapped(path, "", "", r.fields)...)
		for _, s := range r.sets {
			element := strings.TrimPrefix(path+"/"+s.element, "/")
			if s.fields == nil {
				out[r.typ] = append(out[r.typ], MappedField{element, s.column, "", text.wire(0), "", false})
			}
			out[r.typ] = append(out[r.typ], mapped(element, s.column, "", s.fields)...)
		}
	}
	return out
}

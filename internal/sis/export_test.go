package sis

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

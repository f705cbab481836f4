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

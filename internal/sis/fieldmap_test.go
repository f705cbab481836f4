package sis_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"msgexchange/internal/sis"
)

// column is a column of db/schema.sql.
type column struct{ typ, comment string }

// tables reads the columns of the flight tables out of db/schema.sql.
func tables(t *testing.T) map[string]map[string]column {
	t.Helper()
	schema, err := os.ReadFile("../../db/schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]map[string]column{}
	for _, m := range regexp.MustCompile(`(?s)CREATE TABLE msgx\.(flight_\w+) \((.*?)\n\)`).FindAllSubmatch(schema, -1) {
		columns := map[string]column{}
		for _, c := range regexp.MustCompile(`(?m)^    (\w+) ((?:timestamp|double)? ?[a-z ]*?)(?: NOT NULL)?(?: DEFAULT .*)?,?$`).FindAllSubmatch(m[2], -1) {
			columns[string(c[1])] = column{typ: strings.TrimSpace(string(c[2]))}
		}
		out[string(m[1])] = columns
	}
	for _, m := range regexp.MustCompile(`(?m)^COMMENT ON COLUMN msgx\.(flight_\w+)\.(\w+) IS '(.*)';$`).FindAllSubmatch(schema, -1) {
		if c, there := out[string(m[1])][string(m[2])]; there {
			c.comment = strings.ReplaceAll(string(m[3]), "''", "'")
			out[string(m[1])][string(m[2])] = c
		}
	}
	return out
}

// descriptions are those of docs/events/schd.schema.json by path.
func descriptions(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../../docs/events/schd.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	type property struct {
		Description string
		Items       struct {
			Ref string `json:"$ref"`
		}
	}
	type object struct{ Properties map[string]property }
	var schema struct {
		object
		Defs map[string]object `json:"$defs"`
	}
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	var collect func(path string, o object)
	collect = func(path string, o object) {
		for name, p := range o.Properties {
			out[path+name] = p.Description
			if p.Items.Ref != "" {
				collect(path+name+"[].", schema.Defs[strings.TrimPrefix(p.Items.Ref, "#/$defs/")])
			}
		}
	}
	collect("", schema.object)
	return out
}

// where is the table of a list, and how the document names its members.
func where(list string) (table, path string) {
	switch list {
	case "":
		return "flight_schd", ""
	case "erut", "rout":
		return "flight_route_point", list + "[]."
	case "vip.services":
		return "flight_vip_service", "vip[].services[]."
	}
	return "flight_" + list, list + "[]."
}

// TestFieldMap: docs/field-map.md is the catalogue, joined with the columns of
// the tables and the schema of topic schd: each field has its column, and one
// description everywhere.
func TestFieldMap(t *testing.T) {
	have, told := tables(t), descriptions(t)
	var b strings.Builder
	b.WriteString(`# Field map

Generated from the catalogue of the codec, db/schema.sql and events/schd.schema.json (` + "`go test ./internal/sis -run FieldMap -update`" + `): where each element of the
protocol goes. Paths begin below the record (FLTR, FLOP); an attribute has an @. The JSON name is that of topic ` + "`schd`" + ` and, below ` + "`fields`" + ` and
` + "`lists`" + `, of topic ` + "`msg`" + `. "FLOP" is the subtype of the event that sets the field; FLTR sets all of them. The length of a text is the
protocol's; a longer one is kept. The meaning is also the comment of the column (` + "`\\d+ msgx.flight_schd`" + `).

FLID is the key of every table (` + "`flid`" + `); FFID says nothing. What is not in this list is kept in ` + "`extra`" + ` of the flight or of the member, under the
element's own name ([decision 0032](decisions/0032-unknown-parts.md)).

## Flights

| SIS element | on the wire | FLOP | column | type | JSON name | meaning |
|---|---|---|---|---|---|---|
`)
	for _, f := range sis.FlightFields() {
		table, path := where(f.List)
		c, there := have[table][f.Column]
		if !there || c.typ == "" {
			t.Errorf("%s: no column %s.%s", f.Element, table, f.Column)
		}
		want := told[path+f.Column]
		if table == "flight_route_point" {
			element, rest, _ := strings.Cut(told["erut[]."+f.Column], ": ")
			want = element + ", " + strings.Replace(element, "ERUT", "ROUT", 1) + ": " + rest
		}
		if want == "" || c.comment != want {
			t.Errorf("the comment of %s.%s is %q, the schema says %q", table, f.Column, c.comment, want)
		}
		element, meaning, _ := strings.Cut(told[path+f.Column], ": ")
		if element != f.Element {
			t.Errorf("the schema says that %s%s is from %s, it is from %s", path, f.Column, element, f.Element)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s.%s | %s | %s%s | %s |\n", f.Element, f.Form, strings.ReplaceAll(f.Event, " ", ", "), table, f.Column, short(c.typ), path, f.Column, strings.TrimSuffix(meaning, "."))
	}
	b.WriteString(`
## Reference data and seasons

Understood and shown by ` + "`msgx decode`" + `, but not stored yet: such a message ends DEAD with UNSUPPORTED, except the types that are ignored on purpose
([message matrix](message-matrix.md)).

| TYPE | SIS element | on the wire | must be there | JSON name |
|---|---|---|---|---|
`)
	others := sis.OtherFields()
	for _, typ := range append(sis.References(), "SCHS") {
		for _, f := range others[typ] {
			name := f.Column
			if f.List != "" {
				name = strings.TrimSuffix(f.List+"[]."+f.Column, ".")
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", typ, f.Element, f.Form, map[bool]string{true: "yes"}[f.Required], name)
		}
	}
	const file = "../../docs/field-map.md"
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), b.String()); d != "" {
		t.Errorf("docs/field-map.md is stale (-update): %s", d)
	}
}

// short is a type as people write it.
func short(typ string) string {
	return strings.Replace(typ, "timestamp with time zone", "timestamptz", 1)
}

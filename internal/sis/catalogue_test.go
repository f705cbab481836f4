package sis_test

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"msgexchange/internal/sis"
)

// columnOf says for every single value where it goes, and by which subtype a
// FLOP sets it: written down apart from the catalogue.
const columnOf = `
ALCD airline_code text -
ALSC airline_subcompany text -
FLNO flight_number text -
MVIN direction text -
SODT sodt time -
FLTY flight_type text M
FLIN flight_indicator text M
ACFT aircraft_type text M
RENO registration text O
TAOP linked_airline_code text .
TAFL linked_flight_number text -
TAID linked_flid number -
TRML terminal text O
MAXP max_pax number O
CSOP master_airline_code text .
CSFT master_flight_number text .
MAID master_flid number -
ESTT estimated_time time T
ACTT actual_time time T
STND current_stand text O
PHAG pax_agent number -
FHAG field_agent number -
MHAG maintenance_agent number -
CNCL cancelled_at time T
REMC remarks text O
BOTM boarding_open time T
LACL last_call time T
FINT final_time time T
APPT approved_time time T
EGSR engine_start_request time T
EGST engine_start time T
VIPP vip_count number .
VIPR vip_rank number -
LBNO local_bag_count number O
LBWT local_bag_weight number O
PAXC passenger_count number O
EXSC external_status_code text -
EXSR external_status_comment text -
FTSS status_code text O
PEDT previous_estimated_departure time T
PADT previous_actual_departure time T
NEAT next_estimated_arrival time T
NAAT next_actual_arrival time T
EOBT estimated_offblock time T
COBT calculated_offblock time T
TOBT target_offblock time T
CTOT calculated_takeoff time T
IEST internal_estimated time T
RUNW runway text O`

// TestEverySingleValue: what a record and a FLOP do with each element when it
// is absent, empty, or has a value. "-" is no subtype, "." one of a group.
func TestEverySingleValue(t *testing.T) {
	c := codec(t)
	patch := func(text string) string {
		m, err := c.Decode([]byte(text), now)
		var e *sis.Error
		if errors.As(err, &e) {
			return string(e.Class)
		}
		return string(m.Records[0].Patch)
	}
	lines := strings.Split(strings.TrimSpace(columnOf), "\n")
	if len(lines) != 49 {
		t.Fatalf("%d elements", len(lines))
	}
	for _, line := range lines {
		f := strings.Fields(line)
		element, column, class := f[0], f[1], f[3]
		value, json := "17", "17"
		switch f[2] {
		case "text":
			json = `"17"`
		case "time":
			value, json = "17APR260744", `"2026-04-17T07:44:00+08:00"`
		}
		t.Run(element, func(t *testing.T) {
			set, cleared := fmt.Sprintf(`{"set":{"%s":%s}}`, column, json), fmt.Sprintf(`{"set":{"%s":null}}`, column)
			full, empty := "<"+element+">"+value+"</"+element+">", "<"+element+"></"+element+">"
			absent, blank, filled := "UNSUPPORTED", "UNSUPPORTED", "UNSUPPORTED"
			switch class {
			case "M":
				absent, blank, filled = "PROTOCOL", "PROTOCOL", set
			case "O":
				absent, blank, filled = "PROTOCOL", cleared, set
			case "T":
				absent, blank, filled = cleared, cleared, set
			}
			cases := []struct{ what, text, want string }{
				{"record, value", fltr(full), set},
				{"record, empty", fltr(empty), cleared},
				{"record, blanks", fltr("<" + element + "> \n</" + element + ">"), cleared},
				{"record, self-closed", fltr("<" + element + "/>"), cleared},
				{"record, nil", fltr("<" + element + ` xsi:nil="true"/>`), cleared},
				{"record, twice", fltr(empty + full), "PROTOCOL"},
				{"record, elements in it", fltr("<" + element + "><A/></" + element + ">"), "CODEC_ERROR"},
			}
			if class != "." {
				cases = append(cases, []struct{ what, text, want string }{
					{"FLOP, absent", flop(element, ""), absent},
					{"FLOP, empty", flop(element, empty), blank},
					{"FLOP, value", flop(element, full), filled},
				}...)
			}
			if f[2] != "text" {
				cases = append(cases, struct{ what, text, want string }{"record, bad value", fltr("<" + element + ">1x</" + element + ">"), "CODEC_ERROR"})
			}
			for _, c := range cases {
				if got := patch(c.text); got != c.want {
					t.Errorf("%s: %s, want %s", c.what, got, c.want)
				}
			}
		})
	}
}

// TestWhatIsSupported: every type and subtype there is, and what becomes of it.
// META is known in any case.
func TestWhatIsSupported(t *testing.T) {
	yes := map[string]string{
		"SCHD": "DNLD RESP ADFT ADD UPD DEL",
		"ADFT": "ADFT ADD NONE",
		"FLOP": `ACFT APPT BOTM CKDT CNCL COBT CTOT DELY EGSR EGST EOBT ERUT EXSS FDEL FDIV FINT FLAB FLIN FLTY FRET FTSS GTDT HNAG IEST
			LACL MAXP NAAT NEAT PADT PEDT PORT PSDT REMC RENO RUNW STND TAOP TOBT TRML VIPP ACTT ESTT CSOP CSFT LBNO LBWT PAXC
			CHDT CLDT CHOT ABTM SRVT VIPF PSHT TIPT`,
		"SCHS": "DNLD RESP",
	}
	no := map[string]string{
		"SCHD": "NONE DELE",
		"ADFT": "DEL",
		"FLOP": `ROUT ALCD ALSC FLNO MVIN SODT TAFL TAID MAID FHAG PHAG MHAG EXSC EXSR VIPR
			FLID FFID SCHD FLTR ZZZZ`,
		"SCHS": "ADD DEL", "RQFD": "NONE", "RQRD": "GLST", "LDM": "ADD", "RSTA": "ADD", "EROR": "NONE", "ZZZZ": "ADD",
	}
	for typ := range strings.FieldsSeq(`ABDG ABNR AIRC AIRL ARPT BLST CHLT CITY CLST COUL DLYL FLTL GLST HLTR ORGN PLST REGL REGN
		SLST STTS TLST VIPL VIPS`) {
		yes[typ], no[typ] = "DNLD RESP ADD UPD DEL", "NONE ADFT"
	}
	c := codec(t)
	for supported, table := range map[bool]map[string]string{true: yes, false: no} {
		for typ, styps := range table {
			for styp := range strings.FieldsSeq(styps) {
				body := typ
				if typ == "ADFT" {
					body = "SCHD"
				}
				inside := "<FLID>1</FLID>"
				if body == "SCHD" {
					inside = "<FLTR>" + inside + "</FLTR>"
				}
				m, err := c.Decode([]byte(message(typ, styp, "<"+body+">"+inside+"</"+body+">")), now)
				var e *sis.Error
				unsupported := errors.As(err, &e) && e.Class == sis.Unsupported
				if unsupported == supported {
					t.Errorf("%s/%s: %v", typ, styp, err)
				}
				if m.Meta.Type != typ || m.Meta.Subtype != styp || m.Meta.Seqn == nil || m.Meta.Sender != "AODB" || m.Meta.Dttm == nil {
					t.Errorf("%s/%s: %+v", typ, styp, m.Meta)
				}
			}
		}
	}
}

// TestOperations: what the records of each kind of message do.
func TestOperations(t *testing.T) {
	for _, c := range []struct{ typ, styp, op string }{
		{"SCHD", "DNLD", "create"}, {"SCHD", "RESP", "create"}, {"SCHD", "ADFT", "create"}, {"SCHD", "ADD", "create"},
		{"SCHD", "UPD", "create"}, {"ADFT", "ADFT", "create"}, {"ADFT", "NONE", "create"}, {"SCHD", "DEL", "delete"},
	} {
		m, err := codec(t).Decode([]byte(message(c.typ, c.styp, "<SCHD><RECS>2</RECS><FLTR><FLID>1</FLID></FLTR></SCHD>")), now)
		if err != nil || len(m.Records) != 1 || m.Records[0].Op != c.op || m.Declared == nil || *m.Declared != 2 {
			t.Errorf("%s/%s: %+v, %v", c.typ, c.styp, m, err)
		}
	}
	for styp, op := range map[string]string{"BOTM": "change", "FDEL": "delete"} {
		m, err := codec(t).Decode([]byte(flop(styp, "")), now)
		if err != nil || m.Records[0].Op != op || m.Declared != nil {
			t.Errorf("FLOP/%s: %+v, %v", styp, m, err)
		}
	}
}

// TestEveryColumn: the catalogue and the tables have the same columns.
func TestEveryColumn(t *testing.T) {
	schema, err := os.ReadFile("../../db/schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	columns := func(table string) []string {
		body := regexp.MustCompile(`(?s)CREATE TABLE msgx\.` + table + ` \((.*?)\n\)`).FindSubmatch(schema)
		if body == nil {
			t.Fatalf("no table %s", table)
		}
		var names []string
		for _, m := range regexp.MustCompile(`(?m)^    ([a-z_]+) (?:text|bigint|integer|numeric|timestamp|date|jsonb)`).FindAllSubmatch(body[1], -1) {
			names = append(names, string(m[1]))
		}
		return names
	}
	filled := sis.Columns()
	for table, ours := range map[string][]string{
		"flight_schd": {"flid", "operation_day", "state", "state_version", "created_msg_id", "last_msg_id", "updated_at", "extra"},
		"flight_gate": {"flid", "extra"}, "flight_stand": {"flid", "extra"}, "flight_checkin": {"flid", "extra"},
		"flight_delay": {"flid", "extra"}, "flight_route_point": {"flid", "kind", "extra"}, "flight_carousel": {"flid", "extra"},
		"flight_chute": {"flid", "extra"}, "flight_chock": {"flid", "extra"}, "flight_airbridge": {"flid", "extra"}, "flight_service": {"flid", "extra"},
		"flight_vip": {"flid", "extra"}, "flight_vip_service": {"flid", "vip_code", "extra"}, "flight_push": {"flid", "extra"}, "flight_tractor": {"flid", "extra"},
	} {
		want := slices.DeleteFunc(columns(table), func(c string) bool { return slices.Contains(ours, c) })
		for _, list := range map[string][]string{
			"flight_schd": {""}, "flight_gate": {"gate"}, "flight_stand": {"stand"}, "flight_checkin": {"checkin"},
			"flight_delay": {"delay"}, "flight_route_point": {"erut", "rout"}, "flight_carousel": {"carousel"}, "flight_chute": {"chute"},
			"flight_chock": {"chock"}, "flight_airbridge": {"airbridge"}, "flight_service": {"service"}, "flight_vip": {"vip"},
			"flight_vip_service": {"services"}, "flight_push": {"push"}, "flight_tractor": {"tractor"},
		}[table] {
			got := slices.Clone(filled[list])
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("%s %s\nfilled %v\nhas    %v", table, list, got, want)
			}
		}
	}
}

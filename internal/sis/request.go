package sis

import (
	"encoding/xml"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Request is what is asked of the AODB (wire 3.7): reference data of one type,
// or the flights of a period.
type Request struct {
	Sender    string // our own code, up to 4 characters
	Seqn      int    // 1 to 999999
	At        time.Time
	Reference string    // type of reference data; "" asks for flights
	From, To  time.Time // period of the flights; zero is left out
}

const (
	preamble = `<?xml version="1.0" encoding="UTF-8"?>` +
		`<MSG xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:noNamespaceSchemaLocation="unisysaodbsis.xsd">`
	wireMoment = "02Jan061504"
)

// References returns the types of reference data, in the order of wire 5.
func References() []string {
	var out []string
	for _, r := range references() {
		out = append(out, r.typ)
	}
	return out
}

// Encode writes a request as the AODB wants it: on one line, in its zone (wire
// 6.3). Errors: what is missing or out of range, all of it.
func (r Request) Encode(zone *time.Location) ([]byte, error) {
	var faults []error
	if r.Sender == "" || len(r.Sender) > 4 {
		faults = append(faults, fmt.Errorf("sender %q: expected 1 to 4 characters", r.Sender))
	}
	if r.Seqn < 1 || r.Seqn > 999_999 {
		faults = append(faults, fmt.Errorf("sequence number %d: expected 1 to 999999", r.Seqn))
	}
	if r.At.IsZero() {
		faults = append(faults, errors.New("the time of the request is missing"))
	}
	typ, styp := "RQRD", r.Reference
	switch {
	case r.Reference != "" && !slices.Contains(References(), r.Reference):
		faults = append(faults, fmt.Errorf("reference type %q: expected one of %s", r.Reference, strings.Join(References(), ", ")))
	case r.Reference != "" && (!r.From.IsZero() || !r.To.IsZero()):
		faults = append(faults, errors.New("a request of reference data has no period"))
	case r.Reference == "":
		typ, styp = "RQFD", "NONE"
		if r.From.IsZero() && r.To.IsZero() {
			faults = append(faults, errors.New("a request of flights needs a beginning or an end"))
		}
		if !r.From.IsZero() && !r.To.IsZero() && r.To.Before(r.From) {
			faults = append(faults, fmt.Errorf("the period ends %s before it begins %s", r.To.In(zone), r.From.In(zone)))
		}
	}
	if len(faults) > 0 {
		return nil, fmt.Errorf("encode a request: %w", errors.Join(faults...))
	}

	var b strings.Builder
	put := func(name, value string) {
		b.WriteString("<" + name + ">")
		if err := xml.EscapeText(&b, []byte(value)); err != nil {
			panic(err) // a strings.Builder takes whatever it is given
		}
		b.WriteString("</" + name + ">")
	}
	b.WriteString(preamble + "<META>")
	put("SNDR", r.Sender)
	put("SEQN", fmt.Sprintf("%06d", r.Seqn))
	put("DTTM", r.At.In(zone).Format("20060102150405"))
	put("TYPE", typ)
	put("STYP", styp)
	b.WriteString("</META><" + typ + ">")
	if r.Reference != "" {
		put("RTYP", r.Reference)
	}
	for _, end := range []struct {
		name string
		at   time.Time
	}{{"STDB", r.From}, {"STDE", r.To}} {
		if !end.at.IsZero() {
			put(end.name, strings.ToUpper(end.at.In(zone).Format(wireMoment)))
		}
	}
	b.WriteString("</" + typ + "></MSG>")
	return []byte(b.String()), nil
}

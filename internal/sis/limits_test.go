package sis_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
	_ "time/tzdata"

	"msgexchange/internal/sis"
)

// TestDates: every month in any case, every end of month, the turns of the
// century.
func TestDates(t *testing.T) {
	days := map[string]int{"JAN": 31, "FEB": 28, "MAR": 31, "APR": 30, "MAY": 31, "JUN": 30, "JUL": 31, "AUG": 31, "SEP": 30, "OCT": 31, "NOV": 30, "DEC": 31}
	c := codec(t)
	decode := func(text string) (string, error) {
		m, err := c.Decode([]byte(text), now)
		if err != nil {
			return "", err
		}
		return string(m.Records[0].Patch), nil
	}
	n := 0
	for month := time.January; month <= time.December; month++ {
		name := strings.ToUpper(month.String()[:3])
		for _, written := range []string{name, strings.ToLower(name), month.String()[:3], strings.ToLower(name[:1]) + name[1:]} {
			for day := 0; day <= 32; day++ {
				got, err := decode(flop("BOTM", fmt.Sprintf("<BOTM>%02d%s262359</BOTM>", day, written)))
				if exists := day >= 1 && day <= days[name]; exists != (err == nil) {
					t.Errorf("day %d of %s: %s, %v", day, written, got, err)
				} else if exists {
					n++
					if want := fmt.Sprintf(`{"set":{"boarding_open":"2026-%02d-%02dT23:59:00+08:00"}}`, month, day); got != want {
						t.Errorf("%s, want %s", got, want)
					}
				}
			}
		}
	}
	if n != 4*365 {
		t.Errorf("%d days", n)
	}
	for stamp, want := range map[string]string{
		"20260417074418": "",           // 00 is 2100, no leap year
		"20100417074418": "2000-02-29", // 00 is 2000, a leap year
	} {
		got, err := decode(strings.Replace(flop("BOTM", "<BOTM>29FEB00</BOTM>"), "20260417074418", stamp, 1))
		if (err == nil) != (want != "") || !strings.Contains(got, want) {
			t.Errorf("29FEB00 in %s: %s, %v", stamp, got, err)
		}
	}
}

// TestYears: a two-digit year lies between 20 years before and 79 after the
// year of DTTM; of the clock, at the airport, where DTTM is unusable.
func TestYears(t *testing.T) {
	clock := time.Date(2049, 12, 31, 20, 0, 0, 0, time.UTC) // 2050 at the airport
	for stamp, first := range map[string]int{
		"20260417074418": 2006, "20991231235959": 2079, "19700101000000": 1950, "99000101000000": 9880,
		"": 2030, "2026": 2030, "20260231000000": 2030, "20260417076018": 2030, "2026041707441x": 2030,
		"00000101000000": 2030, "19691231235959": 2030, "99010101000000": 2030,
	} {
		for year := first; year < first+100; year++ {
			text := strings.Replace(flop("BOTM", fmt.Sprintf("<BOTM>17APR%02d</BOTM>", year%100)), "20260417074418", stamp, 1)
			m, err := codec(t).Decode([]byte(text), clock)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(m.Records[0].Patch); !strings.Contains(got, fmt.Sprintf(`"%04d-04-17T`, year)) {
				t.Errorf("year %02d with DTTM %q: %s, want %d", year%100, stamp, got, year)
			}
			if used := first != 2030; used != (m.Meta.Dttm != nil) {
				t.Errorf("DTTM %q: %v", stamp, m.Meta.Dttm)
			}
		}
	}
}

// TestZones: local wall time gets the offset that its zone has then.
func TestZones(t *testing.T) {
	for _, c := range []struct{ zone, wire, want string }{
		{"Europe/Berlin", "17JAN260744", "2026-01-17T07:44:00+01:00"},
		{"Europe/Berlin", "17JUL260744", "2026-07-17T07:44:00+02:00"},
		{"Europe/Berlin", "29MAR260230", "2026-03-29T0"}, // an hour that is skipped: 01:30+01:00 or 03:30+02:00
		{"Europe/Berlin", "25OCT260230", "2026-10-25T02:30:00+0"},
		{"America/St_Johns", "17JAN260744", "2026-01-17T07:44:00-03:30"},
		{"Asia/Kathmandu", "17JAN260000", "2026-01-17T00:00:00+05:45"},
		{"UTC", "17JAN260744", "2026-01-17T07:44:00+00:00"},
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		m, err := sis.New(sis.Options{Zone: zone}).Decode([]byte(flop("BOTM", "<BOTM>"+c.wire+"</BOTM>")), now)
		if err != nil || !strings.Contains(string(m.Records[0].Patch), `"`+c.want) {
			t.Errorf("%s in %s: %+v, %v; want %s", c.wire, c.zone, m.Records, err, c.want)
		}
	}
}

// TestLimits: what lies on a limit passes, what lies beyond is refused.
func TestLimits(t *testing.T) {
	deep := func(levels int) string { // levels of nesting in all
		return fltr(strings.Repeat("<A>", levels-3) + strings.Repeat("</A>", levels-3))
	}
	wide := func(elements int) string { return fltr(strings.Repeat("<A/>", elements-1)) }
	text := flop("REMC", "<REMC>x</REMC>")
	for name, c := range map[string]struct {
		text   string
		change func(*sis.Options)
		says   string
	}{
		"as long as allowed":   {text, func(o *sis.Options) { o.MaxBytes = len(text) }, ""},
		"a byte longer":        {text, func(o *sis.Options) { o.MaxBytes = len(text) - 1 }, "sis.max-bytes"},
		"as deep as allowed":   {deep(16), func(o *sis.Options) { o.MaxDepth = 16 }, ""},
		"a level deeper":       {deep(17), func(o *sis.Options) { o.MaxDepth = 16 }, "depth limit"},
		"depth by default":     {deep(64), func(o *sis.Options) { o.MaxDepth = 0 }, ""},
		"deeper than default":  {deep(65), func(o *sis.Options) { o.MaxDepth = 0 }, "depth limit"},
		"longer than default":  {strings.Repeat(" ", 16<<20) + text, func(o *sis.Options) { o.MaxBytes = 0 }, "sis.max-bytes"},
		"deepest there can be": {deep(10_000), func(o *sis.Options) { o.MaxDepth = 10_000 }, ""},
		"as wide as allowed":   {wide(100_000), nil, ""},
		"an element more":      {wide(100_001), nil, "MSG/SCHD/FLTR[1]: more than 100000 elements"},
	} {
		t.Run(name, func(t *testing.T) {
			change := c.change
			if change == nil {
				change = func(*sis.Options) {}
			}
			_, err := codec(t, change).Decode([]byte(c.text), now)
			var e *sis.Error
			switch {
			case c.says == "":
				if err != nil {
					t.Error(err)
				}
			case !errors.As(err, &e) || e.Class != sis.CodecError || !strings.Contains(e.Error(), c.says):
				t.Errorf("%v", err)
			}
		})
	}
}

// TestDepthIsCheap: of a text that is far too deep only what is allowed is read.
func TestDepthIsCheap(t *testing.T) {
	c := codec(t)
	cost := func(levels int) float64 {
		text := []byte(strings.Repeat("<A>", levels))
		return testing.AllocsPerRun(3, func() {
			if _, err := c.Decode(text, now); err == nil {
				t.Error("not refused")
			}
		})
	}
	// The runtime's own allocations are counted too, a few now and then; reading
	// on would cost three for each level.
	if few, many := cost(100), cost(100_000); many > few+100 {
		t.Errorf("%v allocations for 100 levels, %v for 100,000", few, many)
	}
}

// TestManyNames: the cost grows with the text and not with its square. Were it
// the square, each of these would take minutes.
func TestManyNames(t *testing.T) {
	many := func(format string) string {
		var b strings.Builder
		for i := range 99_000 {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	for name, text := range map[string]string{
		"elements of a record":   fltr(many("<A%d/>")),
		"elements of an unknown": fltr("<X>" + many("<A%d/>") + "</X>"),
		"elements of a member":   flop("GTDT", `<GTDT GTNO="1">`+many("<A%d/>")+"</GTDT>"),
		"attributes":             flop("GTDT", `<GTDT GTNO="1" `+many(`A%d="" `)+"/>"),
		"members":                flop("GTDT", many(`<GTDT GTNO="%d"/>`)),
		"texts between":          fltr("<X>a" + many("<B/>text %d of many") + "</X>"),
		"elements of a message":  message("FLOP", "BOTM", many("<A%d/>")+"<FLOP><FLID>1</FLID></FLOP>"),
	} {
		t.Run(name, func(t *testing.T) {
			done := make(chan error, 1)
			go func() {
				_, err := codec(t, func(o *sis.Options) { o.MaxBytes = 16 << 20 }).Decode([]byte(text), now)
				done <- err
			}()
			select {
			case err := <-done:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(30 * time.Second):
				t.Fatal("still not done")
			}
		})
	}
}

// TestErrorsStayShort: whatever a message holds, its error can be read.
func TestErrorsStayShort(t *testing.T) {
	long := strings.Repeat("长", 100_000)
	for name, text := range map[string]string{
		"value":           flop("BOTM", "<BOTM>"+long+"</BOTM>"),
		"name":            flop("BOTM", "<"+long+">"),
		"two names":       "<" + long + "></" + long + "x>",
		"namespace":       flop("BOTM", `<BOTM xmlns="`+long+`"/>`),
		"prefix":          flop("BOTM", "<"+long+":A/>"),
		"entity":          flop("BOTM", "&"+long+";"),
		"root":            "<" + long + "/>",
		"second root":     flop("BOTM", "") + "<" + long + "/>",
		"type":            message(long, "X", ""),
		"subtype":         message("FLOP", long, ""),
		"attribute twice": flop("GTDT", "<GTDT "+long+`="" `+long+`=""/>`),
		"key":             flop("GTDT", `<GTDT GTNO="`+long+`"/>`),
	} {
		t.Run(name, func(t *testing.T) {
			m, err := codec(t).Decode([]byte(text), now)
			var e *sis.Error
			if !errors.As(err, &e) {
				t.Fatal("not refused")
			}
			if n := len([]rune(e.Error())); n > 500 || len([]rune(e.Value)) > 80 {
				t.Errorf("%d characters: %s", n, e)
			}
			if n := len(m.AppendBatch(nil, 1, "", err)); n > 4000 {
				t.Errorf("an object of %d bytes", n)
			}
		})
	}
}

// TestOptionsNobodyMayHave: a mistake of the caller shows at once.
func TestOptionsNobodyMayHave(t *testing.T) {
	for name, o := range map[string]sis.Options{
		"no zone":        {},
		"negative bytes": {Zone: time.UTC, MaxBytes: -1},
		"negative depth": {Zone: time.UTC, MaxDepth: -1},
		"too deep":       {Zone: time.UTC, MaxDepth: 10_001},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("taken")
				}
			}()
			sis.New(o)
		})
	}
}

// TestConcurrentUse: one codec serves many at once.
func TestConcurrentUse(t *testing.T) {
	c := codec(t)
	texts := []string{fltr(`<GTDT GTNO="1"><GATE>E5</GATE></GTDT><A/><A/>`), flop("DELY", `<DELY CODE="4F"/>`), flop("TAOP", ""), flop("BOTM", "<BOTM>x</BOTM>")}
	want := make([]string, len(texts))
	for i, text := range texts {
		m, err := c.Decode([]byte(text), now)
		want[i] = string(m.AppendBatch(nil, 1, "", err))
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 400 {
				m, err := c.Decode([]byte(texts[i%len(texts)]), now)
				if got := string(m.AppendBatch(nil, 1, "", err)); got != want[i%len(texts)] {
					t.Errorf("%s, want %s", got, want[i%len(texts)])
				}
			}
		})
	}
	wg.Wait()
}

// TestForeignErrors: an error from elsewhere still makes an object that jsonb
// takes.
func TestForeignErrors(t *testing.T) {
	got := string(sis.Message{}.AppendBatch([]byte("x"), 7, "ab", errors.New("a\x00b\xff\"")))
	if want := `x{"msg_id":7,"text_hash":"ab","error_class":"INFRA","error":"a` + "\uFFFD" + `b` + "\uFFFD" + `\""}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

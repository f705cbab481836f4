package sis

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// shorten keeps at most n characters, the last one "…" when some are left out.
func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	count, cut := 0, 0
	for i := range s {
		if count == n-1 {
			cut = i
		}
		if count++; count > n {
			return s[:cut] + "…"
		}
	}
	return s
}

// appendValue appends a value of the given form as JSON. When it does not fit,
// wrong says what was expected.
func (d *decoding) appendValue(dst []byte, k kind, value string) (out []byte, wrong string) {
	switch k {
	case text:
		return appendString(dst, value), ""
	case integer:
		n, ok := parseInteger(value, 32)
		if !ok {
			return dst, "expected a whole number of up to 32 bits"
		}
		return strconv.AppendInt(dst, n, 10), ""
	case long:
		n, ok := parseInteger(value, 64)
		if !ok {
			return dst, "expected a whole number of up to 64 bits"
		}
		return strconv.AppendInt(dst, n, 10), ""
	case number:
		n, ok := parseInteger(value, 32)
		if !ok || n < 0 {
			return dst, "expected a whole number, 0 or more"
		}
		return strconv.AppendInt(dst, n, 10), ""
	case flightRef:
		n, ok := parseFLID(value)
		if !ok {
			return dst, wantFLID
		}
		return strconv.AppendInt(dst, n, 10), ""
	case decimal:
		return appendDecimal(dst, value)
	case moment:
		t, wrong := d.parseMoment(value)
		if wrong != "" {
			return dst, wrong
		}
		return appendTime(dst, t), ""
	case yesNo:
		switch value {
		case "Y", "y":
			return append(dst, "true"...), ""
		case "N", "n":
			return append(dst, "false"...), ""
		}
		return dst, "expected Y or N"
	case day:
		t, wrong := d.parseMoment(value)
		if wrong != "" || len(value) != 7 {
			return dst, "expected a date as DDMONYY, like 09OCT26"
		}
		return append(t.AppendFormat(append(dst, '"'), time.DateOnly), '"'), ""
	case clockTime:
		return d.appendClock(dst, value)
	case weekdays:
		if !operatingDays(value) {
			return dst, "expected seven characters, each the digit of its day or 0, like 1030507"
		}
		return appendString(dst, value), ""
	default:
		n, ok := parseDuration(value)
		if !ok {
			return dst, "expected hours and minutes as HHMM, like 0130"
		}
		return strconv.AppendInt(dst, int64(n), 10), ""
	}
}

// parseInteger reads ASCII digits with or without a minus sign.
func parseInteger(value string, bits int) (int64, bool) {
	if !allDigits(strings.TrimPrefix(value, "-")) {
		return 0, false
	}
	n, err := strconv.ParseInt(value, 10, bits)
	return n, err == nil
}

const wantFLID = "expected a positive whole number of up to 18 digits"

// parseFLID reads a flight id; leading zeros are fine (wire D10).
func parseFLID(value string) (int64, bool) {
	digits := strings.TrimLeft(value, "0")
	if !allDigits(digits) || len(digits) > 18 {
		return 0, false
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	return n, err == nil
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// appendDecimal writes the digits as they came, without leading zeros.
func appendDecimal(dst []byte, value string) (out []byte, wrong string) {
	body, negative := strings.CutPrefix(value, "-")
	whole, fraction, dotted := strings.Cut(body, ".")
	if !allDigits(whole) || (dotted && !allDigits(fraction)) || len(body) > 40 {
		return dst, "expected a number with a decimal point"
	}
	if negative {
		dst = append(dst, '-')
	}
	whole = strings.TrimLeft(whole, "0")
	if whole == "" {
		whole = "0"
	}
	dst = append(dst, whole...)
	if dotted {
		dst = append(append(dst, '.'), fraction...)
	}
	return dst, ""
}

// parseDuration reads HHMM as minutes: hours × 60 + minutes.
func parseDuration(value string) (int, bool) {
	if len(value) != 4 || !allDigits(value) || value[2] > '5' {
		return 0, false
	}
	return two(value)*60 + two(value[2:]), true
}

// appendClock writes HHMM as HH:MM; of a DDMONYYHHMM the end counts (wire 4.4).
func (d *decoding) appendClock(dst []byte, value string) (out []byte, wrong string) {
	if len(value) == 11 {
		if _, wrong := d.parseMoment(value); wrong != "" {
			return dst, wrong
		}
		value = value[7:]
	}
	if len(value) != 4 || !allDigits(value) || two(value) > 23 || two(value[2:]) > 59 {
		return dst, "expected a time as HHMM, like 1745"
	}
	dst = append(append(dst, '"'), value[:2]...)
	return append(dst, ':', value[2], value[3], '"'), ""
}

// operatingDays tells whether each of seven characters is the digit of its day,
// from 1 for Monday, or 0.
func operatingDays(value string) bool {
	if len(value) != 7 {
		return false
	}
	for i := range 7 {
		if value[i] != '0' && value[i] != byte('1'+i) {
			return false
		}
	}
	return true
}

// two reads two digits.
func two(s string) int { return int(s[0]-'0')*10 + int(s[1]-'0') }

// parseMoment reads DDMONYYHHMM, or DDMONYY as 00:00 of that day, on the wall
// clock of the airport (wire 2.1). An hour that a change of the clock skips or
// repeats is taken as time.Date takes it: the wire cannot say which is meant
// (wire A19).
func (d *decoding) parseMoment(value string) (at time.Time, wrong string) {
	const form = "expected a date and time as DDMONYYHHMM, like 09OCT261745"
	if (len(value) != 11 && len(value) != 7) || !allDigits(value[:2]) || !allDigits(value[5:]) {
		return time.Time{}, form
	}
	month := parseMonth(value[2:5])
	if month == 0 {
		return time.Time{}, form
	}
	year, day := d.fullYear(two(value[5:])), two(value)
	hour, minute := 0, 0
	if len(value) == 11 {
		hour, minute = two(value[7:]), two(value[9:])
	}
	// time.Date would roll over what does not exist.
	if day < 1 || day > daysIn(year, month) || hour > 23 || minute > 59 {
		return time.Time{}, "expected a date and time that exist"
	}
	return time.Date(year, month, day, hour, minute, 0, 0, d.codec.opts.Zone), ""
}

// parseMonth reads three ASCII letters in any case; 0 for no month.
func parseMonth(s string) time.Month {
	const names = "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC"
	for i := 0; i < len(names); i += 3 {
		if s[0]&^0x20 == names[i] && s[1]&^0x20 == names[i+1] && s[2]&^0x20 == names[i+2] {
			return time.Month(i/3 + 1)
		}
	}
	return 0
}

func daysIn(year int, month time.Month) int {
	switch month {
	case time.April, time.June, time.September, time.November:
		return 30
	case time.February:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// fullYear chooses the century: from 20 years before the year of the message
// to 79 years after it (wire D12).
func (d *decoding) fullYear(yy int) int {
	first := d.year - 20
	year := first - first%100 + yy
	if year < first {
		year += 100
	}
	return year
}

// parseStamp reads META/DTTM, yyyyMMddHHmmss. A year whose window of two-digit
// years would leave the four digits of RFC 3339, or reach back to local mean
// time with its odd seconds, is no usable one.
func parseStamp(value string, zone *time.Location) (time.Time, bool) {
	if len(value) != 14 || !allDigits(value) {
		return time.Time{}, false
	}
	t, err := time.ParseInLocation("20060102150405", value, zone)
	return t, err == nil && t.Year() >= 1970 && t.Year() <= 9900
}

// appendTime appends a time as RFC 3339 with the offset of its zone, to the
// second.
func appendTime(dst []byte, t time.Time) []byte {
	dst = append(dst, '"')
	return append(t.AppendFormat(dst, "2006-01-02T15:04:05-07:00"), '"')
}

// appendString appends a string as JSON. The text is valid UTF-8, and XML
// allows no NUL, which jsonb would refuse.
func appendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	start := 0
	for i := range len(s) {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[start:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		start = i + 1
	}
	return append(append(dst, s[start:]...), '"')
}

// appendKey begins a member of the JSON object that dst is inside of, or that
// dst is the inside of. The name is a column, a list or an XML name: nothing in
// it needs escaping.
func appendKey(dst []byte, name string) []byte {
	return append(append(append(appendComma(dst), '"'), name...), '"', ':')
}

// appendComma separates a member from the one before it.
func appendComma(dst []byte) []byte {
	if n := len(dst); n > 0 && dst[n-1] != '{' && dst[n-1] != '[' {
		return append(dst, ',')
	}
	return dst
}

// invalidAt returns the place of the first byte that is not UTF-8.
func invalidAt(text []byte) int {
	at := 0
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		if r == utf8.RuneError && n == 1 {
			break
		}
		text, at = text[n:], at+n
	}
	return at
}

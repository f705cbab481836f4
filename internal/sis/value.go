package sis

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

const shownValue = 80 // runes of a value that an error shows

// shorten keeps an error readable.
func shorten(s string) string {
	if utf8.RuneCountInString(s) <= shownValue {
		return s
	}
	return string([]rune(s)[:shownValue]) + "…"
}

// appendValue appends a value of the given form as JSON. The error says what
// form is expected.
func (d *decoding) appendValue(dst []byte, k kind, value string) ([]byte, error) {
	switch k {
	case text:
		return appendString(dst, value), nil
	case integer:
		n, err := strconv.ParseInt(value, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("expected a whole number of up to 32 bits")
		}
		return strconv.AppendInt(dst, n, 10), nil
	case long:
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("expected a whole number of up to 64 bits")
		}
		return strconv.AppendInt(dst, n, 10), nil
	case flightRef:
		n, err := parseFLID(value)
		if err != nil {
			return nil, err
		}
		return strconv.AppendInt(dst, n, 10), nil
	case decimal:
		return appendDecimal(dst, value)
	case moment:
		t, err := d.parseMoment(value)
		if err != nil {
			return nil, err
		}
		return appendTime(dst, t), nil
	default:
		n, err := parseDuration(value)
		if err != nil {
			return nil, err
		}
		return strconv.AppendInt(dst, int64(n), 10), nil
	}
}

// parseFLID reads a flight id: a positive integer of up to 18 digits, leading
// zeros and blanks around it are fine (wire D10).
func parseFLID(value string) (int64, error) {
	digits := strings.TrimLeft(value, "0")
	if !allDigits(value) || digits == "" || len(digits) > 18 {
		return 0, fmt.Errorf("expected a positive whole number of up to 18 digits")
	}
	return strconv.ParseInt(digits, 10, 64)
}

func allDigits(s string) bool {
	if s == "" {
		return false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

func appendDecimal(dst []byte, value string) ([]byte, error) {
	body, negative := strings.CutPrefix(value, "-")
	whole, fraction, dotted := strings.Cut(body, ".")
	if !allDigits(whole) || (dotted && !allDigits(fraction)) || len(body) > 40 {
		return nil, fmt.Errorf("expected a number with a decimal point")
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
	return dst, nil
}

// parseDuration reads HHMM as minutes: hours × 60 + minutes.
func parseDuration(value string) (int, error) {
	if len(value) != 4 || !allDigits(value) || value[2] > '5' {
		return 0, fmt.Errorf("expected hours and minutes as HHMM")
	}
	return two(value)*60 + two(value[2:]), nil
}

// two reads two digits.
func two(s string) int { return int(s[0]-'0')*10 + int(s[1]-'0') }

// parseMoment reads DDMONYYHHMM, or DDMONYY as 00:00 of that day, on the wall
// clock of the airport. An hour that a change of the clock skips or repeats is
// taken as time.Date takes it: the wire cannot say which is meant (wire 2.2).
func (d *decoding) parseMoment(value string) (time.Time, error) {
	bad := fmt.Errorf("expected a date and time as DDMONYYHHMM, like 09OCT261745")
	if (len(value) != 11 && len(value) != 7) || !allDigits(value[:2]) || !allDigits(value[5:]) {
		return time.Time{}, bad
	}
	month := strings.Index("JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC", strings.ToUpper(value[2:5]))
	if month < 0 || month%3 != 0 {
		return time.Time{}, bad
	}
	year, day := d.fullYear(two(value[5:])), two(value)
	hour, minute := 0, 0
	if len(value) == 11 {
		hour, minute = two(value[7:]), two(value[9:])
	}
	t := time.Date(year, time.Month(month/3+1), day, hour, minute, 0, 0, d.codec.opts.Zone)
	// time.Date rolls an impossible date over.
	if day == 0 || hour > 23 || minute > 59 || time.Date(year, time.Month(month/3+1), day, 0, 0, 0, 0, time.UTC).Day() != day {
		return time.Time{}, fmt.Errorf("expected a date and time that exist")
	}
	return t, nil
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

// parseStamp reads META/DTTM, yyyyMMddHHmmss.
func parseStamp(value string, zone *time.Location) (time.Time, bool) {
	if len(value) != 14 || !allDigits(value) {
		return time.Time{}, false
	}
	t, err := time.ParseInLocation("20060102150405", value, zone)
	return t, err == nil
}

// appendTime appends a time as RFC 3339 with the offset of its zone, to the
// second.
func appendTime(dst []byte, t time.Time) []byte {
	dst = append(dst, '"')
	return append(t.AppendFormat(dst, "2006-01-02T15:04:05-07:00"), '"')
}

// appendString appends a string as JSON. The text is valid UTF-8 and XML
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

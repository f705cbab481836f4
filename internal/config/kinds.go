package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	// Zones load on hosts that have no zone files.
	_ "time/tzdata"
)

// kind reads and shows one value of a Config.
type kind struct {
	expect string // what a good value looks like, for the fault
	set    func(c *Config, text string) bool
	get    func(c *Config) string
	flag   bool // given on the command line without a value, it means true
}

const day = 24 * time.Hour

// parseDuration reads Go's syntax and a leading number of days: 90s, 1h30m, 30d, 1d12h.
func parseDuration(text string) (time.Duration, bool) {
	var total time.Duration
	if days, rest, ok := strings.Cut(text, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 16)
		if err != nil {
			return 0, false
		}
		total = time.Duration(n) * day
		if rest == "" {
			return total, true
		}
		text = rest
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > 36500*day {
		return 0, false
	}
	return total + d, true
}

// durationText is the usual way to write d: 5m, not 5m0s; whole days from the second on.
func durationText(d time.Duration) string {
	if d >= 2*day && d%day == 0 {
		return strconv.FormatInt(int64(d/day), 10) + "d"
	}
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

const durationForm = "a duration such as 500ms, 10s, 5m or 30d"

func duration(field func(*Config) *time.Duration, low, high time.Duration) kind {
	return kind{
		expect: fmt.Sprintf("%s, from %s to %s", durationForm, durationText(low), durationText(high)),
		set: func(c *Config, text string) bool {
			d, ok := parseDuration(text)
			*field(c) = d
			return ok && d >= low && d <= high
		},
		get: func(c *Config) string { return durationText(*field(c)) },
	}
}

func optionalDuration(field func(*Config) **time.Duration) kind {
	return kind{
		expect: durationForm + ", more than 0, or empty when not known",
		set: func(c *Config, text string) bool {
			*field(c) = nil
			if text == "" {
				return true
			}
			d, ok := parseDuration(text)
			*field(c) = &d
			return ok && d > 0
		},
		get: func(c *Config) string {
			if d := *field(c); d != nil {
				return durationText(*d)
			}
			return ""
		},
	}
}

func durations(field func(*Config) *[]time.Duration) kind {
	return kind{
		expect: "durations such as 1s,2s,4s: at least one, each more than 0 and none shorter than the one before",
		set: func(c *Config, text string) bool {
			*field(c) = nil
			for part := range strings.SplitSeq(text, ",") {
				d, ok := parseDuration(strings.TrimSpace(part))
				if !ok || d <= 0 {
					return false
				}
				*field(c) = append(*field(c), d)
			}
			return slices.IsSorted(*field(c))
		},
		get: func(c *Config) string {
			parts := make([]string, len(*field(c)))
			for i, d := range *field(c) {
				parts[i] = durationText(d)
			}
			return strings.Join(parts, ",")
		},
	}
}

func integer(field func(*Config) *int, low, high int) kind {
	return kind{
		expect: fmt.Sprintf("a whole number from %d to %d", low, high),
		set: func(c *Config, text string) bool {
			n, err := strconv.Atoi(text)
			*field(c) = n
			return err == nil && n >= low && n <= high
		},
		get: func(c *Config) string { return strconv.Itoa(*field(c)) },
	}
}

func size(field func(*Config) *int64, low, high int64) kind {
	return kind{
		expect: fmt.Sprintf("a size in bytes such as 65536, 64KiB or 4MiB, from %s to %s", sizeText(low), sizeText(high)),
		set: func(c *Config, text string) bool {
			n, ok := parseSize(text)
			*field(c) = n
			return ok && n >= low && n <= high
		},
		get: func(c *Config) string { return sizeText(*field(c)) },
	}
}

// units are the units of a size, the largest first.
func units() []struct {
	name  string
	bytes int64
} {
	return []struct {
		name  string
		bytes int64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}}
}

func parseSize(text string) (int64, bool) {
	factor := int64(1)
	for _, unit := range units() {
		if number, ok := strings.CutSuffix(text, unit.name); ok {
			text, factor = strings.TrimSpace(number), unit.bytes
			break
		}
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0, false
	}
	return n * factor, true
}

func sizeText(n int64) string {
	for _, unit := range units() {
		if n >= unit.bytes && n%unit.bytes == 0 {
			return strconv.FormatInt(n/unit.bytes, 10) + unit.name
		}
	}
	return strconv.FormatInt(n, 10)
}

func boolean(field func(*Config) *bool) kind {
	return kind{
		expect: "true or false",
		flag:   true,
		set: func(c *Config, text string) bool {
			*field(c) = text == "true"
			return text == "true" || text == "false"
		},
		get: func(c *Config) string { return strconv.FormatBool(*field(c)) },
	}
}

func choice(field func(*Config) *string, options ...string) kind {
	return kind{
		expect: "one of " + strings.Join(options, ", "),
		set: func(c *Config, text string) bool {
			*field(c) = text
			return slices.Contains(options, text)
		},
		get: func(c *Config) string { return *field(c) },
	}
}

// either is a choice between two words, kept as whether it is the second.
func either(field func(*Config) *bool, no, yes string) kind {
	words := map[bool]string{false: no, true: yes}
	return kind{
		expect: "one of " + no + ", " + yes,
		set: func(c *Config, text string) bool {
			*field(c) = text == yes
			return text == no || text == yes
		},
		get: func(c *Config) string { return words[*field(c)] },
	}
}

func matching(field func(*Config) *string, pattern, expect string) kind {
	re := regexp.MustCompile(`\A(?:` + pattern + `)\z`)
	return kind{
		expect: expect,
		set: func(c *Config, text string) bool {
			*field(c) = text
			return re.MatchString(text)
		},
		get: func(c *Config) string { return *field(c) },
	}
}

// identifier is the name of a table or column in the mailbox, as internal/mailbox quotes it.
func identifier(field func(*Config) *string, pattern string) kind {
	return matching(field, pattern, "a name of letters, digits, _ and $")
}

func secret(field func(*Config) *Secret, wrap func(string) Secret, valid func(string) bool, expect string) kind {
	return kind{
		expect: expect,
		set: func(c *Config, text string) bool {
			*field(c) = wrap(text)
			return text == "" || valid(text)
		},
		get: func(c *Config) string { return field(c).String() },
	}
}

// location is a time zone by name. Local is refused: no result may depend on the zone of the host.
func location(field func(*Config) **time.Location, optional bool) kind {
	expect := "a time zone of the IANA database such as Asia/Shanghai or UTC"
	if optional {
		expect += ", or empty"
	}
	return kind{
		expect: expect,
		set: func(c *Config, text string) bool {
			*field(c) = nil
			if text == "" {
				return optional
			}
			zone, err := time.LoadLocation(text)
			if err != nil || text == "Local" {
				return false
			}
			*field(c) = zone
			return true
		},
		get: func(c *Config) string {
			if zone := *field(c); zone != nil {
				return zone.String()
			}
			return ""
		},
	}
}

// retriedClasses are the error classes that are tried again; MALFORMED and PROTOCOL are final at once.
func retriedClasses() []string { return []string{"CODEC_ERROR", "INFRA", "UNSUPPORTED"} }

func classAttempts(field func(*Config) *map[string]int) kind {
	return kind{
		expect: `attempts by error class such as CODEC_ERROR=1,INFRA=3 or {"CODEC_ERROR":1}; classes ` +
			strings.Join(retriedClasses(), ", ") + "; attempts from 1 to 1000",
		set: func(c *Config, text string) bool {
			classes := map[string]int{}
			*field(c) = classes
			switch {
			case text == "":
				return true
			case strings.HasPrefix(text, "{"):
				if err := json.Unmarshal([]byte(text), &classes); err != nil {
					return false
				}
			default:
				for part := range strings.SplitSeq(text, ",") {
					name, number, ok := strings.Cut(strings.TrimSpace(part), "=")
					n, err := strconv.Atoi(number)
					if _, twice := classes[name]; !ok || err != nil || twice {
						return false
					}
					classes[name] = n
				}
			}
			for name, n := range classes {
				if !slices.Contains(retriedClasses(), name) || n < 1 || n > 1000 {
					return false
				}
			}
			return true
		},
		get: func(c *Config) string { return classesText(*field(c)) },
	}
}

// classesText is the JSON object of attempts by class, in the order of the names. The names need no escaping.
func classesText(classes map[string]int) string {
	parts := make([]string, 0, len(classes))
	for _, name := range slices.Sorted(maps.Keys(classes)) {
		parts = append(parts, fmt.Sprintf("%q:%d", name, classes[name]))
	}
	return "{" + strings.Join(parts, ",") + "}"
}

const embedded = "embedded"

func brokers() kind {
	return kind{
		expect: "host:port,host:port,… or the word embedded",
		set: func(c *Config, text string) bool {
			c.Kafka.Brokers, c.Kafka.Embedded = nil, text == embedded
			if c.Kafka.Embedded {
				return true
			}
			for part := range strings.SplitSeq(text, ",") {
				address := strings.TrimSpace(part)
				host, port, err := net.SplitHostPort(address)
				n, portErr := strconv.Atoi(port)
				if err != nil || portErr != nil || host == "" || n < 1 || n > 65535 {
					return false
				}
				c.Kafka.Brokers = append(c.Kafka.Brokers, address)
			}
			return true
		},
		get: func(c *Config) string {
			if c.Kafka.Embedded {
				return embedded
			}
			return strings.Join(c.Kafka.Brokers, ",")
		},
	}
}

func level() kind {
	return kind{
		expect: "one of debug, info, warn, error",
		set: func(c *Config, text string) bool {
			if !slices.Contains([]string{"debug", "info", "warn", "error"}, text) {
				return false
			}
			return c.Log.Level.UnmarshalText([]byte(text)) == nil
		},
		get: func(c *Config) string { return strings.ToLower(c.Log.Level.String()) },
	}
}

// watermark is where a new instance starts: "", min, zero, max or an id.
func watermark(field func(*Config) *string) kind {
	return kind{
		expect: "min, zero, max, an id of the mailbox, or empty",
		set: func(c *Config, text string) bool {
			*field(c) = text
			if slices.Contains([]string{"", "min", "zero", "max"}, text) {
				return true
			}
			id, err := strconv.ParseInt(text, 10, 64)
			return err == nil && id >= 0 && strconv.FormatInt(id, 10) == text
		},
		get: func(c *Config) string { return *field(c) },
	}
}

package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/confmap"
	"github.com/knadh/koanf/providers/env/v2"
	"github.com/knadh/koanf/providers/file"
	"github.com/knadh/koanf/providers/posflag"
	"github.com/knadh/koanf/v2"
	"github.com/spf13/pflag"
)

const (
	fileFlag        = "config"
	fileEnvironment = environmentPrefix + "CONFIG"
)

// Fault is one thing wrong with a configuration.
type Fault struct {
	Key      string // or the file, when it cannot be read
	Value    string // as given; hidden when it may hold a password, "" when there is none to show
	Source   string // the file, variable or flag it came from
	Expected string
}

// String returns the fault on one line.
func (f Fault) String() string {
	line := f.Key
	if f.Value != "" {
		line += " = " + f.Value
	}
	if f.Source != "" {
		line += " (" + f.Source + ")"
	}
	return line + ": expected " + f.Expected
}

// Faults is everything wrong with a configuration, found in one pass.
type Faults []Fault

// Error returns the faults, one a line below a heading.
func (f Faults) Error() string {
	lines := []string{"the configuration has faults:"}
	for _, fault := range f {
		lines = append(lines, "  "+fault.String())
	}
	return strings.Join(lines, "\n")
}

// AddFlags adds --config and one flag for every key. All hold text, so that Load can report every bad one at once.
func AddFlags(flags *pflag.FlagSet) {
	flags.String(fileFlag, "", "configuration file, YAML (also "+fileEnvironment+")")
	for _, k := range keys() {
		flags.String(k.name, k.def, strings.ReplaceAll(k.meaning, "`", "'"))
		if k.flag {
			flags.Lookup(k.name).NoOptDefVal = "true"
		}
	}
}

// Load reads the configuration from the file that --config or MSGX_CONFIG names, if any, from environ ("NAME=value") and
// from those of flags that were given; a later source wins. Keys in required must not be empty. The error is Faults, and
// lists them all.
func Load(flags *pflag.FlagSet, environ []string, required ...string) (Config, error) {
	l := loader{keys: keys(), merged: koanf.New("."), source: map[string]string{}, bad: map[string]bool{}}
	l.readFile(filePath(flags, environ))
	unused := l.readEnvironment(environ)
	if flags != nil {
		l.readFlags(flags)
	}
	c := Config{UnusedEnvironment: unused}
	for _, k := range l.keys {
		l.take(&c, k)
	}
	l.readSecretFiles(&c)
	if c.Mailbox.Zone == nil && !l.bad["mailbox.zone"] {
		c.Mailbox.Zone = c.OperationDay.Zone
	}
	l.crossCheck(&c)
	l.require(&c, required)
	if len(l.faults) > 0 {
		return Config{}, l.faults
	}
	return c, nil
}

// loader gathers the values and faults of one Load.
type loader struct {
	keys   []key
	merged *koanf.Koanf      // text by key
	source map[string]string // where the text came from
	bad    map[string]bool   // keys whose text was refused
	faults Faults
}

func (l *loader) fault(key, value, expected string) {
	l.bad[key] = true
	l.faults = append(l.faults, Fault{Key: key, Value: value, Source: l.source[key], Expected: expected})
}

// add lays a source over the earlier ones; from names the place one key has in it.
func (l *loader) add(provider koanf.Provider, from func(k key) string) {
	layer := koanf.New(".")
	err := layer.Load(provider, nil)
	if err == nil {
		err = l.merged.Merge(layer)
	}
	if err != nil {
		l.faults = append(l.faults, Fault{Key: "configuration", Expected: "readable sources: " + err.Error()})
		return
	}
	for _, k := range l.keys {
		if layer.Exists(k.name) {
			l.source[k.name] = from(k)
		}
	}
}

func filePath(flags *pflag.FlagSet, environ []string) string {
	if flags != nil {
		if f := flags.Lookup(fileFlag); f != nil && f.Changed {
			return f.Value.String()
		}
	}
	for _, variable := range environ {
		if path, ok := strings.CutPrefix(variable, fileEnvironment+"="); ok {
			return path
		}
	}
	return ""
}

func (l *loader) readFile(path string) {
	if path == "" {
		return
	}
	parsed := koanf.NewWithConf(koanf.Conf{Delim: "\x00"})
	if err := parsed.Load(file.Provider(path), yaml.Parser()); err != nil {
		l.faults = append(l.faults, Fault{Key: path, Expected: "a readable YAML file: " + strings.Join(strings.Fields(err.Error()), " ")})
		return
	}
	texts := map[string]any{}
	l.flatten(path, "", parsed.Raw(), texts)
	l.add(confmap.Provider(texts, "."), func(key) string { return path })
}

// flatten turns the tree of a file into text by key, and reports what is no key. An empty value leaves the default.
func (l *loader) flatten(path, prefix string, tree map[string]any, texts map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		full, value := prefix+name, tree[name]
		branch, isBranch := value.(map[string]any)
		_, twice := texts[full]
		switch isKey, isSection := l.known(full); {
		case isKey && twice:
			l.faults = append(l.faults, Fault{Key: full, Source: path, Expected: "the key once"})
		case isKey && value != nil:
			texts[full] = yamlText(value)
		case isKey || isSection && value == nil:
		case isSection && isBranch:
			l.flatten(path, full+".", branch, texts)
		case isSection:
			l.faults = append(l.faults, Fault{Key: full, Source: path, Expected: "a mapping of the keys below " + full})
		default:
			l.faults = append(l.faults, Fault{Key: full, Source: path, Expected: "a known key"})
		}
	}
}

func (l *loader) known(name string) (isKey, isSection bool) {
	for _, k := range l.keys {
		isKey = isKey || k.name == name
		isSection = isSection || strings.HasPrefix(k.name, name+".")
	}
	return isKey, isSection
}

// yamlText is a YAML value as the environment would spell it: lists by commas, mappings as JSON.
func yamlText(value any) string {
	switch v := value.(type) {
	case []any:
		parts := make([]string, len(v))
		for i, part := range v {
			parts[i] = yamlText(part)
		}
		return strings.Join(parts, ",")
	case map[string]any:
		text, err := json.Marshal(v)
		if err != nil {
			return fmt.Sprint(v)
		}
		return string(text)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	default:
		return fmt.Sprint(v)
	}
}

// readEnvironment returns the MSGX_… variables that match no key.
func (l *loader) readEnvironment(environ []string) (unused []string) {
	names := map[string]string{}
	for _, k := range l.keys {
		names[k.environment()] = k.name
	}
	l.add(env.Provider(".", env.Opt{
		Prefix:      environmentPrefix,
		EnvironFunc: func() []string { return environ },
		TransformFunc: func(variable, text string) (string, any) {
			if names[variable] == "" && variable != fileEnvironment {
				unused = append(unused, variable)
			}
			return names[variable], text
		},
	}), func(k key) string { return k.environment() })
	slices.Sort(unused)
	return unused
}

func (l *loader) readFlags(flags *pflag.FlagSet) {
	l.add(posflag.ProviderWithFlag(flags, ".", nil, func(f *pflag.Flag) (string, any) {
		if isKey, _ := l.known(f.Name); !isKey {
			return "", nil
		}
		return f.Name, f.Value.String()
	}), func(k key) string { return "--" + k.name })
}

// take sets one key, to its default when no source has it.
func (l *loader) take(c *Config, k key) {
	if !k.set(c, k.def) {
		l.fault(k.name, k.def, k.expect)
	}
	if !l.merged.Exists(k.name) {
		return
	}
	text := l.merged.String(k.name)
	shown := strconv.Quote(text)
	if k.secret {
		shown = hidden
	}
	switch {
	case !k.set(c, text):
		l.fault(k.name, shown, k.expect)
	case k.secret && l.source[k.name] == "--"+k.name && hasPassword(k.name, text):
		l.fault(k.name, shown, "no password on the command line, where others see it: use "+k.environment()+" or "+k.name+"-file")
	}
}

func hasPassword(name, text string) bool {
	_, password := maskPostgres(text)
	if name == "mailbox.dsn" {
		_, password = maskMySQL(text)
	}
	return password
}

// readSecretFiles takes the connection strings that are kept in files of their own.
func (l *loader) readSecretFiles(c *Config) {
	for _, k := range l.keys {
		path := map[string]string{"postgres.dsn": c.Postgres.DSNFile, "mailbox.dsn": c.Mailbox.DSNFile}[k.name]
		if path == "" {
			continue
		}
		fileKey := k.name + "-file"
		text, err := os.ReadFile(path)
		value := strings.TrimSpace(string(text))
		switch {
		case l.merged.String(k.name) != "":
			l.fault(fileKey, strconv.Quote(path), "either it or "+k.name+", not both")
		case err != nil:
			l.fault(fileKey, strconv.Quote(path), "a readable file: "+reason(err))
		case value == "" || !k.set(c, value):
			l.fault(fileKey, strconv.Quote(path), "a file that holds "+k.expect)
		}
	}
}

func reason(err error) string {
	if path, ok := errors.AsType[*os.PathError](err); ok {
		return path.Err.Error()
	}
	return err.Error()
}

// crossCheck looks at keys that must agree. A key that was already refused is left alone.
func (l *loader) crossCheck(c *Config) {
	check := func(ok bool, name, expected string, others ...string) {
		if ok || slices.ContainsFunc(append(others, name), func(other string) bool { return l.bad[other] }) {
			return
		}
		for _, k := range l.keys {
			if k.name == name {
				l.fault(name, strconv.Quote(k.text(c)), expected)
			}
		}
	}
	check(!c.Production() || !c.Kafka.Embedded, "kafka.brokers",
		"real brokers, as environment is production", "environment")
	check(c.Pipeline.RetentionKeep == nil || c.Pipeline.OverdueBackfill <= *c.Pipeline.RetentionKeep, "pipeline.overdue-backfill",
		"at most pipeline.retention-keep: a mark must come while the row is still there", "pipeline.retention-keep")
	check(c.Mailbox.LockWait < c.Mailbox.ReadTimeout, "mailbox.lock-wait",
		"less than mailbox.read-timeout, so that the server answers before we hang up", "mailbox.read-timeout")
	check(c.SIS.MaxBytes <= c.Mailbox.MaxTextBytes, "sis.max-bytes",
		"at most mailbox.max-text-bytes: longer texts are never read", "mailbox.max-text-bytes")
	check(!c.Mailbox.Enabled || c.Mailbox.DSN.Reveal() != "", "mailbox.dsn",
		"a data source name, as mailbox.shared-mysql.enabled is true", "mailbox.dsn-file", "mailbox.shared-mysql.enabled")
}

// require reports the keys a command cannot do without.
func (l *loader) require(c *Config, required []string) {
	for _, name := range required {
		if isKey, _ := l.known(name); !isKey {
			l.fault(name, "", "a known key")
		}
		for _, k := range l.keys {
			if k.name == name && k.text(c) == "" && !l.bad[name] && !l.bad[name+"-file"] {
				l.fault(name, "", k.expect)
			}
		}
	}
}

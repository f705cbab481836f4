package config

import "strings"

// Describe returns docs/configuration.md.
func Describe() string {
	var b strings.Builder
	b.WriteString(`# Configuration

Generated from the table of keys in internal/config by ` + "`go test ./internal/config -update`" + `; do not edit.

Values come from a YAML file, then the environment, then flags; a later one wins. The file is named by ` + "`--config`" + ` or
` + "`" + fileEnvironment + "`" + `. A key has the same name everywhere:

| where | how |
|---|---|
| file | ` + "`pipeline: {poll-interval: 2s}`" + ` |
| environment | ` + "`MSGX_PIPELINE_POLL_INTERVAL=2s`" + `: upper case, dots and dashes as underscores |
| flag | ` + "`--pipeline.poll-interval=2s`" + ` |

Everything is checked at start, and all faults are listed at once, one a line: key, value, what is expected. A key in the
file that is not in this table is a fault; an unknown ` + "`" + environmentPrefix + "…`" + ` variable is a warning. Durations are written as ` + "`500ms`" + `,
` + "`10s`" + `, ` + "`5m`" + `, ` + "`1h30m`" + ` or ` + "`30d`" + `; sizes as bytes, ` + "`64KiB`" + ` or ` + "`4MiB`" + `. Connection strings with a password come from the
environment, the file or a file of their own (` + "`…-file`" + `), never from a flag, and are never printed.
`)
	section := "\n"
	for _, k := range keys() {
		if name, _, _ := strings.Cut(k.name, "."); strings.Contains(k.name, ".") && name != section || section == "\n" {
			section = name
			title := name
			if !strings.Contains(k.name, ".") {
				title = "general"
			}
			b.WriteString("\n## " + title + "\n\n| key | default | value | meaning |\n|---|---|---|---|\n")
		}
		def := ""
		if k.def != "" {
			def = "`" + k.def + "`"
		}
		b.WriteString("| `" + k.name + "` | " + def + " | " + k.expect + " | " + k.meaning + " |\n")
	}
	return b.String()
}

package config

import (
	"bytes"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
)

var update = flag.Bool("update", false, "write docs/configuration.md anew")

// load loads from a YAML text, an environment and a command line.
func load(t *testing.T, yaml string, environ, args []string, required ...string) (Config, error) {
	t.Helper()
	flags := pflag.NewFlagSet("msgx", pflag.ContinueOnError)
	AddFlags(flags)
	flags.Bool("status", false, "a flag of the command, not of the configuration")
	if yaml != "" {
		path := filepath.Join(t.TempDir(), "msgx.yaml")
		if err := os.WriteFile(path, []byte(yaml), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append([]string{"--config", path}, args...)
	}
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	return Load(flags, environ, required...)
}

func mustLoad(t *testing.T, yaml string, environ, args []string) Config {
	t.Helper()
	c, err := load(t, yaml, environ, args)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestDefaults(t *testing.T) {
	c, err := Load(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.Pipeline.PollInterval != time.Second || c.Pipeline.Autostart || !c.Kafka.Embedded || c.Production() {
		t.Errorf("unexpected defaults:\n%s", c)
	}
	if c.Pipeline.RetentionKeep != nil {
		t.Errorf("retention-keep = %v, want unset", *c.Pipeline.RetentionKeep)
	}
	if got := c.Mailbox.Zone.String(); got != "Asia/Shanghai" {
		t.Errorf("mailbox.zone = %s, want that of the operation day", got)
	}
	for _, k := range keys() {
		if k.def != k.text(&c) && k.name != "mailbox.zone" {
			t.Errorf("%s: default %q reads back as %q", k.name, k.def, k.text(&c))
		}
	}
}

func TestPrecedence(t *testing.T) {
	yaml := "pipeline:\n  poll-interval: 2s\n  apply-batch: 20\n  claim-batch: 30\n"
	environ := []string{"MSGX_PIPELINE_POLL_INTERVAL=3s", "MSGX_PIPELINE_APPLY_BATCH=21", "HOME=/root"}
	c := mustLoad(t, yaml, environ, []string{"--pipeline.poll-interval=4s", "--status"})
	got := []any{c.Pipeline.PollInterval, c.Pipeline.ApplyBatch, c.Pipeline.ClaimBatch, c.Pipeline.MaxAttempts}
	if diff := cmp.Diff([]any{4 * time.Second, 21, 30, 5}, got); diff != "" {
		t.Errorf("flag, environment, file, default (-want +got):\n%s", diff)
	}
}

func TestForms(t *testing.T) {
	yaml := `
environment: production
shadow: true
pipeline:
  class-attempts: {CODEC_ERROR: 1, UNSUPPORTED: 2}
  backoff: [100ms, 1s, 1m30s]
  retention-keep: 60d
  overdue-backfill: 30d
  page-bytes: 64KiB
  cutover-watermark: 4711
  backoff-cap:
identity.wrap-after: 1d12h
schd:
kafka:
  brokers: ["k1:9092", "k2:9092"]
log: {level: debug}
sis: {erut: merge, empty-list: refuse}
mailbox: {zone: UTC, table: cdairport.cminmsgs, column: {id: "ID$1"}}
`
	c := mustLoad(t, yaml, nil, nil)
	got := map[string]any{
		"class":     c.Pipeline.ClassAttempts,
		"backoff":   c.Pipeline.Backoff,
		"keep":      *c.Pipeline.RetentionKeep,
		"overdue":   c.Pipeline.OverdueBackfill,
		"page":      c.Pipeline.PageBytes,
		"watermark": c.Pipeline.CutoverWatermark,
		"cap":       c.Pipeline.BackoffCap,
		"wrap":      c.Identity.WrapAfter,
		"brokers":   c.Kafka.Brokers,
		"level":     c.Log.Level,
		"zone":      c.Mailbox.Zone.String(),
		"table":     c.Mailbox.Table + "/" + c.Mailbox.ColumnID,
		"shadow":    c.Shadow,
		"erut":      c.SIS.ErutMerge,
		"list":      c.SIS.RefuseEmptyList,
	}
	want := map[string]any{
		"class":     map[string]int{"CODEC_ERROR": 1, "UNSUPPORTED": 2},
		"backoff":   []time.Duration{100 * time.Millisecond, time.Second, 90 * time.Second},
		"keep":      1440 * time.Hour,
		"overdue":   720 * time.Hour,
		"page":      int64(65536),
		"watermark": "4711",
		"cap":       time.Minute,
		"wrap":      36 * time.Hour,
		"brokers":   []string{"k1:9092", "k2:9092"},
		"level":     slog.LevelDebug,
		"zone":      "UTC",
		"table":     "cdairport.cminmsgs/ID$1",
		"shadow":    true,
		"erut":      true,
		"list":      true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestEnvironmentAndFlagForms(t *testing.T) {
	c := mustLoad(t, "pipeline: {class-attempts: {INFRA: 7}}", []string{
		"MSGX_PIPELINE_CLASS_ATTEMPTS=CODEC_ERROR=1, UNSUPPORTED=3",
		"MSGX_MAILBOX_SHARED_MYSQL_ENABLED=true", "MSGX_MAILBOX_DSN=u:p@tcp(db:3306)/cd",
		"MSGX_PIPELINE_POL_INTERVAL=5s", "MSGX_CONFIGURATION=x",
	}, []string{"--shadow", "--kafka.brokers=k1:9092,k2:9092"})
	if diff := cmp.Diff(map[string]int{"CODEC_ERROR": 1, "UNSUPPORTED": 3}, c.Pipeline.ClassAttempts); diff != "" {
		t.Error(diff)
	}
	if !c.Shadow || !c.Mailbox.Enabled || len(c.Kafka.Brokers) != 2 {
		t.Errorf("flags or environment not taken:\n%s", c)
	}
	if diff := cmp.Diff([]string{"MSGX_CONFIGURATION", "MSGX_PIPELINE_POL_INTERVAL"}, c.UnusedEnvironment); diff != "" {
		t.Errorf("unused (-want +got):\n%s", diff)
	}
	json := mustLoad(t, "", []string{`MSGX_PIPELINE_CLASS_ATTEMPTS={"INFRA":2}`}, nil)
	if json.Pipeline.ClassAttempts["INFRA"] != 2 {
		t.Errorf("class-attempts as JSON: %v", json.Pipeline.ClassAttempts)
	}
}

func TestConfigFileFromEnvironment(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(path, []byte("instance: from-file"), 0o600); err != nil {
		t.Fatal(err)
	}
	if c := mustLoad(t, "", []string{"MSGX_CONFIG=" + path}, nil); c.Instance != "from-file" {
		t.Errorf("instance = %s", c.Instance)
	}
}

func TestFaults(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, []byte(" \n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		yaml     string
		environ  []string
		args     []string
		required []string
		want     []string // one for each fault: what its line contains
	}{
		"unknown key":               {yaml: "pipeline: {poll: 1s}", want: []string{"pipeline.poll (*): expected a known key"}},
		"unknown section":           {yaml: "redis: {host: x}", want: []string{"redis (*): expected a known key"}},
		"unknown key keeps silent":  {yaml: "postgres: {password: hunter2}", want: []string{"postgres.password (*): expected a known key"}},
		"wrong case":                {yaml: "Shadow: true", want: []string{"Shadow (*): expected a known key"}},
		"scalar for a section":      {yaml: "pipeline: 5", want: []string{"pipeline (*): expected a mapping"}},
		"key twice":                 {yaml: "schd: {flush-limit: 1}\nschd.flush-limit: 2", want: []string{"schd.flush-limit (*): expected the key once"}},
		"mapping for a value":       {yaml: "instance: {a: b}", want: []string{"instance = "}},
		"not YAML":                  {yaml: "a: [", want: []string{"expected a readable YAML file"}},
		"no file":                   {args: []string{"--config", missing}, want: []string{"missing: expected a readable YAML file"}},
		"duration without unit":     {yaml: "pipeline: {poll-interval: 5}", want: []string{`pipeline.poll-interval = "5" (*): expected a duration such as`}},
		"duration below zero":       {environ: []string{"MSGX_PIPELINE_POLL_INTERVAL=-5s"}, want: []string{`= "-5s" (MSGX_PIPELINE_POLL_INTERVAL): expected a duration`}},
		"duration of zero":          {args: []string{"--pipeline.max-commit-delay=0s"}, want: []string{`= "0s" (--pipeline.max-commit-delay): expected a duration`}},
		"duration past any use":     {args: []string{"--pipeline.overdue-backfill=99999d"}, want: []string{"pipeline.overdue-backfill"}},
		"duration half days":        {args: []string{"--identity.wrap-after=1.5d"}, want: []string{"identity.wrap-after"}},
		"duration of two days":      {args: []string{"--identity.wrap-after=1d2d"}, want: []string{"identity.wrap-after"}},
		"number that is none":       {yaml: "pipeline: {apply-batch: many}", want: []string{`pipeline.apply-batch = "many" (*): expected a whole number from 1`}},
		"number with a fraction":    {yaml: "pipeline: {apply-batch: 1.5}", want: []string{`pipeline.apply-batch = "1.5"`}},
		"number of zero":            {yaml: "pipeline: {max-attempts: 0}", want: []string{"pipeline.max-attempts"}},
		"number below zero":         {yaml: "schd: {flush-limit: -1}", want: []string{"schd.flush-limit"}},
		"hour 24":                   {yaml: "operation-day: {cutoff-hour: 24}", want: []string{`operation-day.cutoff-hour = "24" (*): expected a whole number from 0 to 23`}},
		"port":                      {yaml: "kafka: {embedded-port: 65536}", want: []string{"kafka.embedded-port"}},
		"size":                      {yaml: "pipeline: {page-bytes: 4MB}", want: []string{`pipeline.page-bytes = "4MB" (*): expected a size`}},
		"size of zero":              {yaml: "mailbox: {max-text-bytes: 0}", want: []string{"mailbox.max-text-bytes"}},
		"boolean":                   {yaml: "shadow: yes", want: []string{`shadow = "yes" (*): expected true or false`}},
		"environment name":          {yaml: "environment: prod", want: []string{`environment = "prod" (*): expected one of dev, production`}},
		"instance name":             {yaml: "instance: a/b", want: []string{`instance = "a/b"`}},
		"zone":                      {yaml: "operation-day: {zone: Asia/Chengdu}", want: []string{`operation-day.zone = "Asia/Chengdu" (*): expected a time zone`}},
		"zone of the host":          {yaml: "operation-day: {zone: Local}", want: []string{"operation-day.zone"}},
		"zone of nothing":           {yaml: `operation-day: {zone: ""}`, want: []string{"operation-day.zone"}},
		"zone of the mailbox":       {yaml: "mailbox: {zone: Mars}", want: []string{"mailbox.zone"}},
		"backoff of nothing":        {yaml: "pipeline: {backoff: []}", want: []string{`pipeline.backoff = ""`}},
		"backoff with zero":         {yaml: "pipeline: {backoff: [0s, 1s]}", want: []string{"pipeline.backoff"}},
		"backoff that falls":        {yaml: "pipeline: {backoff: [2s, 1s]}", want: []string{`pipeline.backoff = "2s,1s" (*): expected durations`}},
		"backoff without unit":      {yaml: "pipeline: {backoff: [1, 2]}", want: []string{"pipeline.backoff"}},
		"class unknown":             {yaml: "pipeline: {class-attempts: {TIMEOUT: 1}}", want: []string{`pipeline.class-attempts = "{\"TIMEOUT\":1}"`}},
		"class never retried":       {yaml: "pipeline: {class-attempts: {MALFORMED: 1}}", want: []string{"pipeline.class-attempts"}},
		"class of zero attempts":    {yaml: "pipeline: {class-attempts: {INFRA: 0}}", want: []string{"pipeline.class-attempts"}},
		"class twice":               {environ: []string{"MSGX_PIPELINE_CLASS_ATTEMPTS=INFRA=1,INFRA=2"}, want: []string{"pipeline.class-attempts"}},
		"class without number":      {environ: []string{"MSGX_PIPELINE_CLASS_ATTEMPTS=INFRA"}, want: []string{"pipeline.class-attempts"}},
		"class as bad JSON":         {environ: []string{`MSGX_PIPELINE_CLASS_ATTEMPTS={"INFRA":"x"}`}, want: []string{"pipeline.class-attempts"}},
		"watermark":                 {yaml: "pipeline: {cutover-watermark: latest}", want: []string{"pipeline.cutover-watermark"}},
		"watermark below zero":      {yaml: "pipeline: {cutover-watermark: -1}", want: []string{"pipeline.cutover-watermark"}},
		"late policy":               {yaml: "pipeline: {late-policy: drop}", want: []string{"pipeline.late-policy"}},
		"retention of zero":         {yaml: "pipeline: {retention-keep: 0s}", want: []string{"pipeline.retention-keep"}},
		"recs mismatch":             {yaml: "sis: {recs-mismatch-schd: ignore}", want: []string{"sis.recs-mismatch-schd"}},
		"list":                      {yaml: "sis: {empty-list: keep}", want: []string{`sis.empty-list = "keep" (*): expected one of clear, refuse`}},
		"route":                     {yaml: "sis: {erut: true}", want: []string{`sis.erut = "true" (*): expected one of replace, merge`}},
		"timeout beyond a claim":    {yaml: "mailbox: {read-timeout: 21s}", want: []string{"mailbox.read-timeout"}},
		"depth":                     {yaml: "sis: {max-depth: 1000000}", want: []string{"sis.max-depth"}},
		"processed value":           {yaml: "mailbox: {processed-value: GONE}", want: []string{`mailbox.processed-value = "GONE" (*): expected one of PROCESSED`}},
		"table":                     {yaml: `mailbox: {table: "cminmsgs; drop table x"}`, want: []string{"mailbox.table"}},
		"table of three parts":      {yaml: "mailbox: {table: a.b.c}", want: []string{"mailbox.table"}},
		"column":                    {yaml: "mailbox: {column: {id: a.b, text: \"`\", received: \"\", processed: \"a b\", status: \"x'\"}}", want: []string{"mailbox.column.id", "mailbox.column.text", "mailbox.column.received", "mailbox.column.processed", "mailbox.column.status"}},
		"lock wait below a second":  {yaml: "mailbox: {lock-wait: 500ms}", want: []string{"mailbox.lock-wait"}},
		"brokers":                   {yaml: "kafka: {brokers: [k1]}", want: []string{`kafka.brokers = "k1" (*): expected host:port`}},
		"brokers and embedded":      {yaml: `kafka: {brokers: [embedded, "k1:9092"]}`, want: []string{"kafka.brokers"}},
		"broker port":               {yaml: `kafka: {brokers: "k1:0"}`, want: []string{"kafka.brokers"}},
		"no broker":                 {yaml: `kafka: {brokers: ""}`, want: []string{"kafka.brokers"}},
		"topic prefix":              {yaml: `kafka: {topic-prefix: "a b"}`, want: []string{"kafka.topic-prefix"}},
		"record size":               {yaml: "kafka: {max-record-bytes: 10}", want: []string{"kafka.max-record-bytes"}},
		"folder":                    {yaml: `kafka: {embedded-dir: "a\0b"}`, want: []string{"kafka.embedded-dir"}},
		"lease":                     {yaml: "lease: {ttl: 10ms}", want: []string{"lease.ttl"}},
		"level":                     {yaml: "log: {level: loud}", want: []string{"log.level"}},
		"mailbox address":           {yaml: "mailbox: {dsn: nonsense}", want: []string{"mailbox.dsn = (hidden) (*): expected a MySQL data source name"}},
		"mailbox without database":  {yaml: "mailbox: {dsn: 'u:hunter2@tcp(h:3306)/'}", want: []string{"mailbox.dsn = (hidden)"}},
		"database address":          {yaml: "postgres: {dsn: 'http://x:hunter2@y'}", want: []string{"postgres.dsn = (hidden) (*): expected a PostgreSQL"}},
		"database address broken":   {yaml: "postgres: {dsn: 'postgres://x:hunter2@y:port/z'}", want: []string{"postgres.dsn = (hidden)"}},
		"secret file missing":       {yaml: "postgres: {dsn-file: " + missing + "}", want: []string{"postgres.dsn-file = *: expected a readable file: no such file"}},
		"secret file empty":         {yaml: "mailbox: {dsn-file: " + empty + "}", want: []string{"mailbox.dsn-file = *: expected a file that holds a MySQL"}},
		"secret twice":              {yaml: "postgres: {dsn: 'host=a', dsn-file: " + empty + "}", want: []string{"postgres.dsn-file = *: expected either it or postgres.dsn"}},
		"password on the line":      {args: []string{"--postgres.dsn=postgres://u:hunter2@h/db"}, want: []string{"postgres.dsn = (hidden) (--postgres.dsn): expected no password on the command line"}},
		"password in words":         {args: []string{"--postgres.dsn=host=h password=hunter2"}, want: []string{"expected no password on the command line"}},
		"password as parameter":     {args: []string{"--postgres.dsn=postgres://h/db?password=hunter2"}, want: []string{"expected no password on the command line"}},
		"mailbox password":          {args: []string{"--mailbox.dsn=u:hunter2@tcp(h:3306)/d"}, want: []string{"expected no password on the command line"}},
		"embedded in production":    {yaml: "environment: production", want: []string{`kafka.brokers = "embedded": expected real brokers`}},
		"R above R_keep":            {yaml: "pipeline: {overdue-backfill: 31d, retention-keep: 30d}", want: []string{`pipeline.overdue-backfill = "31d" (*): expected at most pipeline.retention-keep`}},
		"lock wait above timeout":   {yaml: "mailbox: {lock-wait: 10s}", want: []string{"mailbox.lock-wait = \"10s\" (*): expected less than mailbox.read-timeout"}},
		"text limits":               {yaml: "mailbox: {max-text-bytes: 1MiB}", want: []string{"sis.max-bytes = \"16MiB\": expected at most mailbox.max-text-bytes"}},
		"mailbox on without source": {yaml: "mailbox: {shared-mysql: {enabled: true}}", want: []string{`mailbox.dsn = "": expected a data source name, as mailbox.shared-mysql.enabled`}},
		"required":                  {required: []string{"postgres.dsn"}, want: []string{"postgres.dsn: expected a PostgreSQL connection string"}},
		"required by a wrong name":  {required: []string{"postgres.url"}, want: []string{"postgres.url: expected a known key"}},
		"no cross-check of bad keys": {yaml: "environment: production\nkafka: {brokers: x}",
			want: []string{`kafka.brokers = "x"`}},
		"all at once": {yaml: "nonsense: 1\nshadow: maybe\nlease: {ttl: 1}", environ: []string{"MSGX_LOG_LEVEL=x"}, args: []string{"--schd.flush-limit=0"},
			want: []string{"nonsense", "shadow", "schd.flush-limit", "lease.ttl", "log.level"}},
		"a value on one line": {environ: []string{"MSGX_INSTANCE=a\nb"}, want: []string{`instance = "a\nb"`}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := load(t, tt.yaml, tt.environ, tt.args, tt.required...)
			if err == nil {
				t.Fatal("accepted")
			}
			lines := strings.Split(err.Error(), "\n")[1:]
			if len(lines) != len(tt.want) {
				t.Fatalf("%d faults, want %d:\n%v", len(lines), len(tt.want), err)
			}
			for i, want := range tt.want {
				pattern := strings.ReplaceAll(regexp.QuoteMeta(want), `\*`, `.*`)
				if !regexp.MustCompile(pattern).MatchString(lines[i]) {
					t.Errorf("fault %d\n got %s\nwant %s", i, lines[i], want)
				}
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("a fault shows the password: %v", err)
			}
		})
	}
}

func TestSecretsFromFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dsn")
	if err := os.WriteFile(path, []byte("postgres://u:hunter2@h:5432/db\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := load(t, "postgres: {dsn-file: "+path+"}", nil, nil, "postgres.dsn")
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Postgres.DSN.Reveal(); got != "postgres://u:hunter2@h:5432/db" {
		t.Errorf("dsn = %q", got)
	}
}

func TestPasswordlessFlag(t *testing.T) {
	c := mustLoad(t, "", nil, []string{"--postgres.dsn=host=/run/postgresql user=msgx dbname=msgx", "--mailbox.dsn=u@unix(/run/mysqld/s)/cd"})
	if c.Postgres.DSN.Reveal() == "" || c.Mailbox.DSN.Reveal() == "" {
		t.Error("connection strings without password were not taken from flags")
	}
}

func TestSecretsAreNeverPrinted(t *testing.T) {
	for _, dsn := range []string{
		"postgres://u:hunter2@h:5432/db?sslmode=disable", "postgresql://h/db?user=u&password=hunter2", "host=h password=hunter2 dbname=db",
		"host=h password = 'hunter2 its' dbname=db", `host=h sslpassword='hunter2 \' hunter2' dbname=db`,
	} {
		c := mustLoad(t, "", []string{"MSGX_POSTGRES_DSN=" + dsn, "MSGX_MAILBOX_DSN=u:hunter2@tcp(h:3306)/cd?timeout=3s"}, nil)
		var log bytes.Buffer
		logger := slog.New(slog.NewJSONHandler(&log, nil))
		logger.Info("configuration", "config", c, "dsn", c.Postgres.DSN, "postgres", c.Postgres, "pointer", &c)
		text, err := c.Postgres.DSN.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		printed := strings.Join([]string{
			c.String(), log.String(), string(text), fmt.Sprint(c), fmt.Sprintf("%v %+v %#v %s", c, c, c, c),
			fmt.Sprintf("%v %+v %#v %+v", c.Postgres, c.Postgres, c.Mailbox, &c.Mailbox),
			fmt.Sprintf("%v %+v %#v %s %q %d %x", c.Postgres.DSN, c.Postgres.DSN, c.Postgres.DSN, c.Postgres.DSN, c.Postgres.DSN, c.Postgres.DSN, c.Postgres.DSN),
		}, "\n")
		if strings.Contains(printed, "hunter2") || strings.Contains(printed, "68756e74657232") {
			t.Errorf("%s is printed:\n%s", dsn, printed)
		}
		if !strings.Contains(c.String(), "mailbox.dsn = u:xxxxx@tcp(h:3306)/cd?timeout=3s") || !strings.Contains(c.Postgres.DSN.String(), masked) {
			t.Errorf("the rest of a connection string should show:\n%s", c)
		}
		if c.Postgres.DSN.Reveal() != dsn {
			t.Errorf("Reveal = %q, want %q", c.Postgres.DSN.Reveal(), dsn)
		}
	}
}

// The migrations insert the same parameters as the defaults here, so that a database works before its first daemon.
func TestSettingsAreTheMigrationsDefaults(t *testing.T) {
	migrations, err := filepath.Glob("../../db/migrations/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	inDatabase := map[string]string{}
	for _, path := range migrations {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, insert := range regexp.MustCompile(`(?s)INSERT INTO msgx\.setting .*?;`).FindAllString(string(text), -1) {
			for _, row := range regexp.MustCompile(`\('([^']+)', '([^']*)'\)`).FindAllStringSubmatch(insert, -1) {
				inDatabase[row[1]] = row[2]
			}
		}
	}
	c := mustLoad(t, "", nil, nil)
	if diff := cmp.Diff(inDatabase, c.Settings()); diff != "" {
		t.Errorf("(-migrations +configuration):\n%s", diff)
	}
}

func TestSettingsFollowTheConfiguration(t *testing.T) {
	c := mustLoad(t, `
shadow: true
pipeline: {class-attempts: {UNSUPPORTED: 1, CODEC_ERROR: 2}, backoff: [200ms, 1m], backoff-cap: 2m, head-deadline: 90s, crash-limit: 1, max-commit-delay: 2s, max-attempts: 3, apply-batch: 7,
  overdue-backfill: 1d, backfill-max-attempts: 4, late-policy: enqueue}
identity: {wrap-after: 0s, include-day-boundary: true}
operation-day: {zone: UTC, cutoff-hour: 3}
sis: {recs-mismatch-schd: warn}
kafka: {delivery-max-attempts: 9}
`, nil, nil)
	want := map[string]string{
		"shadow": "true", "pipeline.class-attempts": `{"CODEC_ERROR":2,"UNSUPPORTED":1}`, "pipeline.backoff": "0.2s,60s", "pipeline.backoff-cap": "120s",
		"pipeline.head-deadline": "90s", "pipeline.crash-limit": "1",
		"pipeline.max-commit-delay": "2s", "pipeline.max-attempts": "3", "pipeline.apply-batch": "7", "pipeline.overdue-backfill": "86400s",
		"pipeline.backfill-max-attempts": "4", "pipeline.late-policy": "enqueue", "identity.wrap-after": "0s", "identity.include-day-boundary": "true",
		"operation-day.zone": "UTC", "operation-day.cutoff-hour": "3", "sis.recs-mismatch-schd": "warn", "kafka.delivery-max-attempts": "9",
	}
	if diff := cmp.Diff(want, c.Settings()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestKeysAreDistinctAndDocumented(t *testing.T) {
	variables := map[string]string{fileEnvironment: "config"}
	for _, k := range keys() {
		if other, twice := variables[k.environment()]; twice {
			t.Errorf("%s and %s share %s", k.name, other, k.environment())
		}
		variables[k.environment()] = k.name
		if !strings.HasSuffix(k.meaning, ".") || k.expect == "" {
			t.Errorf("%s: no sentence says what it means, or none says what it takes", k.name)
		}
	}
	if len(variables) < 40 {
		t.Errorf("only %v", slices.Sorted(maps.Keys(variables)))
	}
}

func TestDocumentIsCurrent(t *testing.T) {
	const path = "../../docs/configuration.md"
	if *update {
		if err := os.WriteFile(path, []byte(Describe()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	written, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(written), Describe()); diff != "" {
		t.Errorf("docs/configuration.md is stale; go test ./internal/config -update\n(-file +table):\n%s", diff)
	}
}

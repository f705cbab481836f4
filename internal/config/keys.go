package config

import (
	"math"
	"strings"
	"time"
)

const production = "production"

// key is one key of the configuration: its name, default, meaning, and how it is read.
type key struct {
	name    string
	def     string
	meaning string
	kind
	secret bool // never shown in a fault, refused on the command line when it carries a password
}

func (k key) text(c *Config) string { return k.get(c) }

// environment is the variable that sets the key: MSGX_PIPELINE_POLL_INTERVAL for pipeline.poll-interval.
func (k key) environment() string {
	return environmentPrefix + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(k.name))
}

const (
	environmentPrefix = "MSGX_"

	columnPattern = `[A-Za-z0-9_$]{1,64}`
	tablePattern  = `[A-Za-z0-9_$]{1,64}(\.[A-Za-z0-9_$]{1,64})?`
	pathExpected  = "a path"
	anyText       = `[^\x00]*`
)

// keys is every key with its default. The order is that of docs/configuration.md.
func keys() []key {
	const hour = time.Hour
	return []key{
		{name: "environment", def: "dev", meaning: "`dev` or `production`. Production refuses what only a trial may have: the embedded broker.",
			kind: choice(func(c *Config) *string { return &c.Environment }, "dev", production)},
		{name: "instance", def: "msgx", meaning: "Name of this instance: holder of the lease, source of its events.",
			kind: matching(func(c *Config) *string { return &c.Instance }, `[A-Za-z0-9._-]{1,64}`, "1 to 64 letters, digits, dots, _ and -")},
		{name: "shadow", def: "false", meaning: "Run beside another consumer: never write to the mailbox. Fixed once the instance is seeded.",
			kind: boolean(func(c *Config) *bool { return &c.Shadow })},

		{name: "pipeline.autostart", def: "false", meaning: "Whether the loops of a new instance start at once. Otherwise they wait for the operator's brake to be released; afterwards only the brake counts.",
			kind: boolean(func(c *Config) *bool { return &c.Pipeline.Autostart })},
		{name: "pipeline.poll-interval", def: "1s", meaning: "Pause between two looks into the mailbox when nothing new was found.",
			kind: duration(func(c *Config) *time.Duration { return &c.Pipeline.PollInterval }, time.Millisecond, hour)},
		{name: "pipeline.claim-batch", def: "50", meaning: "Mailbox rows whose positions are read and enqueued in one step.",
			kind: integer(func(c *Config) *int { return &c.Pipeline.ClaimBatch }, 1, 10000)},
		{name: "pipeline.page-bytes", def: "4MiB", meaning: "Bytes of text read from the mailbox by one query; a longer single text is read alone.",
			kind: size(func(c *Config) *int64 { return &c.Pipeline.PageBytes }, 1<<10, 1<<30)},
		{name: "pipeline.frontier-batch", def: "10000", meaning: "Ids read at once by the scan that looks for holes beyond the page.",
			kind: integer(func(c *Config) *int { return &c.Pipeline.FrontierBatch }, 1, 1000000)},
		{name: "pipeline.cache-bytes", def: "64MiB", meaning: "Bytes of text kept in memory between poller and pump. What does not fit is read again.",
			kind: size(func(c *Config) *int64 { return &c.Pipeline.CacheBytes }, 0, 16<<30)},
		{name: "pipeline.apply-batch", def: "50", meaning: "Messages applied in one transaction.",
			kind: integer(func(c *Config) *int { return &c.Pipeline.ApplyBatch }, 1, 10000)},
		{name: "pipeline.max-attempts", def: "5", meaning: "Attempts of a message before it is a dead letter.",
			kind: integer(func(c *Config) *int { return &c.Pipeline.MaxAttempts }, 1, 1000)},
		{name: "pipeline.class-attempts", def: "{}", meaning: "Other numbers of attempts by error class: `CODEC_ERROR=1,UNSUPPORTED=1`, in YAML a mapping.",
			kind: classAttempts(func(c *Config) *map[string]int { return &c.Pipeline.ClassAttempts })},
		{name: "pipeline.backoff", def: "1s,2s,4s,8s,16s", meaning: "Pauses after the first, second, … failed attempt; the last one repeats. In YAML a list.",
			kind: durations(func(c *Config) *[]time.Duration { return &c.Pipeline.Backoff })},
		{name: "pipeline.backoff-cap", def: "1m", meaning: "The longest pause between two attempts.",
			kind: duration(func(c *Config) *time.Duration { return &c.Pipeline.BackoffCap }, time.Millisecond, day)},
		{name: "pipeline.head-deadline", def: "10m", meaning: "Working time of the pump after the first failure of a message; a failure after it is the last. Time in which the daemon is down, braked or waits for a server does not count.",
			kind: duration(func(c *Config) *time.Duration { return &c.Pipeline.HeadDeadline }, time.Millisecond, 7*day)},
		{name: "pipeline.crash-limit", def: "3", meaning: "How often the process may die on a message that is tried alone; one more time and it is a dead letter.",
			kind: integer(func(c *Config) *int { return &c.Pipeline.CrashLimit }, 0, 1000)},
		{name: "pipeline.max-commit-delay", def: "5m", meaning: "How long a missing id holds the watermark: the longest time from the assignment of an id to its commit. An assumption until the owner of the mailbox confirms it; never lower it for speed.",
			kind: duration(func(c *Config) *time.Duration { return &c.Pipeline.MaxCommitDelay }, time.Millisecond, 7*day)},
		{name: "pipeline.overdue-backfill", def: "30d", meaning: "Age R at which a missing mark is written without regard to backoff. Not above `pipeline.retention-keep`.",
			kind: duration(func(c *Config) *time.Duration { return &c.Pipeline.OverdueBackfill }, time.Second, 3650*day)},
		{name: "pipeline.retention-keep", def: "", meaning: "How long the owner of the mailbox keeps rows (R_keep), once that is agreed.",
			kind: optionalDuration(func(c *Config) **time.Duration { return &c.Pipeline.RetentionKeep })},
		{name: "pipeline.backfill-period", def: "30s", meaning: "Pause between two sweeps that mark finished rows in the mailbox.",
			kind: duration(func(c *Config) *time.Duration { return &c.Pipeline.BackfillPeriod }, time.Millisecond, day)},
		{name: "pipeline.backfill-batch", def: "200", meaning: "Rows marked in one mailbox transaction.",
			kind: integer(func(c *Config) *int { return &c.Pipeline.BackfillBatch }, 1, 1000)},
		{name: "pipeline.backfill-max-attempts", def: "20", meaning: "Attempts to mark a row before it is abandoned to the operator.",
			kind: integer(func(c *Config) *int { return &c.Pipeline.BackfillMaxAttempts }, 1, 10000)},
		{name: "pipeline.delivery-batch", def: "500", meaning: "Events sent to Kafka in one batch.",
			kind: integer(func(c *Config) *int { return &c.Pipeline.DeliveryBatch }, 1, 10000)},
		{name: "pipeline.delivery-drain-rounds", def: "20", meaning: "Batches sent in a row before the dispatcher looks at anything else.",
			kind: integer(func(c *Config) *int { return &c.Pipeline.DeliveryDrainRounds }, 1, 10000)},
		{name: "pipeline.late-policy", def: "detect", meaning: "What happens to a row that appears after its hole was released: `detect` reports it, `enqueue` takes it in.",
			kind: choice(func(c *Config) *string { return &c.Pipeline.LatePolicy }, "detect", "enqueue")},
		{name: "pipeline.cutover-watermark", def: "", meaning: "Where an instance that never ran starts: `min` (all rows present), `zero` (from id 0, holes by rule), `max` (new rows only) or an id. Empty: it does not seed itself.",
			kind: watermark(func(c *Config) *string { return &c.Pipeline.CutoverWatermark })},

		{name: "schd.flush-period", def: "3s", meaning: "Pause between two flushes of whole flight states.",
			kind: duration(func(c *Config) *time.Duration { return &c.Schd.FlushPeriod }, time.Millisecond, hour)},
		{name: "schd.flush-limit", def: "500", meaning: "Flights in one flush; a full flush is followed by the next at once.",
			kind: integer(func(c *Config) *int { return &c.Schd.FlushLimit }, 1, 10000)},

		{name: "operation-day.zone", def: "Asia/Shanghai", meaning: "Time zone of the airport: local times of messages, operation day, times in events.",
			kind: location(func(c *Config) **time.Location { return &c.OperationDay.Zone }, false)},
		{name: "operation-day.cutoff-hour", def: "0", meaning: "Hour at which the operation day begins.",
			kind: integer(func(c *Config) *int { return &c.OperationDay.CutoffHour }, 0, 23)},

		{name: "identity.include-day-boundary", def: "false", meaning: "Whether the date of DTTM is part of a message's identity. Changes what is a duplicate: not a tuning option.",
			kind: boolean(func(c *Config) *bool { return &c.Identity.IncludeDayBoundary })},
		{name: "identity.wrap-after", def: "24h", meaning: "A reused identity with other text passes to the new message when its DTTM is this much later; `0s` = never.",
			kind: duration(func(c *Config) *time.Duration { return &c.Identity.WrapAfter }, 0, 3650*day)},

		{name: "sis.recs-mismatch-schd", def: "refuse", meaning: "A schedule message whose RECS is not the number of its records: `refuse` it, or `warn` and apply it.",
			kind: choice(func(c *Config) *string { return &c.SIS.RecsMismatchSchd }, "refuse", "warn")},
		{name: "sis.empty-list", def: "clear", meaning: "A FLOP of a numbered list without members: `clear` the list, or `refuse` the message.",
			kind: either(func(c *Config) *bool { return &c.SIS.RefuseEmptyList }, "clear", "refuse")},
		{name: "sis.erut", def: "replace", meaning: "A FLOP of the route: its points `replace` the route, or `merge` into it by number.",
			kind: either(func(c *Config) *bool { return &c.SIS.ErutMerge }, "replace", "merge")},
		{name: "sis.max-bytes", def: "16MiB", meaning: "Longest text that is decoded.",
			kind: size(func(c *Config) *int64 { return &c.SIS.MaxBytes }, 1<<10, 1<<30)},
		{name: "sis.max-depth", def: "32", meaning: "Deepest nesting of elements that is decoded.",
			kind: integer(func(c *Config) *int { return &c.SIS.MaxDepth }, 8, 1000)},

		{name: "mailbox.shared-mysql.enabled", def: "false", meaning: "Whether the shared mailbox is connected. Then `mailbox.dsn` must be set.",
			kind: boolean(func(c *Config) *bool { return &c.Mailbox.Enabled })},
		{name: "mailbox.dsn", def: "", secret: true, meaning: "The mailbox's server, not a replica: `user:password@tcp(host:3306)/database`. Character set, time handling, isolation and timeouts are set by us.",
			kind: secret(func(c *Config) *Secret { return &c.Mailbox.DSN }, MySQLSecret, validMySQL, "a MySQL data source name with a database: user:password@tcp(host:3306)/database")},
		{name: "mailbox.dsn-file", def: "", meaning: "File that holds `mailbox.dsn`, instead of it.",
			kind: matching(func(c *Config) *string { return &c.Mailbox.DSNFile }, anyText, pathExpected)},
		{name: "mailbox.zone", def: "", meaning: "Time zone of the mailbox's DATETIME columns. Empty: that of `operation-day.zone`.",
			kind: location(func(c *Config) **time.Location { return &c.Mailbox.Zone }, true)},
		{name: "mailbox.table", def: "cminmsgs", meaning: "Table of inbound messages, also as `database.table`.",
			kind: identifier(func(c *Config) *string { return &c.Mailbox.Table }, tablePattern)},
		{name: "mailbox.column.id", def: "CMINMSGS_ID", meaning: "Column of the arrival number, its primary key.",
			kind: identifier(func(c *Config) *string { return &c.Mailbox.ColumnID }, columnPattern)},
		{name: "mailbox.column.text", def: "CMINMSGS_CLOB_MSG", meaning: "Column of the XML.",
			kind: identifier(func(c *Config) *string { return &c.Mailbox.ColumnText }, columnPattern)},
		{name: "mailbox.column.received", def: "CMINMSGS_DATE_RECEIVED", meaning: "Column of the time of arrival.",
			kind: identifier(func(c *Config) *string { return &c.Mailbox.ColumnReceived }, columnPattern)},
		{name: "mailbox.column.processed", def: "CMINMSGS_DATE_PROCESSED", meaning: "Column of the mark.",
			kind: identifier(func(c *Config) *string { return &c.Mailbox.ColumnProcessed }, columnPattern)},
		{name: "mailbox.column.status", def: "CMINMSGS_STATUS", meaning: "Column of the status.",
			kind: identifier(func(c *Config) *string { return &c.Mailbox.ColumnStatus }, columnPattern)},
		{name: "mailbox.processed-value", def: "PROCESSED", meaning: "Status that a mark writes, one of the values the mailbox's owner allows.",
			kind: choice(func(c *Config) *string { return &c.Mailbox.ProcessedValue }, "PROCESSED", "VALID")},
		{name: "mailbox.mark-status", def: "true", meaning: "Whether a mark writes the status too, or only the time.",
			kind: boolean(func(c *Config) *bool { return &c.Mailbox.MarkStatus })},
		{name: "mailbox.max-text-bytes", def: "16MiB", meaning: "Longest text that is read from the mailbox; a longer one is refused unread.",
			kind: size(func(c *Config) *int64 { return &c.Mailbox.MaxTextBytes }, 1<<10, 1<<30)},
		{name: "mailbox.connect-timeout", def: "5s", meaning: "Longest wait for a connection.",
			kind: duration(func(c *Config) *time.Duration { return &c.Mailbox.ConnectTimeout }, time.Millisecond, 20*time.Second)},
		{name: "mailbox.read-timeout", def: "10s", meaning: "Longest wait for an answer.",
			kind: duration(func(c *Config) *time.Duration { return &c.Mailbox.ReadTimeout }, time.Millisecond, 20*time.Second)},
		{name: "mailbox.write-timeout", def: "10s", meaning: "Longest wait while sending.",
			kind: duration(func(c *Config) *time.Duration { return &c.Mailbox.WriteTimeout }, time.Millisecond, 20*time.Second)},
		{name: "mailbox.lock-wait", def: "2s", meaning: "Longest wait for a row that another user of the mailbox holds, in whole seconds. Less than `mailbox.read-timeout`.",
			kind: duration(func(c *Config) *time.Duration { return &c.Mailbox.LockWait }, time.Second, 20*time.Second)},
		{name: "mailbox.allow-replicating", def: "false", meaning: "Use a server that replicates from another one although it can be written: one of a pair of primaries, the one that all writers use. A read-only server is never used.",
			kind: boolean(func(c *Config) *bool { return &c.Mailbox.AllowReplicating })},
		{name: "mailbox.conn-max-lifetime", def: "1m", meaning: "Age at which a connection is replaced: below the idle timeout of the server and of every firewall on the way.",
			kind: duration(func(c *Config) *time.Duration { return &c.Mailbox.ConnMaxLifetime }, time.Second, hour)},

		{name: "postgres.dsn", def: "", secret: true, meaning: "Our own database: `postgres://user:password@host:5432/database` or `host=… dbname=…`.",
			kind: secret(func(c *Config) *Secret { return &c.Postgres.DSN }, PostgresSecret, validPostgres, "a PostgreSQL connection string: postgres://user:password@host:5432/database or host=… dbname=…")},
		{name: "postgres.dsn-file", def: "", meaning: "File that holds `postgres.dsn`, instead of it.",
			kind: matching(func(c *Config) *string { return &c.Postgres.DSNFile }, anyText, pathExpected)},

		{name: "kafka.brokers", def: embedded, meaning: "Brokers to start from, `host:port,host:port`, in YAML a list; or `embedded`: a small broker inside this process, for trials.",
			kind: brokers()},
		{name: "kafka.topic-prefix", def: "", meaning: "Topics are this prefix with `msg` and with `schd`.",
			kind: matching(func(c *Config) *string { return &c.Kafka.TopicPrefix }, `[A-Za-z0-9._-]{0,200}`, "up to 200 letters, digits, dots, _ and -")},
		{name: "kafka.produce-timeout", def: "30s", meaning: "Longest wait for the acknowledgement of a record.",
			kind: duration(func(c *Config) *time.Duration { return &c.Kafka.ProduceTimeout }, time.Millisecond, hour)},
		{name: "kafka.embedded-dir", def: "", meaning: "Folder of the embedded broker, so that topics outlive the process. Empty: in memory.",
			kind: matching(func(c *Config) *string { return &c.Kafka.EmbeddedDir }, anyText, pathExpected)},
		{name: "kafka.embedded-port", def: "0", meaning: "Port of the embedded broker on 127.0.0.1; 0 = any that is free.",
			kind: integer(func(c *Config) *int { return &c.Kafka.EmbeddedPort }, 0, 65535)},
		{name: "kafka.max-record-bytes", def: "1000000", meaning: "Largest record; a larger one is a dead letter. Not above the topic's `max.message.bytes`.",
			kind: integer(func(c *Config) *int { return &c.Kafka.MaxRecordBytes }, 1024, math.MaxInt32)},
		{name: "kafka.delivery-max-attempts", def: "5", meaning: "Attempts of an event that the broker refuses for its own sake before it is a dead letter.",
			kind: integer(func(c *Config) *int { return &c.Kafka.DeliveryMaxAttempts }, 1, 1000)},

		{name: "lease.ttl", def: "15s", meaning: "How long the active instance may be silent before another takes over.",
			kind: duration(func(c *Config) *time.Duration { return &c.Lease.TTL }, time.Second, hour)},

		{name: "log.level", def: "info", meaning: "`debug`, `info`, `warn` or `error`.", kind: level()},
	}
}

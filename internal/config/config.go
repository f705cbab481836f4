// Package config holds the whole configuration: one struct, every default in one table, every value validated.
// Values come from a YAML file, then MSGX_… environment variables, then flags; the later one wins, and the names are
// the same everywhere: pipeline.poll-interval, MSGX_PIPELINE_POLL_INTERVAL, --pipeline.poll-interval.
package config

import (
	"log/slog"
	"strconv"
	"strings"
	"time"
)

// Config is a validated configuration. Load makes one; its zero value is not usable.
type Config struct {
	Environment  string // dev or production
	Instance     string // name of this instance, as the lease and the event source show it
	Shadow       bool   // never write to the mailbox
	Pipeline     Pipeline
	Schd         Schd
	OperationDay OperationDay
	Identity     Identity
	SIS          SIS
	Mailbox      Mailbox
	Postgres     Postgres
	Kafka        Kafka
	Lease        Lease
	Log          Log

	// UnusedEnvironment names MSGX_… variables that match no key, for a warning: a misspelt one would otherwise go unseen.
	UnusedEnvironment []string
}

// Production tells whether the stricter rules of environment: production hold.
func (c Config) Production() bool { return c.Environment == production }

// Pipeline is the inbox, the pump, delivery and backfill.
type Pipeline struct {
	Autostart           bool
	PollInterval        time.Duration
	ClaimBatch          int
	PageBytes           int64
	FrontierBatch       int
	CacheBytes          int64
	ApplyBatch          int
	MaxAttempts         int
	ClassAttempts       map[string]int // by error class; a class not in it has MaxAttempts
	Backoff             []time.Duration
	BackoffCap          time.Duration
	HeadDeadline        time.Duration // working time of the pump
	CrashLimit          int
	MaxCommitDelay      time.Duration
	OverdueBackfill     time.Duration  // R
	RetentionKeep       *time.Duration // R_keep; nil when the mailbox's owner has not said
	BackfillPeriod      time.Duration
	BackfillBatch       int
	BackfillMaxAttempts int
	DeliveryBatch       int
	DeliveryDrainRounds int
	LatePolicy          string // detect or enqueue
	CutoverWatermark    string // "", min, zero, max or an id
}

// Schd is the flush of whole flight states.
type Schd struct {
	FlushPeriod time.Duration
	FlushLimit  int
}

// OperationDay says how the day of a flight is derived.
type OperationDay struct {
	Zone       *time.Location
	CutoffHour int
}

// Identity says when two messages are one.
type Identity struct {
	IncludeDayBoundary bool
	WrapAfter          time.Duration // 0 = a reused identity never passes on
}

// SIS is how messages are read where the protocol leaves a choice.
type SIS struct {
	RecsMismatchSchd string // refuse or warn
	RefuseEmptyList  bool   // a FLOP whose list has no member is refused; otherwise it clears the list
	ErutMerge        bool   // a FLOP ERUT merges its points into the route; otherwise it replaces the route
	MaxBytes         int64
	MaxDepth         int
}

// Mailbox is the shared MySQL database.
type Mailbox struct {
	Enabled         bool
	DSN             Secret
	DSNFile         string
	Zone            *time.Location // zone of its DATETIME columns
	Table           string
	ColumnID        string
	ColumnText      string
	ColumnReceived  string
	ColumnProcessed string
	ColumnStatus    string
	ProcessedValue  string
	MarkStatus      bool
	MaxTextBytes    int64
	ConnectTimeout  time.Duration
	ReadTimeout     time.Duration
	WriteTimeout    time.Duration
	LockWait        time.Duration
	ConnMaxLifetime time.Duration

	AllowReplicating bool // the server may be one of a pair of primaries
}

// Postgres is our own database.
type Postgres struct {
	DSN     Secret
	DSNFile string
}

// Kafka is where events go.
type Kafka struct {
	Brokers             []string // nil when Embedded
	Embedded            bool     // the broker inside this process
	TopicPrefix         string
	ProduceTimeout      time.Duration
	EmbeddedDir         string // "" = topics are gone with the process
	EmbeddedPort        int    // 0 = any
	MaxRecordBytes      int
	DeliveryMaxAttempts int
}

// Lease is the right to be the one active instance.
type Lease struct {
	TTL time.Duration
}

// Log is the log.
type Log struct {
	Level slog.Level
}

// Settings returns the rules' parameters as msgx.setting stores them: keys of the configuration, durations in seconds
// ("300s", PostgreSQL interval text), class-attempts as JSON.
func (c Config) Settings() map[string]string {
	backoff := make([]string, len(c.Pipeline.Backoff))
	for i, d := range c.Pipeline.Backoff {
		backoff[i] = seconds(d)
	}
	return map[string]string{
		"pipeline.apply-batch":           strconv.Itoa(c.Pipeline.ApplyBatch),
		"pipeline.max-attempts":          strconv.Itoa(c.Pipeline.MaxAttempts),
		"pipeline.class-attempts":        classesText(c.Pipeline.ClassAttempts),
		"pipeline.backoff":               strings.Join(backoff, ","),
		"pipeline.backoff-cap":           seconds(c.Pipeline.BackoffCap),
		"pipeline.head-deadline":         seconds(c.Pipeline.HeadDeadline),
		"pipeline.crash-limit":           strconv.Itoa(c.Pipeline.CrashLimit),
		"pipeline.max-commit-delay":      seconds(c.Pipeline.MaxCommitDelay),
		"pipeline.overdue-backfill":      seconds(c.Pipeline.OverdueBackfill),
		"pipeline.backfill-max-attempts": strconv.Itoa(c.Pipeline.BackfillMaxAttempts),
		"pipeline.late-policy":           c.Pipeline.LatePolicy,
		"identity.wrap-after":            seconds(c.Identity.WrapAfter),
		"identity.include-day-boundary":  strconv.FormatBool(c.Identity.IncludeDayBoundary),
		"operation-day.zone":             c.OperationDay.Zone.String(),
		"operation-day.cutoff-hour":      strconv.Itoa(c.OperationDay.CutoffHour),
		"sis.recs-mismatch-schd":         c.SIS.RecsMismatchSchd,
		"kafka.delivery-max-attempts":    strconv.Itoa(c.Kafka.DeliveryMaxAttempts),
		"shadow":                         strconv.FormatBool(c.Shadow),
	}
}

// String returns the effective configuration, one "key = value" a line; passwords are hidden.
func (c Config) String() string {
	var b strings.Builder
	for _, k := range keys() {
		b.WriteString(k.name + " = " + k.text(&c) + "\n")
	}
	return b.String()
}

// LogValue returns the effective configuration as a group; passwords are hidden.
func (c Config) LogValue() slog.Value {
	var attrs []slog.Attr
	for _, k := range keys() {
		attrs = append(attrs, slog.String(k.name, k.text(&c)))
	}
	return slog.GroupValue(attrs...)
}

func seconds(d time.Duration) string {
	return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + "s"
}

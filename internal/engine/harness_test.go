package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"msgexchange/internal/config"
	"msgexchange/internal/engine"
	"msgexchange/internal/kafka"
	"msgexchange/internal/mailbox"
	"msgexchange/internal/mytest"
	"msgexchange/internal/pgtest"
)

// settled bounds each wait for the engine; it is no measurement.
const settled = time.Minute

// world is one mailbox, one database and one broker for a test.
type world struct {
	t      *testing.T
	pg     *pgtest.DB
	my     *mytest.DB
	broker []string
	prefix string
	env    map[string]string
}

// newWorld makes it; changes are configuration keys and values.
func newWorld(t *testing.T, changes map[string]string) *world {
	t.Helper()
	w := &world{t: t, pg: pgtest.New(t), my: mytest.New(t)}
	w.prefix = w.pg.Name + "."
	w.env = map[string]string{
		"instance":                     "test",
		"postgres.dsn":                 w.pg.AppURL,
		"mailbox.dsn":                  w.my.DSN,
		"mailbox.shared-mysql.enabled": "true",
		"mailbox.zone":                 "UTC",
		"kafka.topic-prefix":           w.prefix,
		"kafka.produce-timeout":        "5s",
		"pipeline.autostart":           "true",
		"pipeline.poll-interval":       "20ms",
		"pipeline.claim-batch":         "500",
		"pipeline.max-commit-delay":    "1s",
		"pipeline.class-attempts":      "CODEC_ERROR=1,UNSUPPORTED=1",
		"pipeline.backfill-period":     "100ms",
		"schd.flush-period":            "100ms",
	}
	maps.Copy(w.env, changes)
	if real := os.Getenv("MSGX_TEST_KAFKA"); real != "" {
		w.broker = strings.Split(real, ",")
		p, err := kafka.Open(t.Context(), kafka.Config{Brokers: w.broker, ProduceTimeout: settled, MaxRecordBytes: 1 << 20}, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		if err := p.EnsureTopics(t.Context(), 4, 1, w.prefix+"msg", w.prefix+"schd"); err != nil {
			t.Fatal(err)
		}
	} else {
		e, err := kafka.StartEmbedded(kafka.EmbeddedConfig{Partitions: 4, Topics: []string{w.prefix + "msg", w.prefix + "schd"}}, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		})
		w.broker = e.Brokers()
	}
	w.env["kafka.brokers"] = strings.Join(w.broker, ",")
	return w
}

// config loads the configuration as msgx run does.
func (w *world) config() config.Config {
	w.t.Helper()
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	config.AddFlags(flags)
	var environ []string
	for k, v := range w.env {
		environ = append(environ, "MSGX_"+strings.NewReplacer(".", "_", "-", "_").Replace(strings.ToUpper(k))+"="+v)
	}
	cfg, err := config.Load(flags, environ)
	if err != nil {
		w.t.Fatal(err)
	}
	return cfg
}

// running is an engine at work.
type running struct {
	w      *world
	cancel context.CancelFunc
	done   chan error
	log    *syncBuffer
}

// start runs an engine until it is stopped or the test ends.
func (w *world) start() *running {
	w.t.Helper()
	return w.startWith(time.Now)
}

// startWith is start with a monotonic clock of the test's own.
func (w *world) startWith(mono engine.Monotonic) *running {
	w.t.Helper()
	cfg := w.config()
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{w: w, cancel: cancel, done: make(chan error, 1), log: &syncBuffer{}}
	log := slog.New(slog.NewTextHandler(r.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	pool, err := engine.OpenPostgres(ctx, cfg.Postgres.DSN.Reveal(), cfg.Instance)
	if err != nil {
		w.t.Fatal(err)
	}
	box, err := mailbox.Open(mailbox.From(cfg), log)
	if err != nil {
		w.t.Fatal(err)
	}
	producer, err := kafka.Open(ctx, kafka.Config{
		Brokers: cfg.Kafka.Brokers, ProduceTimeout: cfg.Kafka.ProduceTimeout, MaxRecordBytes: cfg.Kafka.MaxRecordBytes}, log)
	if err != nil {
		w.t.Fatal(err)
	}
	e := engine.New(cfg, engine.Parts{Pool: pool, Renewal: pool, Mailbox: box, Producer: producer, Log: log, Mono: mono})
	go func() {
		err := e.Run(ctx)
		producer.Close()
		pool.Close()
		if cerr := box.Close(); err == nil {
			err = cerr
		}
		r.done <- err
	}()
	w.t.Cleanup(func() {
		r.cancel()
		if w.t.Failed() {
			w.t.Log(r.log.tail())
		}
	})
	return r
}

// stop asks it to stop and returns after how long it ended, and how.
func (r *running) stop() (time.Duration, error) {
	r.w.t.Helper()
	began := time.Now()
	r.cancel()
	err := r.wait()
	return time.Since(began), err
}

// wait returns how it ended by itself.
func (r *running) wait() error {
	r.w.t.Helper()
	select {
	case err := <-r.done:
		return err
	case <-time.After(settled):
		r.w.t.Fatalf("the engine does not end\n%s", r.log.tail())
		return nil
	}
}

// until waits for a condition.
func (w *world) until(what string, ok func() bool) {
	w.t.Helper()
	deadline := time.Now().Add(settled)
	for !ok() {
		if time.Now().After(deadline) {
			w.t.Fatalf("waited in vain until %s", what)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// get returns one value from PostgreSQL as text.
func (w *world) get(query string, args ...any) string {
	w.t.Helper()
	var out *string
	if err := w.pg.Pool.QueryRow(w.t.Context(), "SELECT ("+query+")::text", args...).Scan(&out); err != nil {
		w.t.Fatalf("%s: %v", query, err)
	}
	if out == nil {
		return ""
	}
	return *out
}

// box returns one value from the mailbox as text.
func (w *world) box(query string, args ...any) string {
	w.t.Helper()
	var out *string
	if err := w.my.SQL.QueryRowContext(w.t.Context(), query, args...).Scan(&out); err != nil {
		w.t.Fatalf("%s: %v", query, err)
	}
	if out == nil {
		return ""
	}
	return *out
}

// exec changes PostgreSQL as its superuser.
func (w *world) exec(query string, args ...any) {
	w.t.Helper()
	if _, err := w.pg.Pool.Exec(w.t.Context(), query, args...); err != nil {
		w.t.Fatalf("%s: %v", query, err)
	}
}

// boxExec changes the mailbox.
func (w *world) boxExec(query string, args ...any) {
	w.t.Helper()
	if _, err := w.my.SQL.ExecContext(w.t.Context(), query, args...); err != nil {
		w.t.Fatalf("%s: %v", query, err)
	}
}

// finished waits until the message has its final state.
func (w *world) finished(id int64) {
	w.t.Helper()
	w.until(fmt.Sprintf("message %d is finished", id), func() bool {
		return w.get("SELECT count(*) FROM msgx.proc_state WHERE msg_id = $1 AND finished_at IS NOT NULL", id) == "1"
	})
}

// idle waits until every mailbox row up to id is finished, delivered and marked.
func (w *world) idle(id int64) {
	w.t.Helper()
	w.finished(id)
	w.until("nothing is owed", func() bool {
		return w.get(`SELECT (SELECT count(*) FROM msgx.msg_event WHERE state = 'PENDING')
			+ (SELECT count(*) FROM msgx.proc_state WHERE backfill_next_at IS NOT NULL OR finished_at IS NULL)`) == "0"
	})
}

// stands returns how a message ended: state, classes, outcome, error.
func (w *world) stands(id int64) string {
	w.t.Helper()
	return w.get(`SELECT concat_ws(' ', state, error_class, nullif('(' || first_error_class || ')', '(' || error_class || ')'), outcome)
		FROM msgx.proc_state WHERE msg_id = $1`, id)
}

// text makes messages with running SEQN.
type text struct{ seqn int }

func (m *text) header(typ, styp string) string {
	m.seqn++
	return "<META><SNDR>AODB</SNDR><SEQN>" + strconv.Itoa(m.seqn) + "</SEQN><DTTM>20260417060000</DTTM><TYPE>" + typ + "</TYPE><STYP>" + styp + "</STYP></META>"
}

// create is a schedule message that creates flights.
func (m *text) create(flids ...int) string {
	var b strings.Builder
	for _, flid := range flids {
		fmt.Fprintf(&b, "<FLTR><FLID>%d</FLID><ALCD>GJ</ALCD><FLNO>GJ%d</FLNO><MVIN>A</MVIN><SODT>17APR260705</SODT><FLTY>G</FLTY><FLIN>D</FLIN><ACFT>32Q</ACFT></FLTR>", flid, flid)
	}
	return "<MSG>" + m.header("SCHD", "ADFT") + "<SCHD><RECS>" + strconv.Itoa(len(flids)) + "</RECS>" + b.String() + "</SCHD></MSG>"
}

// event is a FLOP.
func (m *text) event(styp string, flid int, inside string) string {
	return "<MSG>" + m.header("FLOP", styp) + "<FLOP><FLID>" + strconv.Itoa(flid) + "</FLID>" + inside + "</FLOP></MSG>"
}

// terminal sets a terminal.
func (m *text) terminal(flid int, value string) string {
	return m.event("TRML", flid, "<TRML>"+value+"</TRML>")
}

// syncBuffer keeps a log.
type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) tail() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	lines := strings.Split(b.buf.String(), "\n")
	return strings.Join(lines[max(0, len(lines)-40):], "\n")
}

func (b *syncBuffer) contains(s string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Contains(b.buf.String(), s)
}

func (b *syncBuffer) count(s string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Count(b.buf.String(), s)
}

// closedPort is an address where nothing listens.
func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}()
	return l.Addr().String()
}

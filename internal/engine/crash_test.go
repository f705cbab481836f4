package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"msgexchange/internal/config"
	"msgexchange/internal/engine"
	"msgexchange/internal/kafka"
	"msgexchange/internal/mailbox"
)

// childDies names the message on which a child process dies, as soon as it is
// claimed.
const childDies = "MSGX_TEST_CHILD_DIES_ON"

// killed is the exit code of a child that died.
const killed = 9

// TestMain lets the test binary be the daemon of TestProcessDies.
func TestMain(m *testing.M) {
	if os.Getenv(childDies) == "" {
		os.Exit(m.Run())
	}
	if err := child(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// deadly ends the process when a batch with the message is claimed: after its
// run is on record, before it is applied.
type deadly struct {
	slog.Handler
	id int64
}

func (d deadly) Enabled(context.Context, slog.Level) bool { return true }

func (d deadly) Handle(ctx context.Context, r slog.Record) error {
	attrs := make(map[string]int64)
	r.Attrs(func(a slog.Attr) bool {
		if a.Value.Kind() == slog.KindInt64 {
			attrs[a.Key] = a.Value.Int64()
		}
		return true
	})
	if r.Message == "claimed" && attrs["from"] <= d.id && d.id <= attrs["to"] {
		os.Exit(killed)
	}
	return d.Handler.Handle(ctx, r)
}

func (d deadly) WithAttrs(attrs []slog.Attr) slog.Handler {
	return deadly{d.Handler.WithAttrs(attrs), d.id}
}

// child runs the engine as msgx run does, until it dies.
func child(ctx context.Context) error {
	id, err := strconv.ParseInt(os.Getenv(childDies), 10, 64)
	if err != nil {
		return err
	}
	flags := pflag.NewFlagSet("child", pflag.ContinueOnError)
	config.AddFlags(flags)
	cfg, err := config.Load(flags, os.Environ())
	if err != nil {
		return err
	}
	log := slog.New(deadly{slog.NewTextHandler(os.Stderr, nil), id})
	pool, err := engine.OpenPostgres(ctx, cfg.Postgres.DSN.Reveal(), cfg.Instance)
	if err != nil {
		return err
	}
	box, err := mailbox.Open(mailbox.From(cfg), log)
	if err != nil {
		return err
	}
	producer, err := kafka.Open(ctx, kafka.Config{
		Brokers: cfg.Kafka.Brokers, ProduceTimeout: cfg.Kafka.ProduceTimeout, MaxRecordBytes: cfg.Kafka.MaxRecordBytes}, log)
	if err != nil {
		return err
	}
	return engine.New(cfg, engine.Parts{Pool: pool, Renewal: pool, Mailbox: box, Producer: producer, Log: log, Mono: time.Now}).Run(ctx)
}

// TestProcessDies: a message that the process dies on is retried alone, past
// the limit it is a dead letter, and its neighbours are applied once.
func TestProcessDies(t *testing.T) {
	w := newWorld(t, map[string]string{"pipeline.crash-limit": "2"})
	m := &text{}
	w.my.Insert(m.create(1))
	for i := range 4 {
		w.my.Insert(m.terminal(1, "B"+strconv.Itoa(i)))
	}
	deadly := w.my.Insert(m.terminal(1, "X"))
	var last int64
	for i := range 4 {
		last = w.my.Insert(m.terminal(1, "A"+strconv.Itoa(i)))
	}
	deaths := 0
	for w.get("SELECT count(*) FROM msgx.proc_state WHERE msg_id = $1 AND finished_at IS NOT NULL", last) == "0" {
		ctx, cancel := context.WithTimeout(t.Context(), settled)
		cmd := exec.CommandContext(ctx, os.Args[0])
		cmd.Env = append(os.Environ(), childDies+"="+strconv.FormatInt(deadly, 10))
		for k, v := range w.env {
			cmd.Env = append(cmd.Env, "MSGX_"+strings.NewReplacer(".", "_", "-", "_").Replace(strings.ToUpper(k))+"="+v)
		}
		var out bytes.Buffer
		cmd.Stderr = &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- cmd.Wait() }()
		w.until("the child dies, or all is done", func() bool {
			select {
			case err := <-done:
				exit := new(exec.ExitError)
				if !errors.As(err, &exit) || exit.ExitCode() != killed {
					t.Fatalf("the child: %v\n%s", err, out.String())
				}
				deaths++
				return true
			default:
			}
			if w.get("SELECT count(*) FROM msgx.proc_state WHERE msg_id = $1 AND finished_at IS NOT NULL", last) == "0" {
				return false
			}
			cancel()
			<-done
			return true
		})
		cancel()
		if deaths > 10 {
			t.Fatalf("it still dies\n%s", out.String())
		}
	}
	if deaths != 4 {
		t.Errorf("it died %d times: want once in a batch and three times alone", deaths)
	}
	if got := w.stands(deadly); got != "DEAD EXHAUSTED (INFRA)" {
		t.Errorf("the message ends as %q", got)
	}
	if got := w.get("SELECT last_error FROM msgx.proc_state WHERE msg_id = $1", deadly); !strings.Contains(got, "the process ended 3 times on it") {
		t.Errorf("it says %q", got)
	}
	if got := w.get("SELECT string_agg(DISTINCT state || crashes || attempts, ',') FROM msgx.proc_state WHERE msg_id <> $1", deadly); got != "SUCCEEDED00" {
		t.Errorf("its neighbours: %s", got)
	}
	if got := w.get("SELECT terminal FROM msgx.flight_schd"); got != "A3" {
		t.Errorf("terminal %q", got)
	}
	if got := w.get("SELECT count(*) FROM msgx.flight_write"); got != "9" {
		t.Errorf("%s writes, want one for each message but the dead one", got)
	}
}

// TestGuiltyAlone: an error of the environment that comes again and again on
// one message while PostgreSQL is well is the message's in the end.
func TestGuiltyAlone(t *testing.T) {
	w := newWorld(t, map[string]string{"pipeline.class-attempts": "INFRA=1"})
	w.exec(`CREATE FUNCTION public.burst() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		IF NEW.flid = 666 THEN RAISE EXCEPTION 'beast' USING ERRCODE = 'XX000'; END IF; RETURN NEW; END $$;
		CREATE TRIGGER burst BEFORE INSERT ON msgx.flight_write FOR EACH ROW EXECUTE FUNCTION public.burst()`)
	m := &text{}
	before := w.my.Insert(m.create(1))
	culprit := w.my.Insert(m.create(666))
	after := w.my.Insert(m.terminal(1, "B"))
	w.start()
	w.finished(after)
	for id, want := range map[int64]string{before: "SUCCEEDED applied", culprit: "DEAD EXHAUSTED (INFRA)", after: "SUCCEEDED applied"} {
		if got := w.stands(id); got != want {
			t.Errorf("message %d ends as %q, want %q", id, got, want)
		}
	}
}

// TestInnocent: an error that is the environment's alone pauses the pump with
// its reason, costs no attempt however often it comes, and the pump goes on.
func TestInnocent(t *testing.T) {
	w := newWorld(t, map[string]string{"pipeline.class-attempts": "INFRA=1"})
	w.exec(`CREATE FUNCTION public.burst() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		IF NEW.flid = 666 THEN RAISE EXCEPTION 'no room' USING ERRCODE = '53100'; END IF; RETURN NEW; END $$;
		CREATE TRIGGER burst BEFORE INSERT ON msgx.flight_write FOR EACH ROW EXECUTE FUNCTION public.burst()`)
	m := &text{}
	w.my.Insert(m.create(1))
	victim := w.my.Insert(m.create(666))
	r := w.start()
	w.until("the pause is shown", func() bool {
		return strings.Contains(w.get("SELECT paused_reason || ' since ' || paused_since FROM msgx.v_loops WHERE loop = 'pump'"), "no room")
	})
	if !strings.Contains(w.get("SELECT standing_still FROM msgx.v_status"), "no room") || w.get("SELECT standing_since FROM msgx.v_status") == "" {
		t.Error("v_status does not show the pause")
	}
	// Enough for a suspect error to be called the message's.
	w.until("it was refused five times", func() bool { return r.log.count("claimed") >= 5 })
	if got := w.get("SELECT string_agg(state || attempts, ',') FROM msgx.proc_state"); got != "PENDING0,PENDING0" {
		t.Errorf("messages %s", got)
	}
	w.exec("DROP TRIGGER burst ON msgx.flight_write")
	w.finished(victim)
	if got := w.stands(victim); got != "SUCCEEDED applied" {
		t.Errorf("it ends as %q", got)
	}
}

// TestHeadDeadline: the working time of the pump, its backing off included,
// ends the tries of a head that keeps failing.
func TestHeadDeadline(t *testing.T) {
	w := newWorld(t, map[string]string{
		"pipeline.max-attempts": "1000", "pipeline.class-attempts": "{}", "pipeline.backoff": "50ms", "pipeline.head-deadline": "1500ms"})
	m := &text{}
	w.my.Insert(m.create(1))
	head := w.my.Insert(m.event("BOTM", 1, "<BOTM>31FEB260744</BOTM>"))
	w.start()
	w.finished(head)
	if got := w.stands(head); got != "DEAD EXHAUSTED (CODEC_ERROR)" {
		t.Errorf("it ends as %q", got)
	}
	if got := w.get("SELECT last_error FROM msgx.proc_state WHERE msg_id = $1", head); !strings.Contains(got, "of working time") {
		t.Errorf("it says %q", got)
	}
}

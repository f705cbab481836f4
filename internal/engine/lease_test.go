package engine_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"msgexchange/gen"
)

// session is a connection of the daemon's login, with its application name.
func (w *world) session(name string) *pgx.Conn {
	w.t.Helper()
	cfg, err := pgx.ParseConfig(w.pg.AppURL)
	if err != nil {
		w.t.Fatal(err)
	}
	cfg.RuntimeParams["application_name"] = name
	conn, err := pgx.ConnectConfig(w.t.Context(), cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		// A session that was ended by the server cannot be closed in order.
		_ = conn.Close(context.Background())
	})
	return conn
}

// held makes an instance that is gone the holder, for so long.
func (w *world) held(name string, ttl time.Duration) (epoch int64) {
	w.t.Helper()
	rows, err := gen.New(w.pg.Pool).LeaseAcquire(w.t.Context(), gen.LeaseAcquireParams{Holder: name, Ttl: ttl, Settings: []byte("{}"), Autostart: true})
	if err != nil || len(rows) != 1 {
		w.t.Fatalf("%d rows, %v", len(rows), err)
	}
	return rows[0].Epoch
}

// TestStandbyTakesOver: when the holder is gone without a release, the standby
// waits for the end of its lease and takes over by itself.
func TestStandbyTakesOver(t *testing.T) {
	w := newWorld(t, nil)
	m := &text{}
	w.held("gone", 2*time.Second)
	id := w.my.Insert(m.create(1))
	r := w.start()
	w.until("it waits", func() bool { return r.log.contains("another instance is active: gone, epoch 1") })
	w.finished(id)
	if got := w.get("SELECT reason || ', ' || (detail ->> 'from') FROM msgx.operator_audit WHERE action = 'take-over'"); got != "its lease had ended, gone" {
		t.Errorf("the take-over is on record as %q", got)
	}
	if got := w.get(`SELECT p.finished_at >= (a.detail ->> 'expires_at')::timestamptz FROM msgx.proc_state AS p, msgx.operator_audit AS a WHERE a.action = 'take-over'`); got != "true" {
		t.Error("it worked before the lease had ended")
	}
}

// TestTakeOverWaitsForRunningCall: a take-over waits for a call of the former
// holder that is under way, and nothing of the former holder commits after it.
func TestTakeOverWaitsForRunningCall(t *testing.T) {
	w := newWorld(t, nil)
	epoch := w.held("former", time.Hour)
	w.exec("INSERT INTO msgx.proc_state (msg_id, updated_at) VALUES (1, now())")
	w.exec("UPDATE msgx.inbox_cursor SET committed_up_to = 1, seen_to = 1")
	apply := func(db gen.DBTX) error {
		_, err := gen.New(db).PumpApply(t.Context(), gen.PumpApplyParams{Epoch: epoch, Now: time.Now(),
			Batch: []byte(`[{"msg_id": 1, "error_class": "MALFORMED", "error": "x"}]`)})
		return err
	}
	tx, err := w.session("test").Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := apply(tx); err != nil {
		t.Fatal(err)
	}
	next := gen.LeaseAcquireParams{Holder: "former", Ttl: time.Hour, Settings: []byte("{}"), Autostart: true}
	_, err = gen.New(w.pg.Pool).LeaseAcquire(t.Context(), next)
	if pg := new(pgconn.PgError); !errors.As(err, &pg) || pg.Code != "55P03" {
		t.Fatalf("a take-over during the call: %v", err)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if rows, err := gen.New(w.pg.Pool).LeaseAcquire(t.Context(), next); err != nil || rows[0].Epoch != epoch+1 {
		t.Fatalf("the take-over after it: %v", err)
	}
	err = apply(w.pg.Pool)
	if pg := new(pgconn.PgError); !errors.As(err, &pg) || pg.Code != "MX001" {
		t.Errorf("a call of the former holder: %v", err)
	}
}

// TestEvict: a session of a dead epoch that holds the lease's row is ended; a
// take-over does not wait for it.
func TestEvict(t *testing.T) {
	w := newWorld(t, nil)
	epoch := w.held("gone", time.Second)
	tx, err := w.session("msgx gone").Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := gen.New(tx).PumpNext(t.Context(), gen.PumpNextParams{Epoch: epoch, Now: time.Now()}); err != nil {
		t.Fatal(err)
	}
	bystander := w.session("psql")
	other, err := bystander.Begin(t.Context())
	if err == nil {
		_, err = other.Exec(t.Context(), "SELECT 1")
	}
	if err != nil {
		t.Fatal(err)
	}
	m := &text{}
	r := w.start()
	w.finished(w.my.Insert(m.create(1)))
	if !r.log.contains("ended a session of the dead epoch") {
		t.Error("the log does not name the session")
	}
	if err := tx.Commit(t.Context()); err == nil {
		t.Error("the session of the dead epoch could commit")
	}
	if err := other.Commit(t.Context()); err != nil {
		t.Errorf("a session that is not the daemon's: %v", err)
	}
}

// TestFenced: an instance that lost the lease stops at once, says so, and goes
// on as standby without a restart.
func TestFenced(t *testing.T) {
	w := newWorld(t, nil)
	m := &text{}
	r := w.start()
	w.finished(w.my.Insert(m.create(1)))
	w.exec("UPDATE msgx.instance_lease SET holder = 'thief', epoch = epoch + 1, expires_at = clock_timestamp() + interval '3 s', ttl = '3 s'")
	id := w.my.Insert(m.terminal(1, "A"))
	w.until("it tells", func() bool {
		return r.log.contains("not active any more") && r.log.contains("another instance is active: thief")
	})
	w.idle(id)
	if got := w.get("SELECT holder || ' ' || epoch FROM msgx.v_lease"); got != "test 3" {
		t.Errorf("the lease is held by %s", got)
	}
	if got := w.get(`SELECT p.finished_at >= (a.detail ->> 'expires_at')::timestamptz FROM msgx.proc_state AS p, msgx.operator_audit AS a
		WHERE a.action = 'take-over' AND p.msg_id = $1`, id); got != "true" {
		t.Error("it worked while another held the lease")
	}
}

// TestClockJump: a jump of PostgreSQL's clock decides nothing: no hole ages,
// no backoff ends, and the daemon goes on by itself.
func TestClockJump(t *testing.T) {
	for _, by := range []string{"1 hour", "-1 hour"} {
		t.Run(by, func(t *testing.T) {
			w := newWorld(t, map[string]string{"pipeline.max-commit-delay": "20m", "pipeline.backoff": "15m", "pipeline.backoff-cap": "15m", "pipeline.class-attempts": "{}", "lease.ttl": "3s"})
			m := &text{}
			w.my.Insert(m.create(1))
			head := w.my.Insert("<MSG>" + m.header("FLOP", "BOTM") + "<FLOP><FLID>1</FLID><BOTM>31FEB260744</BOTM></FLOP></MSG>")
			w.my.Burn(1)
			last := w.my.Insert(m.create(2))
			r := w.start()
			w.until("the hole is seen and the head backs off", func() bool {
				return w.get("SELECT hole_since IS NOT NULL FROM msgx.inbox_cursor") == "true" && w.stands(head) == "FAILED CODEC_ERROR"
			})
			seen := w.get("SELECT first_seen_at FROM msgx.inbox_hole")
			due := w.get("SELECT next_attempt_at FROM msgx.proc_state WHERE msg_id = $1", head)
			w.exec(`CREATE OR REPLACE FUNCTION msgx.clock() RETURNS timestamptz LANGUAGE sql VOLATILE
				SET search_path = pg_catalog, pg_temp AS $$ SELECT clock_timestamp() + interval '` + by + `' $$`)
			w.until("it took a new term", func() bool { return r.log.contains("waits moved along with the clock") })
			polled := w.get("SELECT poll_seq FROM msgx.inbox_cursor")
			w.until("it polls again", func() bool { return w.get("SELECT poll_seq > $1::bigint + 3 FROM msgx.inbox_cursor", polled) == "true" })
			if got := w.get("SELECT count(*) FROM msgx.proc_state WHERE msg_id = $1", last); got != "0" {
				t.Error("the hole was crossed")
			}
			near := "BETWEEN interval '" + by + "' - interval '30 s' AND interval '" + by + "' + interval '30 s'"
			if got := w.get("SELECT first_seen_at - $1::timestamptz "+near+" FROM msgx.inbox_hole", seen); got != "true" {
				t.Error("the window of the hole did not move along")
			}
			if got := w.get("SELECT next_attempt_at - $2::timestamptz "+near+" FROM msgx.proc_state WHERE msg_id = $1", head, due); got != "true" {
				t.Error("the backoff of the head did not move along")
			}
			if got := w.get("SELECT attempts FROM msgx.proc_state WHERE msg_id = $1", head); got != "1" {
				t.Errorf("%s attempts", got)
			}
			if !r.log.contains("clock jumped by") {
				t.Error("the log does not tell of the jump")
			}
		})
	}
}

package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"msgexchange/internal/dberr"
	"msgexchange/internal/engine"
	"msgexchange/internal/mytest"
	"msgexchange/internal/pgtest"
)

// msgx runs the command as the shell does and returns what it prints, each
// run of blanks as one.
func msgx(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	root := newRootCmd()
	root.SetArgs(args)
	root.SetOut(&out)
	root.SetErr(&out)
	err := root.ExecuteContext(t.Context())
	return strings.Join(strings.Fields(out.String()), " "), err
}

// refused expects an error with one of our SQLSTATEs and a hint.
func refused(t *testing.T, code string, err error) {
	t.Helper()
	var pg *pgconn.PgError
	if !errors.As(err, &pg) || pg.Code != code || dberr.Hint(err) == "" {
		t.Errorf("%v, want a refusal with %s and a hint", err, code)
	}
}

func exec(t *testing.T, d *pgtest.DB, statement string) {
	t.Helper()
	if _, err := d.Pool.Exec(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func count(t *testing.T, d *pgtest.DB, query string) (n int64) {
	t.Helper()
	if err := d.Pool.QueryRow(t.Context(), query).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

func TestVersion(t *testing.T) {
	out, err := msgx(t, "version")
	if err != nil || !strings.HasPrefix(out, "msgx ") || !strings.Contains(out, "go1.") {
		t.Errorf("%q, %v", out, err)
	}
}

func TestFaultyConfiguration(t *testing.T) {
	t.Setenv("MSGX_POSTGRES_DSN", "")
	t.Setenv("MSGX_PIPELINE_APPLY_BATCH", "many")
	_, err := msgx(t, "verify")
	if err == nil || !strings.Contains(err.Error(), "postgres.dsn") || !strings.Contains(err.Error(), "pipeline.apply-batch") {
		t.Errorf("not all faults at once: %v", err)
	}
}

func TestMigrate(t *testing.T) {
	d := pgtest.NewEmpty(t)
	t.Setenv("MSGX_POSTGRES_DSN", d.URL)
	out, err := msgx(t, "migrate", "--status")
	if err != nil || !strings.Contains(out, "_inbox.sql pending") || !strings.Contains(out, "install.sql") || strings.Contains(out, "applied") {
		t.Errorf("status before: %v\n%s", err, out)
	}
	for range 2 {
		if out, err := msgx(t, "migrate"); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	out, err = msgx(t, "migrate", "--status")
	if err != nil || !strings.Contains(out, "_inbox.sql applied") || strings.Contains(out, "pending") || strings.Contains(out, ".sql missing") {
		t.Errorf("status after: %v\n%s", err, out)
	}
	exec(t, d, "UPDATE msgx.sql_file SET sha256 = 'x' WHERE path = 'lease/clock.sql'")
	exec(t, d, "INSERT INTO public.msgx_migrations VALUES ('29990101000000')")
	out, err = msgx(t, "migrate", "--status")
	if err != nil || strings.Count(out, "differs") != 1 || !strings.Contains(out, "of a newer msgx") {
		t.Errorf("status of another: %v\n%s", err, out)
	}
}

func TestSeed(t *testing.T) {
	d, box := pgtest.New(t), mytest.New(t)
	t.Setenv("MSGX_POSTGRES_DSN", d.AppURL)
	t.Setenv("MSGX_MAILBOX_DSN", box.DSN)
	t.Setenv("MSGX_MAILBOX_ZONE", "UTC")
	for range 3 {
		box.Insert("a message")
	}
	_, err := msgx(t, "seed", "nonsense")
	refused(t, "MX003", err)

	exec(t, d, "SELECT msgx.lease_acquire('another', '1 hour', '{}', true)")
	if _, err := msgx(t, "seed", "max"); !errors.Is(err, engine.ErrStandby) {
		t.Errorf("beside an active instance: %v", err)
	}
	exec(t, d, "SELECT msgx.lease_release(epoch) FROM msgx.instance_lease")

	out, err := msgx(t, "seed", "max")
	if err != nil || out != "the watermark is 3" {
		t.Errorf("%q, %v", out, err)
	}
	if n := count(t, d, "SELECT committed_up_to FROM msgx.inbox_cursor"); n != 3 {
		t.Errorf("the watermark is %d", n)
	}
	if n := count(t, d, "SELECT count(*) FROM msgx.instance_lease WHERE holder IS NOT NULL"); n != 0 {
		t.Error("the lease is still held")
	}
	_, err = msgx(t, "seed", "min")
	refused(t, "MX002", err)
}

func TestReleaseHole(t *testing.T) {
	d := pgtest.New(t)
	t.Setenv("MSGX_POSTGRES_DSN", d.OperatorURL)
	exec(t, d, "INSERT INTO msgx.inbox_hole (lo, hi, first_seen_at) VALUES (4, 8, '2026-04-17 08:00+08')")
	_, err := msgx(t, "release-hole", "5")
	refused(t, "MX003", err)
	_, err = msgx(t, "release-hole", "8", "9", "--reason", "rolled back")
	refused(t, "MX005", err)
	for _, args := range [][]string{{"five"}, {"5", "six"}, {}, {"1", "2", "3"}} {
		if _, err := msgx(t, append([]string{"release-hole", "--reason", "x"}, args...)...); err == nil {
			t.Errorf("%v is accepted", args)
		}
	}
	out, err := msgx(t, "release-hole", "5", "--operator", "li", "--reason", "rolled back")
	if err != nil || !strings.HasPrefix(out, "released 5 to 5, missing since ") {
		t.Errorf("one id: %q, %v", out, err)
	}
	if out, err := msgx(t, "release-hole", "6", "8", "--operator", "li", "--reason", "rolled back"); err != nil {
		t.Errorf("a range: %q, %v", out, err)
	}
	if n := count(t, d, "SELECT sum(hi - lo + 1) FROM msgx.inbox_hole WHERE state = 'RELEASED'"); n != 4 {
		t.Errorf("%d ids are released", n)
	}
	if n := count(t, d, "SELECT count(*) FROM msgx.operator_audit WHERE operator = 'li' AND reason = 'rolled back'"); n != 2 {
		t.Errorf("%d notes in the audit", n)
	}
}

func TestVerify(t *testing.T) {
	d := pgtest.New(t)
	t.Setenv("MSGX_POSTGRES_DSN", d.AuditorURL)
	exec(t, d, `DO $$
		DECLARE v_epoch bigint;
		BEGIN
			SELECT epoch INTO v_epoch FROM msgx.lease_acquire('test', '1 hour', '{}', true);
			INSERT INTO msgx.proc_state (msg_id, updated_at) VALUES (1, now());
			UPDATE msgx.inbox_cursor SET committed_up_to = 1, seen_to = 1;
			PERFORM FROM msgx.pump_apply(v_epoch, now(), '[{"msg_id": 1, "text_hash": "00ff", "sndr": "AODB", "type": "SCHD", "styp": "DNLD",
				"seqn": 1, "dttm": "2026-04-17T06:00:00+08:00", "declared": 2, "records": [
				{"op": "create", "flid": 7, "patch": {"set": {"airline_code": "GJ", "flight_number": "GJ8471", "direction": "A", "sodt": "2026-04-17T07:05:00+08:00",
					"flight_type": "G", "flight_indicator": "D", "aircraft_type": "32Q", "terminal": "T1"}, "lists": {"gate": {"1": {"gate_number": 1, "gate_code": "E5"}}}}},
				{"op": "create", "flid": 8, "patch": {"set": {"airline_code": "GJ", "flight_number": "GJ8472", "direction": "D", "sodt": "2026-04-17T09:05:00+08:00",
					"flight_type": "G", "flight_indicator": "D", "aircraft_type": "32Q"}}}]}]');
		END $$`)
	out, err := msgx(t, "verify")
	if err != nil || !strings.Contains(out, "2 flights compared, 0 differences") {
		t.Fatalf("what pump_apply wrote: %v\n%s", err, out)
	}
	exec(t, d, "UPDATE msgx.flight_schd SET terminal = 'T9', max_pax = 5 WHERE flid = 7")
	exec(t, d, "UPDATE msgx.flight_gate SET gate_code = 'E6' WHERE flid = 7")
	exec(t, d, "DELETE FROM msgx.flight_schd WHERE flid = 8")
	out, err = msgx(t, "verify")
	if err == nil {
		t.Error("differences are no error")
	}
	for _, want := range []string{
		`flight 7 column terminal stored "T9" log "T1"`,
		`flight 7 column max_pax stored 5 log nothing`,
		`flight 7 list gate stored {"1": {"gate_code": "E6", "gate_number": 1}} log {"1": {"gate_code": "E5", "gate_number": 1}}`,
		`flight 8 active stored nothing log true`,
		`2 flights compared`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.Contains(out, "flight 7 column flight_number") {
		t.Errorf("what agrees is shown too:\n%s", out)
	}
}

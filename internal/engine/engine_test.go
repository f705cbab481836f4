package engine_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"msgexchange/internal/kafka"
	"msgexchange/internal/simulate"
)

// TestDay runs a day with holes, late commits and every kind of fault through
// the engine and compares with the model, also when it is stopped and started
// again in the middle of it.
func TestDay(t *testing.T) {
	w := newWorld(t, nil)
	cfg := w.config()
	day, err := simulate.New(simulate.Options{Seed: 3, Messages: 3000, Flights: 120, Zone: cfg.OperationDay.Zone,
		Holes: 30, LateCommits: 20, LateBound: 100 * time.Millisecond, BadPerMille: 60})
	if err != nil {
		t.Fatal(err)
	}
	writer, err := simulate.Open(w.my.DSN, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := writer.Close(); err != nil {
			t.Error(err)
		}
	}()
	model := simulate.NewModel(cfg.OperationDay.Zone)
	r := w.start()
	restarts := 0
	stats, err := writer.Write(t.Context(), day.Day(), func(id int64, item simulate.Item) error {
		model.Apply(id, item)
		if restarts < 3 && id > int64(700*(restarts+1)) {
			restarts++
			if _, err := r.stop(); err != nil {
				return err
			}
			r = w.start()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	w.idle(stats.LastID)
	if _, err := r.stop(); err != nil {
		t.Fatal(err)
	}
	if restarts != 3 {
		t.Fatalf("%d restarts", restarts)
	}
	w.equals(model)
}

// equals compares everything there is with what must be: outcomes, flights, log,
// events, marks, topics.
func (w *world) equals(model *simulate.Model) {
	w.t.Helper()
	want, err := model.Expected()
	if err != nil {
		w.t.Fatal(err)
	}
	rows, err := w.pg.Pool.Query(w.t.Context(), "SELECT msg_id, state, coalesce(error_class, ''), coalesce(first_error_class, ''), coalesce(outcome, '') FROM msgx.proc_state")
	if err != nil {
		w.t.Fatal(err)
	}
	got := make(map[int64]simulate.Outcome)
	for rows.Next() {
		var id int64
		var o simulate.Outcome
		if err := rows.Scan(&id, &o.State, &o.ErrorClass, &o.FirstClass, &o.Outcome); err != nil {
			w.t.Fatal(err)
		}
		got[id] = o
	}
	if err := rows.Err(); err != nil {
		w.t.Fatal(err)
	}
	for _, d := range simulate.CompareMessages(want.Messages, got) {
		w.t.Error(d)
	}
	var list []struct {
		Flid     int64           `json:"flid"`
		Document json.RawMessage `json:"document"`
	}
	if err := json.Unmarshal([]byte(w.get("SELECT json_agg(d) FROM msgx.flight_document(ARRAY(SELECT flid FROM msgx.flight_schd)) AS d")), &list); err != nil {
		w.t.Fatal(err)
	}
	flights := make(map[int64]json.RawMessage)
	for _, f := range list {
		flights[f.Flid] = f.Document
	}
	diffs, err := simulate.CompareFlights(want.Flights, flights)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, d := range diffs {
		w.t.Error(d)
	}
	if n := w.get("SELECT count(*) FROM msgx.flight_verify(0, 1000000)"); n != "0" {
		w.t.Errorf("%s flights differ from their log", n)
	}
	if n := w.get("SELECT count(*) FROM msgx.msg_event WHERE target = 'KAFKA:msg'"); n != strconv.Itoa(want.MsgEvents) {
		w.t.Errorf("%s msg events, want %d", n, want.MsgEvents)
	}
	if n := w.box("SELECT COUNT(*) FROM cminmsgs WHERE CMINMSGS_DATE_PROCESSED IS NULL OR CMINMSGS_STATUS <> 'PROCESSED'"); n != "0" {
		w.t.Errorf("%s rows are not marked", n)
	}
	w.checkTopics(want.MsgEvents)
}

// checkTopics reads both topics back: every change once or more, in order for
// each flight; the last state of each flight is what is stored.
func (w *world) checkTopics(changes int) {
	w.t.Helper()
	seen := make(map[string]bool)
	newest := make(map[string]int64)
	err := kafka.Scan(w.t.Context(), w.broker, w.prefix+"msg", func(c kafka.Consumed) error {
		id, err := strconv.ParseInt(c.Header("ce_id"), 10, 64)
		if err != nil {
			return err
		}
		if !seen[c.Header("ce_id")] && id < newest[string(c.Key)] {
			w.t.Errorf("event %d comes behind %d of flight %s", id, newest[string(c.Key)], c.Key)
		}
		seen[c.Header("ce_id")], newest[string(c.Key)] = true, max(newest[string(c.Key)], id)
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	if len(seen) != changes {
		w.t.Errorf("%d changes on the topic, want %d", len(seen), changes)
	}
	last := make(map[string]string)
	err = kafka.Scan(w.t.Context(), w.broker, w.prefix+"schd", func(c kafka.Consumed) error {
		last[string(c.Key)] = string(c.Value)
		if (c.Value == nil) != (c.Header("ce_type") == string(kafka.Deleted)) {
			w.t.Errorf("flight %s: type %s with value %q", c.Key, c.Header("ce_type"), c.Value)
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	for flid, doc := range last {
		want := w.get("SELECT document FROM msgx.flight_document(ARRAY[$1::bigint]) WHERE state = 'ACTIVE'", flid)
		if doc != want {
			w.t.Errorf("flight %s: last record %s, stored %s", flid, doc, want)
		}
	}
	if n := w.get("SELECT count(*) FROM msgx.flight_schd"); n != strconv.Itoa(len(last)) {
		w.t.Errorf("%d flights on the topic, %s stored", len(last), n)
	}
}

// TestBadInput: each kind of unusable message ends as it must, with a reason,
// and its neighbours flow.
func TestBadInput(t *testing.T) {
	w := newWorld(t, nil)
	w.boxExec("ALTER TABLE cminmsgs MODIFY CMINMSGS_CLOB_MSG longtext NULL")
	m := &text{}
	first := w.my.Insert(m.create(1, 2))
	good := m.terminal(1, "TA")
	twice := m.terminal(2, "T2")
	cases := []struct {
		name, text, ends, says string
	}{
		{"NULL", "\x00", "DEAD MALFORMED", "NULL"},
		{"empty", "", "DEAD MALFORMED", "empty"},
		{"not XML", "gate closed", "DEAD MALFORMED", "not XML"},
		{"truncated", good[:len(good)-20], "DEAD MALFORMED", "ends inside"},
		{"20 MB", "<MSG>" + strings.Repeat("x", 20<<20) + "</MSG>", "DEAD EXHAUSTED (CODEC_ERROR)", "bytes"},
		{"100,000 levels", strings.Repeat("<A>", 100_000), "DEAD EXHAUSTED (CODEC_ERROR)", "nested deeper"},
		{"document type", `<!DOCTYPE MSG SYSTEM "http://127.0.0.1/x.dtd">` + good, "DEAD MALFORMED", "document type"},
		{"entity", strings.Replace(good, "TA", "&lol;", 1), "DEAD MALFORMED", "line 1, column 9: expected the name of an attribute"},
		{"no META", "<MSG><FLOP><FLID>1</FLID></FLOP></MSG>", "DEAD MALFORMED", "META"},
		{"no SEQN", strings.Replace(m.terminal(1, "X"), fmt.Sprintf("<SEQN>%d</SEQN>", m.seqn), "", 1), "DEAD MALFORMED", "SEQN is missing"},
		{"wrong RECS", strings.Replace(m.create(5), "<RECS>1", "<RECS>2", 1), "DEAD PROTOCOL", "RECS says 2, 1 records"},
		{"no FLID", strings.Replace(m.terminal(1, "X"), "<FLID>1</FLID>", "", 1), "DEAD MALFORMED", "FLID is missing"},
		{"FLID not a number", strings.Replace(m.terminal(1, "X"), "<FLID>1<", "<FLID>one<", 1), "DEAD MALFORMED", `"one"`},
		{"impossible date", m.event("BOTM", 1, "<BOTM>31FEB260744</BOTM>"), "DEAD EXHAUSTED (CODEC_ERROR)", `MSG/FLOP/BOTM: "31FEB260744"`},
		{"another operation day", strings.Replace(m.create(1), "17APR26", "18APR26", 1), "DEAD PROTOCOL", "operation day 2026-04-18"},
		{"the same flight twice", m.create(6, 6), "DEAD PROTOCOL", "stands in it twice"},
		{"new flight without ACFT", strings.Replace(m.create(7), "<ACFT>32Q</ACFT>", "", 1), "DEAD PROTOCOL", "needs ACFT"},
		{"unsupported", m.event("ZZZZ", 1, "<ZZZZ/>"), "DEAD EXHAUSTED (UNSUPPORTED)", "ZZZZ"},
		{"a first identity", twice, "SUCCEEDED applied", ""},
		{"the same identity and text", twice, "SKIPPED duplicate-of:", ""},
		{"the same identity, other text", strings.Replace(twice, "T2", "T9", 1), "SKIPPED identity-conflict:", ""},
		{"unknown flight", m.terminal(999, "X"), "SKIPPED no-flight:999", ""},
		{"ignored", "<MSG>" + m.header("LDM", "X") + "<LDM/></MSG>", "SKIPPED ignored", ""},
		{"wrong declared encoding", `<?xml version="1.0" encoding="GB2312"?>` + m.event("REMC", 1, "<REMC>雷雨𠮷</REMC>"), "SUCCEEDED applied", ""},
	}
	ids := make([]int64, len(cases))
	var last int64
	for i, c := range cases {
		if c.text == "\x00" {
			w.boxExec("INSERT INTO cminmsgs (CMINMSGS_CLOB_MSG, CMINMSGS_DATE_RECEIVED, CMINMSGS_STATUS) VALUES (NULL, NOW(), 'VALID')")
			id, err := strconv.ParseInt(w.box("SELECT MAX(CMINMSGS_ID) FROM cminmsgs"), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			ids[i] = id
		} else {
			ids[i] = w.my.Insert(c.text)
		}
		last = w.my.Insert(m.terminal(1, "N"+strconv.Itoa(i)))
	}
	r := w.start()
	w.idle(last)
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := w.stands(ids[i]); !strings.HasPrefix(got, c.ends) {
				t.Errorf("ends as %q, want %q", got, c.ends)
			}
			if says := w.get("SELECT last_error FROM msgx.proc_state WHERE msg_id = $1", ids[i]); c.says != "" && !strings.Contains(says, c.says) {
				t.Errorf("says %q, want %q in it", says, c.says)
			}
			if got := w.stands(ids[i] + 1); got != "SUCCEEDED applied" {
				t.Errorf("its neighbour ends as %q", got)
			}
		})
	}
	if got := w.get("SELECT remarks FROM msgx.flight_schd WHERE flid = 1"); got != "雷雨𠮷" {
		t.Errorf("remark %q", got)
	}
	if got := w.get("SELECT count(*) FROM msgx.flight_schd WHERE flid NOT IN (1, 2)"); got != "0" {
		t.Errorf("%s flights that no good message made", got)
	}
	if w.stands(first) != "SUCCEEDED applied" {
		t.Error(w.stands(first))
	}
	if _, err := r.stop(); err != nil {
		t.Error(err)
	}
}

// TestCleanStop: it stops within 5 s and gives the lease up; until then no
// other instance works.
func TestCleanStop(t *testing.T) {
	w := newWorld(t, nil)
	m := &text{}
	r := w.start()
	w.finished(w.my.Insert(m.create(1)))
	w.env["instance"] = "other"
	other := w.start()
	w.until("the other instance waits", func() bool { return other.log.contains("another instance is active: test, epoch 1") })
	took, err := r.stop()
	if err != nil || took > 5*time.Second {
		t.Errorf("stopped after %s: %v", took, err)
	}
	w.finished(w.my.Insert(m.terminal(1, "A")))
	if holder := w.get("SELECT holder || ' ' || epoch FROM msgx.v_lease"); holder != "other 2" {
		t.Errorf("the lease is held by %s", holder)
	}
	if _, err := other.stop(); err != nil {
		t.Error(err)
	}
	if holder := w.get("SELECT holder FROM msgx.instance_lease"); holder != "" {
		t.Errorf("the lease is still held by %s", holder)
	}
	if n := w.get("SELECT count(*) FROM msgx.operator_audit WHERE action = 'take-over'"); n != "0" {
		t.Errorf("%s take-overs, but it was handed on", n)
	}
}

// TestTakeOver: a new process of the same name takes the lease over at once;
// the former one is fenced, waits as standby, and takes no turns with it.
func TestTakeOver(t *testing.T) {
	w := newWorld(t, nil)
	m := &text{}
	former := w.start()
	w.finished(w.my.Insert(m.create(1)))
	successor := w.start()
	w.until("the former instance waits", func() bool { return former.log.contains("another instance is active: test, epoch 2") })
	w.idle(w.my.Insert(m.terminal(1, "A")))
	if got := w.get("SELECT terminal FROM msgx.flight_schd WHERE flid = 1"); got != "A" {
		t.Errorf("terminal %q", got)
	}
	if got := w.get("SELECT reason || ' ' || (detail ->> 'epoch') FROM msgx.operator_audit WHERE action = 'take-over'"); got != "a new process of the same name 1" {
		t.Errorf("take-overs on record: %q", got)
	}
	if _, err := successor.stop(); err != nil {
		t.Error(err)
	}
	w.idle(w.my.Insert(m.terminal(1, "B")))
	if got := w.get("SELECT epoch FROM msgx.v_lease"); got != "3" {
		t.Errorf("epoch %s: they took turns", got)
	}
}

// TestOneByOne: when a batch raises an error, its messages go one by one; the
// culprit fails alone, and its neighbours are applied.
func TestOneByOne(t *testing.T) {
	w := newWorld(t, map[string]string{"pipeline.class-attempts": "INFRA=1"})
	w.exec(`CREATE FUNCTION public.burst() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		IF NEW.flid = 666 THEN RAISE EXCEPTION 'beast' USING ERRCODE = '22012'; END IF; RETURN NEW; END $$;
		CREATE TRIGGER burst BEFORE INSERT ON msgx.flight_write FOR EACH ROW EXECUTE FUNCTION public.burst()`)
	m := &text{}
	w.my.Insert(m.create(1))
	before := w.my.Insert(m.terminal(1, "A"))
	culprit := w.my.Insert(m.create(666))
	after := w.my.Insert(m.terminal(1, "B"))
	w.start()
	w.finished(after)
	for id, want := range map[int64]string{before: "SUCCEEDED applied", culprit: "DEAD EXHAUSTED (INFRA)", after: "SUCCEEDED applied"} {
		if got := w.stands(id); got != want {
			t.Errorf("message %d ends as %q, want %q", id, got, want)
		}
	}
	if says := w.get("SELECT last_error FROM msgx.proc_state WHERE msg_id = $1", culprit); !strings.Contains(says, "beast") {
		t.Errorf("it says %q", says)
	}
}

// TestRowGone: a row that is gone before it is applied is looked for again,
// and only then dead, to be replayed if it comes back.
func TestRowGone(t *testing.T) {
	w := newWorld(t, nil)
	w.exec("UPDATE msgx.loop_state SET wanted = 'off' WHERE loop = 'pump'")
	m := &text{}
	w.my.Insert(m.create(1))
	gone := w.my.Insert(m.terminal(1, "A"))
	next := w.my.Insert(m.terminal(1, "B"))
	r := w.start()
	w.until("they are enqueued", func() bool { return w.get("SELECT count(*) FROM msgx.proc_state") == "3" })
	w.boxExec("DELETE FROM cminmsgs WHERE CMINMSGS_ID = ?", gone)
	w.exec("SELECT msgx.loop_resume('pump', 'test', 'go on', now())")
	w.idle(next)
	if got := w.stands(gone); got != "DEAD MALFORMED raw-missing" {
		t.Errorf("it ends as %q", got)
	}
	if got := w.stands(next); got != "SUCCEEDED applied" {
		t.Errorf("the next ends as %q", got)
	}
	if got := w.get("SELECT backfill_abandoned_reason FROM msgx.proc_state WHERE msg_id = $1", gone); !strings.HasPrefix(got, "missing") {
		t.Errorf("its mark: %q", got)
	}
	if !r.log.contains("raw-missing") {
		t.Error("the log does not name it")
	}
}

// TestHole: a rolled-back id holds what is behind it for its window; a slow
// writer inside the window is not overtaken.
func TestHole(t *testing.T) {
	w := newWorld(t, map[string]string{"pipeline.max-commit-delay": "3s"})
	m := &text{}
	w.my.Insert(m.create(1))
	r := w.start()
	tx, err := w.my.SQL.Begin()
	if err != nil {
		t.Fatal(err)
	}
	slow := m.terminal(1, "slow")
	if _, err := tx.Exec("INSERT INTO cminmsgs (CMINMSGS_CLOB_MSG, CMINMSGS_STATUS) VALUES (?, 'VALID')", slow); err != nil {
		t.Fatal(err)
	}
	w.my.Burn(1)
	fast := w.my.Insert(m.terminal(1, "fast"))
	w.until("the hole is seen", func() bool { return w.get("SELECT hole_since FROM msgx.inbox_cursor") != "" })
	polled := w.get("SELECT poll_seq FROM msgx.inbox_cursor")
	w.until("it is seen again", func() bool { return w.get("SELECT poll_seq > $1::bigint + 2 FROM msgx.inbox_cursor", polled) == "true" })
	if w.get("SELECT count(*) FROM msgx.proc_state WHERE msg_id = $1", fast) != "0" {
		t.Error("what stands behind the hole was enqueued")
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	w.idle(fast)
	if got := w.get("SELECT terminal FROM msgx.flight_schd WHERE flid = 1"); got != "fast" {
		t.Errorf("the terminal is %q: the slow writer was overtaken", got)
	}
	if got := w.get("SELECT string_agg(lo || '-' || hi || ' ' || state || ' ' || released_why, ',') FROM msgx.inbox_hole"); got != fmt.Sprintf("%d-%d RELEASED aged", fast-1, fast-1) {
		t.Errorf("ledger: %q", got)
	}
	if !r.log.contains("holes aged out") {
		t.Error("the log does not tell of the release")
	}
}

// TestMarks: an existing mark is kept and counts as marked; status and date
// are written for the others.
func TestMarks(t *testing.T) {
	w := newWorld(t, nil)
	m := &text{}
	kept := w.my.Insert(m.create(1))
	w.boxExec("UPDATE cminmsgs SET CMINMSGS_DATE_PROCESSED = '2020-01-02 03:04:05', CMINMSGS_STATUS = 'OTHER' WHERE CMINMSGS_ID = ?", kept)
	marked := w.my.Insert(m.terminal(1, "A"))
	w.start()
	w.idle(marked)
	if got := w.box("SELECT CONCAT(CMINMSGS_DATE_PROCESSED, ' ', CMINMSGS_STATUS) FROM cminmsgs WHERE CMINMSGS_ID = ?", kept); got != "2020-01-02 03:04:05 OTHER" {
		t.Errorf("the mark became %q", got)
	}
	if got := w.box("SELECT CMINMSGS_STATUS FROM cminmsgs WHERE CMINMSGS_ID = ? AND CMINMSGS_DATE_PROCESSED IS NOT NULL", marked); got != "PROCESSED" {
		t.Errorf("status %q", got)
	}
	if got := w.get("SELECT count(*) FROM msgx.proc_state WHERE backfill_at IS NOT NULL"); got != "2" {
		t.Errorf("%s marks confirmed", got)
	}
}

// TestBrake: the first start without autostart waits for the operator.
func TestBrake(t *testing.T) {
	w := newWorld(t, map[string]string{"pipeline.autostart": "false"})
	m := &text{}
	id := w.my.Insert(m.create(1))
	r := w.start()
	w.until("the loops report the brake", func() bool { return r.log.contains("brake") })
	if got := w.get("SELECT string_agg(DISTINCT stands, ',') FROM msgx.v_loops"); got != "braked" {
		t.Errorf("the loops stand %s", got)
	}
	if w.get("SELECT count(*) FROM msgx.proc_state") != "0" {
		t.Error("it began by itself")
	}
	w.exec("SELECT msgx.loop_resume(loop, 'test', 'go', now()) FROM msgx.loop_state")
	w.idle(id)
}

// TestKafkaAway: a broker that is away stops delivery, and nothing else; no
// event counts an attempt.
func TestKafkaAway(t *testing.T) {
	w := newWorld(t, nil)
	w.env["kafka.brokers"] = closedPort(t)
	m := &text{}
	id := w.my.Insert(m.create(1))
	r := w.start()
	w.finished(id)
	w.until("marks are paid", func() bool { return w.get("SELECT backfill_at FROM msgx.proc_state") != "" })
	w.until("the pause is shown", func() bool {
		return strings.Contains(w.get("SELECT paused_reason FROM msgx.v_loops WHERE loop = 'dispatcher'"), "Kafka")
	})
	if got := w.get("SELECT string_agg(state || attempts, ',') FROM msgx.msg_event"); got != "PENDING0,PENDING0" {
		t.Errorf("events %s", got)
	}
	if took, err := r.stop(); err != nil || took > 5*time.Second {
		t.Errorf("stop: %v after %s", err, took)
	}
}

// TestCutOver: the first start seeds the watermark as configured; later ones
// go on where the instance stood, the key may stay.
func TestCutOver(t *testing.T) {
	w := newWorld(t, map[string]string{"pipeline.cutover-watermark": "max"})
	m := &text{}
	w.my.Insert(m.create(1))
	w.my.Burn(1)
	old := w.my.Insert(m.create(2))
	r := w.start()
	w.until("it is seeded", func() bool { return w.get("SELECT seeded_mode FROM msgx.inbox_cursor") == "max" })
	first := w.my.Insert(m.create(3))
	w.finished(first)
	if got := w.get("SELECT string_agg(msg_id::text, ',') FROM msgx.proc_state"); got != strconv.FormatInt(first, 10) {
		t.Errorf("messages taken: %s, want only %d", got, first)
	}
	if got := w.get("SELECT lo || ' ' || released_why FROM msgx.inbox_hole"); got != fmt.Sprintf("%d seeded", old-1) {
		t.Errorf("watched: %s", got)
	}
	if _, err := r.stop(); err != nil {
		t.Fatal(err)
	}
	r = w.start()
	w.finished(w.my.Insert(m.create(4)))
	if !r.log.contains("cutover-watermark is ignored") {
		t.Error("the log does not tell that the key has no effect")
	}
}

// TestStopAtOnce: a stop that comes while it starts is a clean stop.
func TestStopAtOnce(t *testing.T) {
	w := newWorld(t, nil)
	for i := range 20 {
		r := w.start()
		time.Sleep(time.Duration(i) * time.Millisecond)
		if _, err := r.stop(); err != nil {
			t.Fatal(err)
		}
	}
	if holder := w.get("SELECT holder FROM msgx.instance_lease"); holder != "" {
		t.Errorf("the lease is held by %q", holder)
	}
}

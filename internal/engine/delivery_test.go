package engine_test

import (
	"log/slog"
	"strings"
	"testing"

	"msgexchange/internal/kafka"
)

// records reads a topic back.
func (w *world) records(topic string) (out []kafka.Consumed) {
	w.t.Helper()
	if err := kafka.Scan(w.t.Context(), w.broker, w.prefix+topic, func(c kafka.Consumed) error { out = append(out, c); return nil }); err != nil {
		w.t.Fatal(err)
	}
	return out
}

// TestEventTooLarge: a change that is too large is dead at once and costs nobody
// anything; an operator takes it out of the dead letters, and its record says so.
func TestEventTooLarge(t *testing.T) {
	w := newWorld(t, map[string]string{"kafka.max-record-bytes": "4096"})
	m := &text{}
	w.my.Insert(m.create(1))
	large := w.my.Insert(m.event("REMC", 1, "<REMC>"+strings.Repeat("x", 5000)+"</REMC>"))
	last := w.my.Insert(m.terminal(1, "A"))
	r := w.start()
	w.idle(last)
	if got := w.get("SELECT string_agg(msg_id || ' ' || state || ' ' || attempts, ', ' ORDER BY event_id) FROM msgx.msg_event WHERE target = 'KAFKA:msg'"); got != "1 SENT 0, 2 DEAD 1, 3 SENT 0" {
		t.Errorf("events: %s", got)
	}
	if !r.log.contains("event refused") || w.get("SELECT dead FROM msgx.v_outbox WHERE target = 'KAFKA:msg'") != "1" {
		t.Error("nobody is told")
	}
	if _, err := r.stop(); err != nil {
		t.Fatal(err)
	}
	w.env["kafka.max-record-bytes"] = "1000000"
	w.exec("SELECT msgx.outbox_requeue(array_agg(event_id), 'test', 'the limit was raised', now()) FROM msgx.msg_event WHERE state = 'DEAD'")
	w.start()
	w.idle(last)
	var order []string
	for _, c := range w.records("msg") {
		order = append(order, strings.TrimSpace(c.Header("ce_id")+" "+c.Header("msgx_requeued")))
	}
	id := func(msg int64) string {
		return w.get("SELECT event_id FROM msgx.msg_event WHERE target = 'KAFKA:msg' AND msg_id = $1", msg)
	}
	if got, want := strings.Join(order, ", "), id(1)+", "+id(3)+", "+id(large)+" 1"; got != want {
		t.Errorf("records %s, want %s", got, want)
	}
}

// TestTopicUnknown: a topic that is not there pauses its target with its name, costs
// no attempt, and is found when somebody makes it.
func TestTopicUnknown(t *testing.T) {
	w := newWorld(t, map[string]string{"kafka.topic-prefix": "nowhere."})
	w.prefix = "nowhere." + w.prefix
	w.env["kafka.topic-prefix"] = w.prefix
	m := &text{}
	last := w.my.Insert(m.create(1))
	w.start()
	w.finished(last)
	w.until("the pause names the topic", func() bool {
		return strings.Contains(w.get("SELECT paused_reason FROM msgx.v_loops WHERE loop = 'dispatcher'"), w.prefix+"msg")
	})
	if got := w.get("SELECT string_agg(state || attempts, ',') FROM msgx.msg_event"); got != "PENDING0,PENDING0" {
		t.Errorf("events %s", got)
	}
	p, err := kafka.Open(t.Context(), kafka.Config{Brokers: w.broker, ProduceTimeout: settled, MaxRecordBytes: 1 << 20}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := p.EnsureTopics(t.Context(), 1, 1, w.prefix+"msg", w.prefix+"schd"); err != nil {
		t.Fatal(err)
	}
	w.idle(last)
	if n := len(w.records("msg")); n != 1 {
		t.Errorf("%d records", n)
	}
}

// TestDocumentFault: a flight whose document cannot be built ends dead; the
// others are told.
func TestDocumentFault(t *testing.T) {
	w := newWorld(t, map[string]string{"kafka.delivery-max-attempts": "2", "pipeline.backoff": "100ms"})
	m := &text{}
	w.exec("UPDATE msgx.loop_state SET wanted = 'off' WHERE loop = 'flusher'")
	last := w.my.Insert(m.create(1, 666, 3))
	r := w.start()
	w.finished(last)
	w.exec(`ALTER FUNCTION msgx.flight_document(bigint[]) RENAME TO flight_document_sound;
		CREATE FUNCTION msgx.flight_document(p_flids bigint[]) RETURNS SETOF msgx.r_flight_document LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
		BEGIN
			IF 666 = ANY (p_flids) THEN RAISE EXCEPTION 'no such number' USING ERRCODE = '22023'; END IF;
			RETURN QUERY SELECT * FROM msgx.flight_document_sound(p_flids);
		END $$;
		ALTER FUNCTION msgx.flight_document(bigint[]) OWNER TO msgx_owner`)
	w.exec("SELECT msgx.loop_resume('flusher', 'test', 'go', now())")
	w.until("the others are told", func() bool {
		return w.get("SELECT string_agg(partition_key || state, ',' ORDER BY partition_key) FROM msgx.msg_event WHERE target = 'KAFKA:schd'") == "1SENT,3SENT,666DEAD"
	})
	if got := w.get("SELECT last_error FROM msgx.msg_event WHERE state = 'DEAD'"); !strings.Contains(got, "flight 666") || !r.log.contains("event refused") {
		t.Errorf("it says %q", got)
	}
}

// TestDeletedAndRevived: a flight that is deleted and comes back within one
// flush is told once, as it is in the end.
func TestDeletedAndRevived(t *testing.T) {
	w := newWorld(t, nil)
	w.exec("UPDATE msgx.loop_state SET wanted = 'off' WHERE loop = 'flusher'")
	m := &text{}
	w.my.Insert(m.create(1))
	w.my.Insert(m.event("FDEL", 1, "<FDEL/>"))
	w.my.Insert(m.create(1))
	w.my.Insert(m.create(2))
	w.my.Insert(m.terminal(1, "A"))
	last := w.my.Insert(m.event("FDEL", 2, "<FDEL/>"))
	w.start()
	w.finished(last)
	w.exec("SELECT msgx.loop_resume('flusher', 'test', 'go', now())")
	w.idle(last)
	told := map[string]string{}
	for _, c := range w.records("schd") {
		if _, twice := told[string(c.Key)]; twice {
			t.Errorf("flight %s is told twice", c.Key)
		}
		told[string(c.Key)] = string(c.Value)
	}
	if !strings.Contains(told["1"], `"terminal": "A"`) || told["2"] != "" || len(told) != 2 {
		t.Errorf("told %v", told)
	}
	if n := w.get("SELECT merged_count > 0 FROM msgx.msg_event WHERE target = 'KAFKA:schd' AND partition_key = 1"); n != "true" {
		t.Error("nothing was merged")
	}
}

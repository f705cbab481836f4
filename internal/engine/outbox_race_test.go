package engine_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"msgexchange/gen"
)

// TestOutboxCursorRace: while events are written, the delivery cursor never
// passes one that is pending, whatever commits between its looks.
func TestOutboxCursorRace(t *testing.T) {
	w := newWorld(t, nil)
	q := gen.New(w.pg.Pool)
	lease, err := q.LeaseAcquire(t.Context(), gen.LeaseAcquireParams{Holder: "race", Ttl: time.Hour, Settings: json.RawMessage("{}"), Autostart: true})
	if err != nil || len(lease) != 1 {
		t.Fatal(err)
	}
	const rounds = 3000
	written := make(chan error, 1)
	go func() {
		for range rounds {
			_, err := w.pg.Pool.Exec(context.Background(), `INSERT INTO msgx.msg_event (target, partition_key, event_type, msg_id, state_version, payload, created_at)
				SELECT 'KAFKA:msg', 1, 'UPSERT', 1, 1, '{}', now() FROM (SELECT FROM msgx.pipeline_lock FOR UPDATE) AS l, generate_series(1, 2)`)
			if err != nil {
				written <- err
				return
			}
		}
		written <- nil
	}()
	done := false
	for delivered := 0; !done || delivered > 0; {
		select {
		case err := <-written:
			if err != nil {
				t.Fatal(err)
			}
			done = true
		default:
		}
		rows, err := q.OutboxNextMsg(t.Context(), gen.OutboxNextMsgParams{Epoch: lease[0].Epoch, Now: time.Now(), Limit: 500})
		if err != nil {
			t.Fatal(err)
		}
		delivered = len(rows)
		arg := gen.OutboxSentParams{Epoch: lease[0].Epoch, Target: "KAFKA:msg", Topic: "msg", Now: time.Now()}
		for _, r := range rows {
			arg.EventIds = append(arg.EventIds, r.EventID)
			arg.Versions = append(arg.Versions, r.StateVersion)
			arg.Partitions = append(arg.Partitions, 0)
			arg.Offsets = append(arg.Offsets, r.EventID)
		}
		if _, err := q.OutboxSent(t.Context(), arg); err != nil {
			t.Fatal(err)
		}
	}
	if got := w.get("SELECT count(*) FROM msgx.msg_event WHERE state = 'PENDING'"); got != "0" {
		t.Errorf("%s events were left behind", got)
	}
	if got := w.get("SELECT count(*) FROM msgx.msg_event WHERE state = 'SENT'"); got != "6000" {
		t.Errorf("%s events were sent", got)
	}
}

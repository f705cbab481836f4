package bench

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// naiveMessage is a decoded message as the naive loop reads it.
type naiveMessage struct {
	MsgID    int64     `json:"msg_id"`
	TextHash string    `json:"text_hash"`
	Sndr     string    `json:"sndr"`
	Type     string    `json:"type"`
	Styp     string    `json:"styp"`
	Seqn     int64     `json:"seqn"`
	Dttm     time.Time `json:"dttm"`
	Records  []struct {
		Op    string          `json:"op"`
		FLID  int64           `json:"flid"`
		Patch json.RawMessage `json:"patch"`
	} `json:"records"`
}

// naive does the pump's work for single-flight events the usual way: for each
// message a transaction of separate statements, prepared, with the decision in
// Go. It has the index that such a loop needs to find its head.
func (b *bench) naive(ctx context.Context, conn *pgx.Conn, objects [][]byte) (*side, error) {
	// The download is not what is measured: the pump does it.
	if _, err := b.pumper(1)(ctx, conn, objects); err != nil {
		return nil, err
	}
	if _, err := conn.Exec(ctx, `SET timezone = 'Asia/Shanghai';
		CREATE INDEX naive_head ON msgx.proc_state (msg_id) WHERE state IN ('PENDING', 'FAILED')`); err != nil {
		return nil, fmt.Errorf("prepare the naive loop: %w", err)
	}
	byID := make(map[int64]naiveMessage, len(objects))
	for _, o := range objects[1:] {
		var m naiveMessage
		if err := json.Unmarshal(o, &m); err != nil {
			return nil, fmt.Errorf("read a message of the naive loop: %w", err)
		}
		byID[m.MsgID] = m
	}
	return &side{what: naiveLoop, run: each(1, func(int) error {
		return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error { return b.naiveOne(ctx, tx, byID) })
	})}, nil
}

func (b *bench) naiveOne(ctx context.Context, tx pgx.Tx, byID map[int64]naiveMessage) error {
	now := b.o.Now()
	var id int64
	err := tx.QueryRow(ctx, `SELECT p.msg_id FROM msgx.proc_state AS p
		WHERE p.state IN ('PENDING', 'FAILED') AND p.msg_id <= (SELECT committed_up_to FROM msgx.inbox_cursor)
		ORDER BY p.msg_id LIMIT 1 FOR UPDATE`).Scan(&id)
	if err != nil {
		return fmt.Errorf("find the head: %w", err)
	}
	m := byID[id]
	identity := fmt.Sprintf("%s|%s|%s|%d", m.Sndr, m.Type, m.Styp, m.Seqn)
	var owner int64
	err = tx.QueryRow(ctx, `SELECT msg_id FROM msgx.proc_identity WHERE identity_key = $1`, identity).Scan(&owner)
	if err != pgx.ErrNoRows {
		return fmt.Errorf("identity %s is not free: %w", identity, err)
	}
	hash, err := hex.DecodeString(m.TextHash)
	if err != nil {
		return fmt.Errorf("text hash: %w", err)
	}
	if _, err := tx.Exec(ctx, `INSERT INTO msgx.proc_identity (identity_key, text_hash, msg_id, dttm, bound_at) VALUES ($1, $2, $3, $4, $5)`, identity, hash, id, m.Dttm, now); err != nil {
		return fmt.Errorf("bind the identity: %w", err)
	}
	rec := m.Records[0]
	var patch struct {
		Set map[string]any `json:"set"`
	}
	if err := json.Unmarshal(rec.Patch, &patch); err != nil {
		return fmt.Errorf("read the patch: %w", err)
	}
	var row map[string]any
	var day string
	err = tx.QueryRow(ctx, `SELECT to_jsonb(f), f.operation_day::text FROM msgx.flight_schd AS f WHERE flid = $1 AND state = 'ACTIVE' FOR UPDATE`, rec.FLID).Scan(&row, &day)
	if err != nil {
		return fmt.Errorf("read flight %d: %w", rec.FLID, err)
	}
	if _, err := tx.Exec(ctx, `INSERT INTO msgx.flight_write (flid, msg_id, seq, op, patch, at) VALUES ($1, $2, 1, $3, $4, $5)`, rec.FLID, id, rec.Op, rec.Patch, now); err != nil {
		return fmt.Errorf("write the log: %w", err)
	}
	fields := make(map[string]any)
	for column, value := range patch.Set {
		if row[column] != value {
			fields[column] = map[string]any{"old": row[column], "new": value}
		}
	}
	result := "no-change"
	if len(fields) > 0 {
		result = "applied"
		if err := b.naiveChange(ctx, tx, m, row, day, patch.Set, fields, now); err != nil {
			return err
		}
	}
	if _, err := tx.Exec(ctx, `UPDATE msgx.proc_state SET state = 'SUCCEEDED', outcome = $2, identity_key = $3, sndr = $4, type = $5, styp = $6, seqn = $7,
		dttm = $8, processing_started_at = $9, finished_at = $9, backfill_next_at = $9, updated_at = $9 WHERE msg_id = $1`,
		id, result, identity, m.Sndr, m.Type, m.Styp, m.Seqn, m.Dttm, now); err != nil {
		return fmt.Errorf("record the outcome: %w", err)
	}
	if _, err := tx.Exec(ctx, `UPDATE msgx.pipeline_lock SET done_up_to = $1`, id); err != nil {
		return fmt.Errorf("move the place: %w", err)
	}
	return nil
}

// naiveChange stores a changed flight and its events.
func (b *bench) naiveChange(ctx context.Context, tx pgx.Tx, m naiveMessage, row map[string]any, day string, set, fields map[string]any, now time.Time) error {
	flid := m.Records[0].FLID
	var version int64
	if err := tx.QueryRow(ctx, `SELECT nextval('msgx.flight_version_seq')`).Scan(&version); err != nil {
		return fmt.Errorf("take a version: %w", err)
	}
	for column, value := range set {
		_, err := tx.Exec(ctx, `UPDATE msgx.flight_schd SET `+pgx.Identifier{column}.Sanitize()+` = (jsonb_populate_record(NULL::msgx.flight_schd, $2::jsonb)).`+
			pgx.Identifier{column}.Sanitize()+`, state_version = $3, last_msg_id = $4, updated_at = $5 WHERE flid = $1`,
			flid, map[string]any{column: value}, version, m.MsgID, now)
		if err != nil {
			return fmt.Errorf("update flight %d: %w", flid, err)
		}
	}
	payload := map[string]any{
		"message": map[string]any{"msg_id": m.MsgID, "sender": m.Sndr, "type": m.Type, "subtype": m.Styp, "seqn": m.Seqn},
		"flight": map[string]any{"flid": flid, "flight_number": row["flight_number"], "direction": row["direction"],
			"sodt": row["sodt"], "operation_day": day},
		"change": "changed", "state_version": version, "fields": fields,
	}
	if _, err := tx.Exec(ctx, `INSERT INTO msgx.msg_event (target, partition_key, event_type, msg_id, state_version, payload, created_at)
		VALUES ('KAFKA:msg', $1, 'UPSERT', $2, $3, $4, $5)`, flid, m.MsgID, version, payload, now); err != nil {
		return fmt.Errorf("write the msg event: %w", err)
	}
	tag, err := tx.Exec(ctx, `UPDATE msgx.msg_event SET state_version = $2, msg_id = $3, merged_count = merged_count + 1
		WHERE target = 'KAFKA:schd' AND state = 'PENDING' AND partition_key = $1`, flid, version, m.MsgID)
	if err != nil {
		return fmt.Errorf("raise the schd event: %w", err)
	}
	if tag.RowsAffected() == 0 {
		if _, err := tx.Exec(ctx, `INSERT INTO msgx.msg_event (target, partition_key, event_type, msg_id, state_version, created_at)
			VALUES ('KAFKA:schd', $1, 'UPSERT', $2, $3, $4)`, flid, m.MsgID, version, now); err != nil {
			return fmt.Errorf("write the schd event: %w", err)
		}
	}
	return nil
}

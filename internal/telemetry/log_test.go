package telemetry

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
)

func TestLogger(t *testing.T) {
	var out bytes.Buffer
	log := NewLogger(&out, slog.LevelInfo)
	log.Debug("unseen")
	log.Info("marked", "msg_id", 4711, "mailbox.dsn", "u:hunter2@/d", "Password", []string{"hunter2"}, slog.Group("http", "admin-token", "hunter2"),
		"tokens_left", 3, "empty.dsn", "")
	var line map[string]any
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatalf("not one JSON object: %v\n%s", err, out.String())
	}
	if strings.Contains(out.String(), "hunter2") || strings.Contains(out.String(), "unseen") {
		t.Errorf("logged too much: %s", out.String())
	}
	for key, want := range map[string]any{"msg": "marked", "level": "INFO", "msg_id": 4711.0, "mailbox.dsn": "(hidden)", "Password": "(hidden)", "tokens_left": 3.0, "empty.dsn": ""} {
		if line[key] != want {
			t.Errorf("%s = %v, want %v", key, line[key], want)
		}
	}
	if group, ok := line["http"].(map[string]any); !ok || group["admin-token"] != "(hidden)" {
		t.Errorf("http = %v", line["http"])
	}
}

package demo

import (
	"bufio"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestWaits: messages are paired with the line that enqueued them; a failure
// that is tried again is no outcome yet.
func TestWaits(t *testing.T) {
	got, err := waits(bufio.NewScanner(strings.NewReader(`{"time":"2026-04-17T00:00:00Z","msg":"enqueued","from":1,"watermark":2}
{"time":"2026-04-17T00:00:00.005Z","msg":"message","msg_id":1,"state":"SUCCEEDED"}
{"time":"2026-04-17T00:00:00.006Z","msg":"message","msg_id":2,"state":"FAILED"}
{"time":"2026-04-17T00:00:01Z","msg":"message","msg_id":2,"state":"DEAD"}
{"time":"2026-04-17T00:00:01Z","msg":"message","msg_id":9,"state":"DEAD"}
{"time":"2026-04-17T00:00:01Z","msg":"marked","from":1}
`)))
	if want := []time.Duration{5 * time.Millisecond, time.Second}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
}

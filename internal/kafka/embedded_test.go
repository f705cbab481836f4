package kafka_test

import (
	"bufio"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"msgexchange/internal/kafka"
)

// syncBuffer is a log that is read while it is written.
type syncBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func freePort(t *testing.T) int {
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
	return l.Addr().(*net.TCPAddr).Port
}

// TestEmbedded: topics, records and offsets of the embedded broker survive it,
// and so does a producer that knows its address. While it is away, records are
// unknown, and the error says why.
func TestEmbedded(t *testing.T) {
	cfg := kafka.EmbeddedConfig{Dir: t.TempDir(), Port: freePort(t), Topics: []string{"kept"}, Partitions: 1}
	p := open(t, []string{fmt.Sprint("127.0.0.1:", cfg.Port)})
	for round := range 3 {
		e, err := kafka.StartEmbedded(cfg, quiet)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Check(t.Context(), "kept"); err != nil {
			t.Fatal(err)
		}
		acks := p.Produce(t.Context(), records("kept", 30))
		acked(t, acks)
		if acks[0].Offset != int64(30*round) || acks[29].Offset != int64(30*round+29) {
			t.Errorf("round %d: offsets %d to %d", round, acks[0].Offset, acks[29].Offset)
		}
		got := read(t, e.Brokers(), "kept")
		if len(got) != 30*(round+1) {
			t.Fatalf("round %d: %d records", round, len(got))
		}
		for i, c := range got {
			if string(c.Value) != fmt.Sprint(i%30) || c.Offset != int64(i) || c.Header("ce_id") != fmt.Sprint(i%30) {
				t.Fatalf("record %d: %+v", i, c)
			}
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		a := p.Produce(soon(t), records("kept", 1))
		if class, _ := kafka.Classify(a[0].Err); class != kafka.Environment || a[0].Err == nil || !strings.Contains(a[0].Err.Error(), "connection refused") {
			t.Errorf("round %d: %v", round, a[0].Err)
		}
		if err := p.Check(t.Context(), "kept"); err == nil || !strings.Contains(err.Error(), "connection refused") {
			t.Errorf("round %d: %v", round, err)
		}
	}
}

// TestEmbeddedKilled: what was acknowledged survives a process that is killed,
// also the first one that used the folder.
func TestEmbeddedKilled(t *testing.T) {
	const own = "MSGX_TEST_EMBEDDED_DIR"
	if dir := os.Getenv(own); dir != "" { // the process that is killed
		e, err := kafka.StartEmbedded(kafka.EmbeddedConfig{Dir: dir, Topics: []string{"kept"}, Partitions: 3}, quiet)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println("at", e.Brokers()[0])
		select {}
	}
	dir := t.TempDir()
	const rounds = 3
	for round := range rounds {
		victim := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestEmbeddedKilled$")
		victim.Env = append(os.Environ(), own+"="+dir)
		victim.Stderr = os.Stderr
		out, err := victim.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := victim.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(out).ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		at, ok := strings.CutPrefix(strings.TrimSpace(line), "at ")
		if !ok {
			t.Fatal(line)
		}
		acked(t, open(t, []string{at}).Produce(t.Context(), records("kept", 30)))
		if got := len(read(t, []string{at}, "kept")); got != 30*(round+1) {
			t.Errorf("round %d: %d records", round, got)
		}
		if err := victim.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := victim.Wait(); err == nil {
			t.Fatal("it ended by itself")
		}
	}
	e, err := kafka.StartEmbedded(kafka.EmbeddedConfig{Dir: dir}, quiet)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(read(t, e.Brokers(), "kept")); got != 30*rounds {
		t.Errorf("at the end: %d records", got)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestEmbeddedFolder: topics that are new to a folder are made, those that are
// there stay as they are; a folder in use is refused.
func TestEmbeddedFolder(t *testing.T) {
	cfg := kafka.EmbeddedConfig{Dir: t.TempDir() + "/made", Topics: []string{"a"}, Partitions: 1}
	for range 2 {
		e, err := kafka.StartEmbedded(cfg, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		if err := open(t, e.Brokers()).Check(t.Context(), cfg.Topics...); err != nil {
			t.Error(err)
		}
		if _, err := kafka.StartEmbedded(cfg, quiet); err == nil || !strings.Contains(err.Error(), "in use by another process") {
			t.Errorf("a second one: %v", err)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		cfg.Topics, cfg.Partitions = []string{"a", "b"}, 2
	}
}

package kafka

import (
	"log/slog"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// TestOptions: what order and safety depend on is set, whatever the
// configuration says.
func TestOptions(t *testing.T) {
	p, err := Open(t.Context(), Config{Brokers: []string{"localhost:1"}, ProduceTimeout: time.Second, MaxRecordBytes: 1 << 20}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	c, err := p.newClient()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if n := c.OptValue(kgo.MaxProduceRequestsInflightPerBroker); n != 1 {
		t.Errorf("%v requests in flight", n)
	}
	if acks := c.OptValue(kgo.RequiredAcks); acks != kgo.AllISRAcks() {
		t.Errorf("acks %v", acks)
	}
	if off := c.OptValue(kgo.DisableIdempotentWrite); off != false {
		t.Errorf("idempotent writes are off: %v", off)
	}
	if give := c.OptValue(kgo.AllowIdempotentProduceCancellation); give != false {
		t.Errorf("the client gives up records that may have been written: %v", give)
	}
}

package kafka_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"msgexchange/internal/kafka"
)

var quiet = slog.New(slog.DiscardHandler)

// broker returns a broker with one fresh topic of four partitions: a real one
// where MSGX_TEST_KAFKA names it, else kfake.
func broker(t *testing.T) (brokers []string, topic string) {
	t.Helper()
	topic = strings.ReplaceAll(t.Name(), "/", ".") + fmt.Sprint(time.Now().UnixNano())
	if real := os.Getenv("MSGX_TEST_KAFKA"); real != "" {
		brokers = strings.Split(real, ",")
	} else {
		brokers = fake(t, "another").ListenAddrs()
	}
	p := open(t, brokers)
	for range 2 { // it does not mind those that are there
		if err := p.EnsureTopics(t.Context(), 4, 1, topic); err != nil {
			t.Fatal(err)
		}
	}
	return brokers, topic
}

// fake is kfake, for tests that inject faults.
func fake(t *testing.T, topic string, opts ...kfake.Opt) *kfake.Cluster {
	t.Helper()
	c, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(1), kfake.SeedTopics(4, topic)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func open(t *testing.T, brokers []string, change ...func(*kafka.Config)) *kafka.Producer {
	t.Helper()
	cfg := kafka.Config{Brokers: brokers, ClientID: "test", ProduceTimeout: 20 * time.Second, MaxRecordBytes: 10_000}
	for _, c := range change {
		c(&cfg)
	}
	p, err := kafka.Open(t.Context(), cfg, quiet)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// soon is a context that ends soon, for calls that must not succeed.
func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	t.Cleanup(cancel)
	return ctx
}

func records(topic string, n int) []kafka.Record {
	out := make([]kafka.Record, n)
	for i := range out {
		out[i] = kafka.Record{Topic: topic, Key: fmt.Append(nil, i%3), Value: fmt.Append(nil, i),
			Headers: kafka.Headers(kafka.Change, fmt.Sprint(i), "/msgexchange/test", fmt.Sprint(i%3), time.Unix(0, 0))}
	}
	return out
}

func read(t *testing.T, brokers []string, topic string) []kafka.Consumed {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	all, err := kafka.ReadAll(ctx, brokers, topic)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// acked fails the test unless every record was acknowledged.
func acked(t *testing.T, acks []kafka.Ack) {
	t.Helper()
	for i, a := range acks {
		if a.Err != nil {
			t.Fatalf("record %d: %v", i, a.Err)
		}
	}
}

// values are the records' values, in order within each partition.
func values(all []kafka.Consumed) []string {
	out := make([]string, len(all))
	for i, c := range all {
		out[i] = string(c.Value)
	}
	return out
}

// TestProduce: records arrive once, in order for each key, with their headers,
// and each acknowledgement tells where.
func TestProduce(t *testing.T) {
	brokers, topic := broker(t)
	p := open(t, brokers)
	if err := p.Check(t.Context(), topic); err != nil {
		t.Fatal(err)
	}
	const n = 1000
	acks := p.Produce(t.Context(), records(topic, n))
	place := make(map[string]bool)
	for i, a := range acks {
		if a.Err != nil {
			t.Fatalf("record %d: %v", i, a.Err)
		}
		place[fmt.Sprint(a.Partition, "/", a.Offset)] = true
	}
	got := read(t, brokers, topic)
	if len(got) != n || len(place) != n {
		t.Fatalf("%d records at %d places, want %d", len(got), len(place), n)
	}
	last := make(map[string]int)
	partition := make(map[string]int32)
	for _, c := range got {
		var i int
		if _, err := fmt.Sscan(string(c.Value), &i); err != nil {
			t.Fatal(err)
		}
		key := string(c.Key)
		if before, ok := last[key]; ok && i <= before {
			t.Fatalf("key %s: %d behind %d", key, i, before)
		}
		if before, ok := partition[key]; ok && before != c.Partition {
			t.Fatalf("key %s is in two partitions", key)
		}
		last[key], partition[key] = i, c.Partition
		if !place[fmt.Sprint(c.Partition, "/", c.Offset)] || c.Header("ce_id") != string(c.Value) || c.Header("ce_specversion") != "1.0" ||
			c.Header("ce_type") != "msgx.flight.changed.v1" || c.Header("ce_subject") != key || c.Header("ce_time") != "1970-01-01T00:00:00Z" {
			t.Fatalf("record %d: %+v", i, c)
		}
	}
}

// TestTombstone: no value is null, and is not the same as an empty one.
func TestTombstone(t *testing.T) {
	brokers, topic := broker(t)
	acks := open(t, brokers).Produce(t.Context(), []kafka.Record{{Topic: topic, Key: []byte("1")}, {Topic: topic, Key: []byte("1"), Value: []byte{}}})
	if err := errors.Join(acks[0].Err, acks[1].Err); err != nil {
		t.Fatal(err)
	}
	got := read(t, brokers, topic)
	if len(got) != 2 || got[0].Value != nil || got[1].Value == nil {
		t.Errorf("%+v", got)
	}
}

// TestTooLarge: a record over the limit fails alone, before it is sent.
func TestTooLarge(t *testing.T) {
	brokers, topic := broker(t)
	list := records(topic, 3)
	list[1].Value = make([]byte, 10_001)
	acks := open(t, brokers).Produce(t.Context(), list)
	if class, _ := kafka.Classify(acks[1].Err); class != kafka.RecordError || !kafka.TooLarge(acks[1].Err) || !strings.Contains(acks[1].Err.Error(), "kafka.max-record-bytes allows 10000") {
		t.Errorf("the large one: %v", acks[1].Err)
	}
	if acks[0].Err != nil || acks[2].Err != nil || len(read(t, brokers, topic)) != 2 {
		t.Errorf("its neighbours: %v, %v", acks[0].Err, acks[2].Err)
	}
}

// TestUnknownTopic: it is the environment's fault, and is named before the
// first delivery.
func TestUnknownTopic(t *testing.T) {
	brokers, _ := broker(t)
	p := open(t, brokers)
	if err := p.Check(t.Context(), "no.such.topic"); err == nil || !strings.Contains(err.Error(), "no.such.topic does not exist: create it") || !strings.Contains(err.Error(), "--bootstrap-server "+brokers[0]) {
		t.Errorf("check: %v", err)
	}
	acks := p.Produce(t.Context(), records("no.such.topic", 1))
	if class, _ := kafka.Classify(acks[0].Err); acks[0].Err == nil || class != kafka.Environment {
		t.Errorf("produce: %v", acks[0].Err)
	}
}

// TestBrokerAway: records that were not acknowledged are unknown; when the
// broker is back, the same are sent once more, and nothing of the first try
// comes behind our back.
func TestBrokerAway(t *testing.T) {
	c := fake(t, "away")
	var refuse atomic.Bool
	refuse.Store(true)
	c.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		if refuse.Load() {
			return nil, errors.New("gone"), true // closes the connection
		}
		return nil, nil, false
	})
	p := open(t, c.ListenAddrs())
	for i, a := range p.Produce(soon(t), records("away", 10)) {
		if class, _ := kafka.Classify(a.Err); a.Err == nil || class == kafka.RecordError {
			t.Fatalf("record %d: %v", i, a.Err)
		}
	}
	refuse.Store(false)
	for i, a := range p.Produce(t.Context(), records("away", 10)) {
		if a.Err != nil {
			t.Fatalf("again, record %d: %v", i, a.Err)
		}
	}
	if got := read(t, c.ListenAddrs(), "away"); len(got) != 10 {
		t.Errorf("%d records, want 10", len(got))
	}
}

// TestGuarantees: what goes over the wire is acks=all from an idempotent
// producer.
func TestGuarantees(t *testing.T) {
	c := fake(t, "wire")
	var requests, weak atomic.Int32
	c.ControlKey(int16(kmsg.Produce), func(req kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		requests.Add(1)
		r := req.(*kmsg.ProduceRequest)
		if r.Acks != -1 {
			weak.Add(1)
		}
		for _, topic := range r.Topics {
			for _, part := range topic.Partitions {
				var batch kmsg.RecordBatch
				if err := batch.ReadFrom(part.Records); err != nil || batch.ProducerID < 0 {
					weak.Add(1)
				}
			}
		}
		return nil, nil, false
	})
	p := open(t, c.ListenAddrs())
	for range 20 {
		acked(t, p.Produce(t.Context(), records("wire", 50)))
	}
	if requests.Load() < 20 || weak.Load() != 0 {
		t.Errorf("%d requests, %d of them weak", requests.Load(), weak.Load())
	}
}

// TestOldBroker: a broker without idempotent producers is refused.
func TestOldBroker(t *testing.T) {
	versions := kversion.V4_0_0()
	versions.SetMaxKeyVersion(int16(kmsg.InitProducerID), -1)
	c := fake(t, "old", kfake.MaxVersions(versions))
	if err := open(t, c.ListenAddrs()).Check(t.Context(), "old"); err == nil || !strings.Contains(err.Error(), "InitProducerId") {
		t.Errorf("check: %v", err)
	}
}

// TestCancelled: a call whose context ends returns, with nothing acknowledged.
func TestCancelled(t *testing.T) {
	brokers, topic := broker(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if a := open(t, brokers).Produce(ctx, records(topic, 2)); a[0].Err == nil || a[1].Err == nil {
		t.Errorf("%+v", a)
	}
}

func TestClassify(t *testing.T) {
	for _, c := range []struct {
		err  error
		want kafka.Class
	}{
		{&kafka.TooLargeError{}, kafka.RecordError}, {kerr.MessageTooLarge, kafka.RecordError}, {kerr.InvalidRecord, kafka.RecordError},
		{kerr.InvalidTimestamp, kafka.Environment}, {&kafka.HeldError{Cause: kerr.InvalidRecord}, kafka.Environment}, {kerr.UnknownProducerID, kafka.Fatal}, {kgo.ErrClientClosed, kafka.Fatal},
		{kerr.NotLeaderForPartition, kafka.Environment}, {kerr.NotEnoughReplicas, kafka.Environment}, {kerr.TopicAuthorizationFailed, kafka.Environment},
		{context.DeadlineExceeded, kafka.Environment}, {kgo.ErrRecordTimeout, kafka.Environment}, {errors.New("whatever"), kafka.Environment},
	} {
		if got, why := kafka.Classify(fmt.Errorf("x: %w", c.err)); got != c.want || why == "" {
			t.Errorf("%v: class %d (%s), want %d", c.err, got, why, c.want)
		}
	}
}

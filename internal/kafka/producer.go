// Package kafka hands events to Kafka: one producer whose guarantees are not
// configurable, and an embedded broker for trials.
package kafka

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Config says which brokers, and the limits of a record.
type Config struct {
	Brokers        []string
	ClientID       string
	ProduceTimeout time.Duration // longest wait for the acknowledgement of a batch
	MaxRecordBytes int           // key, value and headers of one record
}

// Header is one header of a record.
type Header struct{ Key, Value string }

// Record is what is sent. A nil Value is a tombstone, an empty one is not.
type Record struct {
	Topic   string
	Key     []byte
	Value   []byte
	Headers []Header
}

// Ack is what became of a record: its place, or why it has none.
type Ack struct {
	Partition int32
	Offset    int64
	Err       error
}

// maxBuffered bounds what the client holds, far above a batch of ours.
const maxBuffered = 20_000

// Producer is an idempotent producer with acks=all and one request in flight.
// It is safe for concurrent use.
type Producer struct {
	cfg Config
	log *slog.Logger

	mu     sync.RWMutex
	client *kgo.Client
}

// Open makes a producer. It does not connect: a broker that is away is no
// reason not to start.
func Open(_ context.Context, cfg Config, log *slog.Logger) (*Producer, error) {
	p := &Producer{cfg: cfg, log: log}
	client, err := p.newClient()
	if err != nil {
		return nil, err
	}
	p.client = client
	return p, nil
}

func (p *Producer) newClient() (*kgo.Client, error) {
	client, err := kgo.NewClient(
		kgo.SeedBrokers(p.cfg.Brokers...),
		kgo.ClientID(p.cfg.ClientID),
		// Fixed on purpose: order per key and no loss depend on them.
		kgo.RequiredAcks(kgo.AllISRAcks()),
		kgo.MaxProduceRequestsInflightPerBroker(1),
		kgo.RecordPartitioner(kgo.StickyKeyPartitioner(nil)), // the hash of Kafka's own clients
		kgo.ProducerBatchMaxBytes(int32(p.cfg.MaxRecordBytes)),
		kgo.RecordDeliveryTimeout(p.cfg.ProduceTimeout),
		kgo.MaxBufferedRecords(maxBuffered),
		kgo.ProducerLinger(0),
		// A topic that is missing is an answer, not something to wait for.
		kgo.UnknownTopicRetries(3),
	)
	if err != nil {
		return nil, fmt.Errorf("configure the Kafka client: %w", err)
	}
	return client, nil
}

// Produce sends records in order and returns when each is acknowledged or
// failed, after ProduceTimeout at the latest. An error of class RecordError
// belongs to the record. Any other means that the outcome is not known: the
// caller sends the same records again, and nothing that follows them before.
// The client is then replaced, so that nothing of the batch can still be sent
// behind the caller's back.
func (p *Producer) Produce(ctx context.Context, records []Record) []Ack {
	acks := make([]Ack, len(records))
	client := p.current()
	var wg sync.WaitGroup
	for i, r := range records {
		if size := r.size(); size > p.cfg.MaxRecordBytes {
			acks[i].Err = &TooLargeError{Bytes: size, Limit: p.cfg.MaxRecordBytes}
			continue
		}
		wg.Add(1)
		client.Produce(ctx, r.kgo(), func(sent *kgo.Record, err error) {
			acks[i] = Ack{Partition: sent.Partition, Offset: sent.Offset, Err: err}
			wg.Done()
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	// The client itself never gives up a record that may have been written; so
	// the wait is bounded here, and closing the client ends what is left.
	timer := time.NewTimer(p.cfg.ProduceTimeout)
	defer timer.Stop()
	select {
	case <-done:
	case <-ctx.Done():
	case <-timer.C:
	}
	select {
	case <-done:
	default:
		p.replace(client)
		<-done
	}
	for _, a := range acks {
		if class, _ := Classify(a.Err); a.Err != nil && class != RecordError {
			p.replace(client)
			break
		}
	}
	return acks
}

func (p *Producer) current() *kgo.Client {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.client
}

// replace closes a client that failed and makes a new one, unless somebody
// has done so already.
func (p *Producer) replace(failed *kgo.Client) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.client != failed {
		return
	}
	client, err := p.newClient()
	if err != nil {
		p.log.Error("the Kafka client is not replaced", "err", err)
		return
	}
	failed.Close()
	p.client = client
}

// Close ends the producer.
func (p *Producer) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.client.Close()
}

// Check tells whether events can be delivered: a broker answers, it knows
// idempotent producers, the topics exist.
func (p *Producer) Check(ctx context.Context, topics ...string) error {
	client := p.current()
	resp, err := kmsg.NewPtrApiVersionsRequest().RequestWith(ctx, client)
	if err != nil {
		return fmt.Errorf("ask %s for its versions: %w", strings.Join(p.cfg.Brokers, ","), err)
	}
	idempotent := slices.ContainsFunc(resp.ApiKeys, func(k kmsg.ApiVersionsResponseApiKey) bool {
		return k.ApiKey == kmsg.InitProducerID.Int16()
	})
	if !idempotent {
		return errors.New("the broker does not know InitProducerId: idempotent producers need Kafka 0.11 or later")
	}
	found, err := kadm.NewClient(client).ListTopics(ctx, topics...)
	if err != nil {
		return fmt.Errorf("look for topics %s: %w", strings.Join(topics, ", "), err)
	}
	for _, topic := range topics {
		switch d, ok := found[topic]; {
		case !ok || errors.Is(d.Err, kerr.UnknownTopicOrPartition):
			return fmt.Errorf("topic %s does not exist: create it, for instance with kafka-topics.sh --create --topic %s", topic, topic)
		case d.Err != nil:
			return fmt.Errorf("topic %s: %w", topic, d.Err)
		}
	}
	return nil
}

// EnsureTopics creates the topics that are missing. For brokers of our own only.
func (p *Producer) EnsureTopics(ctx context.Context, partitions int32, replication int16, topics ...string) error {
	made, err := kadm.NewClient(p.current()).CreateTopics(ctx, partitions, replication, nil, topics...)
	if err != nil {
		return fmt.Errorf("create topics: %w", err)
	}
	for topic, r := range made {
		if r.Err != nil && !errors.Is(r.Err, kerr.TopicAlreadyExists) {
			return fmt.Errorf("create topic %s: %w", topic, r.Err)
		}
	}
	return nil
}

// size is what the broker's limit is compared with, a little on the safe side.
func (r Record) size() int {
	const overhead = 128 // batch and record framing
	n := overhead + len(r.Key) + len(r.Value)
	for _, h := range r.Headers {
		n += len(h.Key) + len(h.Value) + 8
	}
	return n
}

func (r Record) kgo() *kgo.Record {
	out := &kgo.Record{Topic: r.Topic, Key: r.Key, Value: r.Value}
	for _, h := range r.Headers {
		out.Headers = append(out.Headers, kgo.RecordHeader{Key: h.Key, Value: []byte(h.Value)})
	}
	return out
}

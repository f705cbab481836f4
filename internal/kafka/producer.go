// Package kafka hands events to Kafka: one producer whose guarantees are not
// configurable, and an embedded broker for trials.
package kafka

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Config says which brokers, and the limits of a record. There is no key for
// what order and safety depend on.
type Config struct {
	Brokers        []string
	ClientID       string
	ProduceTimeout time.Duration // longest a call of Produce takes
	MaxRecordBytes int           // key, value and headers of one record; also of one batch
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

const (
	// maxFlight bounds how many records are handed to the client at once.
	maxFlight = 5_000
	// recordRetries is how often the client tries again by itself, some ten
	// seconds, before it gives the broker's own error back. It does not give
	// up a record that may have been written.
	recordRetries = 8
	// metadataMinAge is how long a retry waits at least for newer metadata.
	metadataMinAge = time.Second
	// adminRetries keeps questions short: the caller asks again anyway, and an
	// answer that comes in time says what is wrong.
	adminRetries = 2
	// A topic that is missing is an answer, not something to wait for.
	unknownTopicRetries = 3
	dialTimeout         = 10 * time.Second
)

// Producer is an idempotent producer with acks=all and one request in flight.
// It is safe for concurrent use; calls for the same topic take turns, calls for
// different topics have nothing to do with each other.
type Producer struct {
	cfg    Config
	log    *slog.Logger
	closed context.Context
	close  context.CancelFunc
	admin  *kgo.Client // questions; never produces

	mu    sync.Mutex
	lanes map[string]*lane // by topic
}

// Open makes a producer. It does not connect: a broker that is away is no
// reason not to start.
func Open(_ context.Context, cfg Config, log *slog.Logger) (*Producer, error) {
	switch {
	case len(cfg.Brokers) == 0:
		return nil, errors.New("configure the Kafka client: no brokers")
	case cfg.ProduceTimeout <= 0:
		return nil, fmt.Errorf("configure the Kafka client: produce timeout %s: expected more than 0", cfg.ProduceTimeout)
	}
	p := &Producer{cfg: cfg, log: log, lanes: make(map[string]*lane)}
	admin, err := p.newClient(kgo.RequestRetries(adminRetries))
	if err != nil {
		return nil, err
	}
	p.admin = admin
	p.closed, p.close = context.WithCancel(context.Background())
	return p, nil
}

func (p *Producer) newClient(more ...kgo.Opt) (*kgo.Client, error) {
	client, err := kgo.NewClient(append(more,
		kgo.SeedBrokers(p.cfg.Brokers...),
		kgo.ClientID(p.cfg.ClientID),
		kgo.Dialer(dial),
		kgo.MetadataMinAge(metadataMinAge),
		// Fixed on purpose: order per key and no loss depend on them.
		kgo.RequiredAcks(kgo.AllISRAcks()),
		kgo.MaxProduceRequestsInflightPerBroker(1),
		kgo.RecordPartitioner(kgo.StickyKeyPartitioner(nil)), // the hash of Kafka's own clients
		kgo.ProducerBatchMaxBytes(int32(p.cfg.MaxRecordBytes)),
		kgo.ManualFlushing(), // a lane decides what is sent together
		kgo.MaxBufferedRecords(maxFlight),
		kgo.RecordRetries(recordRetries),
		kgo.UnknownTopicRetries(unknownTopicRetries),
		// The broker forgot this producer, or lost records. The client goes on
		// under a new epoch, the batch in question first: order holds, a
		// repeat of that batch may be seen.
		kgo.ProducerOnDataLossDetected(func(topic string, partition int32) {
			p.log.Warn("the broker lost track of this producer; it goes on under a new epoch", "topic", topic, "partition", partition)
		}),
	)...)
	if err != nil {
		return nil, fmt.Errorf("configure the Kafka client: %w", err)
	}
	return client, nil
}

// dial connects so that closing discards what the kernel has not yet
// delivered. Otherwise a request that was given up could still arrive when a
// broken network heals, behind records that were sent after it: a resend has a
// new producer id, so the broker would not know it for a repeat.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		if err := tcp.SetLinger(0); err != nil {
			return nil, errors.Join(fmt.Errorf("prepare the connection to %s: %w", address, err), conn.Close())
		}
	}
	return conn, nil
}

// Produce sends records in order and returns when each is acknowledged or
// failed, after ProduceTimeout at the latest. What an error means:
//
//   - Class RecordError: the broker refuses this record for its own sake, it is
//     not written. One that is too large (TooLarge) does not hold up others.
//   - Any other: unknown, or not sent because a record before it was not
//     delivered (HeldError). The caller sends the same records again, in the
//     same order, and nothing that follows them before.
//
// Nothing of a topic is sent past a record that failed, except to other
// partitions in the same request, where it does not matter for the order of a
// key; what was acknowledged there is reported so. After an unknown outcome the
// client is given up, so that nothing of the call can be sent later. What
// reached the broker before may still be written: the resend is then a repeat
// with the same dedup id.
func (p *Producer) Produce(ctx context.Context, records []Record) []Ack {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(p.closed, func() { cancel(kgo.ErrClientClosed) })()
	ctx, done := context.WithTimeoutCause(ctx, p.cfg.ProduceTimeout,
		fmt.Errorf("no acknowledgement within %s: %w", p.cfg.ProduceTimeout, context.DeadlineExceeded))
	defer done()

	topics := make(map[string][]int)
	for i, r := range records {
		topics[r.Topic] = append(topics[r.Topic], i)
	}
	acks := make([]Ack, len(records))
	var wg sync.WaitGroup
	for topic, which := range topics {
		wg.Go(func() { p.lane(topic).deliver(ctx, records, acks, which) })
	}
	wg.Wait()
	return acks
}

func (p *Producer) lane(topic string) *lane {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.lanes[topic]
	if l == nil {
		l = &lane{p: p, turn: make(chan struct{}, 1)}
		p.lanes[topic] = l
	}
	return l
}

// Close ends the producer. Calls that are under way return; what they had not
// seen acknowledged is unknown.
func (p *Producer) Close() {
	p.close()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.lanes {
		l.turn <- struct{}{}
		l.reset()
		<-l.turn
	}
	p.admin.Close()
}

// Check tells whether events can be delivered: a broker answers, it knows
// idempotent producers, the topics exist.
func (p *Producer) Check(ctx context.Context, topics ...string) error {
	resp, err := kmsg.NewPtrApiVersionsRequest().RequestWith(ctx, p.admin)
	if err != nil {
		return fmt.Errorf("ask %s for its versions: %w", strings.Join(p.cfg.Brokers, ","), err)
	}
	idempotent := slices.ContainsFunc(resp.ApiKeys, func(k kmsg.ApiVersionsResponseApiKey) bool {
		return k.ApiKey == kmsg.InitProducerID.Int16()
	})
	if !idempotent {
		return errors.New("the broker does not know InitProducerId: idempotent producers need Kafka 0.11 or later")
	}
	found, err := kadm.NewClient(p.admin).ListTopics(ctx, topics...)
	if err != nil {
		return fmt.Errorf("look for topics %s: %w", strings.Join(topics, ", "), err)
	}
	for _, topic := range topics {
		switch d, ok := found[topic]; {
		case !ok || errors.Is(d.Err, kerr.UnknownTopicOrPartition):
			return fmt.Errorf("topic %s does not exist: create it, for instance with kafka-topics.sh --bootstrap-server %s --create --topic %s --partitions 12",
				topic, strings.Join(p.cfg.Brokers, ","), topic)
		case d.Err != nil:
			return fmt.Errorf("topic %s: %w", topic, d.Err)
		}
	}
	return nil
}

// EnsureTopics creates the topics that are missing. For brokers of our own only.
func (p *Producer) EnsureTopics(ctx context.Context, partitions int32, replication int16, topics ...string) error {
	made, err := kadm.NewClient(p.admin).CreateTopics(ctx, partitions, replication, nil, topics...)
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

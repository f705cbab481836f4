package kafka_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"msgexchange/internal/kafka"
)

// one is kfake with a topic of one partition.
func one(t *testing.T, topic string, opts ...kfake.Opt) *kfake.Cluster {
	t.Helper()
	return fake(t, topic, append(opts, kfake.SeedTopics(1, topic))...)
}

// noise returns bytes that do not compress.
func noise(t *testing.T, n int) []byte {
	t.Helper()
	b := make([]byte, n)
	if _, err := rand.Read(b); err != nil {
		t.Fatal(err)
	}
	return b
}

// holds tells whether a batch of the request has the value.
func holds(req kmsg.Request, value string) bool {
	for _, topic := range req.(*kmsg.ProduceRequest).Topics {
		for _, part := range topic.Partitions {
			var batch kmsg.RecordBatch
			if err := batch.ReadFrom(part.Records); err != nil {
				return false
			}
			list, err := kfake.BatchRecords(batch)
			if err != nil {
				return false
			}
			if slices.ContainsFunc(list, func(r kmsg.Record) bool { return string(r.Value) == value }) {
				return true
			}
		}
	}
	return false
}

// TestRefused: the broker refuses one record for its own sake, and with it the
// whole batch. Those before it are delivered, it alone is to blame, nothing
// overtakes it; without it the rest follows.
func TestRefused(t *testing.T) {
	for _, bad := range []int{0, 1, 57, 98, 99} {
		t.Run(fmt.Sprint(bad), func(t *testing.T) {
			c := one(t, "refused")
			c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Topic: "refused", Err: kerr.InvalidRecord, Count: -1,
				When: func(req kmsg.Request) bool { return holds(req, fmt.Sprint(bad)) }})
			p := open(t, c.ListenAddrs(), func(c *kafka.Config) { c.MaxRecordBytes = 1 << 20 })
			list := records("refused", 100)
			acks := p.Produce(t.Context(), list)
			for i, a := range acks {
				class, why := kafka.Classify(a.Err)
				var held *kafka.HeldError
				switch {
				case i < bad && a.Err != nil, i == bad && class != kafka.RecordError,
					i > bad && (class != kafka.Environment || why == "" || !errors.As(a.Err, &held) || !errors.Is(held.Cause, kerr.InvalidRecord)):
					t.Fatalf("record %d: %v", i, a.Err)
				}
			}
			acked(t, p.Produce(t.Context(), list[bad+1:]))
			want := values(nil)
			for i := range list {
				if i != bad {
					want = append(want, fmt.Sprint(i))
				}
			}
			if got := values(read(t, c.ListenAddrs(), "refused")); !slices.Equal(got, want) {
				t.Errorf("%v", got)
			}
		})
	}
}

// TestTogether: what fits goes in one request, after the first record of a new
// client, which goes alone. More requests would mean that records are sent
// before it is known what became of those before them.
func TestTogether(t *testing.T) {
	c := one(t, "together")
	h := c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Topic: "together", Count: -1, Observe: true})
	for round := range 100 {
		p := open(t, c.ListenAddrs(), func(c *kafka.Config) { c.MaxRecordBytes = 1 << 20 })
		for call := range 2 {
			before := h.Hits()
			acked(t, p.Produce(t.Context(), records("together", 500)))
			if n := h.Hits() - before; n != 2-call {
				t.Fatalf("round %d, call %d: %d requests", round, call, n)
			}
		}
		p.Close()
	}
}

// TestTopicLimit: the topic takes less than we are configured for. A batch that
// is too large for it goes in smaller ones; a record that is too large for it
// is settled, and those behind it follow.
func TestTopicLimit(t *testing.T) {
	brokers, topic := broker(t)
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers...))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	limit := "2000"
	made, err := kadm.NewClient(client).CreateTopic(t.Context(), 1, 1, map[string]*string{"max.message.bytes": &limit}, topic+".small")
	if err = errors.Join(err, made.Err); err != nil {
		t.Fatal(err)
	}
	list := records(topic+".small", 20)
	for i := range list {
		list[i].Value = noise(t, 300)
	}
	list[7].Value = noise(t, 5000)
	acks := open(t, brokers).Produce(t.Context(), list)
	if !kafka.TooLarge(acks[7].Err) {
		t.Errorf("the large one: %v", acks[7].Err)
	}
	list, acks = slices.Delete(list, 7, 8), slices.Delete(acks, 7, 8)
	acked(t, acks)
	got := read(t, brokers, topic+".small")
	if len(got) != len(list) {
		t.Fatalf("%d records", len(got))
	}
	for i, c := range got {
		if !bytes.Equal(c.Value, list[i].Value) {
			t.Fatalf("record %d is another one", i)
		}
	}
}

// TestPartitionFails: one partition does not take records. What was
// acknowledged in others is reported so; nothing is sent after that request,
// also not what is too large; once it takes them again, order holds.
func TestPartitionFails(t *testing.T) {
	c := fake(t, "partition")
	p := open(t, c.ListenAddrs())
	acked(t, p.Produce(t.Context(), []kafka.Record{{Topic: "partition", Key: []byte("first"), Value: []byte("-1")}}))
	h := c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Topic: "partition", Partitions: []int32{0, 1, 2}, Err: kerr.TopicAuthorizationFailed, Count: -1})
	list := make([]kafka.Record, 200) // some 30 a request
	for i := range list {
		list[i] = kafka.Record{Topic: "partition", Key: fmt.Append(nil, i%20), Value: fmt.Append(nil, i), Headers: make([]kafka.Header, 10)}
	}
	list[199].Value = make([]byte, 20_000)
	acks := p.Produce(t.Context(), list)
	var again []kafka.Record
	delivered := 0
	for i, a := range acks {
		class, _ := kafka.Classify(a.Err)
		switch {
		case a.Err == nil && a.Partition == 3 && i < 100:
			delivered++
		case a.Err == nil || class != kafka.Environment:
			t.Fatalf("record %d: %+v", i, a)
		default:
			again = append(again, list[i])
		}
	}
	if n := len(read(t, c.ListenAddrs(), "partition")); delivered == 0 || n != delivered+1 {
		t.Fatalf("%d acknowledged, %d there", delivered, n)
	}
	h.Remove()
	again = again[:len(again)-1]
	acked(t, p.Produce(t.Context(), again))
	last := make(map[string]int)
	all := read(t, c.ListenAddrs(), "partition")
	for _, r := range all {
		var i int
		if _, err := fmt.Sscan(string(r.Value), &i); err != nil {
			t.Fatal(err)
		}
		if before, ok := last[string(r.Key)]; ok && i <= before {
			t.Fatalf("key %s: %d behind %d", r.Key, i, before)
		}
		last[string(r.Key)] = i
	}
	if len(all) != 1+199 {
		t.Errorf("%d records", len(all))
	}
}

// TestUnknown: the broker writes, but does not say so. The outcome is unknown,
// and the resend is a repeat that is recognised by its id.
func TestUnknown(t *testing.T) {
	c := one(t, "unknown")
	p := open(t, c.ListenAddrs(), func(c *kafka.Config) { c.ProduceTimeout = 2 * time.Second })
	list := records("unknown", 6)
	acked(t, p.Produce(t.Context(), list[:1]))
	h := c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Topic: "unknown", Err: kerr.RequestTimedOut, Count: -1})
	for i, a := range p.Produce(t.Context(), list[1:5]) {
		if class, _ := kafka.Classify(a.Err); a.Err == nil || class != kafka.Environment || !strings.Contains(a.Err.Error(), "no acknowledgement within 2s") {
			t.Fatalf("record %d: %v", i, a.Err)
		}
	}
	h.Remove()
	acked(t, p.Produce(t.Context(), list[1:]))
	got := read(t, c.ListenAddrs(), "unknown")
	if want := []string{"0", "1", "2", "3", "4", "1", "2", "3", "4", "5"}; !slices.Equal(values(got), want) {
		t.Fatalf("%v", values(got))
	}
	for i := 1; i < 5; i++ {
		if id := got[i].Header("ce_id"); id == "" || id != got[i+4].Header("ce_id") {
			t.Errorf("record %d is not recognised: %q", i, id)
		}
	}
}

// TestNotEnoughReplicas: a broker that cannot take records now says why.
func TestNotEnoughReplicas(t *testing.T) {
	c := one(t, "replicas")
	c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Topic: "replicas", Err: kerr.NotEnoughReplicas, Count: -1})
	a := open(t, c.ListenAddrs()).Produce(t.Context(), records("replicas", 1))
	if class, _ := kafka.Classify(a[0].Err); class != kafka.Environment || !errors.Is(a[0].Err, kerr.NotEnoughReplicas) {
		t.Errorf("%v", a[0].Err)
	}
}

// TestForgotten: the broker forgets an idle producer, or its sequence. Delivery
// goes on without a restart, and the log says so.
func TestForgotten(t *testing.T) {
	for _, code := range []*kerr.Error{kerr.UnknownProducerID, kerr.OutOfOrderSequenceNumber, kerr.InvalidProducerEpoch} {
		t.Run(code.Message, func(t *testing.T) {
			c := one(t, "forgotten")
			var log syncBuffer
			p, err := kafka.Open(t.Context(), kafka.Config{Brokers: c.ListenAddrs(), ProduceTimeout: 20 * time.Second, MaxRecordBytes: 10_000},
				slog.New(slog.NewTextHandler(&log, nil)))
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			acked(t, p.Produce(t.Context(), records("forgotten", 2)))
			h := c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Topic: "forgotten", Err: code})
			acked(t, p.Produce(t.Context(), records("forgotten", 4)[2:]))
			if h.Hits() != 1 {
				t.Errorf("the broker forgot it %d times", h.Hits())
			}
			acked(t, p.Produce(t.Context(), records("forgotten", 6)[4:]))
			if got := values(read(t, c.ListenAddrs(), "forgotten")); !slices.Equal(got, []string{"0", "1", "2", "3", "4", "5"}) {
				t.Errorf("%v", got)
			}
			for deadline := time.Now().Add(10 * time.Second); !strings.Contains(log.String(), "the broker lost track of this producer"); {
				if time.Now().After(deadline) {
					t.Fatalf("the log does not say so: %s", log.String())
				}
				time.Sleep(10 * time.Millisecond)
			}
		})
	}
}

// TestForgottenForGood: it does not recover within the call. The next call has
// a new client, and does.
func TestForgottenForGood(t *testing.T) {
	c := one(t, "forgotten")
	p := open(t, c.ListenAddrs())
	h := c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Topic: "forgotten", Err: kerr.UnknownProducerID, Count: -1})
	a := p.Produce(soon(t), records("forgotten", 1))
	if class, _ := kafka.Classify(a[0].Err); a[0].Err == nil || class == kafka.RecordError {
		t.Fatalf("%v", a[0].Err)
	}
	h.Remove()
	acked(t, p.Produce(t.Context(), records("forgotten", 1)))
}

// TestTopicsApart: trouble with one topic does not keep another waiting.
func TestTopicsApart(t *testing.T) {
	c := fake(t, "stuck")
	if err := c.CreateTopic("free", 1, nil); err != nil {
		t.Fatal(err)
	}
	h := c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Topic: "stuck", Err: kerr.RequestTimedOut, Count: -1})
	p := open(t, c.ListenAddrs())
	ctx, cancel := context.WithCancel(t.Context())
	stuck := make(chan []kafka.Ack)
	go func() { stuck <- p.Produce(ctx, records("stuck", 1)) }()
	if err := h.Wait(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	acked(t, p.Produce(t.Context(), records("free", 10)))
	select {
	case a := <-stuck:
		t.Fatalf("it was not stuck: %v", a[0].Err)
	default:
	}
	cancel()
	if a := <-stuck; !errors.Is(a[0].Err, context.Canceled) {
		t.Errorf("%v", a[0].Err)
	}
}

// TestNoProducerID: the broker refuses to make it a producer, which the client
// takes for final. It is not, once somebody has set the rights.
func TestNoProducerID(t *testing.T) {
	c := one(t, "rights")
	h := c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.InitProducerID}, TopLevel: true, Err: kerr.ClusterAuthorizationFailed, Count: -1})
	p := open(t, c.ListenAddrs())
	for i, a := range p.Produce(t.Context(), records("rights", 2)) {
		if class, _ := kafka.Classify(a.Err); class != kafka.Environment || a.Err == nil || !strings.Contains(a.Err.Error(), kerr.ClusterAuthorizationFailed.Message) {
			t.Errorf("record %d: %v", i, a.Err)
		}
	}
	h.Remove()
	acked(t, p.Produce(t.Context(), records("rights", 2)))
}

// TestClose: a call that is under way returns, and nothing is sent afterwards.
func TestClose(t *testing.T) {
	c := one(t, "close")
	var refuse atomic.Bool
	refuse.Store(true)
	tried := make(chan struct{}, 1)
	c.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		select {
		case tried <- struct{}{}:
		default:
		}
		return nil, errors.New("gone"), refuse.Load()
	})
	p := open(t, c.ListenAddrs(), func(c *kafka.Config) { c.ProduceTimeout = time.Hour })
	under := make(chan []kafka.Ack, 1)
	go func() { under <- p.Produce(t.Context(), records("close", 3)) }()
	<-tried
	closed := make(chan struct{})
	go func() { p.Close(); close(closed) }()
	select {
	case <-closed:
	case <-time.After(10 * time.Second):
		t.Fatal("it waits for the broker")
	}
	refuse.Store(false)
	for _, acks := range [][]kafka.Ack{<-under, p.Produce(t.Context(), records("close", 1)), p.Produce(t.Context(), records("other", 1))} {
		for i, a := range acks {
			if class, _ := kafka.Classify(a.Err); a.Err == nil || class == kafka.RecordError {
				t.Errorf("record %d: %v", i, a.Err)
			}
		}
	}
	if n := len(read(t, c.ListenAddrs(), "close")); n != 0 {
		t.Errorf("%d records", n)
	}
}

// TestSlowNetwork: a request is stuck on its way when it is given up. It must
// not arrive later, behind what was sent after it.
func TestSlowNetwork(t *testing.T) {
	var net slowNet
	c := one(t, "slow", kfake.ListenFn(net.listen))
	p := open(t, c.ListenAddrs(), func(c *kafka.Config) { c.MaxRecordBytes = 1 << 20 })
	value := func(v string) kafka.Record {
		return kafka.Record{Topic: "slow", Key: []byte("1"), Value: append([]byte(v), noise(t, 600_000)...)}
	}
	first, second, third := value("1"), value("2"), value("3")
	acked(t, p.Produce(t.Context(), []kafka.Record{first}))
	heal := net.stall()
	if a := p.Produce(soon(t), []kafka.Record{second}); a[0].Err == nil {
		t.Fatal("it was not stuck")
	}
	acked(t, p.Produce(t.Context(), []kafka.Record{second, third}))
	heal()
	acked(t, p.Produce(t.Context(), []kafka.Record{third}))
	time.Sleep(300 * time.Millisecond) // for what should not come
	var got []byte
	for _, r := range read(t, c.ListenAddrs(), "slow") {
		got = append(got, r.Value[0])
	}
	if string(got) != "1233" {
		t.Errorf("%s", got)
	}
}

// slowNet makes listeners whose connections can get stuck.
type slowNet struct {
	mu    sync.Mutex
	conns []*slowConn
}

func (n *slowNet) listen(network, address string) (net.Listener, error) {
	small := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		// What is sent stays with the sender.
		var err error
		return errors.Join(c.Control(func(fd uintptr) { err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4096) }), err)
	}}
	l, err := small.Listen(context.Background(), network, address)
	if err != nil {
		return nil, err
	}
	return &slowListener{l, n}, nil
}

// stall stops what is connected now, until heal is called; heal waits until
// nothing more can come out of it.
func (n *slowNet) stall() (heal func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	stuck := n.conns
	n.conns = nil
	for _, c := range stuck {
		c.mu.Lock()
	}
	return func() {
		for _, c := range stuck {
			c.mu.Unlock()
			if c.stopped.Load() {
				continue
			}
			<-c.ended
		}
	}
}

type slowListener struct {
	net.Listener
	net *slowNet
}

func (l *slowListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	s := &slowConn{Conn: c, ended: make(chan struct{})}
	l.net.mu.Lock()
	l.net.conns = append(l.net.conns, s)
	l.net.mu.Unlock()
	return s, nil
}

type slowConn struct {
	net.Conn
	mu      sync.Mutex // held while it is stuck
	stopped atomic.Bool
	ended   chan struct{}
}

func (c *slowConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b[:min(len(b), 1024)])
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil && !c.stopped.Swap(true) {
		close(c.ended)
	}
	return n, err
}

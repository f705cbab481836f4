package kafka

import (
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// lane delivers one topic. It has a client of its own, so that trouble with
// one topic does not take records of another with it.
//
// The client is told what to send together: so much that it is one batch for
// each partition. A batch that is refused or lost is then known before anything
// behind it is sent. (Left alone, the client goes on with records that are
// produced while it fails those before them.) The first record of a new client
// goes alone: until the client knows the partitions, it would send what is
// handed over together in several batches.
type lane struct {
	p       *Producer
	turn    chan struct{} // held by the call that sends
	client  *kgo.Client   // nil: none yet, or given up
	trouble trouble
}

// shipment is one call's part in one topic.
type shipment struct {
	*lane
	records []Record
	acks    []Ack // of the same records
	cause   error // what stopped it
}

// deliver sends the named records, in order, and fills in their acks.
func (l *lane) deliver(ctx context.Context, records []Record, acks []Ack, which []int) {
	s := &shipment{lane: l, records: records, acks: acks}
	s.hold(which)
	defer func() {
		for _, i := range which {
			if held, ok := acks[i].Err.(*HeldError); ok {
				held.Cause = s.cause
			}
		}
	}()
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
	case <-ctx.Done():
		s.cause = context.Cause(ctx)
		return
	}
	limit := l.p.cfg.MaxRecordBytes
	for len(which) > 0 {
		if size := records[which[0]].size(); size > limit {
			acks[which[0]].Err = &TooLargeError{Bytes: size, Limit: limit}
			which = which[1:]
			continue
		}
		most := min(len(which), maxFlight)
		if l.client == nil {
			most = 1
		}
		n, bytes := 0, 0
		for n < most {
			bytes += records[which[n]].size()
			if bytes > limit {
				break
			}
			n++
		}
		if !s.send(ctx, which[:n]) {
			return
		}
		which = which[n:]
	}
}

// hold marks records as not sent.
func (s *shipment) hold(which []int) {
	for _, i := range which {
		s.acks[i] = Ack{Partition: -1, Offset: -1, Err: &HeldError{}}
	}
}

// send sends records that are one batch for each partition, and tells whether
// what follows them may be sent: each is acknowledged, or is too large.
func (s *shipment) send(ctx context.Context, which []int) bool {
	s.flush(ctx, which)
	var refused [][]int // batches, by partition
	place := make(map[int32]int)
	for _, i := range which {
		a := s.acks[i]
		if a.Err == nil {
			continue
		}
		if class, _ := Classify(a.Err); class != RecordError {
			if s.cause == nil {
				s.cause = a.Err
			}
			continue
		}
		at, ok := place[a.Partition]
		if !ok {
			at = len(refused)
			place[a.Partition] = at
			refused = append(refused, nil)
		}
		refused[at] = append(refused[at], i)
	}
	// One record makes the broker refuse its whole batch: halves tell which.
	refusals := make([]error, len(refused))
	for n, batch := range refused {
		refusals[n] = s.acks[batch[0]].Err
		if len(batch) > 1 {
			s.hold(batch)
		}
	}
	if s.cause != nil {
		s.reset()
		return false
	}
	for n, batch := range refused {
		if len(batch) > 1 {
			s.p.log.WarnContext(ctx, "a batch was refused, it is sent again in halves",
				"topic", s.records[batch[0]].Topic, "records", len(batch), "err", refusals[n])
			half := len(batch) / 2
			if !s.send(ctx, batch[:half]) || !s.send(ctx, batch[half:]) {
				return false
			}
			continue
		}
		// One that is too large is settled; another will be tried again, and
		// must not be overtaken.
		if !TooLarge(refusals[n]) {
			s.cause = refusals[n]
			return false
		}
	}
	return true
}

// flush hands records to the client and waits for them. When the wait ends
// before, the client is closed: it would never give up a record that may have
// been written.
func (s *shipment) flush(ctx context.Context, which []int) {
	if s.client == nil {
		client, err := s.newClient()
		if err != nil {
			s.cause = err
			return
		}
		s.client = client
	}
	var wg sync.WaitGroup
	for _, i := range which {
		wg.Add(1)
		s.client.Produce(ctx, s.records[i].kgo(), func(sent *kgo.Record, err error) {
			s.acks[i] = Ack{Partition: sent.Partition, Offset: sent.Offset, Err: err}
			wg.Done()
		})
	}
	if err := s.client.Flush(ctx); err != nil {
		s.reset()
	}
	wg.Wait()
	if ctx.Err() == nil {
		return
	}
	err := context.Cause(ctx)
	if last := s.trouble.last.Load(); last != nil {
		err = fmt.Errorf("%w; %s", err, *last)
	}
	for _, i := range which {
		if class, _ := Classify(s.acks[i].Err); s.acks[i].Err != nil && class != RecordError {
			s.acks[i].Err = err
		}
	}
}

func (l *lane) newClient() (*kgo.Client, error) {
	if err := l.p.closed.Err(); err != nil {
		return nil, kgo.ErrClientClosed
	}
	l.trouble.last.Store(nil)
	return l.p.newClient(kgo.WithHooks(&l.trouble))
}

// reset gives the client up, with all that it holds.
func (l *lane) reset() {
	if l.client != nil {
		l.client.Close()
		l.client = nil
	}
}

// trouble remembers what is wrong with a connection, for the error of a record
// that was given up. It is a hook of the client.
type trouble struct{ last atomic.Pointer[string] }

var _ interface {
	kgo.HookBrokerConnect
	kgo.HookBrokerE2E
} = (*trouble)(nil)

func (t *trouble) OnBrokerConnect(b kgo.BrokerMetadata, _ time.Duration, _ net.Conn, err error) {
	t.note(b, err)
}

func (t *trouble) OnBrokerE2E(b kgo.BrokerMetadata, _ int16, e2e kgo.BrokerE2E) { t.note(b, e2e.Err()) }

func (t *trouble) note(b kgo.BrokerMetadata, err error) {
	if err == nil {
		t.last.Store(nil)
		return
	}
	text := fmt.Sprintf("broker %s:%d: %v", b.Host, b.Port, err)
	t.last.Store(&text)
}

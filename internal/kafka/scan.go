package kafka

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Consumed is a record read back. A tombstone's Value is nil.
type Consumed struct {
	Partition int32
	Offset    int64
	Key       []byte
	Value     []byte
	Headers   []Header
}

// Header returns the value of a header, "" when there is none.
func (c Consumed) Header(key string) string {
	for _, h := range c.Headers {
		if h.Key == key {
			return h.Value
		}
	}
	return ""
}

// Scan calls each for every record of a topic, from its beginning to the end
// it had when Scan began; within a partition in order.
func Scan(ctx context.Context, brokers []string, topic string, each func(Consumed) error) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers...))
	if err != nil {
		return fmt.Errorf("configure the Kafka client: %w", err)
	}
	defer client.Close()
	ends, err := kadm.NewClient(client).ListEndOffsets(ctx, topic)
	if err == nil {
		err = ends.Error()
	}
	if err != nil {
		return fmt.Errorf("find the end of topic %s: %w", topic, err)
	}
	left := make(map[int32]int64)
	from := make(map[int32]kgo.Offset)
	ends.Each(func(o kadm.ListedOffset) {
		if o.Offset > 0 {
			left[o.Partition] = o.Offset
			from[o.Partition] = kgo.NewOffset().AtStart()
		}
	})
	client.AddConsumePartitions(map[string]map[int32]kgo.Offset{topic: from})
	for len(left) > 0 {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			return fmt.Errorf("read topic %s: %w", topic, err)
		}
		for r := range fetches.RecordsAll() {
			end, ok := left[r.Partition]
			if !ok || r.Offset >= end {
				continue
			}
			c := Consumed{Partition: r.Partition, Offset: r.Offset, Key: r.Key, Value: r.Value}
			for _, h := range r.Headers {
				c.Headers = append(c.Headers, Header{Key: h.Key, Value: string(h.Value)})
			}
			if err := each(c); err != nil {
				return err
			}
			if r.Offset == end-1 {
				delete(left, r.Partition)
			}
		}
	}
	return nil
}

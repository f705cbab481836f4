package kafka

import (
	"context"
	"errors"
	"fmt"
	"time"

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

const (
	// scanIdle is how long Scan waits for the next record.
	scanIdle = 30 * time.Second
	// maxReadAll is how many records ReadAll holds in memory.
	maxReadAll = 1_000_000
)

// ReadAll returns what Scan finds. It fails beyond a million records.
func ReadAll(ctx context.Context, brokers []string, topic string) ([]Consumed, error) {
	var all []Consumed
	err := Scan(ctx, brokers, topic, func(c Consumed) error {
		if len(all) == maxReadAll {
			return fmt.Errorf("topic %s has more than %d records, too many to hold", topic, maxReadAll)
		}
		all = append(all, c)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// Scan calls each for every record of a topic, from its beginning to the end
// it had when Scan began; within a partition in order. It ends with the first
// error of each, and fails when no record comes for 30 s: a broker that hangs,
// or a topic whose last records were deleted meanwhile.
func Scan(ctx context.Context, brokers []string, topic string, each func(Consumed) error) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers...))
	if err != nil {
		return fmt.Errorf("configure the Kafka client: %w", err)
	}
	defer client.Close()
	left, err := bounds(ctx, kadm.NewClient(client), topic)
	if err != nil {
		return err
	}
	from := make(map[int32]kgo.Offset)
	for partition := range left {
		from[partition] = kgo.NewOffset().AtStart()
	}
	client.AddConsumePartitions(map[string]map[int32]kgo.Offset{topic: from})
	for len(left) > 0 {
		poll, cancel := context.WithTimeout(ctx, scanIdle)
		fetches := client.PollFetches(poll)
		cancel()
		if err := fetches.Err(); err != nil {
			if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
				return fmt.Errorf("read topic %s: no record for %s, %d partitions are not at their end", topic, scanIdle, len(left))
			}
			return fmt.Errorf("read topic %s: %w", topic, err)
		}
		for r := range fetches.RecordsAll() {
			end, ok := left[r.Partition]
			if !ok {
				continue
			}
			if r.Offset < end {
				if err := each(consumed(r)); err != nil {
					return err
				}
			}
			if r.Offset >= end-1 {
				delete(left, r.Partition)
			}
		}
	}
	return nil
}

// bounds returns where each partition ends that has records.
func bounds(ctx context.Context, admin *kadm.Client, topic string) (map[int32]int64, error) {
	starts, err := admin.ListStartOffsets(ctx, topic)
	if err == nil {
		err = starts.Error()
	}
	if err != nil {
		return nil, fmt.Errorf("find the beginning of topic %s: %w", topic, err)
	}
	ends, err := admin.ListEndOffsets(ctx, topic)
	if err == nil {
		err = ends.Error()
	}
	if err != nil {
		return nil, fmt.Errorf("find the end of topic %s: %w", topic, err)
	}
	left := make(map[int32]int64)
	ends.Each(func(end kadm.ListedOffset) {
		if start, ok := starts.Lookup(topic, end.Partition); !ok || start.Offset < end.Offset {
			left[end.Partition] = end.Offset
		}
	})
	return left, nil
}

func consumed(r *kgo.Record) Consumed {
	c := Consumed{Partition: r.Partition, Offset: r.Offset, Key: r.Key, Value: r.Value}
	for _, h := range r.Headers {
		c.Headers = append(c.Headers, Header{Key: h.Key, Value: string(h.Value)})
	}
	return c
}

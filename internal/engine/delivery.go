package engine

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"msgexchange/gen"
	"msgexchange/internal/dberr"
	"msgexchange/internal/kafka"
)

const (
	targetMsg  = "KAFKA:msg"
	targetSchd = "KAFKA:schd"
)

// sending is one event on its way: its record, and what outbox_sent needs.
type sending struct {
	event   int64
	version int64
	record  kafka.Record
}

// checked looks at the broker before the first delivery to a topic: it must
// know idempotent producers, and the topic must exist.
type checked struct {
	e     *Engine
	topic string
	done  bool
}

func (c *checked) check(ctx context.Context) error {
	if c.done {
		return nil
	}
	call, cancel := context.WithTimeout(ctx, 2*callTimeout)
	defer cancel()
	if err := c.e.producer.Check(call, c.topic); err != nil {
		return fmt.Errorf("check Kafka: %w", err)
	}
	c.done = true
	return nil
}

// dispatcher delivers KAFKA:msg: every change, in order.
type dispatcher struct{ checked }

func (d *dispatcher) step(ctx context.Context) (round, error) {
	if err := d.check(ctx); err != nil {
		return round{}, err
	}
	limit := d.e.cfg.Pipeline.DeliveryBatch
	for range d.e.cfg.Pipeline.DeliveryDrainRounds {
		call, cancel := context.WithTimeout(ctx, callTimeout)
		rows, err := d.e.q.OutboxNextMsg(call, gen.OutboxNextMsgParams{Epoch: d.e.epoch, Now: d.e.clock.now(), Limit: int32(limit)})
		cancel()
		if err != nil {
			return round{}, fmt.Errorf("read the outbox of %s: %w", targetMsg, err)
		}
		if len(rows) == 0 {
			return round{}, nil
		}
		list := make([]sending, len(rows))
		for i, r := range rows {
			list[i] = sending{event: r.EventID, version: r.StateVersion, record: kafka.Record{
				Topic: d.topic, Key: key(r.PartitionKey), Value: r.Payload,
				Headers: kafka.Headers(kafka.Change, strconv.FormatInt(r.EventID, 10), d.e.source(), strconv.FormatInt(r.PartitionKey, 10), r.CreatedAt),
			}}
			if r.Requeues > 0 {
				list[i].record.Headers = append(list[i].record.Headers, kafka.Requeued(int(r.Requeues)))
			}
		}
		if err := d.e.send(ctx, targetMsg, list); err != nil {
			return round{}, err
		}
		if len(rows) < limit {
			return round{}, nil
		}
	}
	return round{again: true}, nil
}

// flusher delivers KAFKA:schd: the newest whole state of each changed flight.
type flusher struct{ checked }

func (f *flusher) step(ctx context.Context) (round, error) {
	if err := f.check(ctx); err != nil {
		return round{}, err
	}
	limit := f.e.cfg.Schd.FlushLimit
	call, cancel := context.WithTimeout(ctx, callTimeout)
	rows, err := f.e.q.OutboxNextSchd(call, gen.OutboxNextSchdParams{Epoch: f.e.epoch, Now: f.e.clock.now(), Limit: int32(limit)})
	cancel()
	if err != nil && dberr.Classify(err) == dberr.Message {
		return f.faults(ctx, err)
	}
	if err != nil {
		return round{}, fmt.Errorf("read the outbox of %s: %w", targetSchd, err)
	}
	if len(rows) == 0 {
		return round{}, nil
	}
	now := f.e.clock.now()
	list := make([]sending, len(rows))
	for i, r := range rows {
		kind := kafka.State
		if r.Document == nil {
			kind = kafka.Deleted
		}
		flid := strconv.FormatInt(r.Flid, 10)
		list[i] = sending{event: r.EventID, version: r.StateVersion, record: kafka.Record{
			Topic: f.topic, Key: key(r.Flid), Value: r.Document,
			Headers: kafka.Headers(kind, flid+":"+strconv.FormatInt(r.StateVersion, 10), f.e.source(), flid, now),
		}}
	}
	if err := f.e.send(ctx, targetSchd, list); err != nil {
		return round{}, err
	}
	return round{again: len(rows) == limit}, nil
}

// faults finds the flights whose document cannot be built, so that one of them
// does not keep the others; the failure counts against its event.
func (f *flusher) faults(ctx context.Context, cause error) (round, error) {
	call, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	faults, err := f.e.q.OutboxFaults(call, gen.OutboxFaultsParams{Epoch: f.e.epoch, Now: f.e.clock.now(), Limit: int32(f.e.cfg.Schd.FlushLimit)})
	if err != nil || len(faults) == 0 {
		return round{}, errors.Join(fmt.Errorf("read the outbox of %s: %w", targetSchd, cause), err)
	}
	failed := gen.OutboxFailedParams{Epoch: f.e.epoch, Target: targetSchd, Now: f.e.clock.now()}
	for _, fault := range faults {
		failed.EventIds = append(failed.EventIds, fault.EventID)
		failed.Errors = append(failed.Errors, fault.Error)
		failed.Final = append(failed.Final, false)
	}
	if err := f.e.refuse(ctx, failed); err != nil {
		return round{}, err
	}
	return round{again: true}, nil
}

// refuse records events that cannot be delivered for their own sake.
func (e *Engine) refuse(ctx context.Context, failed gen.OutboxFailedParams) error {
	call, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	rows, err := e.q.OutboxFailed(call, failed)
	if err != nil {
		return fmt.Errorf("record %d refused events of %s: %w", len(failed.EventIds), failed.Target, err)
	}
	for _, r := range rows {
		e.log.ErrorContext(ctx, "event refused", "event_id", r.EventID, "state", r.State, "attempts", r.Attempts, "error", r.LastError)
	}
	return nil
}

// send produces records in order and settles each: acknowledged, refused for
// itself, or unknown. An unknown one ends the round; it is sent again, with
// the same dedup id.
func (e *Engine) send(ctx context.Context, target string, list []sending) error {
	records := make([]kafka.Record, len(list))
	for i, s := range list {
		records[i] = s.record
	}
	began := e.mono()
	acks := e.producer.Produce(ctx, records)
	var (
		sent    gen.OutboxSentParams
		failed  gen.OutboxFailedParams
		unknown error
	)
	for i, ack := range acks {
		switch class, why := kafka.Classify(ack.Err); {
		case ack.Err == nil:
			sent.EventIds = append(sent.EventIds, list[i].event)
			sent.Versions = append(sent.Versions, list[i].version)
			sent.Partitions = append(sent.Partitions, ack.Partition)
			sent.Offsets = append(sent.Offsets, ack.Offset)
		case class == kafka.RecordError:
			failed.EventIds = append(failed.EventIds, list[i].event)
			failed.Errors = append(failed.Errors, ack.Err.Error())
			failed.Final = append(failed.Final, kafka.TooLarge(ack.Err))
		case unknown == nil:
			unknown = fmt.Errorf("deliver event %d to %s: %s: %w", list[i].event, list[i].record.Topic, why, ack.Err)
		}
	}
	now := e.clock.now()
	if len(sent.EventIds) > 0 {
		sent.Epoch, sent.Target, sent.Topic, sent.Now = e.epoch, target, records[0].Topic, now
		call, cancel := context.WithTimeout(ctx, callTimeout)
		defer cancel()
		r, err := e.q.OutboxSent(call, sent)
		if err != nil {
			return fmt.Errorf("settle %d events of %s from %d: %w", len(sent.EventIds), target, sent.EventIds[0], err)
		}
		e.log.InfoContext(ctx, "delivered", "target", target, "events", len(sent.EventIds), "from", sent.EventIds[0],
			"to", sent.EventIds[len(sent.EventIds)-1], "changed_meanwhile", r.StillPending, "took", e.mono().Sub(began).Round(time.Millisecond))
	}
	if len(failed.EventIds) > 0 {
		failed.Epoch, failed.Target, failed.Now = e.epoch, target, now
		if err := e.refuse(ctx, failed); err != nil {
			return err
		}
	}
	return unknown
}

func key(flid int64) []byte { return strconv.AppendInt(nil, flid, 10) }

package kafka

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Class says whose error a failed record is.
type Class int

// The classes. What is not known to be the record's own fault is the
// environment's: to wait for a broker that is never content is seen and mended,
// an event that went to the dead letters for a broker's trouble is lost.
const (
	Environment Class = iota // outcome unknown, or the broker's trouble: send the same again
	RecordError              // belongs to this record: counts against its event
	Fatal                    // the client lost its footing: send the same again with a new one
)

// TooLargeError reports a record that is over the limit; it was not sent.
type TooLargeError struct{ Bytes, Limit int }

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("the record has %d bytes, kafka.max-record-bytes allows %d", e.Bytes, e.Limit)
}

// HeldError reports a record that was not sent, because one before it was not
// delivered.
type HeldError struct{ Cause error } // of the one before; not wrapped: it is not this record's

func (e *HeldError) Error() string {
	return fmt.Sprintf("not sent, as a record before it was not delivered: %v", e.Cause)
}

// TooLarge tells whether sending the record again cannot help.
func TooLarge(err error) bool {
	var large *TooLargeError
	return errors.As(err, &large) || errors.Is(err, kerr.MessageTooLarge)
}

// Classify tells whose error it is, and why in a few words.
func Classify(err error) (Class, string) {
	var held *HeldError
	switch {
	case err == nil:
		return Environment, ""
	case errors.As(err, &held):
		return Environment, "waits for a record before it"
	case TooLarge(err):
		return RecordError, "too large"
	// The broker looked at the record and refused it.
	case errors.Is(err, kerr.InvalidRecord):
		return RecordError, "refused by the broker"
	// The client stamps records with this host's clock; the event has no part
	// in it.
	case errors.Is(err, kerr.InvalidTimestamp):
		return Environment, "the clocks of this host and of the broker disagree"
	// The broker forgot the producer, or another one took its place: the
	// sequence is gone, only a new producer id helps. (The client renews it by
	// itself where it can; what arrives here is where it could not.)
	case errors.Is(err, kerr.UnknownProducerID), errors.Is(err, kerr.OutOfOrderSequenceNumber),
		errors.Is(err, kerr.InvalidProducerEpoch), errors.Is(err, kerr.InvalidProducerIDMapping),
		errors.Is(err, kgo.ErrClientClosed):
		return Fatal, "the producer must be made anew"
	case errors.Is(err, kgo.ErrRecordTimeout), errors.Is(err, kgo.ErrRecordRetries),
		errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled), errors.Is(err, kgo.ErrAborting):
		return Environment, "not acknowledged in time"
	case errors.Is(err, kerr.UnknownTopicOrPartition), errors.Is(err, kerr.UnknownTopicID):
		return Environment, "the topic does not exist"
	case errors.Is(err, kerr.TopicAuthorizationFailed), errors.Is(err, kerr.ClusterAuthorizationFailed):
		return Environment, "not authorised"
	}
	return Environment, "the broker cannot take it now"
}

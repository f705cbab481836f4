package kafka

import (
	"strconv"
	"time"
)

// Kind is the type of an event, as CloudEvents names it.
type Kind string

// The kinds of events.
const (
	Change  Kind = "msgx.flight.changed.v1" // topic msg: what one message changed
	State   Kind = "msgx.flight.state.v1"   // topic schd: the newest whole state
	Deleted Kind = "msgx.flight.deleted.v1" // topic schd: a tombstone
)

// Headers returns the CloudEvents attributes of a record in binary mode. The
// dedup id is the event's id: a record that is sent again carries the same.
func Headers(kind Kind, dedupID, source, subject string, at time.Time) []Header {
	return []Header{
		{"ce_specversion", "1.0"},
		{"ce_id", dedupID},
		{"ce_source", source},
		{"ce_type", string(kind)},
		{"ce_subject", subject},
		{"ce_time", at.UTC().Format(time.RFC3339Nano)},
		{"content-type", "application/json"},
	}
}

// Requeued is the header of a change that an operator took out of the dead
// letters, so often: it may come behind newer changes of its flight.
func Requeued(times int) Header { return Header{"msgx_requeued", strconv.Itoa(times)} }

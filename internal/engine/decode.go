package engine

import (
	"fmt"
	"runtime"
	"sync"
	"time"

	"msgexchange/internal/mailbox"
	"msgexchange/internal/sis"
)

// decoded is one message as pump_apply takes it.
type decoded struct {
	id      int64
	object  []byte // JSON object of the batch
	records int    // flights in it
	failed  bool   // the decoder panicked: the error is in object
}

// decoder turns texts into objects for pump_apply, several at a time.
type decoder struct {
	codec   *sis.Codec
	workers int
}

func newDecoder(codec *sis.Codec) decoder {
	return decoder{codec: codec, workers: runtime.GOMAXPROCS(0)}
}

// all decodes texts; now anchors two-digit years where META gives no year.
func (d decoder) all(texts []mailbox.Text, now time.Time) []decoded {
	out := make([]decoded, len(texts))
	var wg sync.WaitGroup
	next := make(chan int)
	for range min(d.workers, len(texts)) {
		wg.Go(func() {
			for i := range next {
				out[i] = d.one(texts[i], now)
			}
		})
	}
	for i := range texts {
		next <- i
	}
	close(next)
	wg.Wait()
	return out
}

// one decodes one text. A panic of the codec belongs to the message: it is
// caught here and nowhere else.
func (d decoder) one(text mailbox.Text, now time.Time) (out decoded) {
	out.id = text.ID
	hash := sis.Hash(text.Body)
	defer func() {
		if r := recover(); r != nil {
			err := &sis.Error{Class: sis.Infra, Reason: fmt.Sprintf("the decoder failed: %v", r)}
			out.object = sis.Message{}.AppendBatch(nil, text.ID, hash, err)
			out.failed = true
		}
	}()
	if err := unfit(text); err != nil {
		out.object = sis.Message{}.AppendBatch(nil, text.ID, hash, err)
		return out
	}
	var msg sis.Message
	body, err := text.Body, error(nil)
	if text.Binary {
		body, err = sis.Unicode(body)
	}
	if err == nil {
		msg, err = d.codec.Decode(body, now)
	}
	out.object, out.records = msg.AppendBatch(nil, text.ID, hash, err), len(msg.Records)
	return out
}

// unfit says why a text need not be decoded at all.
func unfit(text mailbox.Text) error {
	switch {
	case text.Null:
		return &sis.Error{Class: sis.Malformed, Reason: "the text is NULL"}
	case text.Oversized:
		return &sis.Error{Class: sis.CodecError, Reason: fmt.Sprintf("the text has %d bytes, more than mailbox.max-text-bytes or a packet on the way allows", text.Bytes)}
	}
	return nil
}

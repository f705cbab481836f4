package engine

import (
	"context"
	"fmt"
	"slices"

	"msgexchange/internal/mailbox"
)

// window holds decoded messages around the head: those of the run, and those
// that are fetched and decoded ahead while the run is applied. It decides
// nothing: what is not in it is fetched when it is needed.
type window struct {
	e        *Engine
	messages map[int64]decoded
	bytes    int64
	ahead    chan aheadResult // not nil while a look-ahead is under way
}

type aheadResult struct {
	messages []decoded
	err      error
}

func newWindow(e *Engine) *window {
	return &window{e: e, messages: make(map[int64]decoded)}
}

// fill makes sure that the messages are in the window, as far as their rows
// exist. Errors: the mailbox cannot be read.
func (w *window) fill(ctx context.Context, ids []int64) error {
	if err := w.join(); err != nil {
		return err
	}
	missing := slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { _, ok := w.messages[id]; return ok })
	if len(missing) == 0 {
		return nil
	}
	got, err := w.read(ctx, missing)
	if err != nil {
		return err
	}
	w.put(got)
	return nil
}

// fetch reads the text of one message, and decodes nothing.
func (w *window) fetch(ctx context.Context, id int64) (text mailbox.Text, found bool, err error) {
	if err := w.join(); err != nil {
		return mailbox.Text{}, false, err
	}
	texts, err := w.e.box.Texts(ctx, []int64{id})
	if err != nil {
		return mailbox.Text{}, false, fmt.Errorf("read the text of message %d: %w", id, err)
	}
	text, found = texts[id]
	return text, found, nil
}

// decode decodes a text that was fetched and takes it in.
func (w *window) decode(text mailbox.Text) {
	w.put(w.e.decoder.all([]mailbox.Text{text}, w.e.clock.now()))
}

// lookAhead starts fetching and decoding up to limit messages above after, as
// far as upTo, unless the window is full.
func (w *window) lookAhead(ctx context.Context, after, upTo int64, limit int) {
	if w.ahead != nil || after >= upTo || w.bytes > w.e.cfg.Pipeline.CacheBytes {
		return
	}
	if _, ok := w.messages[after+1]; ok {
		return
	}
	done := make(chan aheadResult, 1)
	w.ahead = done
	go func() {
		ids, err := w.e.box.IDs(ctx, after, limit)
		if err != nil {
			done <- aheadResult{err: err}
			return
		}
		ids = slices.DeleteFunc(ids, func(id int64) bool { return id > upTo })
		got, err := w.read(ctx, ids)
		done <- aheadResult{messages: got, err: err}
	}()
}

// join takes in what a look-ahead brought.
func (w *window) join() error {
	if w.ahead == nil {
		return nil
	}
	r := <-w.ahead
	w.ahead = nil
	if r.err != nil {
		return fmt.Errorf("read ahead in the mailbox: %w", r.err)
	}
	w.put(r.messages)
	return nil
}

// take returns the messages of ids from the first on, as long as they are in
// the window and fit into so many bytes and records; at least one if the first
// is there.
func (w *window) take(ids []int64, limit int64, most int) []decoded {
	var out []decoded
	var size int64
	records := 0
	for _, id := range ids {
		m, ok := w.messages[id]
		if !ok || (len(out) > 0 && (size+int64(len(m.object)) > limit || records+m.records > most)) {
			break
		}
		size += int64(len(m.object))
		records += m.records
		out = append(out, m)
	}
	return out
}

// drop forgets a message that was handled, and everything below it.
func (w *window) drop(upTo int64) {
	for id, m := range w.messages {
		if id <= upTo {
			w.bytes -= int64(len(m.object))
			delete(w.messages, id)
		}
	}
}

func (w *window) put(messages []decoded) {
	for _, m := range messages {
		if old, ok := w.messages[m.id]; ok {
			w.bytes -= int64(len(old.object))
		}
		w.messages[m.id] = m
		w.bytes += int64(len(m.object))
	}
}

func (w *window) read(ctx context.Context, ids []int64) ([]decoded, error) {
	texts, err := w.e.box.Texts(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("read %d texts from %d: %w", len(ids), first(ids), err)
	}
	list := make([]mailbox.Text, 0, len(texts))
	for _, id := range ids {
		if t, ok := texts[id]; ok {
			list = append(list, t)
		}
	}
	return w.e.decoder.all(list, w.e.clock.now()), nil
}

func first(ids []int64) int64 {
	if len(ids) == 0 {
		return 0
	}
	return ids[0]
}

// Package sis reads the AODB's SIS messages. One table, the catalogue, says
// which elements there are; a message becomes the patches that PostgreSQL
// folds into flights.
//
// What can be said of one record against the catalogue is checked here: forms,
// what a subtype requires, the same list number twice. What needs a second
// record or stored state is SQL's.
package sis

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Class says what becomes of a message that cannot be read (wire D9).
type Class string

// The classes.
const (
	Malformed   Class = "MALFORMED"   // XML, META, SEQN or a needed FLID is unusable
	CodecError  Class = "CODEC_ERROR" // a value does not fit its form, or a limit
	Protocol    Class = "PROTOCOL"    // a rule of the message is broken
	Unsupported Class = "UNSUPPORTED" // a type or subtype that nobody handles
	Infra       Class = "INFRA"       // the decoder itself failed; never returned by Decode
)

// Error says what is wrong with a message, and where.
type Error struct {
	Class  Class
	Path   string // MSG/SCHD/FLTR[2]/SODT; "" when there is none: the text is no XML, or too long
	Value  string // shortened to 80 characters
	Reason string // what is wrong, or what was expected
	// Line and Column, in characters, count from 1; 0 when there is no place.
	// They are those of the tag, or of the attribute in it.
	Line, Column int
}

// newError makes an error that is short whatever the message holds.
func newError(class Class, path, value, reason string) *Error {
	return &Error{Class: class, Path: shorten(path, 200), Value: shorten(value, 80), Reason: shorten(reason, 200)}
}

// in adds the place: at is a byte of text.
func (e *Error) in(text string, at int) *Error {
	before := text[:at]
	e.Line = strings.Count(before, "\n") + 1
	e.Column = utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
	return e
}

// Error is one sentence: where, what is there, what is wrong with it. Line and
// column stand in it when there is no path.
func (e *Error) Error() string {
	out := e.Reason
	if e.Value != "" {
		out = strconv.Quote(e.Value) + ": " + out
	}
	switch {
	case e.Path != "":
		out = e.Path + ": " + out
	case e.Line > 0:
		out = fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, out)
	}
	return out
}

// Meta is the header of a message, as far as it is readable.
type Meta struct {
	Sender, Type, Subtype string
	Seqn                  *int64
	Dttm                  *time.Time
}

// Record is what a message says of one flight.
type Record struct {
	Op    string // create, change, delete
	FLID  int64
	Patch json.RawMessage // set, lists, upsert, extra
}

// Message is a decoded message.
type Message struct {
	Meta     Meta
	Declared *int64 // RECS
	Records  []Record
	Items    []Item          // of reference data and seasonal schedules
	Season   json.RawMessage // header of a seasonal schedule
}

// Options say how messages are read where the protocol leaves a choice.
type Options struct {
	Zone            *time.Location // of every time on the wire; must be set
	MaxBytes        int            // longest text, in bytes; 0 is 16 MiB
	MaxDepth        int            // deepest nesting of elements; 0 is 64
	ErutMerge       bool           // a FLOP ERUT merges into the route instead of replacing it (wire A3)
	RefuseEmptyList bool           // a FLOP of a numbered list without members is refused instead of clearing it (wire A7)
}

// Limits that are no settings: far above what an honest message needs, far
// below what hurts.
const (
	maxDepth    = 10_000  // highest MaxDepth: elements are read by recursion
	maxElements = 100_000 // in one record; an honest one has a hundred
	maxKey      = 100     // bytes of a text that becomes part of a key in PostgreSQL
)

// Codec reads messages. It is safe for concurrent use.
type Codec struct {
	opts Options
	catalogue
}

// New makes a codec. It panics on options that no caller may have: no zone, a
// negative limit, a depth above 10,000.
func New(opts Options) *Codec {
	if opts.MaxBytes == 0 {
		opts.MaxBytes = 16 << 20
	}
	if opts.MaxDepth == 0 {
		opts.MaxDepth = 64
	}
	if opts.Zone == nil || opts.MaxBytes < 0 || opts.MaxDepth < 0 || opts.MaxDepth > maxDepth {
		panic(fmt.Sprintf("sis: options out of range: zone %v, max bytes %d, max depth %d", opts.Zone, opts.MaxBytes, opts.MaxDepth))
	}
	return &Codec{opts: opts, catalogue: newCatalogue()}
}

// Hash is the SHA-256 of a text, hexadecimal: with the identity it tells a
// duplicate from a conflict.
func Hash(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// AppendBatch appends the object that pump_apply takes for this message. err
// is what Decode returned; an error that is no *Error is the class Infra.
func (m Message) AppendBatch(dst []byte, msgID int64, textHash string, err error) []byte {
	dst = append(dst, `{"msg_id":`...)
	dst = strconv.AppendInt(dst, msgID, 10)
	dst = append(dst, `,"text_hash":`...)
	dst = appendString(dst, textHash)
	for _, f := range [...]struct{ key, value string }{{"sndr", m.Meta.Sender}, {"type", m.Meta.Type}, {"styp", m.Meta.Subtype}} {
		if f.value != "" {
			dst = append(dst, `,"`+f.key+`":`...)
			dst = appendString(dst, f.value)
		}
	}
	if m.Meta.Seqn != nil {
		dst = append(dst, `,"seqn":`...)
		dst = strconv.AppendInt(dst, *m.Meta.Seqn, 10)
	}
	if m.Meta.Dttm != nil {
		dst = append(dst, `,"dttm":`...)
		dst = appendTime(dst, *m.Meta.Dttm)
	}
	if m.Declared != nil {
		dst = append(dst, `,"declared":`...)
		dst = strconv.AppendInt(dst, *m.Declared, 10)
	}
	if err != nil {
		class := Infra
		var e *Error
		if errors.As(err, &e) {
			class = e.Class
		}
		dst = append(dst, `,"error_class":`...)
		dst = appendString(dst, string(class))
		dst = append(dst, `,"error":`...)
		return append(appendString(dst, storable(err.Error())), '}')
	}
	dst = append(dst, `,"records":[`...)
	for i, r := range m.Records {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"op":"`+r.Op+`","flid":`...)
		dst = strconv.AppendInt(dst, r.FLID, 10)
		dst = append(dst, `,"patch":`...)
		dst = append(dst, r.Patch...)
		dst = append(dst, '}')
	}
	return append(dst, "]}"...)
}

// storable makes any text one that jsonb takes.
func storable(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

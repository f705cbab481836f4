package sis

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// reader walks through a text as a stream, strictly: one root, every element
// closed in order, bounded depth, no document type, no entities of its own.
// It adds what encoding/xml lets pass: attributes given twice or run together,
// references to no character, anything but blanks around the root.
// Comments and processing instructions are passed over.
type reader struct {
	text     []byte
	dec      *xml.Decoder
	start    int64    // where the last token begins
	open     []string // names of the open elements, with their prefixes
	maxDepth int
	rooted   bool // the root was opened
	refs     bool // there are references to characters by number
	names    nameSet
}

// newReader skips a byte order mark, blanks and the XML declaration: the text
// comes from a character column and is Unicode already, so what the declaration
// says of its encoding does not count, nor does the version.
func newReader(text []byte, maxDepth int) (*reader, error) {
	text = bytes.TrimLeft(bytes.TrimPrefix(text, []byte("\uFEFF")), " \t\r\n")
	if rest, ok := bytes.CutPrefix(text, []byte("<?xml")); ok && len(rest) > 0 && isBlank(rest[0]) {
		end := bytes.Index(rest, []byte("?>"))
		if end < 0 {
			return nil, malformed("the XML declaration does not end")
		}
		text = rest[end+2:]
	}
	return &reader{
		text: text, dec: xml.NewDecoder(bytes.NewReader(text)),
		maxDepth: maxDepth, refs: bytes.Contains(text, []byte("&#")),
	}, nil
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

func malformed(format string, args ...any) *Error {
	return newError(Malformed, "", "", fmt.Sprintf(format, args...))
}

// raw is the last token as it stands in the text.
func (r *reader) raw() []byte { return r.text[r.start:r.dec.InputOffset()] }

// token returns the next element, end or text, and keeps account of nesting.
// The error is io.EOF at the end of the text, else an *Error.
func (r *reader) token() (xml.Token, error) {
	for {
		r.start = r.dec.InputOffset()
		token, err := r.dec.RawToken()
		if err != nil {
			return nil, r.broken(err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			if err := r.begin(t); err != nil {
				return nil, err
			}
			return token, nil
		case xml.EndElement:
			name := full(t.Name)
			if len(r.open) == 0 {
				return nil, malformed("</%s> ends nothing", shorten(name, 80))
			}
			if last := r.open[len(r.open)-1]; last != name {
				return nil, malformed("<%s> is ended by </%s>", shorten(last, 80), shorten(name, 80))
			}
			r.open = r.open[:len(r.open)-1]
			return token, nil
		case xml.CharData:
			if len(r.open) == 0 && len(bytes.TrimLeft(r.raw(), " \t\r\n")) > 0 {
				if r.rooted {
					return nil, malformed("text after the root, line %d", r.line())
				}
				return nil, malformed("text before the root: this is not XML")
			}
			if r.refs && r.replaced(bytes.Count(t, []byte("\uFFFD"))) {
				return nil, r.noCharacter()
			}
			return token, nil
		case xml.Directive:
			return nil, malformed("a document type or another directive is not allowed")
		case xml.ProcInst:
			if strings.EqualFold(t.Target, "xml") {
				return nil, malformed("an XML declaration in the middle of the text")
			}
		}
	}
}

func (r *reader) line() int {
	line, _ := r.dec.InputPos()
	return line
}

// broken explains why the tokenizer stopped.
func (r *reader) broken(err error) error {
	var syntax *xml.SyntaxError
	switch {
	case errors.Is(err, io.EOF):
		if len(r.open) > 0 {
			return malformed("the text ends inside %s", r.open[len(r.open)-1])
		}
		return io.EOF
	case errors.As(err, &syntax):
		return malformed("not well-formed XML, line %d: %s", syntax.Line, syntax.Msg)
	}
	return malformed("not well-formed XML: %v", err)
}

// begin checks the start of an element.
func (r *reader) begin(t xml.StartElement) error {
	if len(r.open) >= r.maxDepth {
		return newError(CodecError, "", "", fmt.Sprintf("depth limit: elements are nested deeper than sis.max-depth allows (%d)", r.maxDepth))
	}
	r.open = append(r.open, full(t.Name))
	r.rooted = true
	if len(t.Attr) > 1 {
		r.names.reset()
		for _, a := range t.Attr {
			if !r.names.add(full(a.Name)) {
				return malformed("not well-formed XML, line %d: attribute %s stands twice in <%s>", r.line(), full(a.Name), full(t.Name))
			}
		}
		if runTogether(r.raw()) {
			return malformed("not well-formed XML, line %d: no blank between the attributes of <%s>", r.line(), full(t.Name))
		}
	}
	if r.refs {
		n := 0
		for _, a := range t.Attr {
			n += strings.Count(a.Value, "\uFFFD")
		}
		if r.replaced(n) {
			return r.noCharacter()
		}
	}
	return nil
}

// runTogether tells whether the value of an attribute is followed by another
// attribute at once.
func runTogether(tag []byte) bool {
	for {
		open := bytes.IndexAny(tag, `"'`)
		if open < 0 {
			return false
		}
		quote := tag[open]
		tag = tag[open+1:]
		tag = tag[bytes.IndexByte(tag, quote)+1:]
		if len(tag) > 0 && !isBlank(tag[0]) && tag[0] != '/' && tag[0] != '>' {
			return true
		}
	}
}

// replaced tells whether the tokenizer put replacement characters in the place
// of a reference to no character: got has more of them than the text.
func (r *reader) replaced(got int) bool {
	return got > 0 && got > bytes.Count(r.raw(), []byte("\uFFFD"))
}

func (r *reader) noCharacter() error {
	return malformed("not well-formed XML, line %d: a reference to no character", r.line())
}

func full(n xml.Name) string {
	if n.Space == "" {
		return n.Local
	}
	return n.Space + ":" + n.Local
}

// root opens the root element.
func (r *reader) root() (xml.StartElement, error) {
	for {
		t, err := r.token()
		if errors.Is(err, io.EOF) {
			return xml.StartElement{}, malformed("there is no element")
		}
		if err != nil {
			return xml.StartElement{}, err
		}
		if start, ok := t.(xml.StartElement); ok {
			return start, nil
		}
	}
}

// child opens the next child of the open element; more is false when that
// ends. Text between elements is passed over (wire Q24).
func (r *reader) child() (start xml.StartElement, more bool, err error) {
	for {
		t, err := r.token()
		if err != nil {
			return xml.StartElement{}, false, err
		}
		switch t := t.(type) {
		case xml.StartElement:
			return t, true, nil
		case xml.EndElement:
			return xml.StartElement{}, false, nil
		}
	}
}

// skip reads to the end of the element that was just opened.
func (r *reader) skip() error {
	for depth := len(r.open); len(r.open) >= depth; {
		if _, err := r.token(); err != nil {
			return err
		}
	}
	return nil
}

// end makes sure that nothing but blanks follows the root.
func (r *reader) end() error {
	for {
		t, err := r.token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if start, ok := t.(xml.StartElement); ok {
			return malformed("a second root, %s", full(start.Name))
		}
	}
}

// nameSet is a set of names, few as a rule; many cost no more each.
type nameSet struct {
	few  []string
	many map[string]bool
}

func (s *nameSet) reset() { s.few, s.many = s.few[:0], nil }

// add puts a name in; false when it is there already.
func (s *nameSet) add(name string) bool {
	if s.many == nil && len(s.few) < 32 {
		for _, f := range s.few {
			if f == name {
				return false
			}
		}
		s.few = append(s.few, name)
		return true
	}
	if s.many == nil {
		s.many = make(map[string]bool)
		for _, f := range s.few {
			s.many[f] = true
		}
	}
	if s.many[name] {
		return false
	}
	s.many[name] = true
	return true
}

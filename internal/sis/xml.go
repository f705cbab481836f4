package sis

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// node is an element with what is inside it.
type node struct {
	prefix   string
	name     string
	attrs    []xml.Attr
	text     string // of the element itself, trimmed
	children []*node
}

// attr returns an attribute without a prefix, trimmed; "" when absent, which
// means the same as empty (wire Q8).
func (n *node) attr(name string) string {
	for _, a := range n.attrs {
		if a.Name.Space == "" && a.Name.Local == name {
			return strings.TrimSpace(a.Value)
		}
	}
	return ""
}

// value is the text of the element; xsi:nil means empty.
func (n *node) value() string {
	for _, a := range n.attrs {
		if a.Name.Space == "xsi" && a.Name.Local == "nil" && (a.Value == "true" || a.Value == "1") {
			return ""
		}
	}
	return n.text
}

// blank tells whether nothing at all is in it.
func (n *node) blank() bool {
	if n.value() != "" {
		return false
	}
	for _, a := range n.attrs {
		if a.Name.Space == "" && a.Name.Local != "xmlns" && strings.TrimSpace(a.Value) != "" {
			return false
		}
	}
	for _, c := range n.children {
		if !c.blank() {
			return false
		}
	}
	return true
}

// find returns the children of that name.
func (n *node) find(name string) []*node {
	var out []*node
	for _, c := range n.children {
		if c.name == name {
			out = append(out, c)
		}
	}
	return out
}

// reader walks through a text as a stream, strictly: one root, every element
// closed in order, bounded depth, no document type, no entities of its own.
type reader struct {
	dec      *xml.Decoder
	open     []string // names of the open elements, with their prefixes
	maxDepth int
}

// newReader skips a byte order mark and the XML declaration: the text comes
// from a character column and is Unicode already, so what the declaration says
// of its encoding does not count, nor does the version.
func newReader(text []byte, maxDepth int) (*reader, error) {
	text = bytes.TrimLeft(bytes.TrimPrefix(text, []byte("\uFEFF")), " \t\r\n")
	if bytes.HasPrefix(text, []byte("<?xml")) && len(text) > 5 && strings.ContainsRune(" \t\r\n", rune(text[5])) {
		end := bytes.Index(text, []byte("?>"))
		if end < 0 {
			return nil, &Error{Class: Malformed, Reason: "the XML declaration does not end"}
		}
		text = text[end+2:]
	}
	return &reader{dec: xml.NewDecoder(bytes.NewReader(text)), maxDepth: maxDepth}, nil
}

func malformed(format string, args ...any) error {
	return &Error{Class: Malformed, Reason: fmt.Sprintf(format, args...)}
}

// token returns the next token that matters, and keeps account of nesting.
func (r *reader) token() (xml.Token, error) {
	for {
		t, err := r.dec.RawToken()
		if err != nil {
			var syntax *xml.SyntaxError
			switch {
			case errors.Is(err, io.EOF):
				if len(r.open) > 0 {
					return nil, malformed("the text ends inside %s", r.open[len(r.open)-1])
				}
				return nil, io.EOF
			case errors.As(err, &syntax):
				return nil, malformed("not well-formed XML, line %d: %s", syntax.Line, syntax.Msg)
			}
			return nil, malformed("not well-formed XML: %v", err)
		}
		switch t := t.(type) {
		case xml.StartElement:
			if len(r.open) >= r.maxDepth {
				return nil, &Error{Class: CodecError, Reason: fmt.Sprintf("elements are nested deeper than sis.max-depth allows (%d)", r.maxDepth)}
			}
			r.open = append(r.open, full(t.Name))
			return t, nil
		case xml.EndElement:
			name := full(t.Name)
			if len(r.open) == 0 {
				return nil, malformed("</%s> ends nothing", name)
			}
			if last := r.open[len(r.open)-1]; last != name {
				return nil, malformed("<%s> is ended by </%s>", last, name)
			}
			r.open = r.open[:len(r.open)-1]
			return t, nil
		case xml.CharData:
			return t, nil
		case xml.Directive:
			return nil, malformed("a document type or another directive is not allowed")
		case xml.ProcInst:
			if strings.EqualFold(t.Target, "xml") {
				return nil, malformed("an XML declaration in the middle of the text")
			}
		case xml.Comment:
		}
	}
}

func full(n xml.Name) string {
	if n.Space == "" {
		return n.Local
	}
	return n.Space + ":" + n.Local
}

func newNode(t xml.StartElement) *node {
	// RawToken hands over its own attributes; the next call keeps them alone.
	return &node{prefix: t.Name.Space, name: t.Name.Local, attrs: t.Attr}
}

// root opens the root element.
func (r *reader) root() (*node, error) {
	for {
		t, err := r.token()
		if errors.Is(err, io.EOF) {
			return nil, malformed("there is no element")
		}
		if err != nil {
			return nil, err
		}
		switch t := t.(type) {
		case xml.StartElement:
			return newNode(t), nil
		case xml.CharData:
			if len(bytes.TrimSpace(t)) > 0 {
				return nil, malformed("text before the root: this is not XML")
			}
		}
	}
}

// child opens the next child of the open element, nil when it ends. Text
// between elements is passed over (wire Q24).
func (r *reader) child() (*node, error) {
	for {
		t, err := r.token()
		if err != nil {
			return nil, err
		}
		switch t := t.(type) {
		case xml.StartElement:
			return newNode(t), nil
		case xml.EndElement:
			return nil, nil
		}
	}
}

// fill reads what is inside an element that was just opened.
func (r *reader) fill(n *node) error {
	var text strings.Builder
	for {
		t, err := r.token()
		if err != nil {
			return err
		}
		switch t := t.(type) {
		case xml.StartElement:
			c := newNode(t)
			n.children = append(n.children, c)
			if err := r.fill(c); err != nil {
				return err
			}
		case xml.CharData:
			text.Write(t)
		case xml.EndElement:
			n.text = strings.TrimSpace(text.String())
			return nil
		}
	}
}

// skip reads to the end of an element that was just opened.
func (r *reader) skip() error {
	for depth := len(r.open) - 1; len(r.open) > depth; {
		if _, err := r.token(); err != nil {
			return err
		}
	}
	return nil
}

// skipRest reads to the end of the root and of the text.
func (r *reader) skipRest() error {
	for len(r.open) > 0 {
		if _, err := r.token(); err != nil {
			return err
		}
	}
	return r.end()
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
		switch t := t.(type) {
		case xml.StartElement:
			return malformed("a second root, %s", full(t.Name))
		case xml.CharData:
			if len(bytes.TrimSpace(t)) > 0 {
				return malformed("text after the root")
			}
		}
	}
}

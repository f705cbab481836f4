package sis

import (
	"fmt"
	"strings"
)

// node is an element of a record, with what is inside it.
type node struct {
	parent *node
	name   string // with its prefix, if it has one
	at     int    // where its tag begins in the text
	attrs  []attr
	text   string // of the element itself, trimmed; "" when xsi:nil says so
	index  int    // among its like, from 1, where a path shows it

	first, last, next *node // children and siblings, as they came
	kinds             *node // first child of each name, see group
	nextKind          *node // first sibling of another name
	same, lastSame    *node // siblings of the same name

	more []byte // all of its text, once it has several pieces
}

// attr returns an attribute without a prefix, trimmed; "" when absent, which
// means the same as empty (wire Q8).
func (n *node) attr(name string) string {
	for _, a := range n.attrs {
		if a.prefix == "" && a.name == name {
			return strings.TrimSpace(a.value)
		}
	}
	return ""
}

// blank tells whether nothing at all is in it.
func (n *node) blank() bool {
	if n.text != "" {
		return false
	}
	for _, a := range n.attrs {
		if own(a) && strings.TrimSpace(a.value) != "" {
			return false
		}
	}
	for c := n.first; c != nil; c = c.next {
		if !c.blank() {
			return false
		}
	}
	return true
}

// own tells an attribute of the message from one of XML itself.
func own(a attr) bool { return a.prefix == "" && a.name != "xmlns" }

// kind returns the first child of that name; group has been called.
func (n *node) kind(name string) *node {
	for c := n.kinds; c != nil; c = c.nextKind {
		if c.name == name {
			return c
		}
	}
	return nil
}

// path is where the node stands in the message, MSG/SCHD/FLTR[2]/SODT, with
// more behind it.
func (n *node) path(more string) string {
	out := n.name
	if n.index > 0 {
		out = fmt.Sprintf("%s[%d]", n.name, n.index)
	}
	if n.parent != nil {
		out = n.parent.path("/" + out)
	}
	return out + more
}

// place is where the node stands in the text, or what more names of it.
func (n *node) place(more string) int {
	if name, ok := strings.CutPrefix(more, "@"); ok {
		for _, a := range n.attrs {
			if a.prefix == "" && a.name == name {
				return a.at
			}
		}
	}
	if name, ok := strings.CutPrefix(more, "/"); ok {
		if c := n.child(name); c != nil {
			return c.at
		}
	}
	return n.at
}

// tree holds the nodes inside one record; the next record uses them again.
type tree struct {
	chunks [][]node
	used   int
}

const chunk = 32 // nodes

func (t *tree) reset() { t.used = 0 }

// add makes a node of the tag that was just read, the last child of its parent.
func (t *tree) add(parent *node, s *scanner) *node {
	if t.used == len(t.chunks)*chunk {
		t.chunks = append(t.chunks, make([]node, chunk))
	}
	n := &t.chunks[t.used/chunk][t.used%chunk]
	t.used++
	*n = node{parent: parent, name: s.name, attrs: s.attrs, at: s.at}
	if parent.last == nil {
		parent.first = n
	} else {
		parent.last.next = n
	}
	parent.last = n
	return n
}

// write takes a piece of text that stands directly in the node.
func (n *node) write(piece string) {
	switch {
	case n.text == "" && n.more == nil:
		if strings.TrimSpace(piece) != "" { // blanks before any text are trimmed in the end
			n.text = piece
		}
	case n.more == nil:
		n.more = append([]byte(n.text), piece...)
	default:
		n.more = append(n.more, piece...)
	}
}

// finish gives the node its text, when all of it was read.
func (n *node) finish() {
	if n.more != nil {
		n.text = string(n.more)
	}
	n.text = strings.TrimSpace(n.text)
	for _, a := range n.attrs {
		if a.prefix == "xsi" && a.name == "nil" {
			if v := strings.TrimSpace(a.value); v == "true" || v == "1" {
				n.text = ""
			}
		}
	}
}

// group links the children of a node by name: kinds and nextKind lead from name
// to name in order of appearance, same through the children of one name. Many
// names cost no more each than few.
func group(n *node) {
	n.kinds = nil
	var last *node
	var many map[string]*node
	kinds := 0
	for c := n.first; c != nil; c = c.next {
		var like *node
		if many != nil {
			like = many[c.name]
		} else {
			like = n.kind(c.name)
		}
		c.nextKind, c.same, c.lastSame = nil, nil, c
		if like != nil {
			like.lastSame.same = c
			like.lastSame = c
			continue
		}
		if last == nil {
			n.kinds = c
		} else {
			last.nextKind = c
		}
		last = c
		if kinds++; kinds == 64 {
			many = make(map[string]*node)
			for k := n.kinds; k != nil; k = k.nextKind {
				many[k.name] = k
			}
		} else if many != nil {
			many[c.name] = c
		}
	}
}

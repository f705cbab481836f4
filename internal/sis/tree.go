package sis

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"
)

// node is an element of a record, with what is inside it.
type node struct {
	parent *node
	name   string // with its prefix, if it has one
	attrs  []xml.Attr
	text   string // of the element itself, trimmed; "" when xsi:nil says so
	index  int    // among its like, from 1, where a path shows it

	first, last, next *node // children and siblings, as they came
	kinds             *node // first child of each name, see group
	nextKind          *node // first sibling of another name
	same, lastSame    *node // siblings of the same name

	head, tail int    // its text before the first child, in the arena
	more       []byte // its text behind the first child, if any
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

// blank tells whether nothing at all is in it.
func (n *node) blank() bool {
	if n.text != "" {
		return false
	}
	for _, a := range n.attrs {
		if own(a) && strings.TrimSpace(a.Value) != "" {
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
func own(a xml.Attr) bool { return a.Name.Space == "" && a.Name.Local != "xmlns" }

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

// tree holds the nodes inside one record; the next record uses them again.
type tree struct {
	chunks [][]node
	used   int
	arena  []byte // texts of the record
}

const chunk = 32 // nodes

func (t *tree) reset() { t.used, t.arena = 0, t.arena[:0] }

func (t *tree) at(i int) *node { return &t.chunks[i/chunk][i%chunk] }

// add makes a node, the last child of its parent.
func (t *tree) add(parent *node, start xml.StartElement) *node {
	if t.used == len(t.chunks)*chunk {
		t.chunks = append(t.chunks, make([]node, chunk))
	}
	n := t.at(t.used)
	t.used++
	*n = node{parent: parent, name: full(start.Name), attrs: start.Attr}
	if parent.last == nil {
		parent.first = n
	} else {
		parent.last.next = n
	}
	parent.last = n
	return n
}

// write takes a piece of text that stands directly in the node.
func (t *tree) write(n *node, piece []byte) {
	blank := len(bytes.TrimSpace(piece)) == 0
	switch {
	case n.head == n.tail && n.more == nil && blank:
		// Blanks before any text are trimmed in the end.
	case n.first == nil:
		if n.head == n.tail {
			n.head = len(t.arena)
		}
		t.arena = append(t.arena, piece...)
		n.tail = len(t.arena)
	default:
		n.more = append(n.more, piece...)
	}
}

// finish gives the record and each node in it its text.
func (t *tree) finish(top *node) {
	all := string(t.arena)
	top.finish(all)
	for i := range t.used {
		t.at(i).finish(all)
	}
}

func (n *node) finish(all string) {
	n.text = strings.TrimSpace(all[n.head:n.tail] + string(n.more))
	for _, a := range n.attrs {
		if a.Name.Space == "xsi" && a.Name.Local == "nil" {
			if v := strings.TrimSpace(a.Value); v == "true" || v == "1" {
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

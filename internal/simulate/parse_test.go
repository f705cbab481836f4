package simulate

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// parse reads a text into nodes with another hand than the printer's: the
// standard library's tokens.
func parse(text string) (node, error) {
	dec := xml.NewDecoder(strings.NewReader(text))
	var stack []node
	var root node
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			if len(stack) > 0 || root.name == "" {
				return node{}, errors.New("no whole root")
			}
			return root, nil
		}
		if err != nil {
			return node{}, err
		}
		switch tok := token.(type) {
		case xml.StartElement:
			n := node{name: tok.Name.Local}
			for _, a := range tok.Attr {
				n.attrs = append(n.attrs, attr{a.Name.Local, a.Value})
			}
			stack = append(stack, n)
		case xml.CharData:
			if len(stack) > 0 {
				stack[len(stack)-1].text += string(tok)
			} else if strings.TrimSpace(string(tok)) != "" {
				return node{}, errors.New("text outside the root")
			}
		case xml.EndElement:
			n := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if len(stack) == 0 {
				if root.name != "" {
					return node{}, errors.New("two roots")
				}
				root = n
				continue
			}
			parent := &stack[len(stack)-1]
			parent.kids = append(parent.kids, n)
		}
	}
}

// outline writes a tree without what has no meaning.
func outline(n node) string {
	var b strings.Builder
	b.WriteString("<" + n.name)
	for _, a := range n.attrs {
		fmt.Fprintf(&b, " %s=%q", a.name, strings.TrimSpace(a.value))
	}
	b.WriteString(">" + n.value())
	for _, k := range n.kids {
		b.WriteString(outline(k))
	}
	b.WriteString("</>")
	return b.String()
}

// item makes an item from a kind and a body: "FLOP/BOTM" and "<FLOP>…</FLOP>".
func item(kind, body string, seqn int, sent time.Time) (Item, error) {
	root, err := parse("<MSG>" + body + "</MSG>")
	if err != nil {
		return Item{}, err
	}
	typ, styp, _ := strings.Cut(kind, "/")
	m := newMessage("AODB", typ, styp, seqn, sent, root.kids...)
	return Item{Text: kind + strconv.Itoa(seqn) + body, Kind: kind, msg: m}, nil
}

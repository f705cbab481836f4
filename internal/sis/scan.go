package sis

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// scanner reads the tokens of a text, strictly: one root, every element closed
// in order, bounded depth, no document type, no entities of its own, nothing but
// blanks around the root. Comments and processing instructions are passed over.
// Names, values and texts are parts of the text wherever that can be.
type scanner struct {
	text     string
	pos      int
	open     []string // names of the open elements, with their prefixes
	maxDepth int
	rooted   bool // the root was opened
	closing  bool // the last element was <A/>: its end comes next

	// The last token.
	at    int    // where it begins
	name  string // of an element, with its prefix
	attrs []attr
	piece string // of text

	some  []attr // attributes of the tag at hand
	room  []attr // attributes of the elements before it, and what is free behind
	names nameSet
}

// attr is an attribute of an element.
type attr struct {
	prefix, name, value string
	at                  int // where it begins in the text
}

// token is what a scanner finds.
type token uint8

const (
	noToken    token = iota // the end of the text
	startToken              // of an element: name and attrs
	endToken                // of the innermost open element
	textToken               // a piece of text
)

// newScanner skips a byte order mark, blanks and the XML declaration: the text
// comes from a character column and is Unicode already, so what the declaration
// says of its encoding does not count, nor does the version.
func newScanner(text string, maxDepth int) (*scanner, error) {
	s := &scanner{text: strings.TrimPrefix(text, "\uFEFF"), maxDepth: maxDepth}
	s.blanks()
	if rest := s.text[s.pos:]; strings.HasPrefix(rest, "<?xml") && len(rest) > 5 && isBlank(rest[5]) {
		end := strings.Index(rest, "?>")
		if end < 0 {
			return nil, s.malformed(s.pos, "the XML declaration does not end")
		}
		s.pos += end + 2
	}
	return s, nil
}

// What a byte may be.
const (
	nameByte  = 1 << iota // in a name
	nameFirst             // first in a name
	textStop              // in text: ends it, stands for another character or needs a look
	valueStop             // in a value: likewise
)

var bytesAre = func() (class [256]uint8) {
	for c := range class {
		switch {
		case c < 0x20 && c != '\t' && c != '\n', c == '&', c == '<', c == 0xEF: // 0xEF may begin U+FFFE
			class[c] = textStop | valueStop
		case c == '>':
			class[c] = textStop // may end ]]>
		case c == '"', c == '\'':
			class[c] = valueStop
		case 'A' <= c && c <= 'Z', 'a' <= c && c <= 'z', c == '_', c == ':', c >= 0x80:
			class[c] = nameByte | nameFirst
		case '0' <= c && c <= '9', c == '-', c == '.':
			class[c] = nameByte
		}
	}
	class[0xEF] |= nameByte | nameFirst
	return class
}()

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

func (s *scanner) blanks() {
	for s.pos < len(s.text) && isBlank(s.text[s.pos]) {
		s.pos++
	}
}

// has passes over a prefix of the rest.
func (s *scanner) has(prefix string) bool {
	if strings.HasPrefix(s.text[s.pos:], prefix) {
		s.pos += len(prefix)
		return true
	}
	return false
}

// next reads the next token. The error is an *Error.
func (s *scanner) next() (token, error) {
	if s.closing {
		s.closing = false
		s.open = s.open[:len(s.open)-1]
		return endToken, nil
	}
	for {
		s.at = s.pos
		switch {
		case s.pos >= len(s.text):
			if len(s.open) > 0 {
				return noToken, s.ends()
			}
			return noToken, nil
		case s.text[s.pos] != '<':
			return textToken, s.chars()
		case s.has("</"):
			return endToken, s.endTag()
		case s.has("<!--"):
			if err := s.comment(); err != nil {
				return noToken, err
			}
		case s.has("<![CDATA["):
			return textToken, s.cdata()
		case s.has("<!"):
			return noToken, s.malformed(s.at, "a document type or another directive is not allowed")
		case s.has("<?"):
			if err := s.instruction(); err != nil {
				return noToken, err
			}
		default:
			s.pos++
			return startToken, s.startTag()
		}
	}
}

// malformed says that the text is no XML, and where.
func (s *scanner) malformed(at int, format string, args ...any) *Error {
	return newError(Malformed, "", "", fmt.Sprintf(format, args...)).in(s.text, at)
}

// ends says that the text stops too early.
func (s *scanner) ends() *Error {
	if len(s.open) == 0 {
		return s.malformed(len(s.text), "the text ends inside a tag or a comment")
	}
	return s.malformed(len(s.text), "the text ends inside %s", shorten(s.open[len(s.open)-1], 80))
}

// readName reads a name as XML 1.0 has it, with at most one prefix.
func (s *scanner) readName(what string) (name string, colon int, err error) {
	begin := s.pos
	colon = -1
	if s.pos < len(s.text) && bytesAre[s.text[s.pos]]&nameFirst != 0 {
		for ; s.pos < len(s.text) && bytesAre[s.text[s.pos]]&nameByte != 0; s.pos++ {
			switch c := s.text[s.pos]; {
			case c >= utf8.RuneSelf:
				r, n := utf8.DecodeRuneInString(s.text[s.pos:])
				if !nameRune(r, s.pos == begin) {
					return "", 0, s.malformed(s.pos, "%q cannot stand in the name of %s", r, what)
				}
				s.pos += n - 1
			case c == ':' && colon >= 0:
				return "", 0, s.malformed(begin, "a name of %s with two colons", what)
			case c == ':':
				colon = s.pos - begin
			}
		}
	}
	if s.pos == begin {
		return "", 0, s.malformed(begin, "expected the name of %s", what)
	}
	return s.text[begin:s.pos], colon, nil
}

// nameRune tells whether a character beyond ASCII may stand in a name (XML 1.0,
// fifth edition, 2.3).
func nameRune(r rune, first bool) bool {
	switch {
	case r == 0xB7, 0x300 <= r && r <= 0x36F, 0x203F <= r && r <= 0x2040:
		return !first
	case 0xC0 <= r && r <= 0x2FF:
		return r != 0xD7 && r != 0xF7
	case 0x370 <= r && r <= 0x1FFF:
		return r != 0x37E
	}
	return 0x200C <= r && r <= 0x200D || 0x2070 <= r && r <= 0x218F || 0x2C00 <= r && r <= 0x2FEF ||
		0x3001 <= r && r <= 0xD7FF || 0xF900 <= r && r <= 0xFDCF || 0xFDF0 <= r && r <= 0xFFFD || 0x10000 <= r && r <= 0xEFFFF
}

// startTag reads the start of an element behind its "<".
func (s *scanner) startTag() error {
	name, _, err := s.readName("an element")
	if err != nil {
		return err
	}
	if len(s.open) >= s.maxDepth {
		return newError(CodecError, "", "", fmt.Sprintf("depth limit: elements are nested deeper than sis.max-depth allows (%d)", s.maxDepth)).in(s.text, s.at)
	}
	if s.rooted && len(s.open) == 0 {
		return s.malformed(s.at, "a second root, %s", shorten(name, 80))
	}
	s.some = s.some[:0]
	s.names.reset()
	for {
		before := s.pos
		s.blanks()
		switch {
		case s.pos >= len(s.text):
			return s.malformed(s.pos, "the text ends inside the tag <%s>", shorten(name, 80))
		case s.has(">"):
		case s.has("/>"):
			s.closing = true
		case s.pos == before && len(s.some) > 0:
			return s.malformed(s.pos, "no blank between the attributes of <%s>", shorten(name, 80))
		default:
			if err := s.attribute(name); err != nil {
				return err
			}
			continue
		}
		break
	}
	s.name, s.attrs, s.rooted = name, s.keep(), true
	s.open = append(s.open, name)
	return nil
}

// keep puts the attributes of a tag where the next one leaves them alone.
func (s *scanner) keep() []attr {
	n := len(s.some)
	if n == 0 {
		return nil
	}
	if cap(s.room)-len(s.room) < n {
		s.room = make([]attr, 0, max(n, 64))
	}
	from := len(s.room)
	s.room = append(s.room, s.some...)
	return s.room[from:len(s.room):len(s.room)]
}

// attribute reads one attribute of a tag.
func (s *scanner) attribute(element string) error {
	a := attr{at: s.pos}
	name, colon, err := s.readName("an attribute")
	if err != nil {
		return err
	}
	if !s.names.add(name) {
		return s.malformed(a.at, "attribute %s stands twice in <%s>", shorten(name, 80), shorten(element, 80))
	}
	a.name = name
	if colon > 0 && colon < len(name)-1 {
		a.prefix, a.name = name[:colon], name[colon+1:]
	}
	s.blanks()
	if !s.has("=") {
		return s.malformed(s.pos, "expected = behind the attribute %s", shorten(name, 80))
	}
	s.blanks()
	if s.pos >= len(s.text) || (s.text[s.pos] != '"' && s.text[s.pos] != '\'') {
		return s.malformed(s.pos, "the value of %s must stand in quotes", shorten(name, 80))
	}
	quote := s.text[s.pos]
	s.pos++
	a.value, err = s.read(valueStop, func(c byte) (bool, error) {
		if c == '<' {
			return false, s.malformed(s.pos, "< in the value of %s", shorten(name, 80))
		}
		return c == quote, nil
	})
	if err != nil {
		return err
	}
	if s.pos >= len(s.text) {
		return s.malformed(s.pos, "the text ends inside the value of %s", shorten(name, 80))
	}
	s.pos++
	s.some = append(s.some, a)
	return nil
}

// endTag reads the end of an element behind its "</".
func (s *scanner) endTag() error {
	name, _, err := s.readName("an element")
	if err != nil {
		return err
	}
	s.blanks()
	switch {
	case !s.has(">"):
		return s.malformed(s.pos, "expected > behind </%s", shorten(name, 80))
	case len(s.open) == 0:
		return s.malformed(s.at, "</%s> ends nothing", shorten(name, 80))
	}
	if last := s.open[len(s.open)-1]; last != name {
		return s.malformed(s.at, "<%s> is ended by </%s>", shorten(last, 80), shorten(name, 80))
	}
	s.open = s.open[:len(s.open)-1]
	return nil
}

// comment passes over a comment behind its "<!--".
func (s *scanner) comment() error {
	end := strings.Index(s.text[s.pos:], "--")
	if end < 0 {
		return s.malformed(s.at, "the comment does not end")
	}
	if s.pos += end + 2; !s.has(">") {
		return s.malformed(s.pos-2, "-- in a comment")
	}
	return nil
}

// instruction passes over a processing instruction behind its "<?".
func (s *scanner) instruction() error {
	target, _, err := s.readName("a processing instruction")
	if err != nil {
		return err
	}
	if strings.EqualFold(target, "xml") {
		return s.malformed(s.at, "an XML declaration in the middle of the text")
	}
	end := strings.Index(s.text[s.pos:], "?>")
	if end < 0 {
		return s.malformed(s.at, "the processing instruction does not end")
	}
	s.pos += end + 2
	return nil
}

// chars reads text up to the next tag.
func (s *scanner) chars() (err error) {
	begin := s.pos
	s.piece, err = s.read(textStop, func(c byte) (bool, error) {
		if c == '>' && s.pos-begin >= 2 && s.text[s.pos-2:s.pos] == "]]" {
			return false, s.malformed(s.pos-2, "]]> outside CDATA")
		}
		return c == '<', nil
	})
	switch {
	case len(s.open) > 0:
		return err
	case strings.TrimLeft(s.text[begin:s.pos], " \t\r\n") == "":
		return err
	}
	s.pos = begin
	s.blanks()
	return s.outside(s.pos)
}

// outside refuses text that stands in no element.
func (s *scanner) outside(at int) *Error {
	if s.rooted {
		return s.malformed(at, "text after the root")
	}
	return s.malformed(at, "text before the root: this is not XML")
}

// read reads characters until done says so, or the text ends. Of the bytes of
// the class stop it is asked about each; s.pos is the place of that byte.
func (s *scanner) read(stop uint8, done func(byte) (bool, error)) (string, error) {
	begin := s.pos
	var out []byte // what is read up to begin, once it is not the text itself
	for {
		for s.pos < len(s.text) && bytesAre[s.text[s.pos]]&stop == 0 {
			s.pos++
		}
		if s.pos >= len(s.text) {
			break
		}
		c := s.text[s.pos]
		end, err := done(c)
		if err != nil {
			return "", err
		}
		if end {
			break
		}
		switch {
		case c == '&':
			out = append(out, s.text[begin:s.pos]...)
			if out, err = s.reference(out); err != nil {
				return "", err
			}
			begin = s.pos
		case c == '\r':
			out = s.newLine(append(out, s.text[begin:s.pos]...))
			begin = s.pos
		default:
			if err := s.character(); err != nil {
				return "", err
			}
		}
	}
	if out == nil {
		return s.text[begin:s.pos], nil
	}
	return string(append(out, s.text[begin:s.pos]...)), nil
}

// newLine reads CR LF, or CR alone, as LF.
func (s *scanner) newLine(out []byte) []byte {
	s.pos++
	s.has("\n")
	return append(out, '\n')
}

// character passes over a character that XML must have.
func (s *scanner) character() error {
	r, n := utf8.DecodeRuneInString(s.text[s.pos:])
	if !isChar(r) {
		return s.malformed(s.pos, "the character %U cannot stand in XML", r)
	}
	s.pos += n
	return nil
}

// isChar tells whether XML has that character (XML 1.0, 2.2).
func isChar(r rune) bool {
	return r >= 0x20 && r <= 0xD7FF || r == '\t' || r == '\n' || r == '\r' || r >= 0xE000 && r <= 0xFFFD || r >= 0x10000 && r <= 0x10FFFF
}

// reference appends the character that a reference at s.pos stands for.
func (s *scanner) reference(out []byte) ([]byte, error) {
	end := strings.IndexByte(s.text[s.pos:], ';')
	if end < 0 {
		return nil, s.malformed(s.pos, "& begins no reference")
	}
	what := s.text[s.pos+1 : s.pos+end]
	switch what {
	case "lt":
		out = append(out, '<')
	case "gt":
		out = append(out, '>')
	case "amp":
		out = append(out, '&')
	case "quot":
		out = append(out, '"')
	case "apos":
		out = append(out, '\'')
	default:
		digits, numbered := strings.CutPrefix(what, "#")
		if !numbered {
			return nil, s.malformed(s.pos, "&%s; is not known", shorten(what, 80))
		}
		base := 10
		if hex, ok := strings.CutPrefix(digits, "x"); ok {
			digits, base = hex, 16
		}
		// ParseUint takes neither signs nor, with a base given, underscores.
		n, err := strconv.ParseUint(digits, base, 32)
		if err != nil || n > utf8.MaxRune || !isChar(rune(n)) {
			return nil, s.malformed(s.pos, "&%s; is a reference to no character", shorten(what, 80))
		}
		out = utf8.AppendRune(out, rune(n))
	}
	s.pos += end + 1
	return out, nil
}

// cdata reads a CDATA section behind its "<![CDATA[".
func (s *scanner) cdata() error {
	if len(s.open) == 0 {
		return s.outside(s.at)
	}
	length := strings.Index(s.text[s.pos:], "]]>")
	if length < 0 {
		return s.malformed(s.at, "the CDATA section does not end")
	}
	begin, end := s.pos, s.pos+length
	var out []byte
	for s.pos < end {
		switch c := s.text[s.pos]; {
		case c == '\r':
			out = s.newLine(append(out, s.text[begin:s.pos]...))
			begin = s.pos
		case bytesAre[c]&textStop != 0:
			if err := s.character(); err != nil {
				return err
			}
		default:
			s.pos++
		}
	}
	s.piece = s.text[begin:end]
	if out != nil {
		s.piece = string(append(out, s.piece...))
	}
	s.pos = end + len("]]>")
	return nil
}

// root opens the root element.
func (s *scanner) root() error {
	for {
		switch t, err := s.next(); {
		case err != nil:
			return err
		case t == startToken:
			return nil
		case t == noToken:
			return s.malformed(s.at, "there is no element")
		}
	}
}

// child opens the next child of the open element; false when that ends. Text
// between elements is passed over (wire Q24).
func (s *scanner) child() (bool, error) {
	for {
		switch t, err := s.next(); {
		case err != nil:
			return false, err
		case t == startToken:
			return true, nil
		case t == endToken:
			return false, nil
		}
	}
}

// skip reads to the end of the element that was just opened.
func (s *scanner) skip() error {
	for depth := len(s.open); len(s.open) >= depth; {
		if _, err := s.next(); err != nil {
			return err
		}
	}
	return nil
}

// end makes sure that nothing but blanks follows the root.
func (s *scanner) end() error {
	for {
		if t, err := s.next(); err != nil || t == noToken {
			return err
		}
	}
}

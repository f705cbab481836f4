package sis

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// tokens reads a text with the scanner, each token as a line; text that runs on
// is one.
func tokens(text string) (string, error) {
	s, err := newScanner(text, 1000)
	if err != nil {
		return "", err
	}
	var out script
	for {
		switch t, err := s.next(); {
		case err != nil:
			return "", err
		case t == noToken:
			return out.String(), nil
		case t == startToken:
			out.start(s.name)
			for _, a := range s.attrs {
				out.attr(a.prefix, a.name, a.value)
			}
		case t == endToken:
			out.end()
		default:
			out.text(s.piece, len(s.open) > 0)
		}
	}
}

// script writes tokens down.
type script struct {
	strings.Builder
	inText bool
}

func (s *script) start(name string) { s.WriteString("\n<" + name); s.inText = false }
func (s *script) attr(prefix, name, value string) {
	s.WriteString("\n @" + prefix + "|" + name + "=" + value)
}
func (s *script) end() { s.WriteString("\n>"); s.inText = false }

func (s *script) text(piece string, inside bool) {
	if !inside || piece == "" {
		return
	}
	if !s.inText {
		s.WriteString("\n=")
	}
	s.inText = true
	s.WriteString(piece)
}

// others reads a text as tokens does, with encoding/xml.
func others(text string) (string, error) {
	text = strings.TrimLeft(strings.TrimPrefix(text, "\uFEFF"), " \t\r\n")
	if strings.HasPrefix(text, "<?xml") && len(text) > 5 && isBlank(text[5]) {
		_, rest, ended := strings.Cut(text, "?>")
		if !ended {
			return "", errors.New("no end of the declaration")
		}
		text = rest
	}
	full := func(n xml.Name) string {
		if n.Space == "" {
			return n.Local
		}
		return n.Space + ":" + n.Local
	}
	d := xml.NewDecoder(strings.NewReader(text))
	var out script
	var open []string
	for {
		token, err := d.RawToken()
		switch {
		case errors.Is(err, io.EOF) && len(open) == 0:
			return out.String(), nil
		case err != nil:
			return "", err
		}
		switch t := token.(type) {
		case xml.StartElement:
			open = append(open, full(t.Name))
			out.start(full(t.Name))
			for _, a := range t.Attr {
				out.attr(a.Name.Space, a.Name.Local, a.Value)
			}
		case xml.EndElement:
			if len(open) == 0 || open[len(open)-1] != full(t.Name) {
				return "", errors.New("bad nesting")
			}
			open = open[:len(open)-1]
			out.end()
		case xml.CharData:
			out.text(string(t), len(open) > 0)
		}
	}
}

// stricter is where the scanner refuses what encoding/xml lets pass.
var stricter = []string{
	"stands twice in", "no blank between", "is a reference to no character", "text before the root", "text after the root", "a second root",
	"an XML declaration in the middle", "a processing instruction with two colons", "a document type or another directive", "depth limit",
}

// scanned are texts that each hold one thing on which two readers may differ.
var scanned = []string{
	"", "<A/>", "<A></A>", "\uFEFF \r\n<?xml version='1.0'?>\r\n<A/>\r\n", "<?xml?><A/>", "<?xmlx ?><A/>", "<A/><B/>", "x<A/>", "<A/>x", "<A><B></A></B>", "<A>",
	"<A>a\rb</A>", "<A>a\r\nb</A>", "<A>a\r\rb\n\r</A>", "<A>\r</A>", "<A>&#13;\n</A>", "<A>a&#13;</A>", "<A>\r&#10;</A>",
	"<A b='x\ry'/>", "<A b='x\r\ny'/>", "<A b='&#13;&#10;'/>", "<A b='\t\n'/>",
	"<A><![CDATA[a\rb]]></A>", "<A><![CDATA[a\r\nb]]></A>", "<A><![CDATA[\r]]></A>", "<A><![CDATA[&amp;<B>]]]]><![CDATA[>]]></A>", "<A><![CDATA[\x01]]></A>", "<A><![CDATA[]]></A>",
	"<![CDATA[x]]><A/>", "<A/><![CDATA[ ]]>", "<A><![CDATA[x]>]]></A>", "<A><![CDATA[x</A>", "<A>x<![CDATA[y]]>z</A>", "<A><![CDATA[x]]>]]></A>", "<A><![CDATA[x]]>></A>",
	"<!--a--><A/><!--b-->", "<A>x<!--y-->z</A>", "<A><!-- - --></A>", "<A><!-- -- --></A>", "<A><!--->--></A>", "<A><!----></A>", "<A><!---></A>", "<A><!- --></A>", "<A><!--",
	"<?p?><A/>", "<A><?p x>?></A>", "<A><?p ?></A>", "<A><?p", "<A><? ?></A>", "<A><?xml?></A>", "<A><?XML ?></A>", "<A><?p:q:r ?></A>", "<!DOCTYPE A><A/>", "<!DOCTYPE A [<!ENTITY x 'y'>]><A>&x;</A>",
	"<A>&lt;&gt;&amp;&quot;&apos;</A>", "<A b='&lt;&gt;&amp;&quot;&apos;'/>", "<A>&x;</A>", "<A>&LT;</A>", "<A>&</A>", "<A>&;</A>", "<A>& lt;</A>", "<A>&lt</A>", "<A>a&#x41;b&#65;c&#0065;</A>",
	"<A>&#;</A>", "<A>&#x;</A>", "<A>&#X41;</A>", "<A>&#-65;</A>", "<A>&#+65;</A>", "<A>&#6_5;</A>", "<A>&#0;</A>", "<A>&#1;</A>", "<A>&#xD800;</A>", "<A>&#xFFFE;</A>", "<A>&#x10FFFF;</A>", "<A>&#x110000;</A>",
	"<A>&#99999999999999999999;</A>", "<A>&#x000000000000000000000000000041;</A>", "<A>\uFFFD&#xFFFD;</A>", "<A b='&#1;'/>", "<A b='\uFFFD&#xD800;'/>",
	"<A>]]></A>", "<A>]] ></A>", "<A>]]&gt;</A>", "<A>&#93;]></A>", "<A b=']]>'/>", "<A>></A>", "<A>]></A>",
	"<A>\x01</A>", "<A>\x0B</A>", "<A>\x7F</A>", "<A>\uFFFE</A>", "<A>\uFFFF</A>", "<A>，\uFFFD！</A>", "<A b='\x01'/>", "<A b='\uFFFF'/>", "<A>\x00</A>",
	"<A b='1' c=\"2\"/>", "<A b = '1'/>", "<A b='1'c='2'/>", "<A b='1' b='2'/>", "<A x:b='1' b='2' y:b='3'/>", "<A x:b='1' x:b='2'/>", "<A b/>", "<A b=1/>", "<A b='/>", "<A b='<'/>", "<A b='>'/>", `<A b='"' c="'"/>`, "<A b='1'/ >", "<A / >", "<A / b='1'>", "<A =''/>",
	"<A\n\tb='1'\r\n/>", "< A/>", "<A ></A >", "<A></ A>", "<A></A b='1'>", "<A/", "<", "<A></", "</A>", "<A></A></A>", "<A></A/>",
	"<a:b/>", "<a:b></a:b>", "<a:b></b>", "<:a/>", "<a:/>", "<a:b:c/>", "<:/>", "<A a:b:c='1'/>", "<A :b='1'/>", "<A b:='1'/>", "<A xmlns='' xmlns:a='u' xsi:nil='true'/>",
	"<1A/>", "<-A/>", "<.A/>", "<_A-.1/>", "<航班/>", "<A 号='1'/>", "<A\u00D7/>", "<\u00B7A/>", "<A\u00B7/>", "<A\u0301/>", "<\u2160/>", "<A\u203F/>", "<\U00010000/>", "<A\uFFFE/>", "<A\u037E/>",
	"<A><B>1</B>text<C/>more<D/></A>", "<A> <B/> </A>", "<A>" + strings.Repeat("<B>", 1000) + "</A>",
}

// FuzzScan: what the scanner reads encoding/xml reads too, and both the same;
// what it refuses that one refuses too, but for what is listed.
func FuzzScan(f *testing.F) {
	files, err := filepath.Glob("testdata/*.xml")
	if err != nil || len(files) == 0 {
		f.Fatalf("%d examples, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	for _, text := range scanned {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return // Decode refuses it before
		}
		got, err := tokens(text)
		want, err2 := others(text)
		if err2 != nil && strings.Contains(err2.Error(), "invalid XML name") {
			return // its names are those of an older edition
		}
		switch {
		case err == nil && err2 != nil:
			t.Fatalf("taken, but encoding/xml says %v: %q", err2, text)
		case err == nil && got != want:
			t.Fatalf("%q, but encoding/xml reads %q", got, want)
		case err != nil && err2 == nil:
			for _, s := range stricter {
				if strings.Contains(err.Error(), s) {
					return
				}
			}
			t.Fatalf("%v, but encoding/xml takes it: %q", err, text)
		}
	})
}

// TestNames: the names of XML 1.0 in its fifth edition, of which encoding/xml
// knows an older one.
func TestNames(t *testing.T) {
	for _, r := range []struct {
		from, to    rune
		first, name bool
	}{
		{0x80, 0xB6, false, false}, {0xB7, 0xB7, false, true}, {0xB8, 0xBF, false, false}, {0xC0, 0xD6, true, true}, {0xD7, 0xD7, false, false}, {0xD8, 0xF6, true, true},
		{0xF7, 0xF7, false, false}, {0xF8, 0x2FF, true, true}, {0x300, 0x36F, false, true}, {0x370, 0x37D, true, true}, {0x37E, 0x37E, false, false}, {0x37F, 0x1FFF, true, true},
		{0x2000, 0x200B, false, false}, {0x200C, 0x200D, true, true}, {0x200E, 0x203E, false, false}, {0x203F, 0x2040, false, true}, {0x2041, 0x206F, false, false}, {0x2070, 0x218F, true, true},
		{0x2190, 0x2BFF, false, false}, {0x2C00, 0x2FEF, true, true}, {0x2FF0, 0x3000, false, false}, {0x3001, 0xD7FF, true, true}, {0xE000, 0xF8FF, false, false}, {0xF900, 0xFDCF, true, true},
		{0xFDD0, 0xFDEF, false, false}, {0xFDF0, 0xFFFD, true, true}, {0xFFFE, 0xFFFF, false, false}, {0x10000, 0xEFFFF, true, true}, {0xF0000, 0x10FFFF, false, false},
	} {
		for _, c := range []rune{r.from, (r.from + r.to) / 2, r.to} {
			for text, want := range map[string]bool{"<" + string(c) + "/>": r.first, "<A" + string(c) + "/>": r.name, "<A b" + string(c) + "=''/>": r.name} {
				if _, err := tokens(text); (err == nil) != want {
					t.Errorf("%U in %s: %v", c, text, err)
				}
			}
		}
	}
}

// TestPlace: an error says where it is.
func TestPlace(t *testing.T) {
	c := New(Options{Zone: time.UTC})
	const head = "<MSG>\r\n<META><SNDR>A</SNDR><SEQN>1</SEQN><TYPE>FLOP</TYPE><STYP>GTDT</STYP></META>\n"
	for text, want := range map[string]struct {
		line, column int
		says         string
	}{
		"":                                    {0, 0, "the text is empty"},
		"x":                                   {1, 1, "line 1, column 1: text before the root: this is not XML"},
		"\uFEFF\n 航":                          {2, 2, "line 2, column 2: text before the root: this is not XML"},
		"<A>\xff":                             {1, 4, "line 1, column 4: byte 3 is not UTF-8"},
		"<A>\n航班 &x;":                         {2, 4, "line 2, column 4: &x; is not known"},
		"<A>\n航班</B>":                         {2, 3, "line 2, column 3: <A> is ended by </B>"},
		"<A>\n<B c='1'\n 号='1' 号='2'/></A>":   {3, 8, "line 3, column 8: attribute 号 stands twice in <B>"},
		"<A>\n<B>":                            {2, 4, "line 2, column 4: the text ends inside B"},
		"<A/>\n\n  <B/>":                      {3, 3, "line 3, column 3: a second root, B"},
		"<A/>\n x":                            {2, 2, "line 2, column 2: text after the root"},
		"<?xml version='1.0'?>\n<!DOCTYPE A>": {2, 1, "line 2, column 1: a document type or another directive is not allowed"},
		"<?xml version='1.0'?>\n  <A/>":       {2, 3, "A: expected MSG as root"},
		strings.Repeat("<A>\n", 70):           {65, 1, "line 65, column 1: depth limit: elements are nested deeper than sis.max-depth allows (64)"},
		head + "<FLOP><FLID>x</FLID></FLOP></MSG>": {3, 7, `MSG/FLOP/FLID: "x": expected a positive whole number of up to 18 digits`},
		head + "<FLOP></FLOP></MSG>":               {3, 1, "MSG/FLOP/FLID: FLID is missing"},
		head + "<FLOP>\n<FLID>1</FLID><GTDT GTNO='1'/>\n<GTDT  航='1'\n  GTNO='1'/></FLOP></MSG>":  {6, 3, `MSG/FLOP/GTDT[2]@GTNO: "1": the same GTNO twice`},
		head + "<FLOP><FLID>1</FLID><GTDT GTNO='1'>\n<GATE/>\n<PGCT>x</PGCT></GTDT></FLOP></MSG>": {5, 1, `MSG/FLOP/GTDT[1]/PGCT: "x": expected a date and time as DDMONYYHHMM, like 09OCT261745`},
	} {
		_, err := c.Decode([]byte(text), time.Unix(0, 0))
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if e.Error() != want.says || e.Line != want.line || e.Column != want.column {
			t.Errorf("%q: %v, line %d, column %d; want %s, line %d, column %d", text, err, e.Line, e.Column, want.says, want.line, want.column)
		}
	}
}

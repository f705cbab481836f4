package sis

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
)

// Unicode turns the bytes of a binary column into UTF-8. What counts is a byte
// order mark, then the declaration, then UTF-8. Text of a character column is
// Unicode already and must not come here: its declaration may be a lie.
// Errors: Malformed, for an unknown encoding and for bytes that it does not have.
func Unicode(raw []byte) ([]byte, error) {
	switch {
	case bytes.HasPrefix(raw, []byte("\xEF\xBB\xBF")):
		return raw[3:], nil
	case bytes.HasPrefix(raw, []byte("\xFE\xFF")), bytes.HasPrefix(raw, []byte("\xFF\xFE")):
		return transcode(raw, "UTF-16", unicode.UTF16(unicode.BigEndian, unicode.ExpectBOM))
	}
	label := declaredEncoding(raw)
	switch strings.ToUpper(strings.NewReplacer("-", "", "_", "").Replace(label)) {
	case "", "UTF8", "ASCII", "USASCII":
		return raw, nil
	case "GB2312", "GBK", "GB18030", "CP936", "MS936", "WINDOWS936", "EUCCN", "XGBK":
		// GB18030 is a superset of the family.
		return transcode(raw, label, simplifiedchinese.GB18030)
	}
	return nil, newError(Malformed, "", label, "expected UTF-8, UTF-16 or one of the GB family as declared encoding")
}

// declaredEncoding is what the XML declaration says, "" when it says nothing.
func declaredEncoding(raw []byte) string {
	head, _, ended := bytes.Cut(bytes.TrimLeft(raw, " \t\r\n"), []byte("?>"))
	if !ended || !bytes.HasPrefix(head, []byte("<?xml")) {
		return ""
	}
	_, value, found := bytes.Cut(head, []byte("encoding"))
	value = bytes.TrimLeft(value, " \t\r\n=")
	if !found || len(value) == 0 {
		return ""
	}
	label, _, closed := bytes.Cut(value[1:], value[:1])
	if !closed {
		return ""
	}
	return string(label)
}

// transcode decodes raw. Decoders replace bad bytes in silence: a replacement
// character that encodes back to other bytes than came in is one of those.
func transcode(raw []byte, label string, e encoding.Encoding) ([]byte, error) {
	out, err := e.NewDecoder().Bytes(raw)
	if err != nil {
		return nil, newError(Malformed, "", "", fmt.Sprintf("the text is not %s: %v", label, err))
	}
	if at := bytes.IndexRune(out, utf8.RuneError); at >= 0 {
		back, err := e.NewEncoder().Bytes(out)
		if err != nil || !bytes.Equal(back, raw) {
			return nil, newError(Malformed, "", "", fmt.Sprintf("the text is not %s: character %d is none", label, utf8.RuneCount(out[:at])+1))
		}
	}
	return out, nil
}

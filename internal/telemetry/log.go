// Package telemetry makes the log: one JSON object a line, without secrets.
package telemetry

import (
	"io"
	"log/slog"
	"slices"
	"strings"
)

// NewLogger returns a logger that writes JSON lines of at least level to w, with secrets redacted.
func NewLogger(w io.Writer, level slog.Leveler) *slog.Logger {
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level, ReplaceAttr: Redact}))
}

// Redact hides the value of every attribute named dsn, password or token, also as part of a longer name such as
// http.admin-token. It is a ReplaceAttr of slog.HandlerOptions.
func Redact(_ []string, attr slog.Attr) slog.Attr {
	words := strings.FieldsFunc(strings.ToLower(attr.Key), func(r rune) bool { return strings.ContainsRune("._- ", r) })
	if attr.Value.String() != "" && slices.ContainsFunc(words, secretWord) {
		attr.Value = slog.StringValue("(hidden)")
	}
	return attr
}

func secretWord(word string) bool {
	return slices.Contains([]string{"dsn", "password", "token"}, word)
}

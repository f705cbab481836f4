package dberr

import (
	"fmt"
	"strings"
)

// Code is one of our own SQLSTATEs.
type Code struct{ State, Means, Do string }

// Codes returns our own SQLSTATEs, class MX.
func Codes() []Code {
	return []Code{
		{"MX001", "fenced: the caller's epoch does not hold the lease", "nothing: another instance is active; see v_status"},
		{"MX002", "refused on an instance that was used before", "remove pipeline.cutover-watermark"},
		{"MX003", "a bad argument", "as the hint says"},
		{"MX004", "no such setting, loop or other thing", "as the hint says"},
		{"MX005", "refused by the state of the thing", "as the hint says"},
	}
}

// Document returns docs/errors.md.
func Document() string {
	var b strings.Builder
	b.WriteString(`# Errors

Generated from ` + "`internal/dberr`" + `; the tables are those that the code uses.

## Classes of a message's failure

| class | what it means | state |
|---|---|---|
| MALFORMED | not XML, no META or SEQN, no usable FLID; or the row is gone (outcome raw-missing) | DEAD at once |
| PROTOCOL | a rule of the whole message is broken: count, operation day, required element, the same flight or number twice | DEAD at once, nothing of it lands |
| CODEC_ERROR | a value that does not fit its form, or a limit of size or depth | FAILED, tried again |
| UNSUPPORTED | a type or subtype that is not handled | FAILED, tried again |
| INFRA | an error that belongs to this message alone | FAILED, tried again |
| EXHAUSTED | attempts used up; first_error_class keeps the first class | DEAD |

Attempts: pipeline.max-attempts, by class pipeline.class-attempts; waits: pipeline.backoff.

## PostgreSQL: whose error

The environment's: the loop pauses and tries again; nothing counts against a message. The longest prefix counts. Errors
without an SQLSTATE (connection, timeout), and all that a server says while a connection is made, are the environment's.
A check violation (23514) that names no constraint is a missing partition, and the environment's too.
Class 42 is the environment's because no function builds SQL from what a message holds.

Suspect: when such an error comes twice on the same head, and in between a small write was committed within a second,
the run goes one by one; twice more on one message alone, and it counts against that message (INFRA). A connection lost
during the call and a timeout of the call are suspect too; a connection that could not be had is not.

| SQLSTATE | whose | suspect | meaning |
|---|---|---|---|
`)
	for _, r := range Rules() {
		suspect := ""
		if r.Suspect {
			suspect = "yes"
		}
		prefix := r.Prefix
		if prefix == "" {
			prefix = "other"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", prefix, r.Class, suspect, r.Means)
	}
	b.WriteString("\n## Our own SQLSTATEs\n\n| SQLSTATE | meaning | what to do |\n|---|---|---|\n")
	for _, c := range Codes() {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", c.State, c.Means, c.Do)
	}
	b.WriteString("\n## MySQL\n\nEvery error of the mailbox is the environment's: the loop pauses. Only\n1020, 1205, 1213, 1644, 3819 and 4025 are about the rows of a call: they count as an attempt to mark the row they name. Errors of the\ndriver without a number are explained like 1045, 1153, 2006, 2013 or 2027.\n\n| number | meaning, and where to look |\n|---|---|\n")
	for _, n := range Numbers() {
		fmt.Fprintf(&b, "| %d | %s |\n", n.Code, n.Means)
	}
	return b.String()
}

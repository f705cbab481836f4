// Package verification keeps docs/verification.md true: each promise of the
// design and each row of the owner's verification table, the tests that stand
// for it, and how each was seen to fail. rows_test.go is the table.
package verification

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	update = flag.Bool("update", false, "write docs/verification.md")
	breaks = flag.Bool("break", false, "break the code as the table says, and see each test fail")
)

const root = "../.."

// row is a promise, or a row of the owner's verification table.
type row struct {
	name   string  // the owner's words, or the promise's number and name
	must   string  // what has to hold
	proofs []proof // tests that were seen to fail
	also   []string
	later  string // what of it is still to come, and with what
}

// proof is a test, what was broken to see it fail, and what it said then.
type proof struct {
	test  string // see parse
	edits []edit
	said  string
}

// edit replaces text that stands once in a file.
type edit struct{ file, old, new string }

// named is a test by where it is.
type named struct {
	sql   string // file of a pgTAP test; "" = a Go test
	title string // of the assertion; %s stands for what the file fills in
	pkg   string // folder of a Go test
	fn    string
	sub   string // subtest; "" = the whole
}

// parse reads "sql/room/test/file.sql: title" or "folder.TestName/subtest".
func parse(t *testing.T, s string) named {
	t.Helper()
	if file, title, ok := strings.Cut(s, ": "); ok && strings.HasSuffix(file, ".sql") {
		return named{sql: file, title: title}
	}
	pkg, test, ok := strings.Cut(s, ".")
	if !ok {
		t.Fatalf("%q names no test", s)
	}
	fn, sub, _ := strings.Cut(test, "/")
	return named{pkg: pkg, fn: fn, sub: sub}
}

func (n named) String() string {
	switch {
	case n.sql != "":
		return "`" + n.sql + "`: " + n.title
	case n.sub != "":
		return fmt.Sprintf("`%s` `%s`: %s", n.pkg, n.fn, n.sub)
	}
	return fmt.Sprintf("`%s` `%s`", n.pkg, n.fn)
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestNamedTestsExist: a test of the table that was renamed or removed is seen.
func TestNamedTestsExist(t *testing.T) {
	for _, r := range append(promises(), rows()...) {
		tests := r.also
		for _, p := range r.proofs {
			tests = append(tests, p.test)
		}
		for _, s := range tests {
			n := parse(t, s)
			if n.sql != "" {
				if !strings.Contains(read(t, n.sql), "'"+strings.ReplaceAll(n.title, "'", "''")+"'") {
					t.Errorf("%s: %s has no assertion %q", r.name, n.sql, n.title)
				}
				continue
			}
			files, err := filepath.Glob(filepath.Join(root, n.pkg, "*_test.go"))
			if err != nil {
				t.Fatal(err)
			}
			var all strings.Builder
			for _, f := range files {
				text, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				all.Write(text)
			}
			if !strings.Contains(all.String(), "\nfunc "+n.fn+"(t *testing.T)") {
				t.Errorf("%s: %s has no test %s", r.name, n.pkg, n.fn)
			}
			if n.sub != "" && !strings.Contains(all.String(), `"`+n.sub+`"`) {
				t.Errorf("%s: %s.%s has no subtest %q", r.name, n.pkg, n.fn, n.sub)
			}
		}
		switch {
		case len(r.proofs) == 0 && r.later == "":
			t.Errorf("%s: neither a test nor a word on when it comes", r.name)
		case r.must == "":
			t.Errorf("%s: what must hold?", r.name)
		}
	}
}

// TestBreaksFit: what the table says was changed can still be changed so. When
// the code has moved on, write down the new way to break it and see the test
// fail (-break).
func TestBreaksFit(t *testing.T) {
	for _, r := range append(promises(), rows()...) {
		for _, p := range r.proofs {
			if len(p.edits) == 0 || p.said == "" {
				t.Errorf("%s: %s was not seen to fail", r.name, p.test)
			}
			for _, e := range p.edits {
				if n := strings.Count(read(t, e.file), e.old); n != 1 {
					t.Errorf("%s: %s stands %d times in %s, want once:\n%s", r.name, p.test, n, e.file, e.old)
				}
			}
		}
	}
}

func TestDocumentIsCurrent(t *testing.T) {
	const file = root + "/docs/verification.md"
	if *update {
		if err := os.WriteFile(file, []byte(document(t)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(have), document(t)); d != "" {
		t.Errorf("docs/verification.md is stale; go test ./internal/verification -update\n%s", d)
	}
}

func document(t *testing.T) string {
	var b strings.Builder
	b.WriteString(`# Verification

Generated from ` + "`internal/verification/rows_test.go`" + `. For each promise, and for each row of the owner's verification
table, the tests that stand for it and how each was seen to fail: what was changed in which file, and what the test
said then. ` + "`make test/breaks`" + ` breaks the code in a copy, one change after the other, and demands that the named test
fails and says so. A test checks that every name below exists and that every change still fits the code.

## Promises

`)
	table(t, &b, promises())
	b.WriteString("\n## The owner's verification table\n\n")
	table(t, &b, rows())
	return b.String()
}

func table(t *testing.T, b *strings.Builder, list []row) {
	for _, r := range list {
		fmt.Fprintf(b, "### %s\n\n%s\n\n", r.name, r.must)
		if len(r.proofs) > 0 {
			b.WriteString("| test | broken | it said |\n|---|---|---|\n")
		}
		for _, p := range r.proofs {
			var changes []string
			for _, e := range p.edits {
				with := "removed"
				if strings.TrimSpace(e.new) != "" {
					with = "→ " + code(e.new)
				}
				changes = append(changes, fmt.Sprintf("`%s`: %s %s", e.file, code(e.old), with))
			}
			fmt.Fprintf(b, "| %s | %s | %s |\n", cell(whole(t, parse(t, p.test)).String()), strings.Join(changes, "<br>"), cell(p.said))
		}
		if len(r.proofs) > 0 {
			b.WriteString("\n")
		}
		if len(r.also) > 0 {
			var tests []string
			for _, s := range r.also {
				tests = append(tests, cell(whole(t, parse(t, s)).String()))
			}
			fmt.Fprintf(b, "Also: %s.\n\n", strings.Join(tests, " · "))
		}
		if r.later != "" {
			fmt.Fprintf(b, "Still to come: %s\n\n", r.later)
		}
	}
}

// title ends an assertion of a pgTAP file.
var title = regexp.MustCompile(`'((?:[^']|'')+)'\);`)

// whole puts what a title goes on from before its "…".
func whole(t *testing.T, n named) named {
	t.Helper()
	if n.sql == "" || !strings.HasPrefix(n.title, "…") {
		return n
	}
	text, _, _ := strings.Cut(read(t, n.sql), "'"+strings.ReplaceAll(n.title, "'", "''")+"'")
	all := title.FindAllStringSubmatch(text, -1)
	for _, m := range slices.Backward(all) {
		if !strings.HasPrefix(m[1], "…") {
			n.title = strings.ReplaceAll(m[1], "''", "'") + " " + n.title
			break
		}
	}
	return n
}

var space = regexp.MustCompile(`\s+`)

func cell(s string) string {
	return strings.ReplaceAll(strings.TrimSpace(space.ReplaceAllString(s, " ")), "|", `\|`)
}

func code(s string) string {
	if strings.Contains(s, "`") {
		return "`` " + cell(s) + " ``"
	}
	return "`" + cell(s) + "`"
}

// TestBreaks sees each test of the table fail: make test/breaks.
func TestBreaks(t *testing.T) {
	if !*breaks {
		t.Skip("only with -break: it takes a while")
	}
	dir := t.TempDir()
	clone(t, dir)
	for _, r := range append(promises(), rows()...) {
		for _, p := range r.proofs {
			t.Run(r.name+": "+p.test, func(t *testing.T) {
				for _, e := range p.edits {
					file := filepath.Join(dir, e.file)
					was, err := os.ReadFile(file)
					if err != nil {
						t.Fatal(err)
					}
					broken := strings.Replace(string(was), e.old, e.new, 1)
					if broken == string(was) {
						t.Fatalf("nothing to change in %s", e.file)
					}
					defer func() {
						if err := os.WriteFile(file, was, 0o644); err != nil {
							t.Fatal(err)
						}
					}()
					if err := os.WriteFile(file, []byte(broken), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				n := parse(t, p.test)
				args := []string{"run", "./internal/pgtest/cmd/pgtap", n.sql}
				failed := `Failed test( \d+)?: "` + strings.ReplaceAll(regexp.QuoteMeta(n.title), "%s", ".+") + `"`
				if n.sql == "" {
					run := "^" + n.fn + "$"
					failed = "--- FAIL: " + n.fn
					if n.sub != "" {
						sub := strings.ReplaceAll(n.sub, " ", "_")
						run += "/^" + regexp.QuoteMeta(sub) + "$"
						failed += "/" + regexp.QuoteMeta(sub)
					}
					args = []string{"test", "-count=1", "-timeout=5m", "-run", run, "./" + n.pkg}
				}
				cmd := exec.CommandContext(t.Context(), "go", args...)
				cmd.Dir = dir
				out, err := cmd.CombinedOutput()
				text := space.ReplaceAllString(strings.ReplaceAll(string(out), "\n#", "\n"), " ")
				switch {
				case err == nil:
					t.Errorf("it passes")
				case !regexp.MustCompile(failed).MatchString(text):
					t.Errorf("it does not fail as such:\n%s", out)
				case !strings.Contains(text, space.ReplaceAllString(p.said, " ")):
					t.Errorf("it does not say %q:\n%s", p.said, out)
				}
			})
		}
	}
}

// clone copies the files of the repository.
func clone(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		to := filepath.Join(dir, rel)
		switch {
		case entry.IsDir() && rel != "." && (strings.HasPrefix(entry.Name(), ".") || rel == "bin"):
			return fs.SkipDir
		case entry.IsDir():
			return os.MkdirAll(to, 0o755)
		case !entry.Type().IsRegular():
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(to, text, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
}

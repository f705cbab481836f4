package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestExec(t *testing.T) {
	dir := t.TempDir()
	seen := filepath.Join(dir, "seen")
	for name, c := range map[string]struct {
		script string
		code   int
	}{
		"success": {`test -n "$MSGX_TEST_PG_URL" -a -n "$MSGX_TEST_MYSQL_DSN" && echo "$MSGX_TEST_PG_URL" >"` + seen + `"`, 0},
		"failure": {"exit 7", 7},
	} {
		t.Run(name, func(t *testing.T) {
			var out, errs bytes.Buffer
			code, err := run(t.Context(), []string{"-dir", filepath.Join(dir, "run"), "exec", "--", "sh", "-c", c.script}, &out, &errs)
			if code != c.code || err != nil {
				t.Errorf("code %d, %v; want %d\n%s", code, err, c.code, errs.String())
			}
			left, err := filepath.Glob(filepath.Join(dir, "run", "*"))
			if err != nil || len(left) != 0 {
				t.Errorf("left: %v, %v", left, err)
			}
		})
	}
	if url, err := os.ReadFile(seen); err != nil || !strings.HasPrefix(string(url), "postgres://") {
		t.Errorf("the command saw %q, %v", url, err)
	}
}

func TestExecInterrupted(t *testing.T) {
	dir := t.TempDir()
	ready := filepath.Join(dir, "ready")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for {
			if _, err := os.Stat(ready); err == nil {
				cancel()
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	begin := time.Now()
	// The signal must reach the child of the command too, or its wait would last.
	code, err := run(ctx, []string{"-dir", filepath.Join(dir, "run"), "exec", "--", "bash", "-c", `touch "` + ready + `"; sleep 300; true`}, os.Stdout, os.Stderr)
	if code != 130 || err != nil {
		t.Errorf("code %d, %v; want 130", code, err)
	}
	if spent := time.Since(begin); spent > stopWait {
		t.Errorf("took %s", spent)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "run", "*")); err != nil || len(left) != 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

func TestUpEnvDown(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	do := func(args ...string) (int, string) {
		var out bytes.Buffer
		code, err := run(t.Context(), append([]string{"-dir", dir}, args...), &out, os.Stderr)
		if err != nil {
			out.WriteString(err.Error())
		}
		return code, out.String()
	}
	if code, out := do("env"); code != 1 || !strings.Contains(out, "devservers up") {
		t.Errorf("env before up: %d %s", code, out)
	}
	if code, out := do("down"); code != 0 {
		t.Errorf("down before up: %d %s", code, out)
	}
	if code, out := do("up"); code != 0 {
		t.Fatalf("up: %d %s", code, out)
	}
	if code, out := do("env"); code != 0 || !strings.Contains(out, "export MSGX_TEST_PG_URL='postgres://") || !strings.Contains(out, "export MSGX_TEST_MYSQL_DSN='") {
		t.Errorf("env: %d %s", code, out)
	}
	if code, out := do("env", "MSGX_TEST_PG_URL"); code != 0 || !strings.HasPrefix(out, "postgres://") {
		t.Errorf("env of one name: %d %s", code, out)
	}
	if code, out := do("env", "NOPE"); code != 1 {
		t.Errorf("env of an unknown name: %d %s", code, out)
	}
	if code, out := do("down", "-clean"); code != 0 {
		t.Errorf("down: %d %s", code, out)
	}
	if code, out := do("env"); code != 1 {
		t.Errorf("env after down -clean: %d %s", code, out)
	}
	if code, _ := do("nonsense"); code != 2 {
		t.Errorf("nonsense: %d", code)
	}
}

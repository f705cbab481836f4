// Command devservers runs private PostgreSQL and MariaDB servers for tests, the
// demo and trials. It is a tool of this repository, not part of the product.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"msgexchange/internal/devserver"
)

const usage = `devservers: private PostgreSQL and MariaDB for tests and trials

  devservers install           put what is missing on this machine (apt-get)
  devservers up                start both, or reuse what runs
  devservers down [-clean]     stop both; -clean also deletes their data
  devservers env [name]        print export lines, or one value
  devservers exec -- cmd …     run cmd with throwaway servers of its own

  -dir folder                  where they live (default: .run in the project's root)

Variables for tests: MSGX_TEST_PG_URL, MSGX_TEST_MYSQL_DSN.
`

// stopWait bounds how long an interrupted command may take to end.
const stopWait = 15 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	code, err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "devservers:", err)
	}
	os.Exit(code)
}

// run does what args say and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (int, error) {
	flags := flag.NewFlagSet("devservers", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	dir := flags.String("dir", "", "")
	if err := flags.Parse(args); err != nil || flags.NArg() == 0 {
		fmt.Fprint(stderr, usage)
		return 2, nil
	}
	if *dir == "" {
		root, err := projectRoot()
		if err != nil {
			return 1, err
		}
		*dir = filepath.Join(root, devserver.Folder)
	}
	log := slog.New(slog.NewTextHandler(stderr, nil))
	rest := flags.Args()[1:]
	switch flags.Arg(0) {
	case "install":
		return exit(devserver.Install(ctx, stderr))
	case "up":
		_, err := devserver.Up(ctx, *dir, devserver.Options{Log: log})
		return exit(err)
	case "down":
		return exit(down(ctx, *dir, rest, log))
	case "env":
		return exit(env(*dir, rest, stdout))
	case "exec":
		if len(rest) > 0 && rest[0] == "--" {
			rest = rest[1:]
		}
		if len(rest) > 0 {
			return execute(ctx, *dir, rest, slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelWarn})))
		}
	}
	fmt.Fprint(stderr, usage)
	return 2, nil
}

func exit(err error) (int, error) {
	if err != nil {
		return 1, err
	}
	return 0, nil
}

func down(ctx context.Context, dir string, args []string, log *slog.Logger) error {
	if len(args) == 1 && args[0] == "-clean" {
		return devserver.Remove(ctx, dir, log)
	}
	if err := devserver.Down(ctx, dir, log); err != nil && !errors.Is(err, devserver.ErrNotUp) {
		return err
	}
	return nil
}

// env prints how to reach the servers, as shell exports or one value of a name.
func env(dir string, args []string, out io.Writer) error {
	state, err := devserver.Load(dir)
	if err != nil {
		return fmt.Errorf("%w (start them with `devservers up`)", err)
	}
	for _, v := range variables(state) {
		if len(args) == 0 {
			_, err = fmt.Fprintf(out, "export %s='%s'\n", v.name, v.value)
		} else if args[0] == v.name {
			_, err = fmt.Fprintln(out, v.value)
			return err
		}
		if err != nil {
			return fmt.Errorf("print: %w", err)
		}
	}
	if len(args) > 0 {
		return fmt.Errorf("unknown name %q", args[0])
	}
	return nil
}

type variable struct{ name, value string }

func variables(state devserver.State) []variable {
	return []variable{{"MSGX_TEST_PG_URL", state.PGURL}, {"MSGX_TEST_MYSQL_DSN", state.MySQLDSN}}
}

// execute runs argv with throwaway servers and returns its exit code. A signal
// goes to the command and its children; the servers are stopped after it.
func execute(ctx context.Context, dir string, argv []string, log *slog.Logger) (code int, err error) {
	state, release, err := devserver.Throwaway(ctx, dir, devserver.Options{Log: log})
	if err != nil {
		return 1, err
	}
	defer func() {
		if failed := release(context.WithoutCancel(ctx)); failed != nil {
			err = errors.Join(err, failed)
			code = max(code, 1)
		}
	}()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = os.Environ()
	for _, v := range variables(state) {
		cmd.Env = append(cmd.Env, v.name+"="+v.value)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that the signal reaches its children too
	if err := cmd.Start(); err != nil {
		return 127, fmt.Errorf("run %s: %w", argv[0], err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var result error
	select {
	case result = <-ended:
	case <-ctx.Done():
		for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
			if err := syscall.Kill(-cmd.Process.Pid, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
				log.Warn("signal not passed on", "signal", sig, "err", err)
			}
			select {
			case result = <-ended:
			case <-time.After(stopWait):
				continue
			}
			break
		}
	}
	if ctx.Err() != nil {
		return 130, nil
	}
	failed, ok := errors.AsType[*exec.ExitError](result)
	switch {
	case result == nil:
		return 0, nil
	case ok && failed.ExitCode() >= 0:
		return failed.ExitCode(), nil
	case ok:
		return 1, fmt.Errorf("%s: %w", argv[0], result)
	}
	return 1, fmt.Errorf("run %s: %w", argv[0], result)
}

// projectRoot finds the folder of go.mod, from here upwards.
func projectRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the project's root: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("find the project's root: %w", err)
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("no go.mod from here upwards: say -dir")
		}
		dir = parent
	}
}

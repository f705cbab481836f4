package devserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	startWait = 90 * time.Second // until a started server answers; recovery included
	stopWait  = 30 * time.Second // until a stopped server is gone, per signal
	initWait  = 3 * time.Minute  // until a data directory is made
)

// server is one of the two, ready to be started or stopped.
type server struct {
	name     string // as people call it
	account  account
	data     string // data directory
	sockets  string // folder of its socket
	pidFile  string // written by the server itself, inside our data
	mark     string // argument of its process that names our data
	logFile  string
	port     *int // in the state
	create   func(ctx context.Context, into string) error
	argv     func() ([]string, error)
	ping     func(ctx context.Context) error
	remember func()           // keep the arguments of this start
	stop     []syscall.Signal // the polite one, then the last resort
}

// start makes sure that the server runs and answers.
func (f *folder) start(ctx context.Context, s *server) error {
	if pid := s.running(); pid != 0 && *s.port == 0 { // its port went with a lost state
		if err := f.stop(ctx, s); err != nil {
			return err
		}
	} else if pid != 0 {
		if err := s.answers(ctx, nil, startWait); err != nil {
			return fmt.Errorf("%s (process %d) runs but does not answer: %w\n%s", s.name, pid, err, s.tail(0))
		}
		return nil
	}
	if err := s.prepare(ctx); err != nil {
		return err
	}
	s.remember()
	for attempt := 1; ; attempt++ {
		if *s.port == 0 || !free(*s.port) {
			port, err := freePort()
			if err != nil {
				return err
			}
			*s.port = port
		}
		if err := f.save(); err != nil {
			return err
		}
		said, err := s.launch(ctx)
		if err == nil {
			f.log.InfoContext(ctx, s.name+" is up", "port", *s.port, "data", s.data)
			return nil
		}
		// The port may have been taken since we looked, and a killed server's
		// children take a moment to let go.
		passing := strings.Contains(said, "in use") && attempt < 5
		if !passing || ctx.Err() != nil {
			return fmt.Errorf("start %s: %w; its log ends:\n%s", s.name, err, said)
		}
		time.Sleep(500 * time.Millisecond)
	}
}

// prepare makes the folders and, once, the data. An interrupted creation leaves
// nothing that looks finished.
func (s *server) prepare(ctx context.Context) error {
	if err := s.account.mkdir(s.sockets); err != nil {
		return err
	}
	if err := os.Remove(s.pidFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove a stale pid file: %w", err)
	}
	if _, err := os.Stat(s.data); err == nil {
		return nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("look for the data of %s: %w", s.name, err)
	}
	if err := s.account.mkdir(filepath.Dir(s.data)); err != nil {
		return err
	}
	fresh := s.data + ".new"
	if err := os.RemoveAll(fresh); err != nil {
		return fmt.Errorf("remove unfinished data of %s: %w", s.name, err)
	}
	ctx, cancel := context.WithTimeout(ctx, initWait)
	defer cancel()
	if err := s.create(ctx, fresh); err != nil {
		return fmt.Errorf("create the data of %s: %w", s.name, err)
	}
	if err := os.Rename(fresh, s.data); err != nil {
		return fmt.Errorf("create the data of %s: %w", s.name, err)
	}
	return nil
}

// launch starts the process in a session of its own and waits until it answers.
// On failure no process is left and what its log said is returned.
func (s *server) launch(ctx context.Context) (said string, err error) {
	argv, err := s.argv()
	if err != nil {
		return "", err
	}
	log, err := os.OpenFile(s.logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return "", fmt.Errorf("open its log: %w", err)
	}
	defer log.Close()
	from, err := log.Seek(0, io.SeekEnd)
	if err != nil {
		return "", fmt.Errorf("measure its log: %w", err)
	}
	// Not ctx: the server outlives this call.
	cmd := s.account.command(context.WithoutCancel(ctx), argv...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr.Setsid = true
	if err := cmd.Start(); err != nil {
		return "", err
	}
	gone := make(chan error, 1)
	go func() { gone <- cmd.Wait() }()
	if err := s.answers(ctx, gone, startWait); err != nil {
		if killErr := cmd.Process.Signal(s.stop[len(s.stop)-1]); killErr == nil {
			select {
			case <-gone:
			case <-time.After(stopWait):
			}
		}
		return s.tail(from), err
	}
	return "", nil
}

// answers waits until the server takes a connection, its process has gone, or
// the time is over.
func (s *server) answers(ctx context.Context, gone chan error, wait time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for {
		attempt, stop := context.WithTimeout(ctx, 2*time.Second)
		err := s.ping(attempt)
		stop()
		if err == nil {
			return nil
		}
		select {
		case exit := <-gone:
			gone <- exit // for whoever asks next
			return fmt.Errorf("it ended at once: %v", exit)
		case <-ctx.Done():
			return fmt.Errorf("no answer within %s: %w", wait, err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// stop ends the server, when it is ours and runs.
func (f *folder) stop(ctx context.Context, s *server) error {
	for _, signal := range s.stop {
		pid := s.running()
		if pid == 0 {
			return nil
		}
		if err := syscall.Kill(pid, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("stop %s (process %d): %w", s.name, pid, err)
		}
		for end := time.Now().Add(stopWait); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			if !s.owns(pid) {
				f.log.InfoContext(ctx, s.name+" is stopped")
				return nil
			}
			if ctx.Err() != nil {
				return fmt.Errorf("stop %s: %w", s.name, ctx.Err())
			}
		}
	}
	return fmt.Errorf("%s (process %d) does not stop; its log ends:\n%s", s.name, s.running(), s.tail(0))
}

// running returns the process of the server, or 0.
func (s *server) running() int {
	text, err := os.ReadFile(s.pidFile)
	if err != nil {
		return 0
	}
	line, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || pid <= 1 || !s.owns(pid) {
		return 0
	}
	return pid
}

// owns tells whether process pid is alive and runs on our data: process ids are
// used again, so the number alone says nothing. A zombie has no arguments left.
func (s *server) owns(pid int) bool {
	args, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return false
	}
	for arg := range bytes.SplitSeq(args, []byte{0}) {
		if string(arg) == s.mark {
			return true
		}
	}
	return false
}

// tail returns the last lines of the log, from a byte offset on.
func (s *server) tail(from int64) string {
	text, err := os.ReadFile(s.logFile)
	if err != nil {
		return fmt.Sprintf("(no log: %v)", err)
	}
	lines := strings.Split(strings.TrimSpace(string(text[min(from, int64(len(text))):])), "\n")
	return strings.Join(lines[max(0, len(lines)-20):], "\n")
}

// freePort finds a port below those that the system hands to outgoing
// connections, so that a stopped server finds its own port free again.
func freePort() (int, error) {
	for range 200 {
		if port := 20000 + rand.IntN(10000); free(port) {
			return port, nil
		}
	}
	return 0, errors.New("no free port between 20000 and 29999")
}

func free(port int) bool {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", portOf(port)))
	if err != nil {
		return false
	}
	return l.Close() == nil
}

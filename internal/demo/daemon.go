package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// stopWait is how long a daemon may take to stop; it promises 5 s.
const stopWait = 10 * time.Second

// daemon is a running msgx run.
type daemon struct {
	cmd  *exec.Cmd
	log  *os.File
	done chan struct{}
	err  error // how it ended, once done is closed
}

// startDaemon runs msgx run as its user would, in a process of its own; env is
// set besides the demo's own.
func (p *place) startDaemon(ctx context.Context, env ...string) (*daemon, error) {
	log, err := os.OpenFile(p.logFile, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open the daemon's log: %w", err)
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), p.o.Binary, "run", "--config", p.config)
	cmd.Env = append(append(os.Environ(), p.env...), env...)
	cmd.Stdout, cmd.Stderr = log, log
	// Not stopped by the terminal's interrupt: the demo stops it in order.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start the daemon: %w", err), log.Close())
	}
	d := &daemon{cmd: cmd, log: log, done: make(chan struct{})}
	go func() {
		d.err = cmd.Wait()
		close(d.done)
	}()
	return d, nil
}

// alive returns an error when the daemon has ended by itself.
func (d *daemon) alive() error {
	select {
	case <-d.done:
		return fmt.Errorf("the daemon ended: %w; see %s", orClean(d.err), d.log.Name())
	default:
		return nil
	}
}

// stop asks the daemon to stop and waits for it.
func (d *daemon) stop() error {
	select {
	case <-d.done:
		return d.log.Close()
	default:
	}
	if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return errors.Join(fmt.Errorf("stop the daemon: %w", err), d.log.Close())
	}
	select {
	case <-d.done:
		if d.err != nil {
			return errors.Join(fmt.Errorf("the daemon did not stop cleanly: %w; see %s", d.err, d.log.Name()), d.log.Close())
		}
		return d.log.Close()
	case <-time.After(stopWait):
		return errors.Join(fmt.Errorf("the daemon did not stop within %s", stopWait), d.cmd.Process.Kill(), d.log.Close())
	}
}

func orClean(err error) error {
	if err == nil {
		return errors.New("exit status 0")
	}
	return err
}

package kafka

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/twmb/franz-go/pkg/kfake"
)

// EmbeddedConfig says how the broker inside this process is set up.
type EmbeddedConfig struct {
	Dir        string // holds topics and records, so that they survive the process; "" = in memory
	Port       int    // on 127.0.0.1; 0 = any that is free
	Topics     []string
	Partitions int // of a topic that is made anew
}

// Embedded is a broker inside this process, for trials: one node, no
// replication. What it acknowledged survives the end of the process, also a
// sudden one, but not of the machine. Production configurations refuse it.
type Embedded struct {
	cluster *kfake.Cluster
	lock    *os.File // nil: in memory
	log     *brokerLog
}

// StartEmbedded starts it, with what its folder holds from before. One process
// at a time: a folder that another one uses is refused.
func StartEmbedded(cfg EmbeddedConfig, log *slog.Logger) (*Embedded, error) {
	e := &Embedded{log: &brokerLog{log: log}}
	opts := []kfake.Opt{kfake.NumBrokers(1), kfake.WithLogger(e.log)}
	if cfg.Port != 0 {
		opts = append(opts, kfake.Ports(cfg.Port))
	}
	if cfg.Dir != "" {
		lock, err := lockDir(cfg.Dir)
		if err != nil {
			return nil, err
		}
		e.lock = lock
		opts = append(opts, kfake.DataDir(cfg.Dir))
	}
	cluster, err := kfake.NewCluster(opts...)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start the embedded broker: %w", err), e.unlock())
	}
	e.cluster = cluster
	// Also those that a folder from before does not have.
	for _, topic := range cfg.Topics {
		if cluster.TopicInfo(topic) != nil {
			continue
		}
		if err := cluster.CreateTopic(topic, int32(cfg.Partitions), nil); err != nil {
			return nil, errors.Join(fmt.Errorf("create topic %s in the embedded broker: %w", topic, err), e.Close())
		}
	}
	log.Info("embedded broker started", "brokers", cluster.ListenAddrs(), "dir", cfg.Dir)
	return e, nil
}

// lockDir makes the folder and takes it for this process.
func lockDir(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("folder of the embedded broker: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("folder of the embedded broker: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("folder %s of the embedded broker is in use by another process: %w", dir, err), f.Close())
	}
	return f, nil
}

// Brokers returns its addresses.
func (e *Embedded) Brokers() []string { return e.cluster.ListenAddrs() }

// Close stops it and writes what is left to its folder.
func (e *Embedded) Close() error {
	e.cluster.Close()
	return errors.Join(e.log.failure(), e.unlock())
}

func (e *Embedded) unlock() error {
	if e.lock == nil {
		return nil
	}
	if err := e.lock.Close(); err != nil {
		return fmt.Errorf("release the folder of the embedded broker: %w", err)
	}
	return nil
}

// brokerLog passes the broker's own log on, and keeps its first error: what it
// cannot write to its folder it says nowhere else.
type brokerLog struct {
	log   *slog.Logger
	mu    sync.Mutex
	first error
}

// Logf is called by the broker.
func (l *brokerLog) Logf(level kfake.LogLevel, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	switch level {
	case kfake.LogLevelError:
		l.mu.Lock()
		if l.first == nil {
			l.first = fmt.Errorf("embedded broker: %s", text)
		}
		l.mu.Unlock()
		l.log.Error("embedded broker", "err", text)
	case kfake.LogLevelWarn:
		l.log.Warn("embedded broker", "text", text)
	default:
		l.log.Log(context.Background(), slog.LevelDebug-4, "embedded broker", "text", text)
	}
}

func (l *brokerLog) failure() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.first
}

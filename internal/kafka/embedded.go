package kafka

import (
	"fmt"
	"log/slog"
	"os"

	"github.com/twmb/franz-go/pkg/kfake"
)

// EmbeddedConfig says how the broker inside this process is set up.
type EmbeddedConfig struct {
	Dir        string // holds topics and records, so that they survive the process; "" = in memory
	Port       int    // on 127.0.0.1; 0 = any that is free
	Topics     []string
	Partitions int
}

// Embedded is a broker inside this process, for trials: one node, no
// replication. Production configurations refuse it.
type Embedded struct{ cluster *kfake.Cluster }

// StartEmbedded starts it, with what its folder holds from before.
func StartEmbedded(cfg EmbeddedConfig, log *slog.Logger) (*Embedded, error) {
	opts := []kfake.Opt{kfake.NumBrokers(1), kfake.SeedTopics(int32(cfg.Partitions), cfg.Topics...)}
	if cfg.Port != 0 {
		opts = append(opts, kfake.Ports(cfg.Port))
	}
	if cfg.Dir != "" {
		if err := os.MkdirAll(cfg.Dir, 0o755); err != nil {
			return nil, fmt.Errorf("folder of the embedded broker: %w", err)
		}
		opts = append(opts, kfake.DataDir(cfg.Dir))
	}
	cluster, err := kfake.NewCluster(opts...)
	if err != nil {
		return nil, fmt.Errorf("start the embedded broker: %w", err)
	}
	log.Info("embedded broker started", "brokers", cluster.ListenAddrs(), "dir", cfg.Dir)
	return &Embedded{cluster: cluster}, nil
}

// Brokers returns its addresses.
func (e *Embedded) Brokers() []string { return e.cluster.ListenAddrs() }

// Close stops it and writes what is left to its folder.
func (e *Embedded) Close() error {
	e.cluster.Close()
	return nil
}

package demo

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"
)

// latency reads the daemon's log of a run at a fixed rate: how long each message
// waited from the commit that enqueued it to the commit of its outcome.
func (p *place) latency() (err error) {
	f, err := os.Open(p.logFile)
	if err != nil {
		return fmt.Errorf("read the daemon's log: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	waits, err := waits(bufio.NewScanner(f))
	if err != nil || len(waits) == 0 {
		return err
	}
	slices.Sort(waits)
	at := func(permille int) time.Duration {
		return waits[(len(waits)-1)*permille/1000].Round(100 * time.Microsecond)
	}
	fmt.Fprintf(p.o.Out, "from enqueued to outcome committed, %d messages: p50 %s, p99 %s, p99.9 %s, longest %s\n",
		len(waits), at(500), at(990), at(999), at(1000))
	return nil
}

// waits pairs the lines "enqueued" and "message" of a log.
func waits(lines *bufio.Scanner) ([]time.Duration, error) {
	lines.Buffer(nil, 1<<20)
	enqueued := make(map[int64]time.Time)
	var all []time.Duration
	for lines.Scan() {
		var l struct {
			Time            time.Time
			Msg             string
			From, Watermark int64
			MsgID           int64 `json:"msg_id"`
			State           string
		}
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return nil, fmt.Errorf("read the daemon's log: %w", err)
		}
		switch {
		case l.Msg == "enqueued":
			for id := l.From; id <= l.Watermark; id++ {
				enqueued[id] = l.Time
			}
		case l.Msg == "message" && l.State != "FAILED":
			if since, ok := enqueued[l.MsgID]; ok {
				all = append(all, l.Time.Sub(since))
				delete(enqueued, l.MsgID)
			}
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read the daemon's log: %w", err)
	}
	return all, nil
}

package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"msgexchange/internal/devserver"
	"msgexchange/internal/kafka"
)

// Trouble says what is done to daemon and servers while the day runs.
type Trouble struct {
	Some    bool          // a bit of everything, as make demo TROUBLE=1 does
	Kills   int           // SIGKILL of the active daemon, so many times
	Outages time.Duration // each server away once for so long
	Servers string        // folder of the private servers, which are really stopped
}

// any tells whether there is any.
func (t Trouble) any() bool { return t.Some || t.Kills > 0 || t.Outages > 0 }

// kind is one sort of trouble.
type kind string

const (
	killActive  kind = "kill -9 of the active daemon"
	killStandby kind = "kill -9 of the standby"
	freeze      kind = "the active daemon is frozen for longer than its lease"
	stopPG      kind = "PostgreSQL is stopped"
	stopMySQL   kind = "MySQL is stopped"
	stopKafka   kind = "Kafka is stopped"
)

// blow is one piece of trouble: after a pause, for a time.
type blow struct {
	kind  kind
	after time.Duration
	lasts time.Duration
}

// plan is the trouble of a run: a function of the seed alone.
func (t Trouble) plan(seed uint64) []blow {
	r := rand.New(rand.NewPCG(seed, 7))
	between := func(low, high time.Duration) time.Duration { return low + time.Duration(r.Int64N(int64(high-low))) }
	var all []blow
	if t.Some {
		for _, k := range []kind{killActive, killActive, killActive, killActive, killStandby, freeze, stopPG, stopPG, stopMySQL, stopMySQL, stopKafka, stopKafka} {
			all = append(all, blow{k, between(500*time.Millisecond, 3*time.Second), between(2*time.Second, 6*time.Second)})
		}
	}
	for range t.Kills {
		all = append(all, blow{killActive, between(50*time.Millisecond, time.Second), 0})
	}
	if t.Outages > 0 {
		for _, k := range []kind{stopPG, stopMySQL, stopKafka} {
			all = append(all, blow{k, between(time.Second, 5*time.Second), t.Outages})
		}
	}
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// leaseTTL is the daemons' lease while there is trouble: short, so that
// take-overs fit into a demo.
const leaseTTL = 3 * time.Second

// impatient is a configuration under which every limit would long be passed by an
// outage, if outages counted.
func impatient() []string {
	return []string{
		"MSGX_PIPELINE_HEAD_DEADLINE=1s", "MSGX_PIPELINE_MAX_ATTEMPTS=2", "MSGX_PIPELINE_BACKFILL_MAX_ATTEMPTS=2",
		"MSGX_KAFKA_DELIVERY_MAX_ATTEMPTS=2", "MSGX_PIPELINE_BACKOFF=100ms",
	}
}

// team is two daemons, started again whenever one ends, as a supervisor does;
// and the servers that can be taken from them.
type team struct {
	p      *place
	t      Trouble
	out    io.Writer
	began  time.Time
	broker *kafka.Embedded
	parked *parking

	mu       sync.Mutex
	daemons  map[string]*daemon // by instance
	expected map[string]bool    // its next end is our doing
	failure  error
	stopping bool
	wg       sync.WaitGroup
	kills    int
	outages  map[kind]time.Duration
}

// assemble starts the broker and both daemons.
func (p *place) assemble(ctx context.Context) (*team, error) {
	m := &team{p: p, t: p.o.Trouble, out: p.o.Out, began: p.o.Now(), parked: newParking(),
		daemons: map[string]*daemon{}, expected: map[string]bool{}, outages: map[kind]time.Duration{}}
	if err := m.startKafka(); err != nil {
		return nil, err
	}
	for _, name := range []string{"demo-a", "demo-b"} {
		if err := m.keep(ctx, name); err != nil {
			return nil, errors.Join(err, m.stop())
		}
	}
	return m, nil
}

func (m *team) startKafka() (err error) {
	m.broker, err = kafka.StartEmbedded(kafka.EmbeddedConfig{
		Dir: filepath.Join(m.p.dir, "kafka"), Port: m.p.port, Partitions: 4, Topics: []string{"msg", "schd"},
	}, slog.New(slog.DiscardHandler))
	return err
}

// keep starts a daemon and starts it again whenever we ended it. One that ends by
// itself is a failure of the demo.
func (m *team) keep(ctx context.Context, name string) error {
	d, err := m.p.startDaemon(ctx, append(impatient(), "MSGX_INSTANCE="+name, "MSGX_KAFKA_BROKERS="+m.p.broker, "MSGX_LEASE_TTL="+leaseTTL.String())...)
	if err != nil {
		return err
	}
	m.mu.Lock()
	m.daemons[name] = d
	m.mu.Unlock()
	m.wg.Go(func() {
		<-d.done
		m.mu.Lock()
		ours, stopping := m.expected[name], m.stopping
		delete(m.expected, name)
		if !ours && !stopping && m.failure == nil {
			m.failure = fmt.Errorf("daemon %s ended by itself: %w; see %s", name, orClean(d.err), d.log.Name())
		}
		m.mu.Unlock()
		if stopping || !ours {
			return
		}
		if err := errors.Join(d.log.Close(), m.keep(ctx, name)); err != nil {
			m.fail(err)
		}
	})
	return nil
}

func (m *team) fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failure == nil {
		m.failure = err
	}
}

// alive returns why the demo cannot go on.
func (m *team) alive() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.failure
}

// stop ends daemons and broker.
func (m *team) stop() error {
	m.mu.Lock()
	m.stopping = true
	daemons := m.daemons
	m.mu.Unlock()
	var errs []error
	for _, d := range daemons {
		errs = append(errs, d.stop())
	}
	m.wg.Wait()
	return errors.Join(append(errs, m.broker.Close())...)
}

// afflict deals the blows of the plan, one after the other.
func (m *team) afflict(ctx context.Context) error {
	for _, b := range m.t.plan(m.p.o.Seed) {
		if err := sleep(ctx, b.after); err != nil {
			return err
		}
		if err := m.deal(ctx, b); err != nil {
			return fmt.Errorf("%s: %w", b.kind, err)
		}
		if err := m.alive(); err != nil {
			return err
		}
	}
	return nil
}

func (m *team) deal(ctx context.Context, b blow) error {
	if b.kind != killActive || m.t.Kills == 0 {
		fmt.Fprintf(m.out, "\n%6.1f s  %s\n", m.p.o.Now().Sub(m.began).Seconds(), b)
	}
	switch b.kind {
	case killActive, killStandby:
		name := m.named(ctx, b.kind == killActive)
		m.mu.Lock()
		m.expected[name] = true
		m.kills++
		d := m.daemons[name]
		m.mu.Unlock()
		if err := d.cmd.Process.Kill(); !errors.Is(err, os.ErrProcessDone) {
			return err
		}
		return nil
	case freeze:
		name := m.named(ctx, true)
		m.mu.Lock()
		d := m.daemons[name]
		m.mu.Unlock()
		if err := d.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
			return err
		}
		err := sleep(ctx, leaseTTL+b.lasts)
		return errors.Join(err, d.cmd.Process.Signal(syscall.SIGCONT))
	case stopPG:
		return m.away(ctx, b, devserver.StopPostgres, devserver.StartPostgres)
	case stopMySQL:
		// The writer stands still meanwhile: what it had under way must be known.
		release := m.parked.hold()
		defer release()
		return m.away(ctx, b, devserver.StopMySQL, devserver.StartMySQL)
	default:
		if err := m.broker.Close(); err != nil {
			return err
		}
		began := m.p.o.Now()
		err := sleep(ctx, b.lasts)
		m.outages[b.kind] += m.p.o.Now().Sub(began)
		return errors.Join(err, m.startKafka())
	}
}

func (b blow) String() string {
	switch b.kind {
	case killActive, killStandby:
		return string(b.kind)
	}
	return fmt.Sprintf("%s, for %s", b.kind, b.lasts.Round(100*time.Millisecond))
}

// away stops a server and starts it again.
func (m *team) away(ctx context.Context, b blow, stop, start func(context.Context, string, *slog.Logger) error) error {
	log := slog.New(slog.DiscardHandler)
	began := m.p.o.Now()
	if err := stop(ctx, m.t.Servers, log); err != nil {
		return err
	}
	err := sleep(ctx, b.lasts)
	// Started again also when the demo is interrupted: others may use it.
	err = errors.Join(err, start(context.WithoutCancel(ctx), m.t.Servers, log))
	m.outages[b.kind] += m.p.o.Now().Sub(began)
	return err
}

// named is the instance that is active, or the other one.
func (m *team) named(ctx context.Context, active bool) string {
	var holder string
	if err := m.p.pool.QueryRow(ctx, "SELECT coalesce(holder, '') FROM msgx.v_lease").Scan(&holder); err != nil {
		holder = ""
	}
	if (holder == "demo-b") == active {
		return "demo-b"
	}
	return "demo-a"
}

// summary tells what was done.
func (m *team) summary() {
	fmt.Fprintf(m.out, "\ntrouble: %d kills", m.kills)
	for _, k := range []kind{stopPG, stopMySQL, stopKafka} {
		if d := m.outages[k]; d > 0 {
			fmt.Fprintf(m.out, "; %s for %s in all", k, d.Round(100*time.Millisecond))
		}
	}
	fmt.Fprintln(m.out)
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// parking stops the writer between two messages.
type parking struct {
	mu   sync.Mutex
	cond *sync.Cond
	held bool
	in   bool // the writer stands in it
	over bool // it writes no more
}

func newParking() *parking {
	p := &parking{}
	p.cond = sync.NewCond(&p.mu)
	return p
}

// hold waits until the writer stands still, and returns how to let it go on.
func (p *parking) hold() func() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held = true
	for !p.in && !p.over {
		p.cond.Wait()
	}
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.held = false
		p.cond.Broadcast()
	}
}

// pass is called by the writer between two messages.
func (p *parking) pass() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.held {
		p.in = true
		p.cond.Broadcast()
		p.cond.Wait()
	}
	p.in = false
}

// end says that the writer is done.
func (p *parking) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
	p.cond.Broadcast()
}

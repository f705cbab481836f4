package engine_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// proxy stands between the engine and one server, and makes trouble: the server
// is away, mute, slow, or goes away at a chosen request. It has an address that
// nobody else takes while nothing listens on it.
type proxy struct {
	t       *testing.T
	address string

	mu      sync.Mutex
	server  string
	listen  net.Listener // nil: refuses
	mute    chan struct{}
	delay   time.Duration
	rule    *rule
	pairs   map[*pair]bool
	running sync.WaitGroup
}

// rule picks requests and says what becomes of them.
type rule struct {
	picks func(p *pair, chunk []byte) bool
	whole func(answer []byte) bool // whether the server has done what it was asked; nil: the request is torn instead
	hits  atomic.Int64
}

// pair is one connection through the proxy.
type pair struct {
	client, server net.Conn
	names          map[string]bool // prepared statements that are looked for
	losing         atomic.Pointer[rule]
}

// proxies numbers the addresses of this process.
var proxies atomic.Int32

// newProxy starts a proxy for a server that is at host:port.
func newProxy(t *testing.T, server string) *proxy {
	t.Helper()
	n := proxies.Add(1)
	p := &proxy{t: t, server: server, pairs: make(map[*pair]bool), address: fmt.Sprintf("127.77.%d.%d:0", n/250, n%250+1)}
	p.pass()
	t.Cleanup(func() {
		p.refuse()
		p.heal()
		p.running.Wait()
	})
	return p
}

// pass ends every trouble.
func (p *proxy) pass() {
	p.t.Helper()
	p.heal()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay, p.rule = 0, nil
	if p.listen != nil {
		return
	}
	l, err := net.Listen("tcp", p.address)
	if err != nil {
		p.t.Fatalf("start a proxy: %v", err)
	}
	p.address, p.listen = l.Addr().String(), l
	p.running.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			p.running.Go(func() { p.serve(client) })
		}
	})
}

// refuse ends all connections and takes no new ones: the server is away.
func (p *proxy) refuse() {
	p.mu.Lock()
	if p.listen != nil {
		if err := p.listen.Close(); err != nil {
			p.t.Errorf("stop a proxy: %v", err)
		}
		p.listen = nil
	}
	p.mu.Unlock()
	p.cut()
}

// cut ends all connections; new ones are taken.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for pair := range p.pairs {
		pair.end()
	}
}

// blackhole keeps every connection and passes nothing, until pass or refuse.
func (p *proxy) blackhole() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mute == nil {
		p.mute = make(chan struct{})
	}
}

func (p *proxy) heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mute != nil {
		close(p.mute)
		p.mute = nil
	}
}

// slow delays every answer.
func (p *proxy) slow(by time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = by
}

// lose hands the picked requests on, waits until they are done, and ends the
// connection in place of the answer.
func (p *proxy) lose(picks func(*pair, []byte) bool, whole func([]byte) bool) *rule {
	return p.obey(&rule{picks: picks, whole: whole})
}

// tear ends the connection in the middle of the picked requests.
func (p *proxy) tear(picks func(*pair, []byte) bool) *rule { return p.obey(&rule{picks: picks}) }

func (p *proxy) obey(r *rule) *rule {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rule = r
	return r
}

func (p *proxy) serve(client net.Conn) {
	p.wait()
	server, err := net.Dial("tcp", p.server)
	if err != nil {
		p.t.Errorf("the server behind a proxy: %v", err)
		_ = client.Close()
		return
	}
	c := &pair{client: client, server: server, names: make(map[string]bool)}
	p.mu.Lock()
	p.pairs[c] = true
	if p.listen == nil {
		c.end()
	}
	p.mu.Unlock()
	var both sync.WaitGroup
	both.Go(func() { p.up(c) })
	both.Go(func() { p.down(c) })
	both.Wait()
	p.mu.Lock()
	delete(p.pairs, c)
	p.mu.Unlock()
}

// wait returns when nothing is held up.
func (p *proxy) wait() {
	p.mu.Lock()
	mute := p.mute
	p.mu.Unlock()
	if mute != nil {
		<-mute
	}
}

func (p *proxy) up(c *pair) {
	defer c.end()
	buf := make([]byte, 1<<20)
	for {
		n, err := c.client.Read(buf)
		if err != nil {
			return
		}
		p.wait()
		p.mu.Lock()
		r := p.rule
		p.mu.Unlock()
		if r != nil && r.picks(c, buf[:n]) {
			if r.whole == nil {
				_, _ = c.server.Write(buf[:n/2])
				r.hits.Add(1)
				return
			}
			c.losing.Store(r)
		}
		if _, err := c.server.Write(buf[:n]); err != nil {
			return
		}
	}
}

func (p *proxy) down(c *pair) {
	defer c.end()
	buf := make([]byte, 1<<20)
	for {
		n, err := c.server.Read(buf)
		if err != nil {
			return
		}
		if r := c.losing.Load(); r != nil {
			if r.whole(buf[:n]) {
				r.hits.Add(1)
				return
			}
			continue
		}
		p.mu.Lock()
		delay := p.delay
		p.mu.Unlock()
		time.Sleep(delay)
		p.wait()
		if _, err := c.client.Write(buf[:n]); err != nil {
			return
		}
	}
}

// end closes both sides; the client sees a reset. Closing twice does no harm.
func (c *pair) end() {
	for _, conn := range []net.Conn{c.client, c.server} {
		if err := conn.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			// The other side was faster.
			continue
		}
	}
}

// statement is the name that pgx gives a prepared statement.
var statement = regexp.MustCompile(`stmtcache_[0-9a-f]+`)

// call picks calls of one of our functions in PostgreSQL.
func call(function string) func(*pair, []byte) bool {
	return func(c *pair, chunk []byte) bool {
		text := bytes.Index(chunk, []byte("msgx."+function+"("))
		if text >= 0 {
			// It is prepared: its name stands before its text.
			for _, name := range statement.FindAll(chunk[:text], -1) {
				c.names[string(name)] = true
			}
			return false
		}
		for _, name := range statement.FindAll(chunk, -1) {
			if c.names[string(name)] {
				return true
			}
		}
		return false
	}
}

// ready tells that PostgreSQL has committed what it was asked, and waits for more.
func ready(answer []byte) bool { return bytes.HasSuffix(answer, []byte("Z\x00\x00\x00\x05I")) }

// query picks statements that begin with a text, in MySQL.
func query(begin string) func(*pair, []byte) bool {
	return func(_ *pair, chunk []byte) bool {
		return len(chunk) > 5 && chunk[4] == 3 && strings.HasPrefix(string(chunk[5:]), begin)
	}
}

// produce picks Kafka's requests to write records.
func produce(_ *pair, chunk []byte) bool {
	return len(chunk) > 8 && int(binary.BigEndian.Uint32(chunk)) >= len(chunk)-4 && binary.BigEndian.Uint16(chunk[4:]) == 0 && chunk[6] == 0
}

// anything takes the first word of the server for the answer.
func anything([]byte) bool { return true }

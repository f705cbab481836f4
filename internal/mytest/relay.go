package mytest

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// Fate is what a Relay does with a statement.
type Fate int

// The fates of a statement.
const (
	Pass      Fate = iota // hand it on
	CutBefore             // break the connection; the server never sees it
	CutAfter              // hand it on, and break the connection when the server has answered
	TooLarge              // answer with error 1153 in the server's place, as a proxy does
)

// Relay stands between a client and a server of MySQL: a network that breaks, a firewall that forgets, an address that
// moves to another server.
type Relay struct {
	t      testing.TB
	listen net.Listener

	mu    sync.Mutex
	to    string // address of the server
	watch func(statement string) Fate
	links map[*link]bool
}

// link is one connection through the relay.
type link struct {
	client, server net.Conn
	silent         bool // drops everything, and tells nobody
	cut            bool // breaks at the server's next word
}

// NewRelay starts a relay to the server of dsn and returns it with the DSN that goes through it. It ends with the test.
func NewRelay(t testing.TB, dsn string) (*Relay, string) {
	t.Helper()
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatalf("read the DSN: %v", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("start a relay: %v", err)
	}
	r := &Relay{t: t, listen: l, to: cfg.Addr, links: make(map[*link]bool)}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { r.serve(client) })
		}
	})
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Errorf("stop the relay: %v", err)
		}
		r.Cut()
		wg.Wait()
	})
	cfg.Addr = l.Addr().String()
	return r, cfg.FormatDSN()
}

// Watch lets see every statement and decide on it; nil passes all.
func (r *Relay) Watch(watch func(statement string) Fate) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.watch = watch
}

// Cut breaks every connection.
func (r *Relay) Cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for l := range r.links {
		l.close()
	}
}

// Silence makes every connection there is drop what it gets, as a firewall does that forgot it. New ones work.
func (r *Relay) Silence() (connections int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for l := range r.links {
		l.silent = true
	}
	return len(r.links)
}

// To moves the address to the server of another DSN; connections there are break.
func (r *Relay) To(dsn string) {
	r.t.Helper()
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		r.t.Fatalf("read the DSN: %v", err)
	}
	r.mu.Lock()
	r.to = cfg.Addr
	r.mu.Unlock()
	r.Cut()
}

func (l *link) close() {
	// What cannot be closed any more is closed.
	_ = l.client.Close()
	_ = l.server.Close()
}

func (r *Relay) serve(client net.Conn) {
	r.mu.Lock()
	to := r.to
	r.mu.Unlock()
	server, err := net.Dial("tcp", to)
	if err != nil {
		_ = client.Close()
		return
	}
	l := &link{client: client, server: server}
	r.mu.Lock()
	r.links[l] = true
	r.mu.Unlock()
	defer func() {
		l.close()
		r.mu.Lock()
		delete(r.links, l)
		r.mu.Unlock()
	}()
	var back sync.WaitGroup
	back.Go(func() {
		defer l.close()
		r.answers(l)
	})
	r.statements(l)
	l.close()
	back.Wait()
}

// answers carries what the server says.
func (r *Relay) answers(l *link) {
	buf := make([]byte, 64<<10)
	for {
		n, err := l.server.Read(buf)
		r.mu.Lock()
		silent, cut := l.silent, l.cut
		r.mu.Unlock()
		if cut {
			return
		}
		if n > 0 && !silent {
			if _, err := l.client.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			if silent {
				_, _ = io.Copy(io.Discard, l.client)
			}
			return
		}
	}
}

// statements carries what the client says, packet by packet.
func (r *Relay) statements(l *link) {
	const comQuery = 3
	for {
		head := make([]byte, 4)
		if _, err := io.ReadFull(l.client, head); err != nil {
			return
		}
		body := make([]byte, int(head[0])|int(head[1])<<8|int(head[2])<<16)
		if _, err := io.ReadFull(l.client, body); err != nil {
			return
		}
		fate := Pass
		r.mu.Lock()
		silent, watch := l.silent, r.watch
		r.mu.Unlock()
		if watch != nil && head[3] == 0 && len(body) > 0 && body[0] == comQuery {
			fate = watch(string(body[1:]))
		}
		switch {
		case silent:
			continue
		case fate == CutBefore:
			return
		case fate == TooLarge:
			if _, err := l.client.Write(tooLarge()); err != nil {
				return
			}
			continue
		case fate == CutAfter:
			r.mu.Lock()
			l.cut = true
			r.mu.Unlock()
		}
		if _, err := l.server.Write(append(head, body...)); err != nil && !errors.Is(err, net.ErrClosed) {
			return
		}
	}
}

// tooLarge is the error packet of a server for ER_NET_PACKET_TOO_LARGE.
func tooLarge() []byte {
	body := append([]byte{0xff}, binary.LittleEndian.AppendUint16(nil, 1153)...)
	body = append(body, "#08S01Got a packet bigger than 'max_allowed_packet' bytes"...)
	return append([]byte{byte(len(body)), 0, 0, 1}, body...)
}

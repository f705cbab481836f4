package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"msgexchange/internal/kafka"
)

// troubled is a world whose servers are behind proxies. Every limit is scaled
// down so far that one failure counted is one too many: a message, an event or
// a mark is given up at its first.
type troubled struct {
	*world
	pgProxy, myProxy, kafkaProxy *proxy
	cluster                      *kfake.Cluster
	role, user                   string // the daemon's own logins
	m                            text
	bursts                       int
	last                         int64 // newest message
}

func newTroubled(t *testing.T, changes map[string]string) *troubled {
	t.Helper()
	limits := map[string]string{
		"lease.ttl":                      "3s",
		"pipeline.max-attempts":          "1",
		"pipeline.class-attempts":        "{}",
		"pipeline.crash-limit":           "0",
		"pipeline.head-deadline":         "1s",
		"pipeline.backfill-max-attempts": "1",
		"pipeline.backfill-batch":        "10",
		"pipeline.apply-batch":           "5",
		"pipeline.delivery-batch":        "10",
		"kafka.delivery-max-attempts":    "1",
		"kafka.produce-timeout":          "1s",
		"mailbox.connect-timeout":        "1s",
		"mailbox.read-timeout":           "2s",
		"mailbox.write-timeout":          "2s",
		"mailbox.lock-wait":              "1s",
	}
	maps.Copy(limits, changes)
	w := &troubled{world: newWorld(t, limits)}
	w.role, w.user = w.pg.Name+"_app", w.my.Name

	w.exec("CREATE ROLE " + w.role + " LOGIN IN ROLE msgx_app")
	t.Cleanup(func() {
		if _, err := w.pg.Pool.Exec(context.Background(), "DROP ROLE "+w.role); err != nil {
			t.Error(err)
		}
	})
	u, err := url.Parse(w.pg.AppURL)
	if err != nil {
		t.Fatal(err)
	}
	w.pgProxy = newProxy(t, u.Host)
	u.Host, u.User = w.pgProxy.address, url.User(w.role)
	w.env["postgres.dsn"] = u.String()

	login := "'" + w.user + "'@'127.0.0.1'"
	w.boxExec("CREATE USER " + login + " IDENTIFIED BY 'secret'")
	t.Cleanup(func() {
		if _, err := w.my.SQL.ExecContext(context.Background(), "DROP USER "+login); err != nil {
			t.Error(err)
		}
	})
	w.boxExec("GRANT SELECT, INSERT, UPDATE ON " + w.my.Name + ".* TO " + login)
	dsn, err := mysql.ParseDSN(w.my.DSN)
	if err != nil {
		t.Fatal(err)
	}
	w.myProxy = newProxy(t, dsn.Addr)
	dsn.Addr, dsn.User, dsn.Passwd = w.myProxy.address, w.user, "secret"
	w.env["mailbox.dsn"] = dsn.FormatDSN()

	// A broker of its own: it must tell its clients the proxy's address.
	var at advertised
	w.cluster, err = kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(4, w.prefix+"msg", w.prefix+"schd"), kfake.ListenFn(at.listen(t)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.cluster.Close)
	w.kafkaProxy = at.proxy
	w.broker = []string{at.proxy.address}
	w.env["kafka.brokers"] = at.proxy.address
	return w
}

// advertised makes a listener that says that it is at its proxy.
type advertised struct {
	net.Listener
	proxy *proxy
}

func (a *advertised) listen(t *testing.T) func(string, string) (net.Listener, error) {
	return func(network, address string) (net.Listener, error) {
		l, err := net.Listen(network, address)
		if err != nil {
			return nil, err
		}
		a.Listener, a.proxy = l, newProxy(t, l.Addr().String())
		return a, nil
	}
}

func (a *advertised) Addr() net.Addr {
	addr, err := net.ResolveTCPAddr("tcp", a.proxy.address)
	if err != nil {
		a.proxy.t.Error(err)
	}
	return addr
}

// burst puts the next part of the script into the mailbox: flights that come,
// change and go, over this burst and earlier ones, and messages that must end
// badly whatever the servers do.
func (w *troubled) burst() {
	w.t.Helper()
	n := 10 * w.bursts
	w.bursts++
	w.my.Insert(w.m.create(n+1, n+2, n+3, n+4))
	for i := range 3 {
		for flid := n + 1; flid <= n+4; flid++ {
			w.my.Insert(w.m.terminal(flid, fmt.Sprintf("T%d", i)))
		}
	}
	w.my.Insert(w.m.event("BOTM", n+1, "<BOTM>31FEB260744</BOTM>"))
	w.my.Insert(w.m.terminal(n+9, "X"))
	w.my.Insert(w.m.event("FDEL", n+2, "<FDEL></FDEL>"))
	if n > 0 {
		w.my.Insert(w.m.terminal(n-10+1, "L"))
		w.my.Insert(w.m.create(n - 10 + 2))
	}
	again := w.m.terminal(n+3, "A")
	w.my.Insert(again)
	w.last = w.my.Insert(again)
}

// settled waits until all of the script is through.
func (w *troubled) settled() {
	w.t.Helper()
	// The claim of marks whose answer was lost ends by its time: time moves.
	w.exec("UPDATE msgx.proc_state SET backfill_claimed_until = now() WHERE backfill_claimed_until IS NOT NULL")
	w.idle(w.last)
}

// left is what a run leaves behind, without what depends on the hour: clocks,
// versions, how often a flight was flushed, repeats.
type left struct {
	Outcomes []string            // of each message
	Marks    []string            // in the mailbox
	Flights  map[string]string   // documents
	Changes  map[string][]string // of each key, in the order of the topic
	States   map[string]string   // last record of each key
	Given    string              // what was given up, or was counted against somebody
}

func (w *troubled) left() left {
	w.t.Helper()
	l := left{Flights: make(map[string]string), Changes: make(map[string][]string), States: make(map[string]string)}
	l.Outcomes = strings.Split(w.get(`SELECT string_agg(concat_ws(' ', msg_id, state, error_class, first_error_class, outcome, 'attempts', attempts,
		'crashes', crashes, 'marked', backfill_at IS NOT NULL), E'\n' ORDER BY msg_id) FROM msgx.proc_state`), "\n")
	rows, err := w.my.SQL.QueryContext(w.t.Context(), "SELECT CONCAT_WS(' ', CMINMSGS_ID, CMINMSGS_STATUS, CMINMSGS_DATE_PROCESSED IS NOT NULL) FROM cminmsgs ORDER BY CMINMSGS_ID")
	if err != nil {
		w.t.Fatal(err)
	}
	for rows.Next() {
		var mark string
		if err := rows.Scan(&mark); err != nil {
			w.t.Fatal(err)
		}
		l.Marks = append(l.Marks, mark)
	}
	if err := rows.Err(); err != nil {
		w.t.Fatal(err)
	}
	var flights []struct {
		Flid     int64           `json:"flid"`
		State    string          `json:"state"`
		Document json.RawMessage `json:"document"`
	}
	if err := json.Unmarshal([]byte(w.get("SELECT json_agg(d) FROM msgx.flight_document(ARRAY(SELECT flid FROM msgx.flight_schd)) AS d")), &flights); err != nil {
		w.t.Fatal(err)
	}
	for _, f := range flights {
		l.Flights[strconv.FormatInt(f.Flid, 10)] = f.State + timeless(w.t, f.Document)
	}
	seen := make(map[string]string)
	err = kafka.Scan(w.t.Context(), w.broker, w.prefix+"msg", func(c kafka.Consumed) error {
		id, value := c.Header("ce_id"), timeless(w.t, c.Value)
		if before, repeat := seen[id]; repeat {
			if before != value {
				w.t.Errorf("event %s was sent as %s and as %s", id, before, value)
			}
			return nil
		}
		seen[id] = value
		l.Changes[string(c.Key)] = append(l.Changes[string(c.Key)], value)
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	err = kafka.Scan(w.t.Context(), w.broker, w.prefix+"schd", func(c kafka.Consumed) error {
		l.States[string(c.Key)] = "deleted"
		if c.Value != nil {
			l.States[string(c.Key)] = timeless(w.t, c.Value)
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	l.Given = w.get(`SELECT format('attempts of events %s, dead events %s, attempts of marks %s, marks given up %s, flights unlike their log %s',
		(SELECT sum(attempts) FROM msgx.msg_event), (SELECT count(*) FROM msgx.msg_event WHERE state <> 'SENT'),
		(SELECT sum(backfill_attempts) FROM msgx.proc_state), (SELECT count(*) FROM msgx.proc_state WHERE backfill_abandoned_at IS NOT NULL),
		(SELECT count(*) FROM msgx.flight_verify(0, 1000000)))`)
	return l
}

// timeless is a JSON object without its version.
func timeless(t *testing.T, object []byte) string {
	t.Helper()
	var fields map[string]any
	if err := json.Unmarshal(object, &fields); err != nil {
		t.Fatalf("%s: %v", object, err)
	}
	delete(fields, "state_version")
	out, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// calm is what the script leaves when nothing happens.
var calm sync.Map // of func(*testing.T) left, by number of bursts

// compare holds what is left against a run of the same script without trouble.
func (w *troubled) compare() {
	w.t.Helper()
	run, _ := calm.LoadOrStore(w.bursts, sync.OnceValue(func() left {
		c := newTroubled(w.t, nil)
		c.start()
		for range w.bursts {
			c.burst()
		}
		c.settled()
		return c.left()
	}))
	want := run.(func() left)()
	if want.Given != "attempts of events 0, dead events 0, attempts of marks 0, marks given up 0, flights unlike their log 0" {
		w.t.Fatalf("the run without trouble: %s", want.Given)
	}
	if len(want.Outcomes) < 15*w.bursts || len(want.Changes) < 4*w.bursts {
		w.t.Fatalf("the run without trouble left %d outcomes and %d keys", len(want.Outcomes), len(want.Changes))
	}
	if d := cmp.Diff(want, w.left()); d != "" {
		w.t.Errorf("without trouble (-) and with (+):\n%s", d)
	}
}

// paused waits until a loop is shown as paused, in v_loops with a time and in
// v_status, and in the log.
func (w *troubled) paused(r *running, loop, why string) {
	w.t.Helper()
	w.until(loop+" is shown as paused: "+why, func() bool {
		return w.get("SELECT count(*) FROM msgx.v_loops WHERE loop = $1 AND stands = 'paused' AND paused_reason ~ $2 AND paused_since IS NOT NULL", loop, why) == "1"
	})
	w.until("v_status shows it", func() bool {
		return w.get("SELECT count(*) FROM msgx.v_status WHERE standing_still ~ $1 AND standing_since IS NOT NULL", loop+": ") == "1"
	})
	if !r.log.contains("msg=\"loop pauses\" loop=" + loop) {
		w.t.Errorf("the log does not tell that %s pauses", loop)
	}
}

// brake and release are what an operator does with psql.
func (w *troubled) brake(loop string) {
	w.t.Helper()
	w.exec("SELECT msgx.loop_pause($1, 'test', 'a while', now())", loop)
}

func (w *troubled) release(loop string) {
	w.t.Helper()
	w.exec("SELECT msgx.loop_resume($1, 'test', 'go on', now())", loop)
}

// outage is one kind of trouble.
type outage struct {
	name  string
	alone bool // touches what other tests use
	begin func(w *troubled)
	shown func(w *troubled, r *running) // waits until it is shown
	end   func(w *troubled)
	lasts time.Duration // at least, after it was shown
}

// TestOutage: whatever a server does, a run ends like one without trouble:
// every message in order, nothing counted, nothing given up, no restart.
func TestOutage(t *testing.T) {
	const long = 5 * time.Second // longer than the lease, and every deadline
	loops := func(why string, loops ...string) func(*troubled, *running) {
		return func(w *troubled, r *running) {
			w.t.Helper()
			for _, loop := range loops {
				w.paused(r, loop, why)
			}
		}
	}
	logged := func(texts ...string) func(*troubled, *running) {
		return func(w *troubled, r *running) {
			w.t.Helper()
			for _, text := range texts {
				w.until("the log says: "+text, func() bool { return r.log.contains(text) })
			}
		}
	}
	kicked := func(w *troubled) {
		w.t.Helper()
		w.exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1", w.role)
	}
	var fault *kfake.FaultHandle
	refused := func(key kmsg.Key, err *kerr.Error, top bool) func(*troubled) {
		return func(w *troubled) {
			fault = w.cluster.Fault(kfake.Fault{Keys: []kmsg.Key{key}, Err: err, Count: -1, TopLevel: top})
		}
	}
	for _, o := range []outage{
		{name: "MySQL is read-only", alone: true, lasts: time.Second,
			begin: func(w *troubled) { w.boxExec("SET GLOBAL read_only = ON") },
			shown: loops("read-only", "backfill"),
			end:   func(w *troubled) { w.boxExec("SET GLOBAL read_only = OFF") }},
		{name: "MySQL is away", lasts: long,
			begin: func(w *troubled) { w.myProxy.refuse() },
			shown: loops("connection refused", "poller", "backfill"),
			end:   func(w *troubled) { w.myProxy.pass() }},
		{name: "MySQL is mute", lasts: long,
			begin: func(w *troubled) { w.myProxy.blackhole() },
			shown: loops("broke|timeout|deadline", "poller", "backfill"),
			end:   func(w *troubled) { w.myProxy.pass() }},
		{name: "MySQL is slow", lasts: long,
			begin: func(w *troubled) { w.myProxy.slow(3 * time.Second) },
			shown: loops("broke|timeout|deadline", "poller", "backfill"),
			end:   func(w *troubled) { w.myProxy.pass() }},
		{name: "MySQL refuses logins", lasts: long,
			begin: func(w *troubled) {
				w.boxExec("ALTER USER '" + w.user + "'@'127.0.0.1' ACCOUNT LOCK")
				w.myProxy.cut()
			},
			shown: loops("the account is locked", "poller", "backfill"),
			end:   func(w *troubled) { w.boxExec("ALTER USER '" + w.user + "'@'127.0.0.1' ACCOUNT UNLOCK") }},
		{name: "MySQL's password changes", lasts: time.Second,
			begin: func(w *troubled) {
				w.boxExec("SET PASSWORD FOR '" + w.user + "'@'127.0.0.1' = PASSWORD('other')")
				w.myProxy.cut()
			},
			shown: loops("login refused", "poller", "backfill"),
			end:   func(w *troubled) { w.boxExec("SET PASSWORD FOR '" + w.user + "'@'127.0.0.1' = PASSWORD('secret')") }},

		{name: "PostgreSQL is away", lasts: long,
			begin: func(w *troubled) { w.pgProxy.refuse() },
			shown: logged("loop pauses", "connection refused", "not active any more", "msg=standby"),
			end:   func(w *troubled) { w.pgProxy.pass() }},
		{name: "PostgreSQL is mute", lasts: long,
			begin: func(w *troubled) { w.pgProxy.blackhole() },
			shown: logged("not active any more", "msg=standby"),
			end:   func(w *troubled) { w.pgProxy.pass() }},
		{name: "PostgreSQL is slow", lasts: long,
			begin: func(w *troubled) { w.pgProxy.slow(6 * time.Second) },
			shown: logged("not active any more", "msg=standby"),
			end:   func(w *troubled) { w.pgProxy.pass() }},
		{name: "PostgreSQL is read-only", lasts: long,
			begin: func(w *troubled) {
				w.exec("ALTER DATABASE " + w.pg.Name + " SET default_transaction_read_only = on")
				kicked(w)
			},
			shown: logged("loop pauses", "SQLSTATE 25006", "not active any more", "msg=standby"),
			end: func(w *troubled) {
				w.exec("SET default_transaction_read_only = off; ALTER DATABASE " + w.pg.Name + " RESET default_transaction_read_only")
				w.pg.Pool.Reset()
				kicked(w)
			}},
		{name: "PostgreSQL refuses logins", lasts: long,
			begin: func(w *troubled) { w.exec("ALTER ROLE " + w.role + " NOLOGIN"); kicked(w) },
			shown: logged("loop pauses", "is not permitted to log in", "not active any more", "msg=standby"),
			end:   func(w *troubled) { w.exec("ALTER ROLE " + w.role + " LOGIN") }},
		{name: "PostgreSQL has no connection left", lasts: long,
			begin: func(w *troubled) { w.exec("ALTER ROLE " + w.role + " CONNECTION LIMIT 0"); kicked(w) },
			shown: logged("loop pauses", "SQLSTATE 53300", "not active any more", "msg=standby"),
			end:   func(w *troubled) { w.exec("ALTER ROLE " + w.role + " CONNECTION LIMIT -1") }},

		{name: "Kafka is away", lasts: long,
			begin: func(w *troubled) { w.kafkaProxy.refuse() },
			shown: loops("connection refused", "dispatcher", "flusher"),
			end:   func(w *troubled) { w.kafkaProxy.pass() }},
		{name: "Kafka is mute", lasts: long,
			begin: func(w *troubled) { w.kafkaProxy.blackhole() },
			shown: loops("no acknowledgement|not acknowledged", "dispatcher", "flusher"),
			end:   func(w *troubled) { w.kafkaProxy.pass() }},
		{name: "Kafka is slow", lasts: long,
			begin: func(w *troubled) { w.kafkaProxy.slow(3 * time.Second) },
			shown: loops("no acknowledgement|not acknowledged", "dispatcher", "flusher"),
			end:   func(w *troubled) { w.kafkaProxy.pass() }},
		{name: "Kafka has too few replicas", alone: true, lasts: time.Second,
			begin: refused(kmsg.Produce, kerr.NotEnoughReplicas, false),
			shown: loops("NOT_ENOUGH_REPLICAS|not acknowledged", "dispatcher", "flusher"),
			end:   func(*troubled) { fault.Remove() }},
		{name: "Kafka refuses the topic", alone: true, lasts: time.Second,
			begin: refused(kmsg.Produce, kerr.TopicAuthorizationFailed, false),
			shown: loops("not authorised", "dispatcher", "flusher"),
			end:   func(*troubled) { fault.Remove() }},
	} {
		t.Run(o.name, func(t *testing.T) {
			if !o.alone {
				t.Parallel()
			}
			w := newTroubled(t, nil)
			r := w.start()
			w.burst()
			w.settled()
			// So that each loop has something to do in the trouble.
			waiting := []string{"backfill", "dispatcher", "flusher"}
			for _, loop := range waiting {
				w.brake(loop)
				w.until(loop+" has seen the brake", func() bool { return r.log.contains("msg=brake loop=" + loop + " on=true") })
			}
			w.burst()
			w.finished(w.last)
			o.begin(w)
			for _, loop := range waiting {
				w.release(loop)
			}
			w.burst()
			o.shown(w, r)
			time.Sleep(o.lasts)
			o.end(w)
			w.settled()
			w.until("no loop pauses", func() bool { return w.get("SELECT coalesce(standing_still, 'none') FROM msgx.v_status") == "none" })
			w.compare()
			if _, err := r.stop(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestAnswerLost: PostgreSQL has committed, the answer is lost, for every call
// of the daemon in turn. Nothing is lost, nothing done twice.
func TestAnswerLost(t *testing.T) {
	t.Parallel()
	w := newTroubled(t, map[string]string{"lease.ttl": "15s"})
	r := w.start()
	calls := []string{"inbox_advance", "pump_next", "pump_apply", "outbox_next_msg", "outbox_next_schd", "outbox_sent",
		"backfill_claim", "backfill_settle", "loop_round", "lease_renew", "clock"}
	for _, function := range calls {
		rule := w.pgProxy.lose(call(function), ready)
		// New sessions prepare their statements under the eyes of the rule.
		w.pgProxy.cut()
		w.burst()
		w.until("an answer of "+function+" was lost", func() bool { return rule.hits.Load() > 0 })
		w.pgProxy.pass()
		w.settled()
	}
	w.compare()
	if r.log.contains("not active any more") {
		t.Error("it lost the lease over a lost answer")
	}
}

// TestLeaseAnswerLost: the lease was acquired, and nobody knows. The daemon
// finds itself the holder and takes over from itself.
func TestLeaseAnswerLost(t *testing.T) {
	t.Parallel()
	w := newTroubled(t, nil)
	rule := w.pgProxy.lose(call("lease_acquire"), ready)
	r := w.start()
	w.until("an answer was lost", func() bool { return rule.hits.Load() > 0 })
	w.pgProxy.pass()
	w.burst()
	w.settled()
	w.compare()
	rule = w.pgProxy.lose(call("lease_release"), ready)
	if _, err := r.stop(); err != nil || rule.hits.Load() != 1 {
		t.Errorf("%v, %d answers lost", err, rule.hits.Load())
	}
}

// TestRequestTorn: the connection to PostgreSQL ends in the middle of a request.
func TestRequestTorn(t *testing.T) {
	t.Parallel()
	w := newTroubled(t, nil)
	w.start()
	for _, function := range []string{"inbox_advance", "pump_apply", "outbox_sent", "backfill_settle"} {
		rule := w.pgProxy.tear(call(function))
		w.pgProxy.cut()
		w.burst()
		w.until("a request for "+function+" was torn", func() bool { return rule.hits.Load() > 0 })
		w.pgProxy.pass()
		w.settled()
	}
	w.compare()
}

// TestMarkLost: the mailbox has committed the marks, the answer is lost; or
// none of the transaction arrived. The marks are there once, and are known.
func TestMarkLost(t *testing.T) {
	t.Parallel()
	w := newTroubled(t, nil)
	w.start()
	for _, begin := range []string{"COMMIT", "UPDATE", "SELECT `CMINMSGS_ID`, `CMINMSGS_DATE_PROCESSED` IS NOT NULL", "START TRANSACTION"} {
		for _, make := range []func() *rule{
			func() *rule { return w.myProxy.lose(query(begin), anything) },
			func() *rule { return w.myProxy.tear(query(begin)) },
		} {
			rule := make()
			w.burst()
			w.until(begin+" was hit", func() bool { return rule.hits.Load() > 0 })
			w.myProxy.pass()
			w.settled()
		}
	}
	w.compare()
}

// TestProduceLost: the broker has written, the answer is lost; or the
// connection ends in the middle of the request. Records are repeated with the
// same id, none is missing, and the order of a key holds.
func TestProduceLost(t *testing.T) {
	t.Parallel()
	w := newTroubled(t, map[string]string{"kafka.produce-timeout": "5s"})
	w.start()
	for _, make := range []func() *rule{
		func() *rule { return w.kafkaProxy.lose(produce, anything) },
		func() *rule { return w.kafkaProxy.tear(produce) },
	} {
		rule := make()
		w.burst()
		w.until("three requests were hit", func() bool { return rule.hits.Load() >= 3 })
		w.kafkaProxy.pass()
		w.settled()
	}
	w.compare()
}

// TestSessionsEnded: an administrator ends the daemon's sessions again and
// again, in both databases; the pools make new ones.
func TestSessionsEnded(t *testing.T) {
	t.Parallel()
	w := newTroubled(t, nil)
	r := w.start()
	for range 3 {
		w.burst()
		for range 10 {
			w.exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1", w.role)
			w.boxExec("KILL USER '" + w.user + "'@'127.0.0.1'")
			w.kafkaProxy.cut()
			time.Sleep(50 * time.Millisecond)
		}
	}
	w.settled()
	w.compare()
	if _, err := r.stop(); err != nil {
		t.Error(err)
	}
}

// TestSlowIsNoJump: PostgreSQL that takes seconds to answer has no clock that
// jumps; the daemon keeps its lease.
func TestSlowIsNoJump(t *testing.T) {
	t.Parallel()
	w := newTroubled(t, map[string]string{"lease.ttl": "30s"})
	r := w.start()
	w.burst()
	w.settled()
	for range 2 {
		w.pgProxy.slow(2200 * time.Millisecond)
		polled := w.get("SELECT poll_seq FROM msgx.inbox_cursor")
		w.until("it polls slowly", func() bool { return w.get("SELECT poll_seq > $1::bigint + 1 FROM msgx.inbox_cursor", polled) == "true" })
		w.pgProxy.pass()
		polled = w.get("SELECT poll_seq FROM msgx.inbox_cursor")
		w.until("it polls fast", func() bool {
			return w.get("SELECT poll_seq > $1::bigint + 20 FROM msgx.inbox_cursor", polled) == "true"
		})
	}
	w.burst()
	w.settled()
	if r.log.contains("clock jumped") || w.get("SELECT epoch FROM msgx.instance_lease") != "1" {
		t.Error("slow answers were taken for a jump of the clock")
	}
	w.compare()
}

// TestPauseAndResume: an operator stops each loop with psql and lets it go on;
// a loop that is stopped does nothing, the others work, and at the end nothing
// is missing.
func TestPauseAndResume(t *testing.T) {
	t.Parallel()
	w := newTroubled(t, nil)
	r := w.start()
	w.burst()
	w.settled()
	// What stands still without the loop, while the others have done all they can.
	for loop, owed := range map[string]string{
		"poller":     "SELECT 0",
		"pump":       "SELECT count(*) FROM msgx.proc_state WHERE finished_at IS NULL",
		"dispatcher": "SELECT count(*) FROM msgx.msg_event WHERE target = 'KAFKA:msg' AND state = 'PENDING'",
		"flusher":    "SELECT count(*) FROM msgx.msg_event WHERE target = 'KAFKA:schd' AND state = 'PENDING'",
		"backfill":   "SELECT count(*) FROM msgx.proc_state WHERE backfill_next_at IS NOT NULL",
	} {
		w.brake(loop)
		w.until(loop+" has seen the brake", func() bool { return r.log.contains("msg=brake loop=" + loop + " on=true") })
		if got := w.get("SELECT stands || ' ' || paused_reason || ' ' || (paused_since IS NOT NULL) FROM msgx.v_loops WHERE loop = $1", loop); got != "braked test: a while true" {
			t.Errorf("%s: %s", loop, got)
		}
		if got := w.get("SELECT standing_still FROM msgx.v_status"); got != loop+": test: a while" {
			t.Errorf("v_status: %s", got)
		}
		worked := w.get("SELECT working_time FROM msgx.loop_state WHERE loop = $1", loop)
		before := w.get("SELECT count(*) FROM msgx.proc_state")
		w.burst()
		others := "SELECT (SELECT count(*) FROM msgx.proc_state WHERE finished_at IS NULL) + (SELECT count(*) FROM msgx.msg_event WHERE state = 'PENDING')" +
			"+ (SELECT count(*) FROM msgx.proc_state WHERE backfill_next_at IS NOT NULL)"
		switch loop {
		case "poller":
			time.Sleep(300 * time.Millisecond)
			if after := w.get("SELECT count(*) FROM msgx.proc_state"); after != before {
				t.Errorf("the poller was stopped, and took %s to %s messages", before, after)
			}
		case "pump":
			w.until("all is enqueued", func() bool { return w.get("SELECT max(msg_id) FROM msgx.proc_state") == strconv.FormatInt(w.last, 10) })
			time.Sleep(300 * time.Millisecond)
			if w.get(owed) == "0" || w.get("SELECT count(*) FROM msgx.proc_state WHERE finished_at IS NOT NULL") != before {
				t.Error("the pump was stopped, and went on")
			}
		default:
			w.finished(w.last)
			w.until("the others have done all", func() bool { return w.get("SELECT ("+others+") = ("+owed+")") == "true" })
			if w.get(owed) == "0" {
				t.Errorf("%s was stopped, and went on", loop)
			}
		}
		time.Sleep(1500 * time.Millisecond) // more than a report of the loop
		if got := w.get("SELECT working_time FROM msgx.loop_state WHERE loop = $1", loop); got > worked && loop == "pump" {
			t.Errorf("the pump worked from %s to %s under the brake", worked, got)
		}
		w.release(loop)
		w.settled()
		w.until(loop+" works", func() bool { return w.get("SELECT stands FROM msgx.v_loops WHERE loop = $1", loop) == "working" })
	}
	w.compare()
	if got := w.get("SELECT count(*) FROM msgx.operator_audit WHERE operator = 'test' AND action IN ('loop_pause', 'loop_resume')"); got != "10" {
		t.Errorf("%s entries in the audit", got)
	}
}

package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"msgexchange/gen"
	"msgexchange/internal/sis"
)

// codec reads the bench's own messages.
func codec() (*sis.Codec, error) {
	zone, err := time.LoadLocation("Asia/Shanghai")
	if err != nil {
		return nil, fmt.Errorf("the airport's zone: %w", err)
	}
	return sis.New(sis.Options{Zone: zone, MaxBytes: 16 << 20, MaxDepth: 32}), nil
}

func header(seqn int, typ, styp string) string {
	return fmt.Sprintf(`<META><SNDR>AODB</SNDR><SEQN>%d</SEQN><DTTM>20260417000000</DTTM><TYPE>%s</TYPE><STYP>%s</STYP></META>`, seqn, typ, styp)
}

// download is a schedule of n flights with gates, stands and routes.
func download(n int) string {
	var b strings.Builder
	b.WriteString("<MSG>" + header(1, "SCHD", "DNLD") + "<SCHD><RECS>" + strconv.Itoa(n) + "</RECS>")
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, `<FLTR><FLID>%d</FLID><ALCD>GJ</ALCD><FLNO>GJ%d</FLNO><MVIN>A</MVIN><SODT>17APR26%02d%02d</SODT><FLTY>G</FLTY><FLIN>D</FLIN>`+
			`<ACFT>32Q</ACFT><RENO>B30KX</RENO><TAOP>GJ</TAOP><TAFL>GJ8472</TAFL><TAID>88120432</TAID><TRML>TB</TRML><MAXP>194</MAXP><STND>N14</STND>`+
			`<GTDT GTNO="1"><GATE>E5</GATE><PGOT>17APR261105</PGOT><GTYP>D</GTYP></GTDT><PSDT PSNO="1"><PSST>N14</PSST><STST>17APR260655</STST></PSDT>`+
			`<PHAG>300127</PHAG><FHAG>300128</FHAG><MHAG>300131</MHAG><ERUT RTNO="1"><APCD>WNZ</APCD><SCDT>17APR260440</SCDT></ERUT>`+
			`<ERUT RTNO="2"><APCD>NNG</APCD><SCAT>17APR260705</SCAT></ERUT><EXSC>PLAN</EXSC><FTSS>SCHED</FTSS></FLTR>`, i, i, i/60%24, i%60)
	}
	b.WriteString("</SCHD></MSG>")
	return b.String()
}

// event is the nth single-flight FLOP: one scalar of one of the flights.
func event(n, flights int) string {
	when := fmt.Sprintf("17APR26%02d%02d", n/60%24, n%60)
	kinds := []struct{ styp, value string }{
		{"BOTM", when}, {"ESTT", when}, {"STND", "N" + strconv.Itoa(n%90)}, {"FTSS", "S" + strconv.Itoa(n%7)}, {"RENO", "B" + strconv.Itoa(n%500)},
		{"TOBT", when}, {"REMC", "雷雨绕飞 " + strconv.Itoa(n)}, {"MAXP", strconv.Itoa(100 + n%90)},
	}
	k := kinds[n%len(kinds)]
	return "<MSG>" + header(n, "FLOP", k.styp) + fmt.Sprintf("<FLOP><FLID>%d</FLID><%s>%s</%s></FLOP></MSG>", 1+n*7919%flights, k.styp, k.value, k.styp)
}

// input is the decoded messages of a run: a download, then events.
func (b *bench) input() ([][]byte, error) {
	c, err := codec()
	if err != nil {
		return nil, err
	}
	objects := make([][]byte, b.o.Messages+1)
	for i := range objects {
		text := download(b.o.Flights)
		if i > 0 {
			text = event(i+1, b.o.Flights)
		}
		m, err := c.Decode([]byte(text), b.o.Now())
		if err != nil {
			return nil, fmt.Errorf("decode message %d of the bench: %w", i+1, err)
		}
		objects[i] = m.AppendBatch(nil, int64(i+1), sis.Hash([]byte(text)), nil)
	}
	return objects, nil
}

// enqueue puts messages 1 to n below the watermark.
func enqueue(ctx context.Context, conn *pgx.Conn, n int) (epoch int64, err error) {
	q := gen.New(conn)
	lease, err := q.LeaseAcquire(ctx, gen.LeaseAcquireParams{Holder: "bench", Ttl: 24 * time.Hour, Settings: json.RawMessage("{}"), Autostart: true})
	if err != nil || len(lease) != 1 {
		return 0, fmt.Errorf("acquire the lease: %w", err)
	}
	_, err = conn.Exec(ctx, `INSERT INTO msgx.proc_state (msg_id, received_at, updated_at) SELECT g, now(), now() FROM generate_series(1, $1::bigint) AS g`, n)
	if err == nil {
		_, err = conn.Exec(ctx, `UPDATE msgx.inbox_cursor SET committed_up_to = $1, seen_to = $1`, n)
	}
	if err != nil {
		return 0, fmt.Errorf("enqueue %d messages: %w", n, err)
	}
	return lease[0].Epoch, nil
}

// turns is how often each side takes its turn: they alternate, and the median
// turn counts, so that the machine's moods hit both alike.
const turns = 9

// side is one way to do the work, on a database of its own.
type side struct {
	what string
	run  func(upTo int) error // applies messages up to that many
	done int
	rate []float64
}

// pump measures pump_apply at several batch sizes against the naive loop.
func (b *bench) pump(ctx context.Context) error {
	objects, err := b.input()
	if err != nil {
		return err
	}
	return b.database(ctx, "pump_1", func(one *pgx.Conn) error {
		return b.database(ctx, "pump_50", func(fifty *pgx.Conn) error {
			return b.database(ctx, "pump_200", func(many *pgx.Conn) error {
				return b.database(ctx, "naive", func(naive *pgx.Conn) error {
					return b.compare(ctx, objects, map[int]*pgx.Conn{1: one, 50: fifty, 200: many}, naive)
				})
			})
		})
	})
}

func (b *bench) compare(ctx context.Context, objects [][]byte, pumps map[int]*pgx.Conn, naive *pgx.Conn) error {
	loop, err := b.naive(ctx, naive, objects)
	if err != nil {
		return err
	}
	sides := []*side{{what: naiveLoop, run: loop}}
	for _, size := range []int{1, 50, 200} {
		run, err := b.pumper(ctx, pumps[size], objects, size)
		if err != nil {
			return err
		}
		sides = append(sides, &side{what: "pump, batches of " + strconv.Itoa(size), run: run})
	}
	for turn := 1; turn <= turns; turn++ {
		for _, s := range sides {
			upTo := 1 + (len(objects)-1)*turn/turns
			began := b.o.Now()
			if err := s.run(upTo); err != nil {
				return fmt.Errorf("%s: %w", s.what, err)
			}
			s.rate = append(s.rate, float64(upTo-max(s.done, 1))/b.o.Now().Sub(began).Seconds())
			s.done = upTo
		}
	}
	for _, s := range sides {
		slices.Sort(s.rate)
		r := Result{What: s.what, Value: s.rate[len(s.rate)/2], Unit: "messages/s"}
		if s.what == naiveLoop {
			r.Ratio, r.Of = r.Value/b.value(limitCommits), limitCommits
		} else {
			r.Ratio, r.Of = r.Value/b.value(naiveLoop), naiveLoop
		}
		if s.what == "pump, batches of 50" {
			r.Budget = "at least 6"
		}
		b.add(r)
	}
	want, err := documents(ctx, naive)
	if err != nil {
		return err
	}
	for size, conn := range pumps {
		got, err := documents(ctx, conn)
		if err != nil {
			return err
		}
		if got != want {
			return fmt.Errorf("batches of %d end in other flights than the naive loop: %s", size, cmp.Diff(want, got))
		}
	}
	return nil
}

const naiveLoop = "naive loop, a transaction a message"

// pumper returns what drives pump_apply up to a number of messages. The
// download is applied here: it is not what is measured.
func (b *bench) pumper(ctx context.Context, conn *pgx.Conn, objects [][]byte, size int) (func(int) error, error) {
	epoch, err := enqueue(ctx, conn, len(objects))
	if err != nil {
		return nil, err
	}
	if _, err := conn.Exec(ctx, "UPDATE msgx.setting SET value = $1 WHERE key = 'pipeline.apply-batch'", strconv.Itoa(size)); err != nil {
		return nil, fmt.Errorf("set the batch size: %w", err)
	}
	q := gen.New(conn)
	next := 0
	run := func(upTo int) error {
		for next < upTo {
			batch := []byte{'['}
			for i, o := range objects[next:min(next+size, upTo)] {
				if i > 0 {
					batch = append(batch, ',')
				}
				batch = append(batch, o...)
			}
			r, err := q.PumpApply(ctx, gen.PumpApplyParams{Epoch: epoch, Now: b.o.Now(), Batch: append(batch, ']')})
			if err != nil {
				return fmt.Errorf("apply from message %d: %w", next+1, err)
			}
			if int(r.DoneUpTo) <= next {
				return fmt.Errorf("message %d is not applied: %s", next+1, r.Outcomes)
			}
			next = int(r.DoneUpTo)
		}
		return nil
	}
	return run, run(1)
}

// documents returns all flights, their versions aside.
func documents(ctx context.Context, conn *pgx.Conn) (string, error) {
	var all string
	err := conn.QueryRow(ctx, `SELECT jsonb_agg(d.document - 'state_version' ORDER BY d.flid)::text
		FROM msgx.flight_document(ARRAY(SELECT flid FROM msgx.flight_schd)) AS d`).Scan(&all)
	if err != nil {
		return "", fmt.Errorf("read the flights: %w", err)
	}
	return all, nil
}

package bench

import (
	"context"
	"encoding/json"
	"fmt"
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

// pump measures pump_apply at several batch sizes against the naive loop.
func (b *bench) pump(ctx context.Context) error {
	objects, err := b.input()
	if err != nil {
		return err
	}
	var flights string
	for _, size := range []int{1, 50, 200} {
		err := b.database(ctx, "pump_"+strconv.Itoa(size), func(conn *pgx.Conn) error {
			n := len(objects)
			if size == 1 {
				n = 1 + (n-1)/5 // one by one takes long; a rate needs fewer
			}
			took, err := b.applyAll(ctx, conn, objects[:n], size)
			if err != nil {
				return err
			}
			b.add(Result{What: "pump, batches of " + strconv.Itoa(size), Value: float64(n-1) / took.Seconds(), Unit: "messages/s"})
			if size == 50 {
				flights, err = documents(ctx, conn)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	err = b.database(ctx, "naive", func(conn *pgx.Conn) error {
		took, err := b.naive(ctx, conn, objects)
		if err != nil {
			return err
		}
		b.add(Result{What: naiveLoop, Value: float64(len(objects)-1) / took.Seconds(), Unit: "messages/s"})
		got, err := documents(ctx, conn)
		if err == nil && got != flights {
			err = fmt.Errorf("the naive loop ends in other flights than the pump: %s", cmp.Diff(flights, got))
		}
		return err
	})
	if err != nil {
		return err
	}
	for i := range b.results {
		r := &b.results[i]
		switch r.What {
		case "pump, batches of 1", "pump, batches of 50", "pump, batches of 200":
			r.Ratio, r.Of = r.Value/b.value(naiveLoop), naiveLoop
			if r.What == "pump, batches of 50" {
				r.Budget = "at least 6"
			}
		case naiveLoop:
			r.Ratio, r.Of = r.Value/b.value(limitCommits), limitCommits
		}
	}
	return nil
}

const naiveLoop = "naive loop, a transaction a message"

// applyAll drives pump_apply; the time is that of the events, without the
// download.
func (b *bench) applyAll(ctx context.Context, conn *pgx.Conn, objects [][]byte, size int) (time.Duration, error) {
	epoch, err := enqueue(ctx, conn, len(objects))
	if err != nil {
		return 0, err
	}
	if _, err := conn.Exec(ctx, "UPDATE msgx.setting SET value = $1 WHERE key = 'pipeline.apply-batch'", strconv.Itoa(size)); err != nil {
		return 0, fmt.Errorf("set the batch size: %w", err)
	}
	q := gen.New(conn)
	began := b.o.Now()
	for next := 0; next < len(objects); {
		end := min(next+size, len(objects))
		if next == 0 {
			end = 1
		}
		batch := []byte{'['}
		for i, o := range objects[next:end] {
			if i > 0 {
				batch = append(batch, ',')
			}
			batch = append(batch, o...)
		}
		r, err := q.PumpApply(ctx, gen.PumpApplyParams{Epoch: epoch, Now: b.o.Now(), Batch: append(batch, ']')})
		if err != nil {
			return 0, fmt.Errorf("apply from message %d: %w", next+1, err)
		}
		done := int(r.DoneUpTo)
		if done <= next {
			return 0, fmt.Errorf("message %d is not applied: %s", next+1, r.Outcomes)
		}
		if next == 0 {
			began = b.o.Now()
		}
		next = done
	}
	return b.o.Now().Sub(began), nil
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

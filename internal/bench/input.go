package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

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

// download is the first schedule, of flights 1 to n.
func download(n int) string { return scheduleOf("DNLD", 1, 1, n, "E5") }

// scheduleOf is a schedule of n flights with gates, stands and routes.
func scheduleOf(styp string, seqn, first, n int, gate string) string {
	var b strings.Builder
	b.WriteString("<MSG>" + header(seqn, "SCHD", styp) + "<SCHD><RECS>" + strconv.Itoa(n) + "</RECS>")
	for i := first; i < first+n; i++ {
		fmt.Fprintf(&b, `<FLTR><FLID>%d</FLID><ALCD>GJ</ALCD><FLNO>GJ%d</FLNO><MVIN>A</MVIN><SODT>17APR26%02d%02d</SODT><FLTY>G</FLTY><FLIN>D</FLIN>`+
			`<ACFT>32Q</ACFT><RENO>B30KX</RENO><TAOP>GJ</TAOP><TAFL>GJ8472</TAFL><TAID>88120432</TAID><TRML>TB</TRML><MAXP>194</MAXP><STND>N14</STND>`+
			`<GTDT GTNO="1"><GATE>%s</GATE><PGOT>17APR261105</PGOT><GTYP>D</GTYP></GTDT><PSDT PSNO="1"><PSST>N14</PSST><STST>17APR260655</STST></PSDT>`+
			`<PHAG>300127</PHAG><FHAG>300128</FHAG><MHAG>300131</MHAG><ERUT RTNO="1"><APCD>WNZ</APCD><SCDT>17APR260440</SCDT></ERUT>`+
			`<ERUT RTNO="2"><APCD>NNG</APCD><SCAT>17APR260705</SCAT></ERUT><EXSC>PLAN</EXSC><FTSS>SCHED</FTSS></FLTR>`, i, i, i/60%24, i%60, gate)
	}
	b.WriteString("</SCHD></MSG>")
	return b.String()
}

// event is the nth single-flight FLOP: one scalar of one of the flights. With the
// usual numbers of flights RENO comes again as it is: one in eight changes nothing.
func event(n, flights int) string {
	when := fmt.Sprintf("17APR26%02d%02d", n/60%24, n%60)
	kinds := []struct{ styp, value string }{
		{"BOTM", when}, {"ESTT", when}, {"STND", "N" + strconv.Itoa(n%90)}, {"FTSS", "S" + strconv.Itoa(n%7)}, {"RENO", "B" + strconv.Itoa(n%5)},
		{"TOBT", when}, {"REMC", "雷雨绕飞 " + strconv.Itoa(n)}, {"MAXP", strconv.Itoa(100 + n%90)},
	}
	k := kinds[n%len(kinds)]
	return "<MSG>" + header(n, "FLOP", k.styp) + fmt.Sprintf("<FLOP><FLID>%d</FLID><%s>%s</%s></FLOP></MSG>", 1+n*7919%flights, k.styp, k.value, k.styp)
}

// decoded is a message that may be given any mailbox id.
type decoded struct {
	message sis.Message
	hash    string
}

func (d decoded) object(id int64) []byte { return d.message.AppendBatch(nil, id, d.hash, nil) }

// input decodes a download and n events after it.
func (b *bench) input(n int) ([]decoded, error) {
	c, err := codec()
	if err != nil {
		return nil, err
	}
	all := make([]decoded, n+1)
	for i := range all {
		text := download(b.o.Flights)
		if i > 0 {
			text = event(i+1, b.o.Flights)
		}
		m, err := c.Decode([]byte(text), b.o.Now())
		if err != nil {
			return nil, fmt.Errorf("decode message %d of the bench: %w", i+1, err)
		}
		all[i] = decoded{message: m, hash: sis.Hash([]byte(text))}
	}
	return all, nil
}

// batch makes the argument of pump_apply.
func batch(objects ...[]byte) []byte {
	out := []byte{'['}
	for i, o := range objects {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, o...)
	}
	return append(out, ']')
}

// lease makes the bench the active instance of a database.
func lease(ctx context.Context, conn *pgx.Conn) (epoch int64, err error) {
	rows, err := gen.New(conn).LeaseAcquire(ctx, gen.LeaseAcquireParams{Holder: "bench", Ttl: 24 * time.Hour, Settings: json.RawMessage("{}"), Autostart: true})
	if err != nil {
		return 0, fmt.Errorf("acquire the lease: %w", err)
	}
	if len(rows) != 1 {
		return 0, fmt.Errorf("acquire the lease: %d rows", len(rows))
	}
	return rows[0].Epoch, nil
}

// enqueue puts messages from to to below the watermark.
func enqueue(ctx context.Context, conn *pgx.Conn, from, to int) error {
	_, err := conn.Exec(ctx, `INSERT INTO msgx.proc_state (msg_id, received_at, updated_at) SELECT g, now(), now() FROM generate_series($1::bigint, $2::bigint) AS g`, from, to)
	if err == nil {
		_, err = conn.Exec(ctx, `UPDATE msgx.inbox_cursor SET committed_up_to = $1, seen_to = $1`, to)
	}
	if err != nil {
		return fmt.Errorf("enqueue messages %d to %d: %w", from, to, err)
	}
	return nil
}

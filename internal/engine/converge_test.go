package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgxpool"
	"pgregory.net/rapid"

	"msgexchange/gen"
	"msgexchange/internal/pgtest"
)

// object is JSON.
type object = map[string]any

// story is a history of messages over a few flights, and how the world treats
// them: which come late, which fail how often, which die and are replayed.
type story struct {
	messages []object // as pump_apply takes them; msg_id is the place + 1
	late     []bool   // enqueued only after everything else was applied
	fails    []int    // failures before it succeeds; 5 and more kill it, and it is replayed
	batches  []int    // sizes of the batches
	again    []bool   // whether a batch is sent once more
}

// stories draws one. Creates are complete and of one operation day, identities
// are not used twice: the exceptions of design I8.
func stories(t *rapid.T) story {
	n := rapid.IntRange(2, 24).Draw(t, "messages")
	var s story
	for id := 1; id <= n; id++ {
		kind := rapid.SampledFrom([]string{"schd", "flop", "flop", "flop", "fdel"}).Draw(t, "kind")
		flights := rapid.SliceOfN(rapid.IntRange(1, 3), 1, 3).Draw(t, "flights")
		if kind != "flop" { // a schedule names a flight once
			slices.Sort(flights)
			flights = slices.Compact(flights)
		}
		var records []object
		for _, flid := range flights {
			switch kind {
			case "schd":
				p := patchOf(t)
				replaceKeyed(p)
				set := p["set"].(object)
				for k, v := range map[string]any{"airline_code": "GJ", "flight_number": fmt.Sprintf("GJ%d", flid), "direction": "A",
					"sodt": "2026-04-17T07:05:00+08:00", "flight_type": "G", "flight_indicator": "D", "aircraft_type": "32Q"} {
					set[k] = v
				}
				records = append(records, object{"op": "create", "flid": flid, "patch": p})
			case "flop":
				records = append(records, object{"op": "change", "flid": flid, "patch": patchOf(t)})
			default:
				records = append(records, object{"op": "delete", "flid": flid, "patch": object{}})
			}
		}
		typ, styp := "FLOP", "ANY"
		if kind == "schd" {
			typ, styp = "SCHD", "DNLD"
		}
		s.messages = append(s.messages, object{"msg_id": id, "text_hash": fmt.Sprintf("%04x", id), "sndr": "AODB", "type": typ, "styp": styp,
			"seqn": id, "dttm": "2026-04-17T06:00:00+08:00", "records": records})
		s.late = append(s.late, rapid.IntRange(0, 5).Draw(t, "late") == 0)
		s.fails = append(s.fails, max(0, rapid.IntRange(-8, 6).Draw(t, "fails")))
	}
	s.batches = rapid.SliceOfN(rapid.IntRange(1, 6), n, n).Draw(t, "batches")
	s.again = rapid.SliceOfN(rapid.Bool(), n, n).Draw(t, "again")
	return s
}

// patchOf draws what a record says: scalars set and cleared, lists replaced,
// members upserted and taken away, elements nobody knows.
func patchOf(t *rapid.T) object {
	value := func(label string) any {
		return rapid.SampledFrom([]any{nil, "A", "B"}).Draw(t, label)
	}
	p := object{"set": object{}}
	for _, column := range []string{"terminal", "remarks", "boarding_open"} {
		if rapid.Bool().Draw(t, column+" said") {
			v := value(column)
			if column == "boarding_open" && v != nil {
				v = map[any]string{"A": "2026-04-17T07:44:00+08:00", "B": "2026-04-17T07:45:00+08:00"}[v]
			}
			p["set"].(object)[column] = v
		}
	}
	if rapid.IntRange(0, 2).Draw(t, "gates said") == 0 {
		gates := object{}
		for n := range rapid.IntRange(0, 2).Draw(t, "gates") {
			gates[fmt.Sprint(n+1)] = object{"gate_number": n + 1, "gate_code": value("gate")}
		}
		p["lists"] = object{"gate": strip(gates)}
	}
	if rapid.IntRange(0, 2).Draw(t, "members said") == 0 {
		code := rapid.SampledFrom([]string{"X", "Y"}).Draw(t, "code")
		switch rapid.IntRange(0, 4).Draw(t, "which") {
		case 0:
			p["upsert"] = object{"delay": object{code: strip(object{"delay_code": code, "comment": value("comment")})}}
		case 1:
			p["upsert"] = object{"delay": nil}
		case 2:
			p["upsert"] = object{"push": object{code: nil}}
		case 3:
			p["upsert"] = object{"push": object{code: object{"stand_code": code, "push_indicator": "OUT"}}}
		default:
			person := object{"vip_code": code}
			if rapid.Bool().Draw(t, "services said") {
				services := object{}
				for _, s := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"S", "T"}), 0, 2, rapid.ID[string]).Draw(t, "services") {
					services[s] = object{"service_code": s}
				}
				person["services"] = services
			}
			p["upsert"] = object{"vip": object{code: person}}
		}
	}
	if rapid.IntRange(0, 4).Draw(t, "extra said") == 0 {
		p["extra"] = object{"NEWW": value("extra")}
		if p["extra"].(object)["NEWW"] == nil {
			p["extra"] = object{"NEWW": ""}
		}
	}
	return p
}

// replaceKeyed makes of members to upsert a list that replaces, as in a record.
func replaceKeyed(p object) {
	upsert, _ := p["upsert"].(object)
	for name, members := range upsert {
		lists, _ := p["lists"].(object)
		if lists == nil {
			lists = object{}
		}
		list, _ := members.(object)
		lists[name] = strip(maps.Clone(list))
		if list == nil {
			lists[name] = object{}
		}
		p["lists"] = lists
	}
	delete(p, "upsert")
}

// strip leaves out what is null, as the codec does in members.
func strip(o object) object {
	for k, v := range o {
		if inner, ok := v.(object); ok {
			strip(inner)
		} else if v == nil {
			delete(o, k)
		}
	}
	return o
}

// place is a database on which stories are told one after the other.
type place struct {
	ctx   context.Context
	t     *rapid.T
	pool  *pgxpool.Pool
	q     *gen.Queries
	epoch int64
	now   time.Time
}

func (p *place) exec(query string, args ...any) {
	if _, err := p.pool.Exec(p.ctx, query, args...); err != nil {
		p.t.Fatalf("%s: %v", query, err)
	}
}

// fresh empties it.
func (p *place) fresh() {
	p.exec(`TRUNCATE msgx.proc_state, msgx.proc_identity, msgx.flight_write, msgx.flight_schd, msgx.msg_event, msgx.schd_snap_log, msgx.flight_stand, msgx.flight_gate,
		msgx.flight_checkin, msgx.flight_carousel, msgx.flight_chute, msgx.flight_chock, msgx.flight_airbridge, msgx.flight_delay, msgx.flight_service,
		msgx.flight_vip, msgx.flight_vip_service, msgx.flight_push, msgx.flight_tractor, msgx.flight_route_point`)
	p.exec(`UPDATE msgx.pipeline_lock SET done_up_to = 0, run_epoch = NULL, run_from = NULL, run_to = NULL, run_stamped = false, suspect_to = NULL, conflict_run = 0`)
	p.exec(`UPDATE msgx.inbox_cursor SET committed_up_to = 0, seen_to = 0`)
	p.exec(`UPDATE msgx.outbox_cursor SET sent_up_to = 0`)
	p.now = time.Date(2026, 4, 17, 0, 0, 0, 0, time.UTC)
}

// enqueue takes messages in; behind the place they are reopened, as a late
// arrival is.
func (p *place) enqueue(id int, late bool) {
	p.exec(`INSERT INTO msgx.proc_state (msg_id, reopened, source, updated_at) VALUES ($1, $2, CASE WHEN $2 THEN 'late' ELSE 'poll' END, now())`, id, late)
}

// call applies a batch.
func (p *place) call(batch []object) gen.PumpRound {
	raw, err := json.Marshal(batch)
	if err != nil {
		p.t.Fatal(err)
	}
	r, err := p.q.PumpApply(p.ctx, gen.PumpApplyParams{Epoch: p.epoch, Now: p.now, Batch: raw})
	if err != nil {
		p.t.Fatalf("apply %s: %v", raw, err)
	}
	return r
}

// flights is every flight as it is told to the world, without what depends on
// how often it was changed.
func (p *place) flights() map[int64]object {
	rows, err := p.q.FlightDocument(p.ctx, []int64{1, 2, 3})
	if err != nil {
		p.t.Fatal(err)
	}
	out := map[int64]object{}
	for _, r := range rows {
		var doc object
		if err := json.Unmarshal(r.Document, &doc); err != nil {
			p.t.Fatal(err)
		}
		delete(doc, "state_version")
		delete(doc, "last_msg_id")
		out[r.Flid] = doc
	}
	return out
}

// sound checks what holds at any time: typed rows are the fold of the log.
func (p *place) sound() {
	wrong, err := p.q.FlightVerify(p.ctx, gen.FlightVerifyParams{After: 0, PageSize: 100})
	if err != nil {
		p.t.Fatal(err)
	}
	for _, m := range wrong {
		p.t.Errorf("flight %d, %s: stored %s, folded %s", m.Flid, m.What, m.Stored, m.Folded)
	}
}

// inOrder applies each message once, in the order of ids.
func (p *place) inOrder(s story) {
	p.fresh()
	for i := range s.messages {
		p.enqueue(i+1, false)
	}
	p.exec(`UPDATE msgx.inbox_cursor SET committed_up_to = $1, seen_to = $1`, len(s.messages))
	for _, m := range s.messages {
		p.call([]object{m})
	}
}

// asItHappens tells the story with its batches, failures, repeats, replays and
// late arrivals, until nothing is left.
func (p *place) asItHappens(s story) {
	p.fresh()
	for i, late := range s.late {
		if !late {
			p.enqueue(i+1, false)
		}
	}
	p.exec(`UPDATE msgx.inbox_cursor SET committed_up_to = $1, seen_to = $1`, len(s.messages))
	fails := slices.Clone(s.fails)
	lateLeft, deadLeft := true, true
	for round := 0; ; round++ {
		if round > 500 {
			p.t.Fatal("it does not end")
		}
		p.now = p.now.Add(2 * time.Minute)
		r, err := p.q.PumpNext(p.ctx, gen.PumpNextParams{Epoch: p.epoch, Now: p.now})
		if err != nil {
			p.t.Fatal(err)
		}
		if len(r.NextIds) == 0 {
			switch {
			case deadLeft:
				// An operator replays what died.
				p.exec(`UPDATE msgx.proc_state SET state = 'PENDING', reopened = true, attempts = 0, error_class = NULL, processing_started_at = NULL,
					finished_at = NULL, next_attempt_at = NULL, backfill_next_at = NULL WHERE state = 'DEAD'`)
				deadLeft = false
			case lateLeft:
				for i, late := range s.late {
					if late {
						p.enqueue(i+1, true)
					}
				}
				lateLeft, deadLeft = false, true
			default:
				return
			}
			continue
		}
		batch := []object{}
		for _, id := range r.NextIds[:min(len(r.NextIds), s.batches[round%len(s.batches)])] {
			m := s.messages[id-1]
			if fails[id-1] > 0 {
				fails[id-1]--
				m = object{"msg_id": id, "text_hash": m["text_hash"], "sndr": "AODB", "type": m["type"], "styp": m["styp"], "seqn": m["seqn"],
					"dttm": m["dttm"], "error_class": "INFRA", "error": "bad luck"}
			}
			batch = append(batch, m)
		}
		p.call(batch)
		if s.again[round%len(s.again)] {
			// The answer got lost; what failed is backing off by now.
			p.call(batch)
		}
		p.sound()
	}
}

// TestConvergence: whatever happens on the way, the flights are what processing
// each message once in the order of ids makes of them (design I8).
func TestConvergence(t *testing.T) {
	db := pgtest.New(t)
	q := gen.New(db.Pool)
	lease, err := q.LeaseAcquire(t.Context(), gen.LeaseAcquireParams{Holder: "rapid", Ttl: time.Hour, Settings: []byte("{}"), Autostart: true})
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		p := &place{ctx: t.Context(), t: rt, pool: db.Pool, q: q, epoch: lease[0].Epoch}
		s := stories(rt)
		p.inOrder(s)
		want := p.flights()
		p.sound()
		p.asItHappens(s)
		if d := cmp.Diff(want, p.flights()); d != "" {
			rt.Errorf("(-each once in order +as it happened)\n%s", d)
		}
	})
}

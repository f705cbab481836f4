package simulate

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Outcome is what must have become of a message. Every message is finished:
// with one attempt for CODEC_ERROR and UNSUPPORTED these end EXHAUSTED.
type Outcome struct {
	State      string `json:"state"`
	ErrorClass string `json:"error_class,omitempty"`
	FirstClass string `json:"first_error_class,omitempty"`
	Outcome    string `json:"outcome,omitempty"`
}

// Model folds messages, in id order, into what must come out of them.
type Model struct {
	zone    *time.Location
	wrap    time.Duration // a sequence number comes round again after it
	owners  map[[16]byte]owner
	flights map[int64]*flight

	outcomes map[int64]Outcome
	events   int
	deletes  int
}

type owner struct {
	id   int64
	text [16]byte
	sent int64 // unix seconds
}

// flight is a flight as its document shows it.
type flight struct {
	flid    int64
	day     string
	deleted bool
	created int64
	last    int64
	scalars map[string]any
	extra   map[string]any
	lists   map[string]map[string]map[string]any // list, key, member
}

// NewModel makes the model of an airport in that zone, with operating days that
// begin at midnight and identities that pass on after 24 hours.
func NewModel(zone *time.Location) *Model {
	return &Model{zone: zone, wrap: 24 * time.Hour, owners: map[[16]byte]owner{}, flights: map[int64]*flight{}, outcomes: map[int64]Outcome{}}
}

// write is what one record says about one flight.
type write struct {
	op     string // create, change, delete
	flid   int64
	day    string                               // of a create, "" without SODT
	set    map[string]any                       // nil clears
	lists  map[string]map[string]map[string]any // whole lists
	upsert map[string]map[string]map[string]any // members by key, nil takes one away; a nil list is cleared
	extra  map[string]any
}

// refusal is the class of the error that a message has in itself.
type refusal string

func (r refusal) Error() string { return string(r) }

const (
	malformed   refusal = "MALFORMED"
	codecError  refusal = "CODEC_ERROR"
	protocol    refusal = "PROTOCOL"
	unsupported refusal = "UNSUPPORTED"
)

// Apply takes the next message. Ids must ascend.
func (m *Model) Apply(id int64, item Item) Outcome {
	o := m.judge(id, item)
	m.outcomes[id] = o
	return o
}

func dead(class refusal) Outcome {
	o := Outcome{State: "DEAD", ErrorClass: string(class), FirstClass: string(class)}
	if class == codecError || class == unsupported {
		o.ErrorClass = "EXHAUSTED"
	}
	return o
}

func (m *Model) judge(id int64, item Item) Outcome {
	msg := item.msg
	if msg.unreadable {
		return dead(malformed)
	}
	writes, refused := m.interpret(msg)
	if refused == malformed {
		return dead(malformed)
	}
	if o, repeated := m.identify(id, item); repeated {
		return o
	}
	if skipped[msg.typ] {
		return Outcome{State: "SKIPPED", Outcome: "ignored"}
	}
	if refused != "" {
		return dead(refused)
	}
	if msg.typ != "FLOP" && !m.allowed(msg, writes) {
		return dead(protocol)
	}
	return m.apply(id, writes)
}

// identify binds the identity of a message, or tells whom it belongs to.
func (m *Model) identify(id int64, item Item) (Outcome, bool) {
	msg := item.msg
	key := short(fmt.Sprintf("%s|%s|%s|%d", msg.sndr, msg.typ, msg.styp, msg.seqn))
	mine := owner{id, short(item.Text), msg.dttm.Unix()}
	first, bound := m.owners[key]
	switch {
	case bound && first.text == mine.text:
		return Outcome{State: "SKIPPED", Outcome: fmt.Sprintf("duplicate-of:%d", first.id)}, true
	case bound && mine.sent-first.sent <= int64(m.wrap/time.Second):
		return Outcome{State: "SKIPPED", Outcome: fmt.Sprintf("identity-conflict:%d", first.id)}, true
	}
	m.owners[key] = mine
	return Outcome{}, false
}

func short(s string) [16]byte {
	sum := sha256.Sum256([]byte(s))
	return [16]byte(sum[:16])
}

// interpret reads what each record of a message says.
func (m *Model) interpret(msg *message) ([]write, refusal) {
	var writes []write
	var worst refusal
	add := func(w write, err error) {
		r, ok := err.(refusal)
		if err != nil && !ok {
			r = codecError
		}
		if r != "" && (worst == "" || r == malformed) {
			worst = r
		}
		writes = append(writes, w)
	}
	switch {
	case msg.typ == "FLOP":
		if msg.styp != "FDEL" && !flopKnown(msg.styp) {
			return nil, unsupported
		}
		for _, n := range msg.body {
			add(m.event(msg, n))
		}
	case msg.typ == "SCHD" && schedulings[msg.styp], msg.typ == "ADFT":
		for _, n := range msg.body[0].all("FLTR") {
			add(m.record(msg, n))
		}
	default:
		return nil, unsupported
	}
	return writes, worst
}

func flopKnown(styp string) bool {
	_, composite := composites[styp]
	return flopTimes[styp] || flopValues[styp] || flopMandatory[styp] || flopLists[styp] || flopMembers[styp] || composite ||
		flopGroups[styp] != nil || flopLinks[styp] != nil || styp == "EXSS" || styp == "PORT"
}

// number reads the FLID.
func number(n node) (int64, error) {
	f, ok := n.get("FLID")
	if !ok {
		return 0, malformed
	}
	id, err := strconv.ParseInt(f.value(), 10, 64)
	if err != nil || id <= 0 || id >= 1e18 {
		return 0, malformed
	}
	return id, nil
}

// record reads an FLTR: absent keeps, empty clears, a value sets.
func (m *Model) record(msg *message, n node) (write, error) {
	id, err := number(n)
	if err != nil {
		return write{}, err
	}
	if msg.styp == "DEL" {
		return write{op: "delete", flid: id}, nil
	}
	w := write{op: "create", flid: id, set: map[string]any{}, lists: map[string]map[string]map[string]any{}, extra: map[string]any{}}
	for _, k := range n.kids {
		same := n.all(k.name)
		switch {
		case k.name == "FLID":
		case scalars[k.name].name != "":
			if len(same) > 1 {
				return w, protocol
			}
			if err := m.scalar(&w, msg, k); err != nil {
				return w, err
			}
			if k.name == "SODT" && !k.blank() {
				t, err := m.time(k.value(), msg.dttm)
				if err != nil {
					return w, err
				}
				w.day = t.Format(time.DateOnly)
			}
		case k.name == "PORT":
			if err := m.door(&w, msg, k); err != nil {
				return w, err
			}
		case composites[k.name].leader != "":
			compose(&w, k.name, k)
		case lists[k.name].name != "":
			members, err := m.members(msg, lists[k.name], same, false)
			if err != nil {
				return w, err
			}
			w.lists[lists[k.name].name] = members
		case len(same) > 1:
			all := make([]any, len(same))
			for i, s := range same {
				all[i] = raw(s)
			}
			w.extra[k.name] = all
		default:
			w.extra[k.name] = raw(k)
		}
	}
	return w, nil
}

// event reads a FLOP: its STYP says what it changes, the rest is not looked at.
func (m *Model) event(msg *message, n node) (write, error) {
	id, err := number(n)
	if err != nil {
		return write{}, err
	}
	if msg.styp == "FDEL" {
		return write{op: "delete", flid: id}, nil
	}
	w := write{op: "change", flid: id, set: map[string]any{}, lists: map[string]map[string]map[string]any{}, upsert: map[string]map[string]map[string]any{}}
	k, sent := n.get(msg.styp)
	switch styp := msg.styp; {
	case flopTimes[styp]:
		k.name = styp
		err = m.scalar(&w, msg, k)
	case flopValues[styp] && !sent, flopMandatory[styp] && k.value() == "":
		err = protocol
	case flopValues[styp], flopMandatory[styp]:
		err = m.scalar(&w, msg, k)
	case flopGroups[styp] != nil:
		for _, name := range flopGroups[styp] {
			part, _ := n.get(name)
			part.name = name
			if err := m.scalar(&w, msg, part); err != nil {
				return w, err
			}
		}
	case flopLinks[styp] != nil:
		err = m.link(&w, msg, n)
	case flopLists[styp]:
		w.lists[lists[styp].name], err = m.members(msg, lists[styp], n.all(styp), true)
	case flopMembers[styp] && !sent:
		err = protocol
	case flopMembers[styp]:
		members, failed := m.members(msg, lists[styp], n.all(styp), true)
		if len(members) == 0 {
			members = nil
		}
		w.upsert[lists[styp].name], err = members, failed
	case styp == "EXSS":
		code, coded := n.get("EXSC")
		remark, _ := n.get("EXSR")
		if !coded {
			return w, protocol
		}
		w.set["external_status_code"], w.set["external_status_comment"] = orNil(code.value()), orNil(remark.value())
		if code.value() == "" {
			w.set["external_status_comment"] = nil
		}
	case styp == "PORT":
		if !sent {
			return w, protocol
		}
		for _, p := range n.all("PORT") {
			if err := m.door(&w, msg, p); err != nil {
				return w, err
			}
		}
	default:
		compose(&w, styp, k)
	}
	return w, err
}

func orNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// scalar sets one column, or clears it.
func (m *Model) scalar(w *write, msg *message, n node) error {
	c := scalars[n.name]
	if n.value() == "" {
		w.set[c.name] = nil
		return nil
	}
	v, err := m.read(c.form, n.value(), msg.dttm)
	if err != nil {
		return err
	}
	w.set[c.name] = v
	return nil
}

// link sets three columns together: one empty or missing part clears all.
func (m *Model) link(w *write, msg *message, n node) error {
	whole := true
	for _, name := range flopLinks[msg.styp] {
		part, _ := n.get(name)
		whole = whole && part.value() != ""
		part.name = name
		if err := m.scalar(w, msg, part); err != nil {
			return err
		}
	}
	if !whole {
		for _, name := range flopLinks[msg.styp] {
			w.set[scalars[name].name] = nil
		}
	}
	return nil
}

func (m *Model) door(w *write, msg *message, n node) error {
	id, _ := n.get("POID")
	at, _ := n.get("POTM")
	col, ok := doors[id.value()]
	if !ok {
		return protocol
	}
	w.set[col] = nil
	if at.value() == "" {
		return nil
	}
	v, err := m.read(asTime, at.value(), msg.dttm)
	w.set[col] = v
	return err
}

func compose(w *write, name string, n node) {
	c := composites[name]
	there := n.attr(c.leader) != ""
	for a, col := range c.attrs {
		w.set[col] = nil
		if there {
			w.set[col] = orNil(n.attr(a))
		}
	}
	w.set[c.text] = nil
	if there {
		w.set[c.text] = orNil(n.value())
	}
}

// members reads the members of a list by key; blank ones are none. In an event
// a member that has lost what makes it last is nil.
func (m *Model) members(msg *message, l list, nodes []node, event bool) (map[string]map[string]any, error) {
	blank := len(slices.DeleteFunc(slices.Clone(nodes), func(n node) bool { return !n.blank() }))
	if event && l.keyed && blank > 0 && blank < len(nodes) {
		return nil, protocol
	}
	all, seen := map[string]map[string]any{}, map[string]bool{}
	for _, n := range nodes {
		if n.blank() {
			continue
		}
		key, member, err := m.member(msg, l, n)
		switch {
		case err != nil:
			return nil, err
		case seen[key]:
			return nil, protocol
		}
		seen[key] = true
		if needed, _ := n.get(l.needs); event && l.needs != "" && needed.value() == "" {
			return nil, protocol
		}
		if last, _ := n.get(l.lasting); l.lasting != "" && last.value() == "" {
			if !event {
				continue
			}
			member = nil
		}
		all[key] = member
	}
	return all, nil
}

// member reads one member of a list, and its key.
func (m *Model) member(msg *message, l list, n node) (string, map[string]any, error) {
	member, extra := map[string]any{}, map[string]any{}
	put := func(c column, text string) error {
		if text == "" {
			return nil
		}
		v, err := m.read(c.form, text, msg.dttm)
		member[c.name] = v
		return err
	}
	for _, a := range n.attrs {
		if c, known := l.attrs[a.name]; !known {
			extra["@"+a.name] = strings.TrimSpace(a.value)
		} else if err := put(c, strings.TrimSpace(a.value)); err != nil {
			return "", nil, err
		}
	}
	for _, k := range n.kids {
		if l.inner != nil && k.name == l.within {
			continue
		}
		if c, known := l.elems[k.name]; !known {
			extra[k.name] = raw(k)
		} else if err := put(c, k.value()); err != nil {
			return "", nil, err
		}
	}
	if l.text != "" {
		if err := put(column{l.text, asText}, n.value()); err != nil {
			return "", nil, err
		}
	}
	if len(extra) > 0 {
		member["extra"] = extra
	}
	if inside := n.all(l.within); l.inner != nil && len(inside) > 0 {
		services, err := m.members(msg, *l.inner, inside, false)
		if err != nil {
			return "", nil, err
		}
		member[l.inner.name] = services
	}
	c, attribute := l.attrs[l.key]
	if !attribute {
		c = l.elems[l.key]
	}
	key, there := member[c.name]
	if !there {
		return "", nil, protocol
	}
	return fmt.Sprint(key), member, nil
}

// raw is an element that no column takes, as it came.
func raw(n node) any {
	if len(n.attrs) == 0 && len(n.kids) == 0 {
		return n.value()
	}
	o := map[string]any{}
	for _, a := range n.attrs {
		o["@"+a.name] = strings.TrimSpace(a.value)
	}
	if n.value() != "" {
		o["#text"] = n.value()
	}
	for _, k := range n.kids {
		same := n.all(k.name)
		if len(same) == 1 {
			o[k.name] = raw(k)
			continue
		}
		parts := make([]any, len(same))
		for i, s := range same {
			parts[i] = raw(s)
		}
		o[k.name] = parts
	}
	return o
}

// allowed tells whether a schedule message keeps the rules that reach across
// its records and into the stored flights.
func (m *Model) allowed(msg *message, writes []write) bool {
	recs, ok := msg.body[0].get("RECS")
	if ok && recs.value() != strconv.Itoa(len(writes)) {
		return false
	}
	seen := map[int64]bool{}
	for _, w := range writes {
		if seen[w.flid] {
			return false
		}
		seen[w.flid] = true
		if w.op != "create" {
			continue
		}
		f := m.flights[w.flid]
		if w.day == "" || f != nil && f.day != w.day {
			return false
		}
		if f != nil && !f.deleted {
			continue
		}
		for _, name := range required {
			if w.set[scalars[name].name] == nil {
				return false
			}
		}
	}
	return true
}

// apply does what the records of a message say, and tells what it came to.
func (m *Model) apply(id int64, writes []write) Outcome {
	before := map[int64]*flight{}
	took, unknown := false, int64(0)
	for _, w := range writes {
		f := m.flights[w.flid]
		if w.op != "create" && (f == nil || f.deleted) {
			if unknown == 0 {
				unknown = w.flid
			}
			continue
		}
		took = true
		if _, known := before[w.flid]; !known {
			before[w.flid] = f
		}
		m.flights[w.flid] = f.after(id, w)
	}
	changed := 0
	for flid, old := range before {
		now := m.flights[flid]
		if old.equal(now) {
			m.flights[flid] = old
			continue
		}
		changed++
		now.last = id
		if now.deleted {
			m.deletes++
		}
	}
	m.events += changed
	switch {
	case changed > 0:
		return Outcome{State: "SUCCEEDED", Outcome: "applied"}
	case took, unknown == 0:
		return Outcome{State: "SUCCEEDED", Outcome: "no-change"}
	}
	return Outcome{State: "SKIPPED", Outcome: fmt.Sprintf("no-flight:%d", unknown)}
}

// after is the flight as a write leaves it; the receiver stays as it is, and is
// nil for a flight nobody has heard of.
func (f *flight) after(id int64, w write) *flight {
	var n flight
	if f == nil || w.op == "create" && f.deleted {
		n = flight{flid: w.flid, day: w.day, created: id, scalars: map[string]any{}, extra: map[string]any{}, lists: map[string]map[string]map[string]any{}}
	} else {
		n = *f
		n.scalars, n.extra, n.lists = maps.Clone(f.scalars), maps.Clone(f.extra), maps.Clone(f.lists)
	}
	if w.op == "delete" {
		n.deleted, n.lists = true, map[string]map[string]map[string]any{}
		return &n
	}
	for col, v := range w.set {
		if v == nil {
			delete(n.scalars, col)
		} else {
			n.scalars[col] = v
		}
	}
	maps.Copy(n.extra, w.extra)
	for name, members := range w.lists {
		n.put(name, members, nil)
	}
	for name, members := range w.upsert {
		if members == nil {
			delete(n.lists, name)
			continue
		}
		n.put(name, members, f.lists[name])
	}
	return &n
}

// put stores members beside those that stay. A person keeps the services that
// are not sent again.
func (f *flight) put(list string, members, stay map[string]map[string]any) {
	now := maps.Clone(stay)
	if now == nil {
		now = map[string]map[string]any{}
	}
	for key, member := range members {
		if member == nil {
			delete(now, key)
			continue
		}
		member = maps.Clone(member)
		services, sent := member["services"].(map[string]map[string]any)
		if kept, had := stay[key]["services"]; !sent && had {
			member["services"] = kept
		}
		if sent && len(services) == 0 {
			delete(member, "services")
		}
		now[key] = member
	}
	if len(now) == 0 {
		delete(f.lists, list)
		return
	}
	f.lists[list] = now
}

func (f *flight) equal(o *flight) bool {
	return f != nil && f.deleted == o.deleted && f.created == o.created &&
		reflect.DeepEqual(f.scalars, o.scalars) && reflect.DeepEqual(f.extra, o.extra) && reflect.DeepEqual(f.lists, o.lists)
}

// document is the flight as it is published, without its version.
func (f *flight) document() (json.RawMessage, error) {
	doc := maps.Clone(f.scalars)
	doc["flid"], doc["operation_day"], doc["state"] = f.flid, f.day, "ACTIVE"
	doc["created_msg_id"], doc["last_msg_id"] = f.created, f.last
	if f.deleted {
		doc["state"] = "DELETED"
	}
	if len(f.extra) > 0 {
		doc["extra"] = f.extra
	}
	for name := range f.lists {
		doc[name] = f.array(name)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(doc); err != nil {
		return nil, fmt.Errorf("write the document of flight %d: %w", f.flid, err)
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// array is a list as the document tells it: in order, persons with their
// services in order, stands with what push and tractor say of them.
func (f *flight) array(list string) []map[string]any {
	all := inOrder(list, f.lists[list])
	for i, member := range all {
		member = maps.Clone(member)
		if services, has := member["services"].(map[string]map[string]any); has {
			member["services"] = inOrder("services", services)
		}
		if code, coded := member["stand_code"].(string); coded && list == "stand" {
			for from, names := range map[string][]string{"push": {"push_time", "push_indicator"}, "tractor": {"tractor_time"}} {
				for _, name := range names {
					if v, has := f.lists[from][code][name]; has {
						member[name] = v
					}
				}
			}
		}
		all[i] = member
	}
	return all
}

// inOrder returns the members of a list: by number, or by the bytes of their code.
func inOrder(list string, members map[string]map[string]any) []map[string]any {
	keys := slices.Sorted(maps.Keys(members))
	if !byCode(list) {
		slices.SortStableFunc(keys, func(a, b string) int {
			return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
		})
	}
	all := make([]map[string]any, len(keys))
	for i, k := range keys {
		all[i] = members[k]
	}
	return all
}

// byCode tells whether a list has codes for keys.
func byCode(name string) bool {
	for _, l := range lists {
		if l.name == name {
			return l.keyed
		}
	}
	return true // the one inside another
}

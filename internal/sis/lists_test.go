package sis_test

import (
	"errors"
	"testing"

	"msgexchange/internal/sis"
)

// TestEveryList: what a FLOP and a record do with each list of the protocol:
// members as columns, a blank one, none.
func TestEveryList(t *testing.T) {
	at := func(column string) string { return `"` + column + `":"2026-04-17T07:44:00+08:00"` }
	const moment = "17APR260744"
	for element, c := range map[string]struct {
		member, json string // one member, and what becomes of it
		key, list    string
		keyed        bool
	}{
		"PSDT": {`<PSDT PSNO="01"><PSST>N14</PSST><STST>` + moment + `</STST><STET>` + moment + `</STET></PSDT>`,
			`"stand_number":1,"stand_code":"N14",` + at("start_time") + `,` + at("end_time"), "1", "stand", false},
		"GTDT": {`<GTDT GTNO="2"><GATE>E5</GATE><PGOT>` + moment + `</PGOT><PGCT/><GOTM>` + moment + `</GOTM><GCTM>` + moment + `</GCTM><GTYP>I</GTYP></GTDT>`,
			`"gate_number":2,"gate_code":"E5",` + at("planned_start_time") + `,` + at("actual_start_time") + `,` + at("actual_end_time") + `,"gate_indicator":"I"`, "2", "gate", false},
		"CKDT": {`<CKDT CKNO="1"><CHKC>08</CHKC><CCLS>Y</CCLS><PCOT>` + moment + `</PCOT><PCCT>` + moment + `</PCCT><COTM>` + moment + `</COTM><CCTM>` + moment + `</CCTM><CTYP>I</CTYP></CKDT>`,
			`"checkin_number":1,"desk_code":"08","desk_class":"Y",` + at("planned_start_time") + `,` + at("planned_end_time") + `,` + at("actual_start_time") + `,` + at("actual_end_time") + `,"checkin_indicator":"I"`, "1", "checkin", false},
		"CLDT": {`<CLDT CLNO="1"><BELT>b2</BELT><BCLS>F</BCLS><PCOT>` + moment + `</PCOT><PCCT>` + moment + `</PCCT><FBAG>` + moment + `</FBAG><LBAG>` + moment + `</LBAG><BTYP>D</BTYP></CLDT>`,
			`"carousel_number":1,"carousel_code":"b2","carousel_class":"F",` + at("planned_start_time") + `,` + at("planned_end_time") + `,` + at("first_bag_time") + `,` + at("last_bag_time") + `,"carousel_indicator":"D"`, "1", "carousel", false},
		"CHDT": {`<CHDT CHNO="1"><CHUT>K07</CHUT><CCLS>Y</CCLS><PCBT>` + moment + `</PCBT><PCET>` + moment + `</PCET><CBTM>` + moment + `</CBTM><CETM>` + moment + `</CETM><CTYP>E</CTYP></CHDT>`,
			`"chute_number":1,"chute_code":"K07","chute_class":"Y",` + at("planned_start_time") + `,` + at("planned_end_time") + `,` + at("actual_start_time") + `,` + at("actual_end_time") + `,"chute_indicator":"E"`, "1", "chute", false},
		"CHOT": {`<CHOT CSNO="1"><CHTM>` + moment + `</CHTM><CHID>OFF</CHID><CHST>N14</CHST></CHOT>`,
			`"chock_number":1,` + at("chock_time") + `,"chock_indicator":"OFF","stand_code":"N14"`, "1", "chock", false},
		"ABTM": {`<ABTM ASNO="0" ><ABDG>J31</ABDG><ABOP>D</ABOP><AOTM>` + moment + `</AOTM></ABTM>`,
			`"airbridge_number":0,"airbridge_code":"J31","operation":"D",` + at("operation_time"), "0", "airbridge", false},
		"ERUT": {`<ERUT RTNO="1"><APCD>NNG</APCD><SCAT>` + moment + `</SCAT><SCDT>` + moment + `</SCDT></ERUT>`,
			`"rtno":1,"airport_code":"NNG",` + at("arrival_time") + `,` + at("departure_time"), "1", "erut", false},
		"DELY": {`<DELY CODE="4F" STRT="` + moment + `" DURA="0145">雷雨</DELY>`,
			`"delay_code":"4F",` + at("start_time") + `,"duration_minutes":105,"comment":"雷雨"`, "4F", "delay", true},
		"SRVT": {`<SRVT><SRTC>GPU</SRTC><SRQT>0</SRQT><SRST>` + moment + `</SRST><SRET>` + moment + `</SRET><SRPR>300128</SRPR><SANR>A</SANR><SARR>b</SARR></SRVT>`,
			`"service_code":"GPU","quantity":0,` + at("start_time") + `,` + at("end_time") + `,"provider":300128,"abnormal_reason":"A","abnormal_remark":"b"`, "GPU", "service", true},
		"VIPF": {`<VIPF><VPCD>P1</VPCD><VFES>5</VFES><VIPT><VSCD>LNG</VSCD><VTQY>6</VTQY><VTST>` + moment + `</VTST><VTET>` + moment + `</VTET></VIPT><VIPT><VSCD>CAR</VSCD></VIPT><VIPT/></VIPF>`,
			`"vip_code":"P1","entourage_size":5,"services":{"LNG":{"service_code":"LNG","quantity":6,` + at("start_time") + `,` + at("end_time") + `},"CAR":{"service_code":"CAR"}}`, "P1", "vip", true},
		"PSHT": {`<PSHT PSHN="1"><PSTM>` + moment + `</PSTM><PSID>OUT</PSID><PUST>W07</PUST></PSHT>`,
			`"stand_code":"W07","push_number":1,` + at("push_time") + `,"push_indicator":"OUT"`, "W07", "push", true},
		"TIPT": {`<TIPT><TRTM>` + moment + `</TRTM><TRST>W07</TRST></TIPT>`,
			`"stand_code":"W07",` + at("tractor_time"), "W07", "tractor", true},
	} {
		t.Run(element, func(t *testing.T) {
			blank := "<" + element + "></" + element + ">"
			whole, part, cleared, absent := `{"lists":{"`+c.list+`":{"`+c.key+`":{`+c.json+`}}}}`, "", `{"lists":{"`+c.list+`":{}}}`, "PROTOCOL"
			part = whole
			emptied := cleared
			if c.keyed {
				part, emptied = `{"upsert":{"`+c.list+`":{"`+c.key+`":{`+c.json+`}}}}`, `{"upsert":{"`+c.list+`":null}}`
			} else {
				absent = cleared
			}
			for what, s := range map[string]struct{ text, want string }{
				"record, a member":        {fltr(c.member), whole},
				"record, blank":           {fltr(blank), cleared},
				"record, blank beside it": {fltr(c.member + blank), whole},
				"record, twice":           {fltr(c.member + c.member), "PROTOCOL"},
				"FLOP, a member":          {flop(element, c.member), part},
				"FLOP, blank":             {flop(element, blank), emptied},
				"FLOP, absent":            {flop(element, ""), absent},
				"FLOP, twice":             {flop(element, c.member+c.member), "PROTOCOL"},
			} {
				if got := patchOf(t, s.text); got != s.want {
					t.Errorf("%s: %s\nwant %s", what, got, s.want)
				}
			}
		})
	}
}

// patchOf is the patch of the one record, or the class of the error.
func patchOf(t *testing.T, text string) string {
	t.Helper()
	m, err := codec(t).Decode([]byte(text), now)
	var e *sis.Error
	switch {
	case errors.As(err, &e):
		return string(e.Class)
	case err != nil || len(m.Records) != 1:
		t.Fatalf("%v, %d records", err, len(m.Records))
	}
	return string(m.Records[0].Patch)
}

// TestListRules: what is special about single lists.
func TestListRules(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"push time empty takes it away":      {flop("PSHT", "<PSHT PSHN=\"1\"><PSTM/><PSID>OUT</PSID><PUST>W{07</PUST></PSHT>"), `{"upsert":{"push":{"W{07":null}}}`},
		"push time absent too":               {flop("PSHT", "<PSHT><PUST>W07</PUST></PSHT>"), `{"upsert":{"push":{"W07":null}}}`},
		"push without stand":                 {flop("PSHT", "<PSHT><PSTM>17APR260744</PSTM></PSHT>"), "PROTOCOL"},
		"two pushes, one taken away":         {flop("PSHT", "<PSHT><PUST>A</PUST></PSHT><PSHT><PUST>B</PUST><PSTM>17APR260744</PSTM></PSHT>"), `{"upsert":{"push":{"A":null,"B":{"stand_code":"B","push_time":"2026-04-17T07:44:00+08:00"}}}}`},
		"push without time in a record":      {fltr("<PSHT><PUST>A</PUST></PSHT>"), `{"lists":{"push":{}}}`},
		"tractor time empty takes it away":   {flop("TIPT", "<TIPT><TRTM></TRTM><TRST>W07</TRST></TIPT>"), `{"upsert":{"tractor":{"W07":null}}}`},
		"service without quantity":           {flop("SRVT", "<SRVT><SRTC>GPU</SRTC></SRVT>"), "PROTOCOL"},
		"… which a record may have":          {fltr("<SRVT><SRTC>GPU</SRTC></SRVT>"), `{"lists":{"service":{"GPU":{"service_code":"GPU"}}}}`},
		"service without code":               {flop("SRVT", "<SRVT><SRQT>1</SRQT></SRVT>"), "PROTOCOL"},
		"blank beside services":              {flop("SRVT", "<SRVT><SRTC>GPU</SRTC><SRQT>1</SRQT></SRVT><SRVT/>"), "PROTOCOL"},
		"person without services":            {flop("VIPF", "<VIPF><VPCD>P1</VPCD></VIPF>"), `{"upsert":{"vip":{"P1":{"vip_code":"P1"}}}}`},
		"blank service: no more":             {flop("VIPF", "<VIPF><VPCD>P1</VPCD><VIPT/></VIPF>"), `{"upsert":{"vip":{"P1":{"vip_code":"P1","services":{}}}}}`},
		"service of a person twice":          {flop("VIPF", "<VIPF><VPCD>P1</VPCD><VIPT><VSCD>A</VSCD></VIPT><VIPT><VSCD>A</VSCD></VIPT></VIPF>"), "PROTOCOL"},
		"the same service for two persons":   {flop("VIPF", "<VIPF><VPCD>P1</VPCD><VIPT><VSCD>A</VSCD></VIPT></VIPF><VIPF><VPCD>P2</VPCD><VIPT><VSCD>A</VSCD></VIPT></VIPF>"), `{"upsert":{"vip":{"P1":{"vip_code":"P1","services":{"A":{"service_code":"A"}}},"P2":{"vip_code":"P2","services":{"A":{"service_code":"A"}}}}}}`},
		"person twice behind services":       {flop("VIPF", "<VIPF><VPCD>P1</VPCD><VIPT><VSCD>A</VSCD></VIPT></VIPF><VIPF><VPCD>P1</VPCD></VIPF>"), "PROTOCOL"},
		"service of a person without a code": {flop("VIPF", "<VIPF><VPCD>P1</VPCD><VIPT><VTQY>1</VTQY></VIPT></VIPF>"), "PROTOCOL"},
		"a bad value inside a service":       {flop("VIPF", "<VIPF><VPCD>P1</VPCD><VIPT><VSCD>A</VSCD><VTQY>x</VTQY></VIPT></VIPF>"), "CODEC_ERROR"},
		"unknown parts of a member":          {flop("CLDT", `<CLDT CLNO="1" X="2"><BELT>B</BELT><NEWW A="b">c</NEWW></CLDT>`), `{"lists":{"carousel":{"1":{"carousel_number":1,"carousel_code":"B","extra":{"@X":"2","NEWW":{"@A":"b","#text":"c"}}}}}}`},
		"unknown parts of a service":         {flop("VIPF", `<VIPF><VPCD>P1</VPCD><VIPT><VSCD>A</VSCD><Z>1</Z></VIPT></VIPF>`), `{"upsert":{"vip":{"P1":{"vip_code":"P1","services":{"A":{"service_code":"A","extra":{"Z":"1"}}}}}}}`},
		"unknown element of an event":        {flop("TRML", `<TRML>T</TRML><NEWW A="b">c</NEWW><FFID>x</FFID><GATE>E5</GATE>`), `{"set":{"terminal":"T"},"extra":{"NEWW":{"@A":"b","#text":"c"},"GATE":"E5"}}`},
		"unknown attributes of an event":     {message("FLOP", "TRML", `<FLOP V="1"><FLID>1</FLID><TRML W="2">T</TRML></FLOP>`), `{"set":{"terminal":"T"},"extra":{"@V":"1","TRML@W":"2"}}`},
		"unknown attributes of a record":     {message("SCHD", "DNLD", `<SCHD><FLTR V="1"><FLID>1</FLID><RENO W="2"/><FDIV DDES="HAK" DDIR="TO" DX="3"/></FLTR></SCHD>`), `{"set":{"registration":null,"diversion_airport":"HAK","diversion_direction":"TO","diversion_reason":null},"extra":{"@V":"1","RENO@W":"2","FDIV@DX":"3"}}`},
		"unknown parts of a door":            {fltr(`<PORT Q="1"><POID>O</POID><POTM>17APR260744</POTM></PORT>`), `{"set":{"door_open_time":"2026-04-17T07:44:00+08:00"},"extra":{"PORT":{"@Q":"1","POID":"O","POTM":"17APR260744"}}}`},
		"elements of another subtype":        {flop("TRML", `<TRML>T</TRML><BOTM>rubbish</BOTM><SRVT/>`), `{"set":{"terminal":"T"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := patchOf(t, c.text); got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
		})
	}
}

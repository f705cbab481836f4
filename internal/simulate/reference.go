package simulate

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
)

// What the AODB says of the things that flights name: 23 types of reference
// data, and the season.

// rec makes a record from names and values in turn.
func rec(typ string, pairs ...string) node {
	n := box(typ)
	for i := 0; i+1 < len(pairs); i += 2 {
		n.kids = append(n.kids, el(pairs[i], pairs[i+1]))
	}
	return n
}

// plus adds children.
func (n node) plus(kids ...node) node {
	n.kids = append(n.kids[:len(n.kids):len(n.kids)], kids...)
	return n
}

// references are records of each type; the first child is the key.
var references = map[string][]node{
	"ABDG": {
		rec("ABDG", "ABCD", "J31", "DESC", "Airbridge 31", "CDSC", "31号桥", "AHGT", "5.25", "ATML", "TB", "ATHE", "N").
			plus(el("STND", "N31"), el("STND", ""), el("STND", "N32"), el("GATE", "E5"), el("AMNO", "2")),
		rec("ABDG", "ABCD", "J32", "DESC", "Airbridge 32", "CDSC", "32号桥")},
	"ABNR": {rec("ABNR", "ANRC", "LATE", "ANRD", "Vehicle late", "ARDC", "车辆迟到")},
	"AIRC": {
		rec("AIRC", "ITAT", "32Q", "ICAT", "A21N", "DESC", "Airbus A321neo", "CDSC", "空客A321neo", "CHAP", "C", "MAXP", "194", "MFWT", "5300.00", "MTWT", "97000",
			"ALEN", "44.51", "WSPN", "35.8", "MHTM", "45", "MABR", "1"),
		rec("AIRC", "ITAT", "E90", "ICAT", "E190", "DESC", "Embraer 190", "CDSC", "巴航工业E190", "CHAP", "", "MAXP", "98")},
	"AIRL": {
		rec("AIRL", "ITOP", "GX", "ICOP", "CBG", "ONAM", "Guangxi Beibu Gulf", "ONMC", "北部湾航空", "CTRY", "CHN").
			plus(el("TRML", "TA").with("MVIN", "A").with("FLIN", "D"), el("TRML", "TB").with("MVIN", "A").with("FLIN", "I"), el("OGRP", "HNA"),
				rec("SUBC", "CODE", "GX01", "NAME", "GX Cargo", "NAMC", "北部湾货运"), el("DORI", "D")),
		rec("AIRL", "ITOP", "TG", "ICOP", "THA", "ONAM", "Thai Airways", "ONMC", "泰国航空").plus(el("TRML", "").with("MVIN", "").with("FLIN", ""), el("DORI", "I"))},
	"ARPT": {
		rec("ARPT", "ITCD", "HAK", "ICCD", "ZJHK", "ANAM", "Haikou Meilan", "ANMC", "海口美兰", "BDIS", "370", "CTRY", "CHN", "ACTY", "HAK", "ATYP", "D", "HAUL", "S").
			plus(el("ABBR", "海口").with("CODE", "ABR1"), el("ABBR", "HAIKOU").with("CODE", "ABR3")),
		rec("ARPT", "ITCD", "SIN", "ANAM", "Singapore Changi", "ANMC", "新加坡樟宜", "CTRY", "SGP", "ACTY", "SIN", "ATYP", "I")},
	"BLST": {rec("BLST", "BCOD", "b2", "BTNM", "Carousel 2", "BNMC", "2号转盘", "BCAT", "D", "BTML", "TA")},
	"CHLT": {rec("CHLT", "CCOD", "K07", "CHNM", "Chute 7", "CNMC", "7号滑槽", "CTML", "TB", "CCAT", "I")},
	"CITY": {
		rec("CITY", "ITCD", "NNG", "ICCD", "ZGNN", "CNAM", "Nanning", "CNMC", "南宁", "CTRY", "CHN").plus(el("ABBR", "邕").with("CODE", "ABR1")),
		rec("CITY", "ITCD", "SGN", "CNAM", "Ho Chi Minh City", "CNMC", "胡志明市", "CTRY", "VNM")},
	"CLST": {rec("CLST", "CCOD", "08", "CTNM", "Desk 8", "CNMC", "8号柜台", "CCAT", "D", "CTML", "TA", "CTRA", "N")},
	"COUL": {
		rec("COUL", "COUC", "VNM", "COUN", "Viet Nam", "CNMC", "越南").plus(el("REGC", "ASEAN"), el("REGC", "ASIA")),
		rec("COUL", "COUC", "ISL", "COUN", "Iceland", "CNMC", "冰岛")},
	"DLYL": {rec("DLYL", "DCOD", "4F", "DCDN", "41", "DDES", "Aircraft defect", "DDSC", "飞机故障")},
	"FLTL": {rec("FLTL", "FTYP", "G", "CTYP", "PAX", "FDES", "Scheduled passenger", "FDSC", "正班客运", "FCML", "Y")},
	"GLST": {
		rec("GLST", "GCOD", "E5", "GTNM", " East gate 5", "GNMC", "东五登机口", "GCAT", "I", "GTML", "TB", "PIER", "E"),
		rec("GLST", "GCOD", "A1", "GTNM", "Gate A1", "GNMC", "A1登机口", "GCAT", "D")},
	"HLTR": {rec("HLTR", "HLTC", "GPU", "HLTD", "Ground power", "HTDC", "地面电源", "HLTT", "T", "UMNM", "MIN")},
	"ORGN": {
		rec("ORGN", "OGID", "300127", "ONAM", "Ground Services", "ONMC", "地面服务公司").plus(el("OCAT", "Handling agent"), el("OCAT", "Bus operator")),
		rec("ORGN", "OGID", "300128", "ONAM", "Ramp Services", "ONMC", "机坪服务公司")},
	"PLST": {rec("PLST", "PCOD", "E", "PRNM", "East pier", "PNMC", "东指廊", "PCAT", "I", "PTML", "TB")},
	"REGL": {rec("REGL", "REGC", "ASEAN", "REGN", "South-East Asia", "RGNC", "东南亚")},
	"REGN": {rec("REGN", "RNUM", "B30KX", "ITAT", "32Q", "OWID", "300127", "ACAL", "GX", "ALSC", "GX01", "MAXP", "194", "MFWT", "5300", "MTWT", "97000.5")},
	"SLST": {
		rec("SLST", "SCOD", "N14", "STNM", "Stand N14", "SNMC", "N14机位", "SATC", "C", "STGP", "NORTH", "SWID", "40.5", "SHGT", "48", "STML", "TA", "MABS", "1",
			"DIGT", "E5", "DDGT", "A1", "REMT", "N", "FEPU", "Y"),
		rec("SLST", "SCOD", "W30", "STNM", "Stand W30", "SNMC", "W30机位", "REMT", "R")},
	"STTS": {rec("STTS", "STTC", "BORD", "STTD", "Boarding", "STDC", "正在登机", "ABNS", "N")},
	"TLST": {rec("TLST", "TCOD", "TB", "TNAM", "Terminal B", "TNMC", "B航站楼", "TCAT", "I", "TPAX", "Y")},
	"VIPL": {rec("VIPL", "VPCD", "VP001", "VPNC", "0001", "VFNM", "Ming", "VLNM", "Li", "VDES", "Guest of the airport", "VDSC", "机场贵宾", "VPON", "Director", "VRNK", "1",
		"VPTC", "Office", "VCTN", "0771-000000", "VCMN", "13800000000", "VRMK", "no announcements", "VPWU", "Museum", "VPPS", "window seat")},
	"VIPS": {rec("VIPS", "VSCD", "CAR", "VSDS", "Car to the stand", "VSDC", "机坪用车", "VSQC", "1", "VSUC", "CARS")},
}

// referenceTypes are the types in order.
func referenceTypes() []string { return slices.Sorted(maps.Keys(references)) }

// referenceSubtypes are what each of them comes as.
var referenceSubtypes = []string{"DNLD", "RESP", "ADD", "UPD", "DEL"}

// records is the body of a message of a type; a deletion needs no more than
// keys, but may have all.
func records(typ, styp string) []node {
	all := slices.Clone(references[typ])
	if styp == "DEL" {
		all[0] = box(typ, all[0].kids[0])
	}
	return append([]node{el("RECS", strconv.Itoa(len(all)))}, all...)
}

// seasonal is the body of a season with two flights.
func seasonal() node {
	flight := func(pairs ...string) node { return rec("FLTR", pairs...) }
	stop := func(no, airport string, pairs ...string) node {
		return rec("ERUT", append([]string{"APCD", airport}, pairs...)...).with("RTNO", no)
	}
	return rec("SCHS", "SNAM", "W26", "APCD", home, "SDAT", "25OCT26", "EDAT", "27MAR27", "RECS", "2").plus(
		flight("ALCD", "GX", "FLNO", "GX8841", "MVIN", "D", "STDT", "25OCT26", "EDDT", "27MAR27", "DYOP", "1030507", "SCHT", "0735", "FLTY", "G", "FLIN", "D",
			"ACFT", "E90", "RENO", "", "TAOP", "GX", "TAFL", "GX8842", "TRML", "TA", "MAXP", "98").
			plus(stop("1", home, "SCDT", "0735"), stop("2", "HAK", "SCAT", "01DEC260835", "SADC", "")),
		flight("ALCD", "TG", "FLNO", "TG5640", "MVIN", "A", "STDT", "01NOV26", "EDDT", "27MAR27", "DYOP", "0200060", "SCHT", "0045", "FLTY", "G", "FLIN", "I",
			"ACFT", "320", "RENO", "HSABC", "CSOP", "CZ", "CSFT", "CZ6090").
			plus(stop("1", "BKK", "SCDT", "2150", "SDDC", "-1"), stop("2", home, "SCAT", "0045", "SADC", "+1")))
}

// Sample writes the body of a message of reference data or of a season, "" for
// what is neither.
func Sample(typ, styp string) string {
	p := printer{rng: rand.New(rand.NewPCG(1, 1)), unit: "\t"}
	for _, n := range body(typ, styp) {
		p.element(n, 1, false)
	}
	return p.b.String()
}

func body(typ, styp string) []node {
	switch {
	case typ == "SCHS":
		return []node{seasonal()}
	case references[typ] != nil:
		return records(typ, styp)
	}
	return nil
}

func (g *Generator) reference(typ, styp string, class Class) Item {
	return g.finish(g.message(typ, styp, body(typ, styp)...), Fault{Class: class})
}

// referenceFaults are messages of every type and subtype that are not stored.
func referenceFaults() []spoiler {
	var all []spoiler
	for _, styp := range referenceSubtypes {
		for _, typ := range append(referenceTypes(), "SCHS") {
			if skipped[typ] || typ == "SCHS" && styp != "DNLD" && styp != "RESP" {
				continue
			}
			all = append(all, spoiler{typ + "/" + styp, func(g *Generator) Item { return g.reference(typ, styp, Unsupported) }})
		}
	}
	return all
}

package sis

// reference is a type of reference data: a flat record with a key (wire 5).
type reference struct {
	typ    string
	fields []field // the first is the key
	sets   []set
}

// set is a repeated element of a reference record. Without fields its members
// are texts.
type set struct {
	element string
	column  string
	fields  []field
	unique  int // so many fields at the front are what two members must not share
}

// plain is a required text, named is an optional one: most fields are either.
func plain(element, column string, max int) field { return field{element, column, text, max, true, ""} }
func named(element, column string, max int) field {
	return field{element, column, text, max, false, ""}
}

func value(element, column string, kind kind) field {
	return field{element, column, kind, 0, false, ""}
}

// references are the 23 types, in the order of wire 5.
func references() []reference {
	abbreviations := set{"ABBR", "abbreviations", []field{plain("@CODE", "code", 4), named("#", "abbreviation", 30)}, 1}
	return []reference{
		{"ABDG", []field{
			plain("ABCD", "airbridge_code", 8), plain("DESC", "description", 30), plain("CDSC", "local_description", 30),
			value("AHGT", "max_height", decimal), named("ATML", "terminal_code", 5), value("ATHE", "supports_a380", yesNo),
			value("AMNO", "arm_number", integer)},
			[]set{{"STND", "stands", nil, 0}, {"GATE", "gates", nil, 0}}},
		{"ABNR", []field{
			plain("ANRC", "abnormal_reason_code", 8), plain("ANRD", "description", 100), plain("ARDC", "local_description", 100)}, nil},
		{"AIRC", []field{
			plain("ITAT", "iata_code", 3), plain("ICAT", "icao_code", 4), plain("DESC", "description", 30), plain("CDSC", "local_description", 30),
			named("CHAP", "size_category", 1), value("MAXP", "max_pax", integer), value("MFWT", "max_freight_weight", decimal),
			value("MTWT", "max_takeoff_weight", decimal), value("ALEN", "aircraft_length", decimal), value("WSPN", "wing_span", decimal),
			value("MHTM", "min_handling_time", decimal), value("MABR", "max_airbridge", integer)}, nil},
		{"AIRL", []field{
			plain("ITOP", "iata_operator_code", 3), plain("ICOP", "icao_operator_code", 3), plain("ONAM", "description", 30),
			plain("ONMC", "local_description", 30), named("CTRY", "country_code", 3), plain("DORI", "airline_category", 1)},
			[]set{
				{"TRML", "default_terminals", []field{named("@MVIN", "direction", 1), named("@FLIN", "flight_indicator", 1), named("#", "terminal_code", 5)}, 2},
				{"OGRP", "operator_groups", nil, 0},
				{"SUBC", "subcompanies", []field{plain("CODE", "airline_subcompany_code", 10), plain("NAME", "description", 30), plain("NAMC", "local_description", 30)}, 1}}},
		{"ARPT", []field{
			plain("ITCD", "iata_code", 3), named("ICCD", "icao_code", 4), plain("ANAM", "description", 30), plain("ANMC", "local_description", 30),
			value("BDIS", "distance", long), plain("CTRY", "country_code", 3), plain("ACTY", "city_code", 3), plain("ATYP", "airport_category", 1),
			named("HAUL", "haul_category", 1)},
			[]set{abbreviations}},
		{"BLST", []field{
			plain("BCOD", "carousel_code", 8), plain("BTNM", "description", 30), plain("BNMC", "local_description", 30),
			plain("BCAT", "carousel_category", 1), named("BTML", "terminal_code", 5)}, nil},
		{"CHLT", []field{
			plain("CCOD", "chute_code", 8), plain("CHNM", "description", 30), plain("CNMC", "local_description", 30),
			named("CTML", "terminal_code", 5), plain("CCAT", "chute_category", 1)}, nil},
		{"CITY", []field{
			plain("ITCD", "iata_city_code", 3), named("ICCD", "icao_city_code", 4), plain("CNAM", "description", 30),
			plain("CNMC", "local_description", 30), plain("CTRY", "country_code", 3)},
			[]set{abbreviations}},
		{"CLST", []field{
			plain("CCOD", "checkin_desk_code", 8), plain("CTNM", "description", 30), plain("CNMC", "local_description", 30),
			plain("CCAT", "checkin_desk_category", 1), named("CTML", "terminal_code", 5), value("CTRA", "transfer", yesNo)}, nil},
		{"COUL", []field{
			plain("COUC", "country_code", 3), plain("COUN", "description", 30), plain("CNMC", "local_description", 30)},
			[]set{{"REGC", "regions", nil, 0}}},
		{"DLYL", []field{
			plain("DCOD", "delay_type_code", 3), value("DCDN", "delay_type_code_number", integer), plain("DDES", "description", 100),
			plain("DDSC", "local_description", 100)}, nil},
		{"FLTL", []field{
			plain("FTYP", "flight_type_code", 1), named("CTYP", "flight_type", 3), plain("FDES", "description", 30),
			plain("FDSC", "local_description", 30), value("FCML", "commercial", yesNo)}, nil},
		{"GLST", []field{
			plain("GCOD", "gate_code", 8), plain("GTNM", "description", 30), plain("GNMC", "local_description", 30), plain("GCAT", "gate_category", 1),
			named("GTML", "terminal_code", 5), named("PIER", "pier_code", 8)}, nil},
		{"HLTR", []field{
			plain("HLTC", "handling_agent_code", 4), plain("HLTD", "description", 30), plain("HTDC", "local_description", 30),
			plain("HLTT", "handling_agent_category", 1), named("UMNM", "unit_measure", 5)}, nil},
		{"ORGN", []field{
			{"OGID", "organization_identifier", long, 0, true, ""}, plain("ONAM", "description", 40), plain("ONMC", "local_description", 40)},
			[]set{{"OCAT", "organization_categories", nil, 0}}},
		{"PLST", []field{
			plain("PCOD", "pier_code", 8), plain("PRNM", "description", 30), plain("PNMC", "local_description", 30), plain("PCAT", "pier_category", 1),
			named("PTML", "terminal_code", 5)}, nil},
		{"REGL", []field{
			plain("REGC", "region_code", 6), plain("REGN", "description", 30), plain("RGNC", "local_description", 30)}, nil},
		{"REGN", []field{
			plain("RNUM", "registration_code", 10), plain("ITAT", "aircraft_type_code", 3), value("OWID", "organization_id", long),
			named("ACAL", "airline_code", 3), named("ALSC", "airline_subcompany_code", 10), value("MAXP", "max_pax", integer),
			value("MFWT", "max_freight_weight", decimal), value("MTWT", "max_takeoff_weight", decimal)}, nil},
		{"SLST", []field{
			plain("SCOD", "stand_code", 8), plain("STNM", "description", 30), plain("SNMC", "local_description", 30), named("SATC", "largest_aircraft", 1),
			named("STGP", "stand_group_code", 30), value("SWID", "width", decimal), value("SHGT", "length", decimal), named("STML", "terminal_code", 5),
			value("MABS", "max_airbridge", integer), named("DIGT", "international_gate", 8), named("DDGT", "domestic_gate", 8),
			plain("REMT", "stand_type", 1), value("FEPU", "fixed_electric", yesNo)}, nil},
		{"STTS", []field{
			plain("STTC", "status_code", 8), plain("STTD", "description", 100), plain("STDC", "local_description", 100),
			{"ABNS", "abnormal", yesNo, 0, true, ""}}, nil},
		{"TLST", []field{
			plain("TCOD", "terminal_code", 5), plain("TNAM", "description", 30), plain("TNMC", "local_description", 30), plain("TCAT", "terminal_category", 1),
			value("TPAX", "passenger", yesNo)}, nil},
		{"VIPL", []field{
			plain("VPCD", "vip_person_code", 10), plain("VPNC", "vip_person_number", 40), plain("VFNM", "first_name", 40), plain("VLNM", "last_name", 40),
			plain("VDES", "description", 80), plain("VDSC", "local_description", 80), named("VPON", "position", 60), named("VRNK", "rank", 60),
			named("VPTC", "contact_person", 60), named("VCTN", "contact_telephone", 20), named("VCMN", "contact_mobile", 20), named("VRMK", "remark", 0),
			named("VPWU", "work_unit", 100), named("VPPS", "remarks", 200)}, nil},
		{"VIPS", []field{
			plain("VSCD", "vip_service_code", 4), plain("VSDS", "description", 30), plain("VSDC", "local_description", 30),
			{"VSQC", "quantity_or_time_code", integer, 0, true, ""}, named("VSUC", "unit_measure", 5)}, nil},
	}
}

// season is the seasonal schedule, SCHS (wire 4.4). Its header and its records
// are read like reference records; a record's key is made of its first fields.
type season struct {
	header []field
	record reference
	key    int // fields at the front that name a record
}

func seasonal() season {
	stop := []field{
		{"@RTNO", "rtno", number, 0, true, ""}, plain("APCD", "airport_code", 3), value("SCAT", "arrival_time", clockTime),
		named("SADC", "arrival_day_change", 2), value("SCDT", "departure_time", clockTime), named("SDDC", "departure_day_change", 2)}
	return season{
		header: []field{
			plain("SNAM", "season_name", 20), named("APCD", "home_airport", 3), {"SDAT", "season_start", day, 0, true, ""},
			{"EDAT", "season_end", day, 0, true, ""}},
		key: 6,
		record: reference{"SCHS", []field{
			plain("ALCD", "airline_code", 3), plain("FLNO", "flight_number", 12), plain("MVIN", "direction", 1), {"STDT", "valid_from", day, 0, true, ""},
			{"EDDT", "valid_to", day, 0, true, ""}, {"DYOP", "operating_days", weekdays, 0, true, ""}, {"SCHT", "scheduled_time", clockTime, 0, true, ""},
			plain("FLTY", "flight_type", 1), plain("FLIN", "flight_indicator", 1), plain("ACFT", "aircraft_type", 3), named("RENO", "registration", 10),
			named("TAOP", "linked_airline_code", 3), named("TAFL", "linked_flight_number", 12), named("TRML", "terminal", 5),
			value("MAXP", "max_pax", integer), named("CSOP", "master_airline_code", 3), named("CSFT", "master_flight_number", 12)},
			[]set{{"ERUT", "erut", stop, 1}, {"ROUT", "rout", stop, 1}}},
	}
}

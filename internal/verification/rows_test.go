package verification

// Changes that break more than one test.
var (
	overtaken = edit{"sql/pump/pump_open.sql",
		"AND p.state IN ('PENDING', 'FAILED')\n          ORDER BY p.msg_id LIMIT p_limit)\n    ), head",
		"AND p.state IN ('PENDING', 'FAILED') AND (p.next_attempt_at > p_now) IS NOT TRUE\n          ORDER BY p.msg_id LIMIT p_limit)\n    ), head"}
	aboveWatermark = edit{"sql/pump/pump_open.sql", "AND p.msg_id <= (SELECT c.committed_up_to FROM msgx.inbox_cursor AS c)", ""}
	memoryAhead    = edit{"internal/engine/poller.go", "if err != nil {\n\t\tp.seq = -1\n\t\treturn round{}, err", "if err != nil {\n\t\tp.watermark += int64(limit)\n\t\treturn round{}, err"}
	enqueuedTwice  = edit{"sql/inbox/inbox_advance.sql", "ON CONFLICT (msg_id) DO NOTHING", "ON CONFLICT (msg_id) DO UPDATE SET source = 'poll'"}
	noWindow       = edit{"sql/inbox/inbox_advance.sql", "greatest(h.first_seen_at, v_cursor.readable_since) + v_delay > v_read", "greatest(h.first_seen_at, v_cursor.readable_since) > v_read"}
	ownDuplicate   = edit{"sql/pump/pump_judge.sql", "WHEN o.same AND NOT o.own THEN 'duplicate'", "WHEN o.same THEN 'duplicate'"}
	noDuplicate    = []edit{
		{"sql/pump/pump_judge.sql", "WHEN o.same AND NOT o.own THEN 'duplicate'", "WHEN o.same AND NOT o.own THEN 'go'"},
		{"sql/pump/pump_judge.sql", "AND i.identity_key IS NOT NULL AND o.own IS NOT TRUE", "AND i.identity_key IS NOT NULL AND o.msg_id IS NULL"},
	}
	swallowed = []edit{
		{"sql/pump/pump_apply.sql", "IF v_writes IS NOT NULL THEN\n", "IF v_writes IS NOT NULL THEN BEGIN\n"},
		{"sql/pump/pump_apply.sql", "v_slow, p_now) AS e;", "v_slow, p_now) AS e; EXCEPTION WHEN others THEN v_effects := NULL; END;"},
	}
	diskFull = edit{"internal/dberr/postgres.go", `{Prefix: "53", Class: Environment, `, `{Prefix: "53", Class: Message, `}
	// Marks by place alone, not by the intent of a finished message.
	marksUnfinished = []edit{
		{"sql/backfill/backfill_claim.sql", "p.msg_id > v_from AND p.msg_id <= v_done\n               AND p.backfill_next_at IS NOT NULL AND p.backfill_attempts = 0", "p.msg_id > v_from AND p.backfill_attempts = 0 AND p.backfill_at IS NULL"},
		{"sql/backfill/backfill_claim.sql", "v_retry)\n           AND p.backfill_next_at IS NOT NULL", "v_retry)"},
	}
	fastPath       = edit{"sql/pump/pump_apply.sql", "v_slow := v_items[1].msg_id <= v_place.done_up_to;", "v_slow := false;"}
	refusedApplied = edit{"sql/pump/pump_apply.sql", "WITH ORDINALITY AS r\n     WHERE i.state IS NULL;", "WITH ORDINALITY AS r;"}
	newIDs         = edit{"internal/engine/delivery.go", "kafka.Headers(kafka.Change, strconv.FormatInt(r.EventID, 10),", "kafka.Headers(kafka.Change, strconv.FormatInt(r.EventID*1000+d.e.mono().UnixNano()%1000, 10),"}
	overtakenEvent = edit{"sql/outbox/outbox_next_msg.sql",
		"WHERE h.event_id < coalesce((SELECT min(b.event_id) FROM head AS b WHERE b.next_attempt_at > p_now), 9223372036854775807)",
		"WHERE (h.next_attempt_at > p_now) IS NOT TRUE"}
	anyEpoch = edit{"sql/lease/lease_check.sql", "l.epoch = p_epoch AND ", ""}
	noLock   = edit{"sql/lease/lease_check.sql", "IS NOT NULL\n        FOR KEY SHARE", "IS NOT NULL"}
	overMark = []edit{
		{"internal/mailbox/mark.go", "if !r.marked {", "if true {"},
		{"internal/mailbox/mark.go", " IN (%s) AND %s IS NULL\", m.table, set, m.id, marks, m.processed)", " IN (%s)\", m.table, set, m.id, marks)"},
	}
)

// promises are those of the design.
func promises() []row {
	return []row{
		{
			name: "I1 Order", must: "Messages are applied in the order of their ids; nothing above the watermark is ever claimed.",
			proofs: []proof{
				{"internal/engine.TestPromiseOrder", []edit{overtaken}, "pairs out of order"},
				{"sql/pump/test/pump_next.sql: a run goes from the head to the watermark, never above it", []edit{aboveWatermark}, "have: {1,2,3,9} want: {1,2,3}"},
				{"sql/pump/test/pump_next.sql: a head that is backing off holds everything above it", []edit{overtaken}, "Results differ beginning at row 1: have: ({3},,) want: ({},backing-off,\"2026-04-17 00:00:10+00\")"},
			},
			also: []string{"internal/engine.TestDay", "sql/pump/test/pump_next.sql: a reopened message behind the place is the head", "sql/pump/test/pump_apply_protocol.sql: a batch that is not the list of unfinished messages is not applied"},
		},
		{
			name: "I2 No loss", must: "The watermark moves only over ids that were enqueued in the same transaction, or over holes released by rule; a crash at any point loses nothing.",
			proofs: []proof{
				{"sql/inbox/test/inbox_model.sql: random mailbox %s: watermark, ledger and queue are the model's after every step", []edit{{"sql/inbox/inbox_advance.sql", "v_to := v_block - 1;", "v_to := v_block;"}}, "have: step 2, page {5,7} after 3: cursor (4,7,2,,), model (3,7,2,\"2026-04-17 00:01:10+00\",); ledger without 4; ledger has 4 want: NULL"},
				{"internal/engine.TestHole", []edit{noWindow}, "what stands behind the hole was enqueued"},
				{"internal/engine.TestSeedEnqueueInterrupted", []edit{memoryAhead}, "1 holes: rows whose enqueueing was interrupted were taken for missing"},
			},
			also: []string{"internal/engine.TestDay", "internal/engine.TestProcessDies", "internal/engine.TestRowGone", "internal/engine.TestIDsGoBack", "internal/engine.TestRestoredBackup", "internal/engine.TestRowComesBack", "internal/engine.TestAnswerLost"},
		},
		{
			name: "I3 Once", must: "A mailbox id is enqueued once, a business identity takes effect once; no message is a duplicate of itself, and another content is no silent duplicate.",
			proofs: []proof{
				{"sql/inbox/test/inbox_advance.sql: a row that is enqueued already is not enqueued again", []edit{enqueuedTwice}, "have: 1 want: 0"},
				{"sql/pump/test/seed_outcomes.sql: 同身份多条记录: the first alone takes effect", noDuplicate, "Results differ beginning at row 1: have: (\"SUCCEEDED no-change\") want: (\"SKIPPED duplicate-of:15\")"},
				{"sql/pump/test/pump_apply_identity.sql: … and is no duplicate of itself when tried again", []edit{ownDuplicate}, "have: SKIPPED duplicate-of:9 want: SUCCEEDED applied"},
				{"sql/pump/test/pump_apply_identity.sql: the same identity with another text is a conflict, never a silent duplicate", []edit{{"sql/pump/pump_judge.sql", "p.text_hash = i.text_hash AS same", "true AS same"}}, "have: SKIPPED duplicate-of:1 want: SKIPPED identity-conflict:1"},
				{"sql/pump/test/pump_apply_outcomes.sql: a finished message sent again is answered as done", []edit{{"sql/pump/pump_apply.sql", "AND p.state IN ('SUCCEEDED', 'SKIPPED', 'DEAD');", "AND p.state = 'DEAD';"}}, "have: NULL want: true"},
			},
			also: []string{"internal/engine.TestDay", "internal/engine.TestBadInput", "internal/engine.TestAnswerLost"},
		},
		{
			name: "I4 Atomic", must: "Flight change, events, outcome and the mark owed commit together or not at all.",
			proofs: []proof{
				{"sql/pump/test/seed_outcomes.sql: PG 事务失败: an error at the %s of %s reaches the driver", swallowed, "caught: no exception wanted: 22012"},
				{"internal/engine.TestSeedCommitFails", []edit{diskFull}, "messages: DEAD 1 INFRA,SKIPPED no-flight:1 0"},
			},
			also: []string{"sql/pump/test/seed_outcomes.sql: … and nothing of the batch is left: no flight, event, outcome, identity, mark owed", "internal/engine.TestOneByOne"},
		},
		{
			name: "I5 One writer", must: "One active instance, by a lease with a fencing epoch: a take-over waits for a call under way, and no call of a former holder commits after it; two engines never both work.",
			proofs: []proof{
				{"internal/engine.TestTakeOverWaitsForRunningCall", []edit{noLock}, "a take-over during the call: <nil>"},
				{"internal/engine.TestPromiseOneWriter", []edit{anyEpoch}, "while the lease was of"},
				{"sql/roles/test/every_function.sql: %s: a former epoch is refused before anything else", []edit{{"sql/inbox/inbox_readable.sql", "PERFORM msgx.lease_check(p_epoch);", ""}}, "caught: no exception wanted: MX001"},
				{"sql/roles/test/every_function.sql: every function of the daemon that may write takes the epoch", []edit{{"sql/loop/loop_pause.sql", "TO msgx_operator;", "TO msgx_operator, msgx_app;"}}, "have: {clock,lease_acquire,lease_evict,loop_pause} want: {clock,lease_acquire,lease_evict}"},
			},
			also: []string{"internal/engine.TestFenced", "internal/engine.TestEvict", "internal/engine.TestStandbyTakesOver", "internal/engine.TestTakeOver", "internal/engine.TestLeaseAnswerLost"},
		},
		{
			name: "I6 Only marks", must: "In the mailbox we read, and mark what is unmarked and finished; no DDL, no mark is overwritten.",
			proofs: []proof{
				{"internal/engine.TestPromiseOnlyMarks", marksUnfinished, "4 unmarked 1, 5 unmarked 1; want once each, unmarked before, nothing else changed, only 1 and 3"},
				{"internal/mailbox.TestMark", overMark, "another's mark was overwritten"},
				{"sql/backfill/test/backfill.sql: a message that is not finished is never confirmed", []edit{{"sql/backfill/backfill_settle.sql", " AND p.finished_at IS NOT NULL\n", "\n"}}, "have: (1,0) want: (0,1)"},
				{"internal/engine.TestMarkNeverUnfinished", []edit{{"sql/backfill/backfill_settle.sql", " AND p.finished_at IS NOT NULL\n", "\n"}}, "confirmed at "},
			},
			also:  []string{"internal/engine.TestMarks", "internal/mailbox.TestMarkLocksNoOtherRow", "internal/mailbox.TestShadowNeverWrites", "internal/mailbox.TestMarkIsRepeatedSafely", "internal/engine.TestReplica", "internal/engine.TestMarkLost"},
			later: "inserts by the compatible entry (step 6) and requests (step 5).",
		},
		{
			name: "I7 Environment is not guilt", must: "When MySQL, PostgreSQL or Kafka is away, slow or refusing, nothing burns attempts, no deadline runs and nothing goes DEAD; the loop pauses, says so, and resumes by itself.",
			proofs: []proof{
				{"internal/engine.TestInnocent", []edit{diskFull}, "waited in vain until the pause is shown"},
				{"sql/pump/test/head_deadline.sql: ten days without working time run no deadline", []edit{{"sql/pump/pump_apply.sql", "WHEN v_work - o.processing_started_work >= v_deadline", "WHEN p_now - o.processing_started_at >= v_deadline"}}, "have: DEAD EXHAUSTED want: FAILED CODEC_ERROR"},
				{"sql/pump/test/crash_isolation.sql: a clean stop is no crash", []edit{{"sql/lease/lease_release.sql", "WHERE p.run_epoch = p_epoch;", "WHERE false;"}}, "have: 2 want: 1"},
				{"internal/kafka.TestBrokerAway", []edit{{"internal/kafka/errors.go", "return Environment, \"not acknowledged in time\"", "return RecordError, \"not acknowledged in time\""}}, "record 0: context deadline exceeded"},
				{"internal/engine.TestOutage/Kafka refuses the topic", []edit{{"internal/kafka/errors.go", "return Environment, \"not authorised\"", "return RecordError, \"not authorised\""}}, "waited in vain until dispatcher is shown as paused: not authorised"},
			},
			also: []string{"internal/engine.TestKafkaAway", "internal/engine.TestGuiltyAlone", "internal/engine.TestHeadDeadline", "internal/dberr.TestClassify", "internal/dberr.TestServer", "internal/kafka.TestNotEnoughReplicas", "internal/engine.TestMarkMailboxAtFault", "internal/engine.TestFirewall", "internal/engine.TestReplica", "internal/engine.TestOutage", "internal/engine.TestRequestTorn", "internal/engine.TestSessionsEnded"},
		},
		{
			name: "I8 Convergence", must: "A flight is the fold of its writes in the order of message ids, whatever comes late or again.",
			proofs: []proof{
				{"sql/flight/test/seed_snapshot.sql: I8: with message %s late all flights end the same", []edit{fastPath}, "have: 11 {\"l\": {}, \"s\": {\"sodt\": \"2026-04-17T07:05:00+08:00\", \"terminal\": \"T0\", \"direction\": \"A\", \"flight_type\": \"G\", \"airline_code\": \"GJ\","},
				{"sql/flight/test/flight_apply.sql: the orphan that now counts says so", []edit{{"sql/flight/flight_apply.sql", "AND p.state = 'SKIPPED' AND p.outcome LIKE 'no-flight:%';", "AND p.state = 'FAILED';"}}, "have: SKIPPED no-flight:77 want: SKIPPED adopted-by:4"},
			},
			also:  []string{"internal/engine.TestDay", "sql/flight/test/flight_apply.sql: rows equal the fold", "sql/flight/test/flight_document.sql: flight_verify finds a broken scalar and a lost list member"},
			later: "properties over random histories with random failures, replays and late arrivals (step 3).",
		},
		{
			name: "I9 At least once, in order per key, recognisable", must: "Per target, events go to Kafka in the order of their ids; what is sent again carries the same dedup id.",
			proofs: []proof{
				{"sql/outbox/test/outbox_deliver.sql: … and nothing of the target overtakes it", []edit{overtakenEvent}, "have: {8} want: NULL"},
				{"internal/engine.TestSeedAckLost", []edit{newIDs}, "changes on the topic, want 3"},
				{"sql/outbox/test/outbox_deliver.sql: … and the cursor waits for the one before it", []edit{{"sql/outbox/outbox_settle.sql", "(SELECT p.event_id - 1 FROM msgx.msg_event AS p", "(SELECT max(p.event_id) FROM msgx.msg_event AS p"}, {"sql/outbox/outbox_settle.sql", "AND p.state = 'PENDING'\n                 ORDER BY p.event_id LIMIT 1),", "AND p.state <> 'PENDING'),"}}, "have: 8 want: 2"},
			},
			also: []string{"internal/engine.TestDay", "internal/engine.TestOutboxCursorRace", "internal/kafka.TestRefused", "internal/kafka.TestPartitionFails", "internal/kafka.TestGuarantees", "internal/engine.TestAnswerLost", "internal/engine.TestProduceLost"},
		},
		{
			name: "I10 One clock", must: "Every function takes p_now, none but the lease reads the server's clock; the driver takes the time from PostgreSQL, and a jump decides nothing.",
			proofs: []proof{
				{"sql/roles/test/every_function.sql: no function but the lease reads the clock of the server", []edit{{"sql/loop/loop_round.sql", "last_round_at = p_now", "last_round_at = now()"}}, "have: {clock,lease_acquire,lease_evict,lease_renew,loop_round} want: {clock,lease_acquire,lease_evict,lease_renew}"},
				{"internal/engine.TestPromiseOneClock", []edit{{"internal/engine/clock.go", "end := c.mono()", "end := time.Now()"}}, "reads the host's clock: time.Now"},
				{"internal/engine.TestClockJump", []edit{{"sql/lease/clock_shift.sql", "SET first_seen_at = h.first_seen_at + p_by, ", "SET "}}, "the window of the hole did not move along"},
				{"sql/lease/test/clock_shift.sql: … of the head", []edit{{"sql/lease/clock_shift.sql", "SET next_attempt_at = p.next_attempt_at + p_by", "SET next_attempt_at = p.next_attempt_at"}}, "have: 2026-04-17 00:00:06+00 want: 2026-04-17 01:00:06+00"},
			},
			also: []string{"sql/inbox/test/inbox_advance.sql: a read that ended before it started, as a clock that went back makes it, ends no window", "internal/engine.TestSlowIsNoJump"},
		},
	}
}

// rows are those of the owner's verification table, in its order.
func rows() []row {
	return []row{
		{
			name: "重复扫描、入队中断 · repeated scans, enqueueing interrupted", must: "不重复入队、不丢记录、不让后续消息越序；终态而未回填的行不得阻断后续消息发现。",
			proofs: []proof{
				{"internal/engine.TestSeedEnqueueInterrupted", []edit{memoryAhead}, "1 holes: rows whose enqueueing was interrupted were taken for missing"},
				{"internal/engine.TestSeedEnqueueInterrupted", []edit{{"sql/inbox/inbox_advance.sql", "IF p_poll_seq IS DISTINCT FROM v_cursor.poll_seq THEN", "IF p_poll_seq IS DISTINCT FROM v_cursor.poll_seq OR (SELECT count(*) > 8 FROM msgx.proc_state WHERE backfill_next_at IS NOT NULL) THEN"}}, "waited in vain until message 12 is finished"},
				{"sql/inbox/test/inbox_advance.sql: a row that is enqueued already is not enqueued again", []edit{enqueuedTwice}, "have: 1 want: 0"},
				{"sql/inbox/test/inbox_advance.sql: … enqueues nothing", []edit{{"sql/inbox/inbox_advance.sql", "IF p_poll_seq IS DISTINCT FROM v_cursor.poll_seq THEN", "IF p_ids IS NULL THEN"}}, "have: 4 want: 3"},
			},
			also: []string{"internal/engine.TestAnswerLost", "internal/engine.TestRequestTorn"},
		},
		{
			name: "较小 ID 迟到 · a smaller id comes late", must: "【缺口 · 已固定基线用例】水位越过后到达的较小 ID：不改变任何状态、不被打标，账本保留其位置；水位之上，出现即入队，优先于已放行的空洞。",
			proofs: []proof{
				{"internal/engine.TestSeedSmallerIDLate", []edit{{"sql/inbox/inbox_advance.sql", "UPDATE msgx.inbox_hole AS h\n                   SET state = 'RELEASED', released_at = p_now, released_why = 'aged'\n                 WHERE", "DELETE FROM msgx.inbox_hole AS h WHERE"}}, "the late row is lost without a trace"},
				{"sql/inbox/test/inbox_reconcile.sql: what is present leaves the ledger, open or released", []edit{{"sql/inbox/inbox_reconcile.sql", "AND int8range(h.lo, h.hi, '[]') && v_present\n", "AND int8range(h.lo, h.hi, '[]') && v_present AND h.state = 'OPEN'\n"}}, "have: 2-2 OPEN@1, 8-9 RELEASED@2 want: 2-2 OPEN@1, 8-8 RELEASED@2"},
			},
			also:  []string{"sql/inbox/test/inbox_advance.sql: … and what is present after all is enqueued, in spite of the release", "sql/inbox/test/inbox_advance.sql: a released range below the watermark stays for the late watch", "internal/engine.TestIDsGoBack"},
			later: "late arrivals are looked for, counted, listed and taken in with step 4 (its item 2); until then nothing is said of them but that the ledger has their place.",
		},
		{
			name: "空洞老化与重置 · holes age and begin anew", must: "阈值内不推进水位、不越过入队；超期后只放行空洞本身；旧空洞补齐后出现的新空洞获得完整等待窗口。",
			proofs: []proof{
				{"sql/inbox/test/inbox_advance.sql: inside its window it holds", []edit{{"sql/inbox/inbox_advance.sql", "+ v_delay > v_read", "+ v_delay * 0.9 > v_read"}}, "have: 6 want: 3"},
				{"sql/inbox/test/inbox_advance.sql: a new hole gets a full window of its own", []edit{{"sql/inbox/inbox_reconcile.sql", "SELECT lower(piece), upper(piece) - 1, p_now\n", "SELECT lower(piece), upper(piece) - 1, coalesce((SELECT min(h.first_seen_at) FROM msgx.inbox_hole AS h), p_now)\n"}}, "have: 10 want: 6"},
				{"sql/inbox/test/inbox_advance.sql: a later one is not", []edit{{"sql/inbox/inbox_advance.sql", "LIMIT 1;\n        IF FOUND THEN", "LIMIT 1;\n        IF v_block = (SELECT min(h.lo) FROM msgx.inbox_hole AS h WHERE h.lo > v_cursor.committed_up_to) THEN"}}, "have: 4-4 RELEASED@10, 9-9 RELEASED@320, 11-11 RELEASED@620 want: 4-4 RELEASED@10, 9-9 RELEASED@320, 11-11 OPEN@620"},
				{"internal/engine.TestHole", []edit{noWindow}, "what stands behind the hole was enqueued"},
			},
			also: []string{"sql/inbox/test/inbox_advance.sql: … and cost one window together", "sql/inbox/test/inbox_frontier.sql: … and a hole is first seen when the call reports it", "internal/engine.TestIDsInSteps", "internal/engine.TestReplica"},
		},
		{
			name: "兼容入口与空洞并发 · the compatible entry beside a hole", must: "兼容入口登记的行超出水位，主泵不领取；水位追平后按序处理。",
			proofs: []proof{
				{"internal/engine.TestSeedCompatBeyondHole", []edit{aboveWatermark}, "beyond the hole it is \"SUCCEEDED applied\""},
				{"sql/pump/test/pump_next.sql: a run goes from the head to the watermark, never above it", []edit{aboveWatermark}, "have: {1,2,3,9} want: {1,2,3}"},
			},
			also:  []string{"sql/inbox/test/inbox_advance.sql: … and stays as it came", "sql/pump/test/pump_next.sql: a message above the watermark waits, and the reason says so"},
			later: "the entry itself, `POST /cminmsgs/send`, with `inbox_register_compat` and its one warning a watermark (step 6).",
		},
		{
			name: "队头失败、退避及作业竞争 · the head fails and backs off; jobs beside it", must: "消息不越队；到期后恢复；作业不使消息无限饥饿。",
			proofs: []proof{
				{"internal/engine.TestSeedHeadFails", []edit{overtaken}, "the message behind it is \"SUCCEEDED applied\""},
				{"sql/pump/test/pump_next.sql: the head comes back when its time has come", []edit{{"sql/pump/pump_open.sql", "b.next_attempt_at > p_now", "b.next_attempt_at IS NOT NULL"}}, "have: {} want: {2,3}"},
				{"internal/engine.TestSeedJobsAndMessages", []edit{{"sql/backfill/backfill_claim.sql", "FROM msgx.pipeline_lock AS l;", "FROM msgx.pipeline_lock AS l FOR UPDATE;"}}, "a message while marks are under way: ERROR: canceling statement due to lock timeout"},
			},
			also: []string{"sql/pump/test/pump_apply_retry.sql: it is not tried before its time", "sql/pump/test/pump_apply_retry.sql: what stands behind it is untouched", "internal/engine.TestHeadDeadline", "internal/engine.TestPauseAndResume"},
		},
		{
			name: "同身份多条记录、失败后重试、归档后重复 · one identity several times, a retry, a duplicate after the archive", must: "只产生一次有效业务处理，不把自身重试判为重复。",
			proofs: []proof{
				{"sql/pump/test/seed_outcomes.sql: 同身份多条记录: the first alone takes effect", noDuplicate, "Results differ beginning at row 1: have: (\"SUCCEEDED no-change\") want: (\"SKIPPED duplicate-of:15\")"},
				{"sql/pump/test/seed_outcomes.sql: 失败后重试: tried again it is no duplicate of itself", []edit{ownDuplicate}, "have: SKIPPED duplicate-of:15 want: SUCCEEDED applied"},
				{"sql/pump/test/seed_outcomes.sql: 归档后重复: a duplicate is known after its first was archived", []edit{{"sql/pump/pump_judge.sql", "FROM msgx.proc_identity AS p\n", "FROM msgx.proc_identity AS p JOIN msgx.proc_state AS a ON a.msg_id = p.msg_id\n"}, {"sql/pump/pump_apply.sql", "WHERE i.bind\n", "WHERE i.bind ON CONFLICT DO NOTHING\n"}}, "have: SUCCEEDED no-change want: SKIPPED duplicate-of:15"},
			},
			also:  []string{"sql/pump/test/pump_apply_identity.sql: a batch ends before a message whose identity an earlier one of it has", "internal/engine.TestBadInput/the same identity and text"},
			later: "the archive itself (step 4); the test takes the rows away as it will.",
		},
		{
			name: "非业务型终态 · endings without an effect", must: "不触碰 FLIGHT_SCHD / MSG_EVENT，只写 PROC_STATE，且终态与回填意图同语句生效。",
			proofs: []proof{
				{"sql/pump/test/seed_outcomes.sql: … touch no flight, no list, no event, not even the log", []edit{refusedApplied}, "have: (1,2026-04-17,ACTIVE,5,1,3"},
				{"sql/pump/test/seed_outcomes.sql: … and owes its mark from that very statement on, and not before", []edit{{"sql/pump/pump_apply.sql", "backfill_next_at = CASE WHEN v.state <> 'FAILED' AND", "backfill_next_at = CASE WHEN v.state = 'SUCCEEDED' AND"}}, "have: 8 want: 0"},
			},
			also: []string{"sql/pump/test/pump_apply_outcomes.sql: every finished message owes its mark", "sql/pump/test/pump_apply_outcomes.sql: what was refused leaves nothing"},
		},
		{
			name: "PG 事务失败、快照重复或迟到 · a transaction fails; a schedule comes again or late", must: "整体回滚重试、不重复推进版本、不回退状态、不误删增量航班。",
			proofs: []proof{
				{"internal/engine.TestSeedCommitFails", []edit{diskFull}, "messages: DEAD 1 INFRA,SKIPPED no-flight:1 0"},
				{"sql/pump/test/seed_outcomes.sql: PG 事务失败: an error at the %s of %s reaches the driver", swallowed, "caught: no exception wanted: 22012"},
				{"sql/flight/test/seed_snapshot.sql: 快照重复: no version moves", []edit{{"sql/flight/flight_apply.sql", "HAVING bool_or((s.after ->> 'changed')::boolean)) AS g", ") AS g"}}, "have: {5,6,3} want: {4,2,3}"},
				{"sql/flight/test/seed_snapshot.sql: 快照重复: a flight that the schedule does not carry is not deleted", []edit{{"sql/flight/flight_apply.sql", "INSERT INTO msgx.flight_write SELECT w.* FROM unnest(p_writes) AS w;",
					"INSERT INTO msgx.flight_write SELECT w.* FROM unnest(p_writes) AS w;\n    UPDATE msgx.flight_schd AS f SET state = 'DELETED' WHERE 'create' = ALL (SELECT w.op FROM unnest(p_writes) AS w) AND f.flid <> ALL (SELECT w.flid FROM unnest(p_writes) AS w);"}}, "have: {1ACTIVE,2ACTIVE,3DELETED} want: {1ACTIVE,2ACTIVE,3ACTIVE}"},
				{"sql/flight/test/seed_snapshot.sql: 快照迟到: a late schedule pushes nothing back that newer messages set", []edit{fastPath}, "have: (T9,01,late) want: (TA,18,late)"},
			},
			also: []string{"sql/flight/test/seed_snapshot.sql: 快照重复: a call that is repeated because its answer got lost is answered as done", "sql/flight/test/seed_snapshot.sql: 快照迟到: it revives no flight that was deleted since", "internal/engine.TestOneByOne", "internal/engine.TestAnswerLost", "internal/engine.TestRequestTorn"},
		},
		{
			name: "整包协议拒绝（运营日冲突、声明数不符） · a packet refused whole", must: "整包不落地、整体回滚，既有状态与版本不变，消息终态为 DEAD(PROTOCOL)。",
			proofs: []proof{
				{"sql/pump/test/seed_outcomes.sql: 整包协议拒绝: one flight on another operation day", []edit{{"sql/pump/pump_judge.sql", "AND msgx.operation_day((r.set ->> 'sodt')::timestamptz, v_zone, v_cutoff) <> f.operation_day", "AND false"}}, "have: SUCCEEDED applied want: DEAD PROTOCOL"},
				{"sql/pump/test/seed_outcomes.sql: 整包协议拒绝: a count that is not true", []edit{{"sql/pump/pump_judge.sql", "AND i.declared <> jsonb_array_length(i.records)", "AND false"}}, "have: SUCCEEDED applied want: DEAD PROTOCOL"},
				{"sql/pump/test/seed_outcomes.sql: 整包协议拒绝: nothing of the packet lands, states and versions are as before", []edit{refusedApplied}, "have: (1,2026-04-17,ACTIVE,5,1,3"},
			},
			also: []string{"internal/engine.TestBadInput/wrong RECS", "internal/engine.TestBadInput/another operation day", "sql/pump/test/pump_apply_protocol.sql: a flight that moves to another operation day refuses the whole message"},
		},
		{
			name: "PG 提交失败、信箱回填失败 · a commit fails; a mark fails", must: "事件、处理终态与回填意图一起回滚；已提交结果只补写标记，不重放业务；中间态永不补写。",
			proofs: []proof{
				{"internal/engine.TestSeedCommitFails", []edit{diskFull}, "messages: DEAD 1 INFRA,SKIPPED no-flight:1 0"},
				{"internal/engine.TestSeedMarkFails", marksUnfinished, "marked: 1,2,3; want 1 alone"},
				{"sql/backfill/test/backfill.sql: a message that is not finished is never confirmed", []edit{{"sql/backfill/backfill_settle.sql", " AND p.finished_at IS NOT NULL\n", "\n"}}, "have: (1,0) want: (0,1)"},
			},
			also: []string{"internal/engine.TestMarkMailboxAtFault", "internal/engine.TestMarkNeverUnfinished", "internal/engine.TestAnswerLost", "internal/engine.TestMarkLost", "internal/engine.TestOutage/MySQL is read-only"},
		},
		{
			name: "回填四种结果 · four results of a mark", must: "写入成功 / 早已标记（不覆盖、记成功）/ 信箱行不存在（立即放弃并告警，不得视为已标记）/ 暂时性故障达上限（停止自动重试，可人工恢复）。",
			proofs: []proof{
				{"sql/backfill/test/backfill_marks.sql: marks that were written are confirmed", []edit{{"sql/backfill/backfill_settle.sql", "p.backfill_token = p_token AND p.finished_at IS NOT NULL", "p.backfill_token <> p_token AND p.finished_at IS NOT NULL"}}, "have: (0,0,0,0,2) want: (2,0,0,0,0)"},
				{"internal/mailbox.TestMark", overMark, "another's mark was overwritten"},
				{"sql/backfill/test/backfill_marks.sql: … confirmed", []edit{{"sql/backfill/backfill_settle.sql", "WHEN s.result IN ('marked', 'already') THEN p_now", "WHEN s.result = 'marked' THEN p_now"}}, "have: false want: true"},
				{"sql/backfill/test/backfill_marks.sql: a row that is gone is given up at once", []edit{{"sql/backfill/backfill_settle.sql", "SELECT s.result = 'missing'\n", "SELECT false\n"}}, "have: 0 want: 1"},
				{"sql/backfill/test/backfill_marks.sql: … which is not a mark", []edit{{"sql/backfill/backfill_settle.sql", "WHEN s.result IN ('marked', 'already') THEN p_now", "WHEN s.result <> 'trouble' THEN p_now"}}, "have: (\"2026-04-17 00:00:01+00\",,\"2026-04-17 00:00:01+00\",missing) want: (,,\"2026-04-17 00:00:01+00\",missing)"},
				{"sql/backfill/test/backfill_marks.sql: at backfill-max-attempts it is given up", []edit{{"sql/backfill/backfill_settle.sql", "o.backfill_attempts + 1 >= v_max", "o.backfill_attempts + 1 > v_max"}}, "have: 0 want: 1"},
				{"sql/backfill/test/backfill.sql: backfill_resume: what had been given up is owed again, from the first attempt on", []edit{{"sql/backfill/backfill_resume.sql", "backfill_attempts = 1,", "backfill_attempts = p.backfill_attempts,"}}, "Results differ beginning at row 1: have: (11,\"2026-04-17 05:33:20+00\",20,,,\"2026-04-17 05:33:20+00\") want: (11,\"2026-04-17"},
			},
			also: []string{"internal/engine.TestMarks", "internal/engine.TestRowGone", "internal/engine.TestMarkRefusedByTrigger", "internal/engine.TestRowComesBack", "internal/engine.TestMarkLost"},
		},
		{
			name: "回填公平性 · fairness of marks", must: "最旧的一批记录永久失败时，后续待回填记录仍能被扫描到；已放弃行不再进入扫描。",
			proofs: []proof{
				{"sql/backfill/test/backfill_marks.sql: first tries and retries have half of the limit each; retries with the fewest attempts go first", []edit{{"sql/backfill/backfill_claim.sql", "ORDER BY p.backfill_attempts, p.msg_id", "ORDER BY p.msg_id"}}, "have: {10,11,15,16} want: {13,14,15,16}"},
				{"sql/backfill/test/backfill.sql: half and half: fewest attempts first, then the lowest ids; each message once", []edit{{"sql/backfill/backfill_claim.sql", "greatest(p_limit - cardinality(v_first), p_limit / 2)", "p_limit"}}, "have: {19,20,21,22,23,24} want: {19,20,22,23,24,25}"},
				{"sql/backfill/test/backfill.sql: what was given up is not claimed, however old", []edit{{"sql/backfill/backfill_settle.sql", "WHEN s.result = 'trouble' AND p.backfill_attempts + 1 < v_max", "WHEN s.result = 'trouble'"}}, "have: {11} want: NULL"},
			},
			also: []string{"internal/engine.TestMarkRowHeld", "internal/engine.TestMarkClaimOfDeadEpoch"},
		},
		{
			name: "「打标即清除」语义 · purged when marked", must: "【待确认】若库方清除由打标触发：每行打标后立即删除，业务不受影响，且不依赖 R 的取值。",
			proofs: []proof{
				{"internal/engine.TestSeedPurgedWhenMarked", marksUnfinished, "DEAD MALFORMED MALFORMED raw-missing"},
			},
			also:  []string{"internal/config.TestFaults/R above R_keep", "internal/engine.TestPurged"},
			later: "a replay needs the text, so that the owner has to keep rows for `R_keep`: `msgx check` will say so (step 4).",
		},
		{
			name: "RECEIVED_AT 为 NULL · no received time", must: "超期兜底不生效的行为被显式验证，且不会导致标记被提前写入。",
			proofs: []proof{
				{"sql/backfill/test/backfill.sql: a null time of arrival is never older than R", []edit{{"sql/backfill/backfill_claim.sql", "OR p.received_at <= v_overdue)", "OR (p.received_at <= v_overdue) IS NOT FALSE)"}}, "have: {16} want: NULL"},
				{"internal/engine.TestSeedNullReceived", marksUnfinished, "marked: 1,2,3, want 1 alone"},
			},
			also: []string{"sql/inbox/test/inbox_advance.sql: a received time may be null", "internal/mailbox.TestOddDatesDoNotStopThePoll", "internal/engine.TestOddDates"},
		},
		{
			name: "毒丸升级与人工重放并发 · the last attempt beside a replay", must: "【缺口】两者在同一把锁上相遇：谁后到，谁看到前者的结果。",
			proofs: []proof{
				{"internal/engine.TestSeedEscalationMeetsReplay/the replay first", []edit{{"sql/pump/pump_apply.sql", "FROM msgx.pipeline_lock AS p FOR UPDATE;", "FROM msgx.pipeline_lock AS p;"}}, "the pump judged what it had read before the replay"},
			},
			also:  []string{"internal/engine.TestSeedEscalationMeetsReplay/the escalation first", "sql/backfill/test/backfill_marks.sql: … and the one that lost it settles nothing", "internal/engine.TestMarkNeverUnfinished"},
			later: "`replay` itself, its refusal under a live claim of the mark included (step 4, item 3); the test does to the row what it will do, under the same lock.",
		},
		{
			name: "投递确认丢失、批次失败、次数耗尽 · an acknowledgement lost, a batch failed, attempts used up", must: "允许可识别的重发、保持目标顺序、整批退避并保留死信。",
			proofs: []proof{
				{"internal/engine.TestSeedAckLost", []edit{newIDs}, "changes on the topic, want 3"},
				{"sql/outbox/test/outbox_deliver.sql: … and nothing of the target overtakes it", []edit{overtakenEvent}, "have: {8} want: NULL"},
				{"sql/outbox/test/outbox_deliver.sql: at kafka.delivery-max-attempts it is dead", []edit{{"sql/outbox/outbox_failed.sql", "WHEN f.final OR e.attempts + 1 >= v_max THEN 'DEAD'", "WHEN f.final THEN 'DEAD'"}}, "have: PENDING want: DEAD"},
				{"sql/outbox/test/outbox_deliver.sql: a flight that changed while its record was on its way stays pending", []edit{{"sql/outbox/outbox_sent.sql", " AND e.state_version = s.version\n", "\n"}}, "have: (3,0) want: (2,1)"},
			},
			also: []string{"internal/kafka.TestRefused", "internal/kafka.TestBrokerAway", "internal/kafka.TestUnknown", "sql/outbox/test/outbox_deliver.sql: when it has arrived the dead one is superseded", "internal/engine.TestProduceLost", "internal/engine.TestOutage/Kafka has too few replicas"},
		},
		{
			name: "请求超时、无匹配 RESP、时间单位不一致 · requests timed out, answers without a match, units of time", must: "不误用迟到应答，不提前完成请求；时间按同一单位、同一时区比较。",
			proofs: []proof{
				{"sql/pump/test/pump_apply_identity.sql: 24 hours later to the second is still a conflict", []edit{{"sql/pump/pump_judge.sql", "i.dttm > o.dttm + v_wrap", "i.dttm >= o.dttm + v_wrap"}}, "have: SUCCEEDED applied want: SKIPPED identity-conflict:1"},
				{"sql/inbox/test/inbox_advance.sql: the received time is kept as an instant", []edit{{"sql/inbox/inbox_advance.sql", "nullif(i.received, '')::timestamptz", "nullif(i.received, '')::timestamp"}}, "have: 2026-04-17 08:00:05+00 want: 2026-04-17 00:00:05+00"},
			},
			also:  []string{"internal/sis.TestZones", "internal/mailbox.TestZoneOfReceivedTimes"},
			later: "requests, their time-outs and the guard of answers (step 5); until then a RESP is applied as a DNLD is. Tested already: times are instants, whatever zone they were written in.",
		},
		{
			name: "stub 误配置、重复实例、停机中断 · a stub in production, an instance twice, a stop in the middle", must: "生产拒绝不安全启动，工作线程能正确退出。",
			proofs: []proof{
				{"internal/config.TestFaults/embedded in production", []edit{{"internal/config/load.go", "check(!c.Production() || !c.Kafka.Embedded,", "check(true,"}}, "accepted"},
				{"internal/engine.TestPromiseOneWriter", []edit{anyEpoch}, "while the lease was of"},
				{"internal/engine.TestCleanStop", []edit{{"internal/engine/engine.go", "defer e.release(ctx)\n", ""}}, "the lease is still held by other"},
			},
			also: []string{"internal/engine.TestStopAtOnce", "internal/engine.TestTakeOver", "internal/engine.TestStandbyTakesOver", "internal/engine.TestFenced", "internal/engine.TestProcessDies", "cmd/msgx.TestFaultyConfiguration", "internal/engine.TestLeaseAnswerLost"},
		},
	}
}

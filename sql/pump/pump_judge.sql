CREATE OR REPLACE FUNCTION msgx.pump_judge(p_items msgx.r_pump_item[], p_slow boolean)
RETURNS msgx.r_pump_item[]
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
SET plan_cache_mode = force_generic_plan
AS $body$
-- Decide what can be decided of messages before anything is written.
--   Caller   pump_apply
--   Arguments p_items  messages in id order; no two share an identity, none
--                      creates a flight that an earlier one creates or deletes
--             p_slow   one message behind the pump's place
--   Reads    proc_identity, ignore_rule, flight_schd, flight_write
--   Returns  the messages with state, class, error, outcome and bind filled in
--            where decided; state null: to be applied
--   Rules    in this order: malformed; identity (duplicate, conflict, take-over
--            after identity.wrap-after); ignore rules; what the codec refused;
--            count, same flight twice, required elements, operation day
DECLARE
    v_wrap    interval := msgx.setting_interval('identity.wrap-after');
    v_zone    text := msgx.setting_text('operation-day.zone');
    v_cutoff  integer := msgx.setting_int('operation-day.cutoff-hour');
    v_count   boolean := msgx.setting_text('sis.recs-mismatch-schd') = 'refuse';
    v_items   msgx.r_pump_item[];
    v_refused jsonb;
BEGIN
    -- Identity, ignore rules and the codec's word.
    SELECT array_agg(ROW(
               i.msg_id, i.text_hash, i.sndr, i.type, i.styp, i.seqn, i.dttm, i.declared, i.records, i.identity_key,
               i.bound, i.forced, i.attempts, i.first_error_class,
               CASE d.verdict WHEN 'malformed' THEN 'DEAD' WHEN 'duplicate' THEN 'SKIPPED' WHEN 'conflict' THEN 'SKIPPED'
                              WHEN 'ignored' THEN 'SKIPPED' WHEN 'unstored' THEN 'FAILED' WHEN 'protocol' THEN 'DEAD' WHEN 'failed' THEN 'FAILED' END,
               CASE WHEN d.verdict IN ('malformed', 'protocol', 'failed') THEN i.error_class
                    WHEN d.verdict = 'unstored' THEN 'UNSUPPORTED' END,
               CASE WHEN d.verdict IN ('malformed', 'protocol', 'failed') THEN i.error
                    WHEN d.verdict = 'unstored' THEN format('messages of type %s are understood, but not stored yet', i.type) END,
               CASE d.verdict WHEN 'malformed' THEN i.outcome
                              WHEN 'duplicate' THEN 'duplicate-of:' || o.msg_id
                              WHEN 'conflict' THEN 'identity-conflict:' || o.msg_id
                              WHEN 'ignored' THEN 'ignored' END,
               d.verdict NOT IN ('malformed', 'duplicate', 'conflict')
               AND i.identity_key IS NOT NULL AND o.own IS NOT TRUE, i.last)::msgx.r_pump_item ORDER BY i.msg_id)
      INTO v_items
      FROM unnest(p_items) AS i
      LEFT JOIN LATERAL (
               -- The same text first; else the newest owner of the key.
               SELECT p.msg_id, p.dttm, p.text_hash = i.text_hash AS same, p.msg_id = i.msg_id AS own
                 FROM msgx.proc_identity AS p
                WHERE p.identity_key = i.identity_key
                ORDER BY p.text_hash = i.text_hash DESC, p.bound_at DESC, p.msg_id DESC
                LIMIT 1) AS o ON true
     CROSS JOIN LATERAL (
               SELECT CASE
                   WHEN i.error_class = 'MALFORMED' THEN 'malformed'
                   WHEN o.same AND NOT o.own THEN 'duplicate'
                   WHEN NOT o.same AND NOT i.forced
                        AND (v_wrap > interval '0' AND i.dttm > o.dttm + v_wrap) IS NOT TRUE THEN 'conflict'
                   WHEN EXISTS (SELECT FROM msgx.ignore_rule AS r
                                 WHERE r.type = i.type AND r.styp IN ('*', i.styp)) THEN 'ignored'
                   WHEN i.error_class = 'PROTOCOL' THEN 'protocol'
                   WHEN i.error_class IS NOT NULL THEN 'failed'
                   WHEN i.type NOT IN ('SCHD', 'ADFT', 'FLOP') THEN 'unstored'
                   ELSE 'go' END AS verdict) AS d;

    -- Rules of a whole message, against itself and against what is stored.
    WITH rec AS (
        SELECT i.msg_id, i.type, i.declared, r.value ->> 'op' AS op, (r.value ->> 'flid')::bigint AS flid,
               r.value -> 'patch' -> 'set' AS set, r.ordinality AS seq
          FROM unnest(v_items) AS i
         CROSS JOIN LATERAL jsonb_array_elements(i.records) WITH ORDINALITY AS r
         WHERE i.state IS NULL AND i.type <> 'FLOP'
    ), fault AS (
        SELECT i.msg_id, 0 AS seq, format('RECS says %s, %s records are present', i.declared, jsonb_array_length(i.records)) AS error
          FROM unnest(v_items) AS i
         WHERE v_count AND i.state IS NULL AND i.type <> 'FLOP' AND i.declared <> jsonb_array_length(i.records)
         UNION ALL
        SELECT d.msg_id, d.seq, format('flight %s stands in it twice, records %s and %s', d.flid, d.first, d.seq)
          FROM (SELECT r.msg_id, r.flid, r.seq, min(r.seq) OVER (PARTITION BY r.msg_id, r.flid) AS first FROM rec AS r) AS d
         WHERE d.seq > d.first
         UNION ALL
        SELECT r.msg_id, r.seq, format('record %s, flight %s: SODT is missing', r.seq, r.flid)
          FROM rec AS r
         WHERE r.op = 'create' AND r.set ->> 'sodt' IS NULL
         UNION ALL
        SELECT r.msg_id, r.seq, format('record %s, flight %s: a new flight needs %s', r.seq, r.flid,
                                       array_to_string(msgx.flight_missing(r.set), ', '))
          FROM rec AS r
          LEFT JOIN LATERAL (SELECT h.state FROM msgx.flight_schd AS h WHERE h.flid = r.flid LIMIT 1) AS f ON true
          LEFT JOIN LATERAL (SELECT (l.state ->> 'live')::boolean AS live
                               FROM msgx.flight_log_state(ARRAY[r.flid], r.msg_id) AS l
                              WHERE p_slow) AS s ON true
         WHERE r.op = 'create' AND msgx.flight_missing(r.set) <> '{}'
           AND CASE WHEN p_slow THEN s.live IS NOT TRUE ELSE f.state IS DISTINCT FROM 'ACTIVE' END
         UNION ALL
        SELECT r.msg_id, r.seq, format('record %s, flight %s: SODT %s lies on operation day %s, the flight belongs to %s',
                                       r.seq, r.flid, r.set ->> 'sodt',
                                       msgx.operation_day((r.set ->> 'sodt')::timestamptz, v_zone, v_cutoff), f.operation_day)
          FROM rec AS r
         CROSS JOIN LATERAL (SELECT h.operation_day FROM msgx.flight_schd AS h WHERE h.flid = r.flid LIMIT 1) AS f
         WHERE r.op = 'create'
           AND msgx.operation_day((r.set ->> 'sodt')::timestamptz, v_zone, v_cutoff) <> f.operation_day
    )
    SELECT jsonb_object_agg(w.msg_id, w.error) INTO v_refused
      FROM (SELECT DISTINCT ON (f.msg_id) f.msg_id, f.error FROM fault AS f ORDER BY f.msg_id, f.seq) AS w;
    IF v_refused IS NOT NULL THEN
        SELECT array_agg(CASE WHEN v_refused ? i.msg_id::text
                    THEN ROW(i.msg_id, i.text_hash, i.sndr, i.type, i.styp, i.seqn, i.dttm, i.declared, i.records, i.identity_key,
                             i.bound, i.forced, i.attempts, i.first_error_class,
                             'DEAD', 'PROTOCOL', v_refused ->> i.msg_id::text, NULL, i.bind, i.last)::msgx.r_pump_item
                    ELSE i END ORDER BY i.msg_id)
          INTO v_items
          FROM unnest(v_items) AS i;
    END IF;
    RETURN v_items;
END;
$body$;
ALTER FUNCTION msgx.pump_judge(msgx.r_pump_item[], boolean) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.pump_judge(msgx.r_pump_item[], boolean) IS 'Decide what can be decided of messages before anything is written.';
REVOKE ALL ON FUNCTION msgx.pump_judge(msgx.r_pump_item[], boolean) FROM PUBLIC;

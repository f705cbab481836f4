CREATE OR REPLACE VIEW msgx.v_dead_letters AS
SELECT 'message'::text AS kind, p.msg_id AS id, p.error_class AS class, p.first_error_class AS first_class, p.last_error AS error,
       p.type, p.styp, NULL::bigint AS flid, p.finished_at AS since, NULL::text AS way_back
  FROM msgx.proc_state AS p
 WHERE p.state = 'DEAD'
 UNION ALL
SELECT 'event', e.event_id, e.target, NULL, e.last_error, NULL, NULL, e.partition_key, e.created_at,
       format('select * from msgx.outbox_requeue(array[%s], %L, %L, now());', e.event_id, 'name', 'reason')
  FROM msgx.msg_event AS e
 WHERE e.state = 'DEAD' AND coalesce(e.last_error, '') NOT LIKE 'superseded%';
ALTER VIEW msgx.v_dead_letters OWNER TO msgx_owner;
COMMENT ON VIEW msgx.v_dead_letters IS 'Messages and events that were given up and wait for a person.';
COMMENT ON COLUMN msgx.v_dead_letters.kind IS 'message or event.';
COMMENT ON COLUMN msgx.v_dead_letters.id IS 'Mailbox id, or event id.';
COMMENT ON COLUMN msgx.v_dead_letters.class IS 'Error class; for an event its target.';
COMMENT ON COLUMN msgx.v_dead_letters.first_class IS 'Class before it was exhausted.';
COMMENT ON COLUMN msgx.v_dead_letters.error IS 'Why, in words.';
COMMENT ON COLUMN msgx.v_dead_letters.type IS 'META/TYPE.';
COMMENT ON COLUMN msgx.v_dead_letters.styp IS 'META/STYP.';
COMMENT ON COLUMN msgx.v_dead_letters.flid IS 'FLID of an event.';
COMMENT ON COLUMN msgx.v_dead_letters.since IS 'Since when.';
COMMENT ON COLUMN msgx.v_dead_letters.way_back IS 'The statement that takes it up again, when its cause is gone.';

CREATE OR REPLACE FUNCTION msgx.inbox_suspect(
    p_max            bigint,
    p_next           bigint,
    p_below_ids      bigint[],
    p_below_received text[]
)
RETURNS text
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET plan_cache_mode = force_generic_plan
AS $body$
-- Tell whether the mailbox gives out ids again that it gave out before.
--   Caller   inbox_advance
--   Arguments p_max   highest id of the mailbox, 0 when it is empty
--             p_next  id its next row will get; null when it does not say
--             p_below_ids, p_below_received  the nearest rows at or below the
--                     watermark, with their received times, '' for null
--   Reads    inbox_cursor, proc_state
--   Returns  why its ids cannot be trusted; null when they can
--   Rules    a mailbox that ends below the watermark is well when its next row
--            will come above (rows were purged), and so it is when an operator
--            seeded above all rows. A row at or below the watermark must have the
--            received time that was read with it. What was never read, below
--            the seed or as a late arrival, and what was read without a time has
--            nothing to be compared with.
DECLARE
    v_cursor msgx.inbox_cursor;
    v_floor  bigint;
    v_id     bigint;
    v_was    timestamptz;
    v_is     timestamptz;
BEGIN
    SELECT c.* INTO STRICT v_cursor FROM msgx.inbox_cursor AS c;
    v_floor := coalesce(v_cursor.seed_floor, 0);
    IF coalesce(p_max, 0) < v_cursor.committed_up_to
       AND (v_cursor.committed_up_to > v_floor OR v_cursor.seeded_mode = 'max' OR v_cursor.mailbox_max >= v_cursor.committed_up_to)
       AND (p_next > v_cursor.committed_up_to) IS NOT TRUE THEN
        RETURN format('the ids of the mailbox went back: its highest is %s, the next %s, but everything up to %s was read already; rows up to there would never be seen',
                      coalesce(p_max, 0), coalesce(p_next::text, 'not known'), v_cursor.committed_up_to);
    END IF;
    SELECT s.msg_id, s.received_at, nullif(b.received, '')::timestamptz INTO v_id, v_was, v_is
      FROM unnest(p_below_ids, p_below_received) AS b (id, received)
      JOIN msgx.proc_state AS s ON s.msg_id = b.id AND s.source = 'poll'
     WHERE s.msg_id = ANY (p_below_ids) AND b.id > greatest(v_floor, v_cursor.trusted_to) AND s.received_at IS NOT NULL
       AND s.received_at IS DISTINCT FROM nullif(b.received, '')::timestamptz
     ORDER BY b.id DESC
     LIMIT 1;
    IF FOUND THEN
        RETURN format('mailbox row %s is another one now: it was received at %s when it was read, and has %s; the ids up to %s were given out again',
                      v_id, v_was, coalesce(v_is::text, 'no time'), v_cursor.committed_up_to);
    END IF;
    RETURN NULL;
END;
$body$;
ALTER FUNCTION msgx.inbox_suspect(bigint, bigint, bigint[], text[]) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.inbox_suspect(bigint, bigint, bigint[], text[]) IS 'Tell whether the mailbox gives out ids again that it gave out before.';
REVOKE ALL ON FUNCTION msgx.inbox_suspect(bigint, bigint, bigint[], text[]) FROM PUBLIC;

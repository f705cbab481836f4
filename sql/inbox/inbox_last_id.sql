CREATE OR REPLACE FUNCTION msgx.inbox_last_id(p_from bigint, p_ids bigint[])
RETURNS bigint
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $body$
-- The last id of a read, once it is sure that the read is in order.
--   Caller   inbox_advance, inbox_frontier
--   Arguments p_from  the read began right above it
--             p_ids   the ids it found
--   Returns  the last id; null when the read found none
--   Raises   MX003 an id is null, or not above the one before it: with such a
--            list, what is missing could pass for present
DECLARE
    v_last bigint;
    v_bad  bigint;
BEGIN
    SELECT max(r.id), count(*) FILTER (WHERE (r.id > r.before) IS NOT TRUE) INTO v_last, v_bad
      FROM (SELECT i.id, lag(i.id, 1, p_from) OVER (ORDER BY i.n) AS before
              FROM unnest(p_ids) WITH ORDINALITY AS i (id, n)) AS r;
    IF v_bad > 0 THEN
        RAISE EXCEPTION USING
            ERRCODE = 'MX003',
            MESSAGE = format('ids must ascend above %s, each given once and none null', p_from),
            HINT = format('Read them in one statement: WHERE id > %s ORDER BY id.', p_from);
    END IF;
    RETURN v_last;
END;
$body$;
ALTER FUNCTION msgx.inbox_last_id(bigint, bigint[]) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.inbox_last_id(bigint, bigint[]) IS 'The last id of a read, once it is sure that the read is in order.';
REVOKE ALL ON FUNCTION msgx.inbox_last_id(bigint, bigint[]) FROM PUBLIC;

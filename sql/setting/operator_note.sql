CREATE OR REPLACE FUNCTION msgx.operator_note(
    p_operator text,
    p_action   text,
    p_subject  text,
    p_reason   text,
    p_detail   jsonb,
    p_now      timestamptz
)
RETURNS SETOF msgx.operator_audit
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $body$
-- Write down who did what by hand, and why.
--   Caller   every function for operators, before it changes anything
--   Writes   operator_audit
--   Returns  the line written
--   Raises   MX003 operator or reason is blank
BEGIN
    IF coalesce(trim(p_operator), '') = '' OR coalesce(trim(p_reason), '') = '' THEN
        RAISE EXCEPTION USING
            ERRCODE = 'MX003',
            MESSAGE = format('%s needs an operator and a reason', p_action),
            HINT = 'Say who you are and why: p_operator => ''name'', p_reason => ''ticket or cause''.';
    END IF;
    RETURN QUERY
    INSERT INTO msgx.operator_audit (at, operator, action, subject, reason, detail)
    VALUES (p_now, trim(p_operator), p_action, p_subject, trim(p_reason), p_detail)
    RETURNING *;
END;
$body$;
ALTER FUNCTION msgx.operator_note(text, text, text, text, jsonb, timestamptz) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.operator_note(text, text, text, text, jsonb, timestamptz) IS 'Write down who did what by hand, and why.';
REVOKE ALL ON FUNCTION msgx.operator_note(text, text, text, text, jsonb, timestamptz) FROM PUBLIC;

CREATE OR REPLACE FUNCTION msgx.setting_text(p_key text)
RETURNS text
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $body$
-- One parameter of the rules, as text.
--   Caller   functions of every room
--   Reads    setting
--   Returns  the value, never null
--   Raises   MX004 no such setting
DECLARE
    v_value text;
BEGIN
    SELECT s.value INTO v_value FROM msgx.setting AS s WHERE s.key = p_key;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING
            ERRCODE = 'MX004',
            MESSAGE = format('setting %L does not exist', p_key),
            HINT = 'List them with: SELECT key, value FROM msgx.setting ORDER BY key;';
    END IF;
    RETURN v_value;
END;
$body$;
ALTER FUNCTION msgx.setting_text(text) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.setting_text(text) IS 'One parameter of the rules, as text.';
REVOKE ALL ON FUNCTION msgx.setting_text(text) FROM PUBLIC;

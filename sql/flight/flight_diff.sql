CREATE OR REPLACE FUNCTION msgx.flight_diff(p_before jsonb, p_after jsonb, p_keys text[])
RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $body$
-- What changed between two states of a flight.
--   Caller   flight_apply
--   Arguments p_before  state before, null for none; p_after  state after
--             p_keys    scalars to look at; null for all
--   Returns  fields (old and new), lists (old and new, whole), extra (old and
--            new); only those that differ
DECLARE
    v_before jsonb := coalesce(p_before, '{"s": {}, "l": {}, "x": {}}'::jsonb);
    v_fields jsonb;
    v_lists  jsonb;
    v_result jsonb := '{}'::jsonb;
BEGIN
    SELECT jsonb_object_agg(k.key, jsonb_build_object('old', v_before -> 's' -> k.key, 'new', p_after -> 's' -> k.key))
      INTO v_fields
      FROM unnest(coalesce(p_keys, ARRAY(SELECT jsonb_object_keys((v_before -> 's') || (p_after -> 's'))))) AS k (key)
     WHERE v_before -> 's' -> k.key IS DISTINCT FROM p_after -> 's' -> k.key;
    IF v_fields IS NOT NULL THEN
        v_result := jsonb_build_object('fields', v_fields);
    END IF;
    IF v_before -> 'l' <> p_after -> 'l' THEN
        SELECT jsonb_object_agg(k.key, jsonb_build_object(
                   'old', coalesce(msgx.flight_list_array(k.key, v_before -> 'l' -> k.key), '[]'),
                   'new', coalesce(msgx.flight_list_array(k.key, p_after -> 'l' -> k.key), '[]')))
          INTO v_lists
          FROM jsonb_object_keys((v_before -> 'l') || (p_after -> 'l')) AS k (key)
         WHERE v_before -> 'l' -> k.key IS DISTINCT FROM p_after -> 'l' -> k.key;
        v_result := v_result || jsonb_build_object('lists', v_lists);
    END IF;
    IF v_before -> 'x' <> p_after -> 'x' THEN
        v_result := v_result || jsonb_build_object('extra',
            jsonb_build_object('old', v_before -> 'x', 'new', p_after -> 'x'));
    END IF;
    RETURN v_result;
END;
$body$;
ALTER FUNCTION msgx.flight_diff(jsonb, jsonb, text[]) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.flight_diff(jsonb, jsonb, text[]) IS 'What changed between two states of a flight.';
REVOKE ALL ON FUNCTION msgx.flight_diff(jsonb, jsonb, text[]) FROM PUBLIC;

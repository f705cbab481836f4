CREATE OR REPLACE FUNCTION msgx.flight_fold_step(p_state jsonb, p_op text, p_patch jsonb, p_msg_id bigint)
RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $body$
-- One write applied to the state of a flight: the whole of the merge rules.
--   Caller   the aggregate flight_fold, and nobody else
--   Arguments p_state   state so far, null for none
--             p_op      create, change, delete; base: p_patch is the state
--             p_patch   set, lists, upsert, extra
--             p_msg_id  message the write belongs to
--   Returns  the new state: live; s scalars without nulls; l lists, each an
--            object of its members by key, none empty; x extra; created and
--            last message; hit: the write took effect; changed: it changed
--            something
--   Rules    create starts a flight that is not live afresh, if complete, and
--            merges into a live one; change and delete need a live one; what
--            has no effect is only remembered; a member replaces the whole
--            stored member, but a person keeps services that are not sent again
DECLARE
    v_live    boolean := coalesce((p_state ->> 'live')::boolean, false);
    v_s       jsonb := '{}'::jsonb;
    v_l       jsonb := '{}'::jsonb;
    v_x       jsonb := '{}'::jsonb;
    v_new_s   jsonb;
    v_new_l   jsonb;
    v_new_x   jsonb;
    v_list    text;
    v_members jsonb;
    v_changed boolean;
BEGIN
    IF p_op = 'base' THEN
        RETURN p_patch;
    END IF;
    IF NOT v_live AND (p_op <> 'create' OR msgx.flight_missing(p_patch -> 'set') <> '{}') THEN
        RETURN coalesce(p_state, '{"live": false, "s": {}, "l": {}, "x": {}}')
               || '{"hit": false, "changed": false}';
    END IF;
    IF p_op = 'delete' THEN
        RETURN p_state || jsonb_build_object('live', false, 'l', '{}'::jsonb, 'last', p_msg_id,
                                             'hit', true, 'changed', true);
    END IF;

    IF v_live THEN
        v_s := p_state -> 's';
        v_l := p_state -> 'l';
        v_x := p_state -> 'x';
    END IF;
    v_new_s := jsonb_strip_nulls(v_s || coalesce(p_patch -> 'set', '{}'));
    v_new_x := v_x || coalesce(p_patch -> 'extra', '{}');
    v_new_l := v_l;
    IF p_patch ? 'lists' THEN
        FOR v_list, v_members IN SELECT e.key, e.value FROM jsonb_each(p_patch -> 'lists') AS e LOOP
            v_new_l := v_new_l || jsonb_build_object(v_list,
                           CASE WHEN v_list = 'vip' THEN msgx.flight_vip_merge(NULL, v_members) ELSE v_members END);
            IF v_members = '{}' THEN
                v_new_l := v_new_l - v_list;
            END IF;
        END LOOP;
    END IF;
    IF p_patch ? 'upsert' THEN
        FOR v_list, v_members IN SELECT e.key, e.value FROM jsonb_each(p_patch -> 'upsert') AS e LOOP
            IF v_members <> 'null' THEN
                -- A member that is null is taken away.
                v_members := jsonb_strip_nulls(CASE WHEN v_list = 'vip' THEN msgx.flight_vip_merge(v_new_l -> v_list, v_members)
                                                    ELSE coalesce(v_new_l -> v_list, '{}') || v_members END);
            END IF;
            IF v_members IN ('null', '{}') THEN
                v_new_l := v_new_l - v_list;
            ELSE
                v_new_l := v_new_l || jsonb_build_object(v_list, v_members);
            END IF;
        END LOOP;
    END IF;

    v_changed := NOT v_live OR v_new_s <> v_s OR v_new_l <> v_l OR v_new_x <> v_x;
    RETURN jsonb_build_object(
        'live', true, 's', v_new_s, 'l', v_new_l, 'x', v_new_x,
        'created', CASE WHEN v_live THEN (p_state ->> 'created')::bigint ELSE p_msg_id END,
        'last', CASE WHEN v_changed THEN p_msg_id ELSE (p_state ->> 'last')::bigint END,
        'hit', true, 'changed', v_changed);
END;
$body$;
ALTER FUNCTION msgx.flight_fold_step(jsonb, text, jsonb, bigint) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.flight_fold_step(jsonb, text, jsonb, bigint) IS 'One write applied to the state of a flight: the whole of the merge rules.';
REVOKE ALL ON FUNCTION msgx.flight_fold_step(jsonb, text, jsonb, bigint) FROM PUBLIC;

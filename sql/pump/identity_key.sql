CREATE OR REPLACE FUNCTION msgx.identity_key(
    p_sndr text, p_type text, p_styp text, p_seqn bigint, p_dttm timestamptz, p_zone text, p_with_day boolean
)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $body$
-- The business identity of a message.
--   Caller   pump_apply
--   Arguments p_sndr … p_dttm  META
--             p_zone, p_with_day  add the local day of DTTM, for a sender that
--                                 starts its SEQN again each day
--   Returns  SNDR|TYPE|STYP|SEQN; null when a part is missing
SELECT p_sndr || '|' || p_type || '|' || p_styp || '|' || p_seqn
       || CASE WHEN p_with_day THEN '|' || to_char(p_dttm AT TIME ZONE p_zone, 'YYYY-MM-DD') ELSE '' END;
$body$;
ALTER FUNCTION msgx.identity_key(text, text, text, bigint, timestamptz, text, boolean) OWNER TO msgx_owner;
COMMENT ON FUNCTION msgx.identity_key(text, text, text, bigint, timestamptz, text, boolean) IS 'The business identity of a message.';
REVOKE ALL ON FUNCTION msgx.identity_key(text, text, text, bigint, timestamptz, text, boolean) FROM PUBLIC;

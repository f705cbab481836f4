BEGIN;
SET client_min_messages = warning;
SELECT plan(36);
CREATE TEMP TABLE fn (name text, args text[], caller text);
INSERT INTO fn VALUES
    ('inbox_advance', '{bigint,bigint,bigint[],text[],timestamp with time zone,timestamp with time zone,text,bigint,bigint,bigint[],text[]}', 'msgx_app'),
    ('inbox_frontier', '{bigint,bigint,bigint[],timestamp with time zone,timestamp with time zone}', 'msgx_app'),
    ('inbox_readable', '{bigint,timestamp with time zone}', 'msgx_app'),
    ('inbox_seed', '{bigint,text,bigint,bigint,bigint,bigint[],timestamp with time zone}', 'msgx_app'),
    ('inbox_release_hole', '{bigint,bigint,text,text,timestamp with time zone}', 'msgx_operator'),
    ('inbox_accept_mailbox', '{text,text,timestamp with time zone}', 'msgx_operator'),
    ('inbox_suspect', '{bigint,bigint,bigint[],text[]}', NULL),
    ('inbox_reconcile', '{bigint,bigint,bigint[],timestamp with time zone}', NULL),
    ('inbox_last_id', '{bigint,bigint[]}', NULL);
SELECT CASE WHEN caller IS NULL THEN isnt_definer('msgx', name, args, name || ' runs only inside another')
            ELSE is_definer('msgx', name, args, name || ' runs with its owner''s rights') END FROM fn;
SELECT function_privs_are('msgx', name, args, role, CASE WHEN role = caller THEN '{EXECUTE}'::text[] ELSE '{}' END,
                          name || CASE WHEN role = caller THEN ' may be called by ' ELSE ' may not be called by ' END || role)
  FROM fn CROSS JOIN unnest('{msgx_app,msgx_operator,msgx_auditor}'::text[]) AS role;
SELECT * FROM finish();
ROLLBACK;

-- Load order of functions, views and grants. Read by psql (run it from this
-- folder or the project's root) and by msgx migrate.

-- row types of functions

-- settings, lease, loops
\ir setting/setting_text.sql
\ir setting/setting_interval.sql
\ir setting/setting_int.sql
\ir setting/operator_note.sql
\ir lease/clock.sql
\ir lease/lease_check.sql
\ir lease/lease_acquire.sql
\ir lease/lease_renew.sql
\ir lease/lease_release.sql

-- flight

-- inbox

-- pump

-- outbox

-- backfill

-- views

-- grants

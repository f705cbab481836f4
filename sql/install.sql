-- Load order of functions, views and grants. Read by psql (run it from this
-- folder or the project's root) and by msgx migrate.

-- row types of functions

-- settings, lease, loops

-- flight

-- inbox

-- pump

-- outbox

-- backfill

-- views

-- grants

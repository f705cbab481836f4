-- migrate:up
CREATE TABLE msgx.inbox_cursor (
    singleton       boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    committed_up_to bigint NOT NULL DEFAULT 0 CHECK (committed_up_to >= 0),
    seen_to         bigint NOT NULL DEFAULT 0,
    hole_since      timestamptz,
    poll_seq        bigint NOT NULL DEFAULT 0,
    seeded_at       timestamptz,
    seeded_mode     text,
    seed_floor      bigint,
    last_poll_at    timestamptz,
    readable_since  timestamptz,
    CHECK (seen_to >= committed_up_to)
) WITH (fillfactor = 50);
COMMENT ON TABLE msgx.inbox_cursor IS 'The watermark: how far the mailbox has been read without a gap.';
COMMENT ON COLUMN msgx.inbox_cursor.singleton IS 'Makes the table one row.';
COMMENT ON COLUMN msgx.inbox_cursor.committed_up_to IS 'Watermark W: every mailbox id up to it is enqueued, or was released as a hole.';
COMMENT ON COLUMN msgx.inbox_cursor.seen_to IS 'Frontier: ids up to it have been looked at, and the missing ones are in inbox_hole.';
COMMENT ON COLUMN msgx.inbox_cursor.hole_since IS 'First sighting of the hole right above W; null when none stands there.';
COMMENT ON COLUMN msgx.inbox_cursor.poll_seq IS 'Number of the next poll; a poll with another number changes nothing.';
COMMENT ON COLUMN msgx.inbox_cursor.seeded_at IS 'When the watermark was set by a cut-over; null if never.';
COMMENT ON COLUMN msgx.inbox_cursor.seeded_mode IS 'How it was seeded: min, zero, max or an id.';
COMMENT ON COLUMN msgx.inbox_cursor.seed_floor IS 'Nothing at or below it is looked at, but for the ranges watched since the seed.';
COMMENT ON COLUMN msgx.inbox_cursor.last_poll_at IS 'When the mailbox was last read.';
COMMENT ON COLUMN msgx.inbox_cursor.readable_since IS 'End of the last spell of more than 30 s in which the mailbox was unreadable: no hole window counts from before it.';
INSERT INTO msgx.inbox_cursor DEFAULT VALUES;

CREATE TABLE msgx.inbox_hole (
    lo                    bigint PRIMARY KEY,
    hi                    bigint NOT NULL,
    first_seen_at         timestamptz NOT NULL,
    first_seen_mailbox_at timestamptz,
    state                 text NOT NULL DEFAULT 'OPEN' CHECK (state IN ('OPEN', 'RELEASED')),
    released_at           timestamptz,
    released_why          text CHECK (released_why IN ('aged', 'proved', 'operator', 'seeded')),
    late_at               timestamptz,
    CHECK (hi >= lo),
    CHECK ((state = 'RELEASED') = (released_at IS NOT NULL AND released_why IS NOT NULL))
);
COMMENT ON TABLE msgx.inbox_hole IS 'Ledger of missing mailbox ids, as ranges. Each keeps its own first sighting, so that windows run side by side.';
COMMENT ON COLUMN msgx.inbox_hole.lo IS 'First missing id.';
COMMENT ON COLUMN msgx.inbox_hole.hi IS 'Last missing id.';
COMMENT ON COLUMN msgx.inbox_hole.first_seen_at IS 'When the range was first seen missing; its window counts from here.';
COMMENT ON COLUMN msgx.inbox_hole.first_seen_mailbox_at IS 'The same moment by the clock of the mailbox, for the proof by open transactions.';
COMMENT ON COLUMN msgx.inbox_hole.state IS 'OPEN holds the watermark, RELEASED does not.';
COMMENT ON COLUMN msgx.inbox_hole.released_at IS 'When it was released.';
COMMENT ON COLUMN msgx.inbox_hole.released_why IS 'aged: its window passed; proved: no open transaction can fill it; operator: by hand; seeded: below the cut-over.';
COMMENT ON COLUMN msgx.inbox_hole.late_at IS 'When a row appeared in it after its release.';

ALTER TABLE msgx.inbox_cursor OWNER TO msgx_owner;
ALTER TABLE msgx.inbox_hole OWNER TO msgx_owner;

-- migrate:down
DROP TABLE msgx.inbox_hole, msgx.inbox_cursor;

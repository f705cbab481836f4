-- migrate:up
ALTER TABLE msgx.inbox_cursor
    ADD COLUMN mailbox_server text,
    ADD COLUMN mailbox_max    bigint,
    ADD COLUMN trusted_to     bigint,
    ADD COLUMN refused_since  timestamptz,
    ADD COLUMN refused_why    text,
    ADD CHECK ((refused_since IS NULL) = (refused_why IS NULL));
COMMENT ON COLUMN msgx.inbox_cursor.mailbox_server IS 'Which server answered the last poll.';
COMMENT ON COLUMN msgx.inbox_cursor.mailbox_max IS 'Highest id of the mailbox at the last poll.';
COMMENT ON COLUMN msgx.inbox_cursor.trusted_to IS 'Rows up to it are not compared with what was read: an operator accepted them as they are.';
COMMENT ON COLUMN msgx.inbox_cursor.refused_since IS 'Since when nothing is taken from the mailbox, because its ids cannot be trusted; null if they can.';
COMMENT ON COLUMN msgx.inbox_cursor.refused_why IS 'Why.';

-- Functions that got another signature.
DROP FUNCTION IF EXISTS msgx.inbox_advance(bigint, bigint, bigint[], text[], timestamptz, timestamptz);

-- migrate:down
DROP FUNCTION IF EXISTS msgx.inbox_advance(bigint, bigint, bigint[], text[], timestamptz, timestamptz, text, bigint, bigint, bigint[], text[]);
DROP FUNCTION IF EXISTS msgx.inbox_suspect(bigint, bigint, bigint, bigint[], text[]);
DROP FUNCTION IF EXISTS msgx.inbox_accept_mailbox(text, text, timestamptz);
ALTER TABLE msgx.inbox_cursor
    DROP COLUMN mailbox_server, DROP COLUMN mailbox_max, DROP COLUMN trusted_to, DROP COLUMN refused_since, DROP COLUMN refused_why;

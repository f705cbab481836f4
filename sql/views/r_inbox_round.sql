CREATE OR REPLACE VIEW msgx.r_inbox_round AS
SELECT
    NULL::boolean AS accepted,
    NULL::bigint AS watermark_before,
    NULL::bigint AS watermark,
    NULL::integer AS enqueued,
    NULL::integer AS released_holes,
    NULL::bigint AS released_ids,
    NULL::timestamptz AS hole_since,
    NULL::bigint AS poll_seq,
    NULL::bigint AS seen_to,
    NULL::text AS refused_why,
    NULL::text AS windows_anew
WHERE false;
ALTER VIEW msgx.r_inbox_round OWNER TO msgx_owner;
COMMENT ON VIEW msgx.r_inbox_round IS 'Row type of inbox_advance.';
COMMENT ON COLUMN msgx.r_inbox_round.accepted IS 'The poll had the expected number; false: nothing was changed.';
COMMENT ON COLUMN msgx.r_inbox_round.watermark_before IS 'Watermark before.';
COMMENT ON COLUMN msgx.r_inbox_round.watermark IS 'Watermark now.';
COMMENT ON COLUMN msgx.r_inbox_round.enqueued IS 'Messages enqueued.';
COMMENT ON COLUMN msgx.r_inbox_round.released_holes IS 'Ranges released because their window had passed.';
COMMENT ON COLUMN msgx.r_inbox_round.released_ids IS 'Ids in them.';
COMMENT ON COLUMN msgx.r_inbox_round.hole_since IS 'First sighting of the hole right above the watermark.';
COMMENT ON COLUMN msgx.r_inbox_round.poll_seq IS 'Number of the next poll.';
COMMENT ON COLUMN msgx.r_inbox_round.seen_to IS 'Frontier.';
COMMENT ON COLUMN msgx.r_inbox_round.refused_why IS 'Why nothing is taken from the mailbox; null when it is.';
COMMENT ON COLUMN msgx.r_inbox_round.windows_anew IS 'Why hole windows count from this poll; null when they do not.';

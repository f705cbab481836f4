-- name: BackfillClaim :many
SELECT * FROM msgx.backfill_claim(
    p_epoch => @epoch, p_now => @now::timestamptz, p_limit => sqlc.arg('limit'), p_token => @token::uuid, p_claim_for => @claim_for::interval);

-- name: BackfillSettle :one
SELECT * FROM msgx.backfill_settle(
    p_epoch => @epoch, p_token => @token::uuid, p_ids => @ids::bigint[], p_results => @results::text[],
    p_errors => @errors::text[], p_now => @now::timestamptz);

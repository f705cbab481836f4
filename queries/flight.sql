-- name: FlightVerify :many
SELECT flid, what, stored, folded FROM msgx.flight_verify(p_after => @after, p_limit => @page_size);

-- name: FlightDocument :many
SELECT flid, state, state_version, document FROM msgx.flight_document(p_flids => @flids::bigint[]);

-- name: FlightIDs :many
SELECT flid::bigint FROM msgx.flight_ids(p_after => @after, p_limit => @page_size) AS flid;

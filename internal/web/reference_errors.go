package web

// errorCode is a code of the API's errors, with what clients do about it. Words in backticks are code.
type errorCode struct {
	Code   string
	Status int
	Text   string
}

// errorCodes are all codes, in the order of their statuses.
var errorCodes = []errorCode{
	{"malformed_json", 400, "The body is not valid JSON in UTF-8. Check commas and quotes."},
	{"invalid_parameter", 400, "Query parameters, or the header Idempotency-Key, are invalid or missing; `params` lists them. Unknown parameters cause this error only with `Prefer: handling=strict`."},
	{"missing_token", 401, "Send an access token."},
	{"invalid_token", 401, "The token is unknown or revoked. Ask the user to authorise the application again."},
	{"expired_token", 401, "The token has expired or was not used for 14 days. Ask the user to authorise the application again."},
	{"missing_user_agent", 403, "Send a User-Agent header."},
	{"insufficient_scope", 403, "The token does not have the scope named in the WWW-Authenticate header: it was not granted, or the user’s role does not allow it. Tokens limited to one site also get this error when they change a record of the whole practice."},
	{"account_disabled", 403, "The token’s user has been disabled. Ask an administrator of the practice."},
	{"practice_closed", 403, "The token’s practice is closed; its data is deleted soon or already."},
	{"not_found", 404, "The path or record does not exist, or the token has no access to it."},
	{"method_not_allowed", 405, "Use one of the methods in the Allow header."},
	{"not_acceptable", 406, "Responses are `application/json`, which your Accept header excludes."},
	{"double_booking", 409, "The practitioner is booked at that time; `conflicts` lists the overlapping appointments, `holds` the slots that other clients hold, `alternatives` the practitioner’s next free slots. Choose another time, or send `force_changes`."},
	{"idempotency_in_progress", 409, "A request with this Idempotency-Key is still running. Send it again after the number of seconds in Retry-After."},
	{"cursor_expired", 410, "Read `/v1/snapshot` again and go on with its cursor: the changes behind yours are gone, or the database was restored, moved or failed over."},
	{"version_mismatch", 412, "The record has changed since you read the version in If-Match. Read it again."},
	{"body_too_large", 413, "Send a body of at most 1 MiB."},
	{"unsupported_media_type", 415, "Send `Content-Type: application/json`, not compressed."},
	{"validation_failed", 422, "Fields of the body are missing or invalid; `params` lists all of them."},
	{"idempotency_key_reused", 422, "The Idempotency-Key was used within 24 hours for a request with another method, path or body. Use a new key for each request."},
	{"failed_dependency", 424, "Another request of the atomic batch failed; its result says why. Nothing of the batch was stored."},
	{"rate_limited", 429, "Wait for the number of seconds in Retry-After."},
	{"internal", 500, "An error on the server. Contact support with the `request_id`."},
	{"unavailable", 503, "The database cannot be reached or is overloaded. Retry after the number of seconds in Retry-After."},
}

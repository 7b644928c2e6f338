// Package apierror is the one error type that reaches a client.
//
// A function that knows what a failure means to the client returns a *apierror.Error. Every
// other error is internal: it is logged with the request id, and the client sees no cause.
// One place, the server's error writer, turns errors into response bodies (behaviour.md
// section 6).
package apierror

import (
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Params maps an offending field or parameter to its messages.
type Params map[string][]string

// Add appends a message to a field unless it is already there.
func (p Params) Add(field, message string) {
	if !slices.Contains(p[field], message) {
		p[field] = append(p[field], message)
	}
}

// Merge adds every message of other.
func (p Params) Merge(other Params) {
	for field, messages := range other {
		for _, m := range messages {
			p.Add(field, m)
		}
	}
}

// Conflict is an appointment that overlaps the requested one.
type Conflict struct {
	ID                    int64
	StartTime, FinishTime time.Time
}

// Held is a slot that another client holds.
type Held struct{ StartTime, FinishTime, ExpiresAt time.Time }

// Slot is a free slot of a practitioner.
type Slot struct {
	StartTime, FinishTime time.Time
	PractitionerID        int64
}

// Error is a failure that the client may see. Type and Code are listed in behaviour.md section
// 6; Message never contains an id, a name or a cause.
type Error struct {
	Status     int
	Type, Code string
	Message    string
	Params     Params
	Conflicts  []Conflict
	Held       []Held        // overlapping slots that other clients hold
	Free       []Slot        // alternatives to the requested slot; nil if they do not apply
	RetryAfter time.Duration // sent as Retry-After if positive
	Allow      []string      // sent as Allow with 405
	Scope      string        // the scope needed, named in WWW-Authenticate
	cause      error
}

func (e *Error) Error() string {
	text := e.Code
	if len(e.Params) > 0 {
		text += " (" + strings.Join(slices.Sorted(maps.Keys(e.Params)), ", ") + ")"
	}
	if e.cause != nil {
		text += ": " + e.cause.Error()
	}
	return text
}

// Unwrap returns the cause, for the log.
func (e *Error) Unwrap() error { return e.cause }

// Because attaches the underlying error and returns e. The cause is logged, never sent.
func (e *Error) Because(err error) *Error {
	e.cause = err
	return e
}

// The values of Type.
const (
	request   = "invalid_request_error"
	auth      = "authentication_error"
	access    = "invalid_access_error"
	conflict  = "conflict_error"
	rateLimit = "rate_limit_error"
	api       = "api_error"
)

func build(status int, kind, code, message string) *Error {
	return &Error{Status: status, Type: kind, Code: code, Message: message}
}

// MalformedJSON is 400: the body is not JSON text.
func MalformedJSON() *Error {
	return build(http.StatusBadRequest, request, "malformed_json", "The request body is not valid JSON.")
}

// InvalidParameter is 400: query parameters are malformed or missing.
func InvalidParameter(params Params) *Error {
	e := build(http.StatusBadRequest, request, "invalid_parameter", "One or more query parameters are invalid.")
	e.Params = params
	return e
}

// InvalidHeader is 400: a request header is malformed.
func InvalidHeader(name, message string) *Error {
	e := build(http.StatusBadRequest, request, "invalid_parameter", "The request header "+name+" is invalid.")
	e.Params = Params{name: {message}}
	return e
}

// MissingToken is 401: the request has no access token.
func MissingToken() *Error {
	return build(http.StatusUnauthorized, auth, "missing_token", "An access token is required.")
}

// InvalidToken is 401: the access token is unknown or revoked.
func InvalidToken() *Error {
	return build(http.StatusUnauthorized, auth, "invalid_token", "The access token is not valid.")
}

// ExpiredToken is 401: the access token has expired or was unused for too long.
func ExpiredToken() *Error {
	return build(http.StatusUnauthorized, auth, "expired_token", "The access token has expired.")
}

// MissingUserAgent is 403: the request names no client application.
func MissingUserAgent() *Error {
	return build(http.StatusForbidden, request, "missing_user_agent",
		"Request forbidden by administrative rules. Please make sure your request has a User-Agent header that holds your application's name and version.")
}

// InsufficientScope is 403: the token lacks the needed scope.
func InsufficientScope(needed string) *Error {
	e := build(http.StatusForbidden, access, "insufficient_scope", "The access token does not have the scope "+needed+".")
	e.Scope = needed
	return e
}

// SiteLimited is 403: a token limited to one site may only read records of the whole practice, and not its audit log.
func SiteLimited() *Error {
	return build(http.StatusForbidden, access, "insufficient_scope", "The access token is limited to one site: it cannot change what belongs to the whole practice, nor read the audit log.")
}

// AccountDisabled is 403: the token's user has been disabled.
func AccountDisabled() *Error {
	return build(http.StatusForbidden, access, "account_disabled", "The user of this access token has been disabled.")
}

// PracticeClosed is 403: the token's practice is closed, and will be deleted or is being deleted.
func PracticeClosed() *Error {
	return build(http.StatusForbidden, access, "practice_closed", "The practice of this access token is closed.")
}

// NotFound is 404: the path or record does not exist. It does not repeat the id.
func NotFound() *Error {
	return build(http.StatusNotFound, request, "not_found", "The requested resource does not exist.")
}

// MethodNotAllowed is 405: the path exists, the method does not.
func MethodNotAllowed(allow []string) *Error {
	e := build(http.StatusMethodNotAllowed, request, "method_not_allowed", "The method is not allowed for this path.")
	e.Allow = allow
	return e
}

// NotAcceptable is 406: the client accepts no JSON.
func NotAcceptable() *Error {
	return build(http.StatusNotAcceptable, request, "not_acceptable", "This address answers with application/json.")
}

// CursorExpired is 410: the change feed cannot go on from the cursor.
func CursorExpired() *Error {
	return build(http.StatusGone, request, "cursor_expired",
		"The cursor is older than the changes that are kept, or the database was restored, moved or failed over. Read /v1/snapshot and go on with its cursor.")
}

// BodyTooLarge is 413: the body exceeds 1 MiB.
func BodyTooLarge() *Error {
	return build(http.StatusRequestEntityTooLarge, request, "body_too_large", "The request body exceeds 1 MiB.")
}

// UnsupportedMediaType is 415: the body is declared to be something other than JSON.
func UnsupportedMediaType() *Error {
	return build(http.StatusUnsupportedMediaType, request, "unsupported_media_type", "The request body must be application/json.")
}

// DoubleBooking is 409: the practitioner is booked at that time, or the slot is held.
func DoubleBooking(conflicts []Conflict, held []Held, free []Slot) *Error {
	e := build(http.StatusConflict, conflict, "double_booking", "The practitioner already has an appointment or a hold at this time. Send force_changes to book anyway.")
	e.Conflicts, e.Held, e.Free = conflicts, held, free
	return e
}

// IdempotencyInProgress is 409: a request with the same Idempotency-Key has not ended.
func IdempotencyInProgress() *Error {
	e := build(http.StatusConflict, conflict, "idempotency_in_progress", "A request with this Idempotency-Key is still running. Send it again.")
	e.RetryAfter = time.Second
	return e
}

// IdempotencyKeyReused is 422: the Idempotency-Key belongs to another request.
func IdempotencyKeyReused() *Error {
	return build(http.StatusUnprocessableEntity, request, "idempotency_key_reused", "This Idempotency-Key was used for another request. Use a new key for each request.")
}

// VersionMismatch is 412: the record has another version than If-Match.
func VersionMismatch() *Error {
	return build(http.StatusPreconditionFailed, conflict, "version_mismatch", "The record has changed since it was read.")
}

// ValidationFailed is 422 with every offending field.
func ValidationFailed(params Params) *Error {
	e := build(http.StatusUnprocessableEntity, request, "validation_failed", "One or more fields are invalid.")
	e.Params = params
	return e
}

// FailedDependency is 424: another request of an atomic batch failed, so this one was undone or
// not run.
func FailedDependency() *Error {
	return build(http.StatusFailedDependency, request, "failed_dependency", "Another request of the batch failed, so nothing of the batch was stored.")
}

// RateLimited is 429: the token, its practice, or the address of a request without a valid
// token has exceeded its rate limit.
func RateLimited(retryAfter time.Duration) *Error {
	e := build(http.StatusTooManyRequests, rateLimit, "rate_limited", "Too many requests. Try again later.")
	e.RetryAfter = retryAfter
	return e
}

// Internal is 500: a failure on our side. The cause is logged, never sent.
func Internal(cause error) *Error {
	return build(http.StatusInternalServerError, api, "internal", "Something went wrong on our side.").Because(cause)
}

// Unavailable is 503: the database cannot be reached or is overloaded.
func Unavailable(cause error) *Error {
	e := build(http.StatusServiceUnavailable, api, "unavailable", "The service is temporarily unavailable. Try again soon.").Because(cause)
	e.RetryAfter = 5 * time.Second
	return e
}

// From returns the Error in err; any other error becomes Internal.
func From(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return Internal(err)
}

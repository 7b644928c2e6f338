package server

import (
	"net/http"
	"strings"

	"chairside/internal/apierror"
	"chairside/internal/events/idempotency"
	"chairside/internal/store"
)

// preferences are what a client asks for in the Prefer header (RFC 7240).
type preferences struct {
	strict bool // handling=strict
	dryRun bool // dry-run
}

// parsePrefer returns the preferences that the server knows; it ignores others. A dry-run with
// any value but false counts, because a client that means it must not write.
func parsePrefer(headers []string) (p preferences) {
	for preference := range strings.SplitSeq(strings.Join(headers, ","), ",") {
		preference, _, _ = strings.Cut(preference, ";")
		name, value, _ := strings.Cut(preference, "=")
		value = strings.Trim(strings.TrimSpace(value), `"`)
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "handling":
			p.strict = p.strict || strings.EqualFold(value, "strict")
		case "dry-run":
			p.dryRun = p.dryRun || !strings.EqualFold(value, "false")
		}
	}
	return p
}

// prefer reads the Prefer header. In a dry run the operation writes, responds and rolls back.
func prefer(x *requestState) error {
	headers := x.r.Header.Values("Prefer")
	if len(headers) == 0 {
		return nil
	}
	x.prefer = parsePrefer(headers)
	if x.prefer.dryRun = x.prefer.dryRun && x.writes(); x.prefer.dryRun {
		x.header.Set("Preference-Applied", "dry-run")
		x.r = x.r.WithContext(store.DryRun(x.r.Context()))
	}
	return nil
}

// idempotencyKey passes the Idempotency-Key header to an operation that writes. A dry run
// stores nothing, so it has no use for a key.
func idempotencyKey(x *requestState) error {
	headers := x.r.Header.Values("Idempotency-Key")
	if len(headers) == 0 || !x.writes() {
		return nil
	}
	key, ok := idempotency.ParseKey(headers)
	switch {
	case !ok:
		return apierror.InvalidHeader("Idempotency-Key", idempotency.Message)
	case x.prefer.dryRun:
		return nil
	}
	r := x.r
	x.r = r.WithContext(idempotency.With(r.Context(), idempotency.New(r.Context(), key, x.success(),
		[]byte(r.Method), []byte(r.URL.Path), []byte(x.sentQuery), x.sent)))
	return nil
}

// writes reports whether the operation may change records.
func (x *requestState) writes() bool { return x.operation.ID != "" && x.r.Method != http.MethodGet }

// success returns the status of the operation's success.
func (x *requestState) success() int {
	switch {
	case x.r.Method == http.MethodDelete:
		return http.StatusNoContent
	case x.operation.Body != nil && x.operation.Body.Create:
		return http.StatusCreated
	}
	return http.StatusOK
}

// replay makes the response to an earlier request the response to this one.
func (x *requestState) replay(stored *idempotency.Replay) {
	x.err = nil
	x.header.Set("Idempotency-Replayed", "true")
	b := x.response
	b.reset()
	b.WriteHeader(stored.Status)
	if len(stored.Body) > 0 {
		b.header.Set("Content-Type", jsonType)
		_, _ = b.Write(stored.Body) // in memory, so it cannot fail
	}
}

package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/ogen-go/ogen/ogenerrors"

	"chairside/internal/apierror"
	"chairside/internal/codec"
	"chairside/internal/store"
)

// errorBody is the body of every error (behaviour.md section 6).
type errorBody struct {
	Error struct {
		Type             string          `json:"type"`
		Code             string          `json:"code"`
		Message          string          `json:"message"`
		DocumentationURL string          `json:"documentation_url"`
		RequestID        string          `json:"request_id"`
		Params           apierror.Params `json:"params,omitempty"`
		Conflicts        []conflict      `json:"conflicts,omitzero"`
		Holds            []held          `json:"holds,omitempty"`
		Alternatives     []alternative   `json:"alternatives,omitzero"`
	} `json:"error"`
}

type conflict struct {
	ID         int64  `json:"id"`
	StartTime  string `json:"start_time"`
	FinishTime string `json:"finish_time"`
}

type held struct {
	StartTime  string `json:"start_time"`
	FinishTime string `json:"finish_time"`
	ExpiresAt  string `json:"expires_at"`
}

type alternative struct {
	StartTime      string `json:"start_time"`
	FinishTime     string `json:"finish_time"`
	PractitionerID int64  `json:"practitioner_id"`
}

// fail is the one place that sends an error to a client. An error that is not an
// apierror.Error is logged and sent as internal.
func (s *Server) fail(w http.ResponseWriter, x *requestState, err error) {
	e := s.asAPIError(x, err)
	x.code = e.Code
	if e.Code == "insufficient_scope" && e.Scope == "" {
		e.Scope = x.operation.Scope // the schema's hooks do not know it
	}
	if x.errorPage != nil {
		x.errorPage(w, x.r, e)
		return
	}
	s.send(w, x, e)
}

// send sends an error as JSON.
func (s *Server) send(w http.ResponseWriter, x *requestState, e *apierror.Error) {
	errorHeaders(x.header, e)
	if challenge := x.header.Get("WWW-Authenticate"); challenge != "" && x.resource != "" {
		x.header.Set("WWW-Authenticate", challenge+`, resource_metadata="`+x.resource+`"`)
	}
	body := s.errorBody(x, e)
	x.header.Set("Content-Type", jsonType)
	x.header.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(e.Status)
	if x.method != http.MethodHead {
		_, _ = w.Write(body) // fails if the client has disconnected
	}
}

// asAPIError returns what an error means to the client, and logs internal errors.
func (s *Server) asAPIError(x *requestState, err error) *apierror.Error {
	ctx := x.r.Context()
	var param *ogenerrors.DecodeParamError
	if errors.As(err, &param) && param.In == "path" {
		return apierror.NotFound() // a malformed id
	}
	e := apierror.From(store.APIError(ctx, err))
	level := slog.LevelError
	switch {
	case e.Status < http.StatusInternalServerError:
		return e
	case errors.Is(ctx.Err(), context.Canceled): // the client has disconnected
		e, level = apierror.Unavailable(err), slog.LevelInfo
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		e, level = apierror.Unavailable(err), slog.LevelWarn
	case e.Status == http.StatusServiceUnavailable:
		level = slog.LevelWarn
	}
	s.Logger.LogAttrs(ctx, level, "request failed",
		slog.String("request_id", x.id),
		slog.String("operation", x.name),
		slog.String("code", e.Code),
		slog.String("cause", describeError(err)),
	)
	x.failed = e.Status
	return e
}

// errorHeaders sets the headers of a status: Allow, Retry-After, WWW-Authenticate.
func errorHeaders(h http.Header, e *apierror.Error) {
	if len(e.Allow) > 0 {
		h.Set("Allow", strings.Join(e.Allow, ", "))
	}
	if e.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(e.RetryAfter.Seconds()))))
	}
	if challenge := challenge(e); challenge != "" {
		h.Set("WWW-Authenticate", challenge)
	}
}

// challenge returns the WWW-Authenticate header of RFC 6750, section 3. It has no error code
// if the request has no token.
func challenge(e *apierror.Error) string {
	const realm = `Bearer realm="chairside"`
	var attribute string
	switch e.Code {
	case "missing_token":
		return realm
	case "invalid_token", "expired_token":
		attribute = "invalid_token"
	case "insufficient_scope":
		attribute = "insufficient_scope"
	default:
		return ""
	}
	value := realm + `, error="` + attribute + `", error_description="` + e.Message + `"`
	if e.Scope != "" {
		value += `, scope="` + e.Scope + `"`
	}
	return value
}

func (s *Server) errorBody(x *requestState, err *apierror.Error) []byte {
	zone := time.UTC
	if x.caller != nil {
		zone = x.caller.Zone
	}
	var body errorBody
	e := &body.Error
	e.Type, e.Code, e.Message, e.Params, e.RequestID = err.Type, err.Code, err.Message, err.Params, x.id
	e.DocumentationURL = s.BaseURL + "/docs#" + err.Code
	show := func(t time.Time) string { return t.In(zone).Format(codec.TimeLayout) }
	if err.Conflicts != nil {
		e.Conflicts = make([]conflict, len(err.Conflicts)) // not null if only a hold conflicts
	}
	for i, c := range err.Conflicts {
		e.Conflicts[i] = conflict{c.ID, show(c.StartTime), show(c.FinishTime)}
	}
	for _, h := range err.Held {
		e.Holds = append(e.Holds, held{show(h.StartTime), show(h.FinishTime), show(h.ExpiresAt)})
	}
	if err.Free != nil {
		e.Alternatives = make([]alternative, len(err.Free))
	}
	for i, f := range err.Free {
		e.Alternatives[i] = alternative{show(f.StartTime), show(f.FinishTime), f.PractitionerID}
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false) // "Scale & Polish" stays readable
	_ = encoder.Encode(body)     // strings and numbers always encode
	return out.Bytes()
}

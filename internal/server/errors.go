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
		Conflicts        []conflict      `json:"conflicts,omitempty"`
	} `json:"error"`
}

type conflict struct {
	ID         int64  `json:"id"`
	StartTime  string `json:"start_time"`
	FinishTime string `json:"finish_time"`
}

// fail is the one place that tells a client of a failure. What is not a fault
// is logged and shown as internal.
func (s *Server) fail(w http.ResponseWriter, x *requestState, err error) {
	f := s.asFault(x, err)
	if f.Code == "insufficient_scope" && f.Scope == "" {
		f.Scope = x.operation.Scope // what refuses below the operations does not know it
	}
	if x.draw != nil {
		x.draw(w, x.r, f)
		return
	}
	faultHeaders(x.header, f)
	body := s.errorBody(x, f)
	x.header.Set("Content-Type", jsonType)
	x.header.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(f.Status)
	if x.method != http.MethodHead {
		_, _ = w.Write(body) // fails where the client went away
	}
}

// asFault finds what an error means to the client, and logs what is our failure.
func (s *Server) asFault(x *requestState, err error) *apierror.Error {
	ctx := x.r.Context()
	var param *ogenerrors.DecodeParamError
	if errors.As(err, &param) && param.In == "path" {
		return apierror.NotFound() // an id that is malformed
	}
	f := apierror.From(store.APIError(ctx, err))
	level := slog.LevelError
	switch {
	case f.Status < http.StatusInternalServerError:
		return f
	case errors.Is(ctx.Err(), context.Canceled): // the client went away: nobody reads the answer
		f, level = apierror.Unavailable(err), slog.LevelInfo
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		f, level = apierror.Unavailable(err), slog.LevelWarn
	case f.Status == http.StatusServiceUnavailable:
		level = slog.LevelWarn
	}
	s.Logger.LogAttrs(ctx, level, "request failed",
		slog.String("request_id", x.id),
		slog.String("operation", x.name),
		slog.String("code", f.Code),
		slog.String("cause", describe(err)),
	)
	x.failed = f.Status
	return f
}

// faultHeaders sets what goes with the status: Allow, Retry-After, WWW-Authenticate.
func faultHeaders(h http.Header, f *apierror.Error) {
	if len(f.Allow) > 0 {
		h.Set("Allow", strings.Join(f.Allow, ", "))
	}
	if f.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(f.RetryAfter.Seconds()))))
	}
	if challenge := challenge(f); challenge != "" {
		h.Set("WWW-Authenticate", challenge)
	}
}

// challenge is the WWW-Authenticate header of RFC 6750, section 3: a request
// without any token gets no error code, the others one of the RFC's.
func challenge(f *apierror.Error) string {
	const realm = `Bearer realm="chairside"`
	var attribute string
	switch f.Code {
	case "missing_token":
		return realm
	case "invalid_token", "expired_token":
		attribute = "invalid_token"
	case "insufficient_scope":
		attribute = "insufficient_scope"
	default:
		return ""
	}
	value := realm + `, error="` + attribute + `", error_description="` + f.Message + `"`
	if f.Scope != "" {
		value += `, scope="` + f.Scope + `"`
	}
	return value
}

func (s *Server) errorBody(x *requestState, f *apierror.Error) []byte {
	zone := time.UTC
	if x.caller != nil {
		zone = x.caller.Zone
	}
	var body errorBody
	e := &body.Error
	e.Type, e.Code, e.Message, e.Params, e.RequestID = f.Type, f.Code, f.Message, f.Params, x.id
	e.DocumentationURL = s.BaseURL + "/docs#" + f.Code
	for _, c := range f.Conflicts {
		e.Conflicts = append(e.Conflicts, conflict{c.ID, c.StartTime.In(zone).Format(codec.TimeLayout), c.FinishTime.In(zone).Format(codec.TimeLayout)})
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false) // "Scale & Polish" stays readable
	_ = encoder.Encode(body)     // strings and numbers always encode
	return out.Bytes()
}

package oauth

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
)

// Error is an OAuth error response (RFC 6749, section 5.2).
type Error struct {
	Status      int
	Code        string // such as invalid_grant
	Description string // for the application's developer
	basic       bool   // the application used Basic: send WWW-Authenticate
}

func (e *Error) Error() string { return e.Code }

func invalidRequest(description string) *Error {
	return &Error{Status: http.StatusBadRequest, Code: "invalid_request", Description: description}
}

func invalidGrant(description string) *Error {
	return &Error{Status: http.StatusBadRequest, Code: "invalid_grant", Description: description}
}

func invalidScope(description string) *Error {
	return &Error{Status: http.StatusBadRequest, Code: "invalid_scope", Description: description}
}

// errorBody is the body of an error response.
type errorBody struct {
	Error       string `json:"error"`
	Description string `json:"error_description,omitempty"`
}

// writeJSON writes a response that no cache may store (RFC 6749, section 5.1).
func writeJSON(w http.ResponseWriter, status int, body any) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Pragma", "no-cache")
	if body == nil {
		w.WriteHeader(status)
		return
	}
	h.Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // fails if the application has disconnected
}

// writeError writes an error response.
func writeError(w http.ResponseWriter, e *Error) {
	if e.basic {
		w.Header().Set("WWW-Authenticate", `Basic realm="chairside", charset="UTF-8"`)
	}
	writeJSON(w, e.Status, errorBody{e.Code, e.Description})
}

// endpoint returns a handler that applications call with POST.
func (s *Server) endpoint(serve func(w http.ResponseWriter, r *http.Request, p params) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.Header().Set("Allow", "POST, OPTIONS")
			writeError(w, &Error{Status: http.StatusMethodNotAllowed, Code: "invalid_request", Description: "The method must be POST."})
			return
		}
		p, refusal := readParams(w, r)
		if refusal != nil {
			writeError(w, refusal)
			return
		}
		s.finish(w, r, serve(w, r, p))
	})
}

// finish writes the error response if err is not nil. Internal errors are always 5xx: an
// application must not believe that a failed revocation worked.
func (s *Server) finish(w http.ResponseWriter, r *http.Request, err error) {
	var refusal *Error
	switch {
	case err == nil:
	case errors.As(err, &refusal):
		writeError(w, refusal)
	default:
		f := s.explain(r.Context(), err)
		code := "server_error"
		if f.Status == http.StatusServiceUnavailable {
			code = "temporarily_unavailable"
			w.Header().Set("Retry-After", strconv.Itoa(int(f.RetryAfter.Seconds())))
		}
		writeError(w, &Error{Status: max(f.Status, http.StatusInternalServerError), Code: code, Description: f.Message})
	}
}

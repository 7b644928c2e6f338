package server

import (
	"log/slog"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"chairside/internal/audit/trail"
	"chairside/internal/clock"
)

// accessLog measures each request and logs one line about it when it ends. If patients' records
// were read, a line about them is logged before they leave. The lines never contain the query,
// which may hold a token or a name, a header, the body, or an id from the path.
func (s *Server) accessLog(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := stateOf(r.Context())
		s.metrics.inFlight.Inc()
		timer := prometheus.NewTimer(prometheus.ObserverFunc(func(seconds float64) {
			s.metrics.observe(x, seconds)
		}))
		counted := &responseWriter{to: w, unread: watchBody(r), unsent: s.unsent, stopping: &s.stopping, record: func() { s.record(x) }}
		defer func() {
			s.metrics.inFlight.Dec()
			duration := timer.ObserveDuration()
			counted.status = max(counted.status, x.failed) // a page that failed halfway was sent with 200
			s.metrics.requests.WithLabelValues(x.name, strconv.Itoa(counted.status)).Inc()
			s.record(x) // what was not sent: the response to HEAD, or a redirect
			s.logRequest(x, counted, duration)
			s.auditRefusal(x, counted.status)
			s.logForDevelopers(x, counted.status, duration)
			s.logSlow(x, counted.status, duration)
			s.tracing.end(x, counted.status)
		}()
		next.ServeHTTP(counted, r)
	})
}

func (s *Server) logRequest(x *requestState, w *responseWriter, duration time.Duration) {
	level := slog.LevelInfo
	switch x.name {
	case "healthz", "readyz", "metrics": // requested every few seconds
		level = slog.LevelDebug
	}
	attrs := []slog.Attr{
		slog.String("request_id", x.id),
		slog.String("operation", x.name),
		slog.String("method", loggableMethod(x.method)),
		slog.String("route", x.pattern),
		slog.Int("status", w.status),
		slog.Float64("duration_ms", milliseconds(duration)),
		slog.Int64("bytes", w.bytes),
	}
	s.Logger.LogAttrs(x.r.Context(), level, "request", append(append(attrs, who(x)...), x.traceAttr()...)...)
}

// who are the attributes of the caller of a request, with the session or the token; none without a
// caller.
func who(x *requestState) (attrs []slog.Attr) {
	if x.caller == nil {
		return nil
	}
	attrs = append(attrs, slog.String("practice_id", x.caller.PracticeID.String()), slog.Int64("user_id", x.caller.UserID))
	switch {
	case x.session != uuid.Nil:
		attrs = append(attrs, slog.String("session_id", x.session.String()))
	default:
		attrs = append(attrs, slog.String("token_id", x.caller.TokenID.String()))
	}
	if application := x.caller.ApplicationID; application != nil {
		attrs = append(attrs, slog.String("application_id", application.String()))
	}
	return attrs
}

// record logs the reads and the events of a request that are not logged yet, and hands them to the
// audit log.
func (s *Server) record(x *requestState) {
	s.recordReads(x)
	s.recordEvents(x)
}

// recordReads logs which patient records were read, and the user and token that read them.
func (s *Server) recordReads(x *requestState) {
	if x.caller == nil {
		return
	}
	reads := x.records.TakeReads()
	if reads == nil {
		return
	}
	s.Logger.LogAttrs(x.r.Context(), slog.LevelInfo, "patient data read", append(who(x),
		slog.String("request_id", x.id),
		slog.String("operation", x.name),
		slog.Any("records", reads),
	)...)
	s.trail.Read(s.entry(x), reads)
}

// entry begins an entry of the audit log about a request.
func (s *Server) entry(x *requestState) trail.Entry {
	e := trail.Entry{Who: trail.Caller(x.r.Context(), x.caller), At: clock.Now(x.r.Context()), Request: x.id, Operation: x.name}
	if x.session != uuid.Nil {
		e.Session = x.session
	}
	return e
}

// auditRefusal hands a refusal to the audit log. Its line in the log is the request's.
func (s *Server) auditRefusal(x *requestState, status int) {
	if status == http.StatusUnauthorized || status == http.StatusForbidden {
		e := s.entry(x)
		e.Action, e.Status = "refuse", status
		s.trail.Add(e)
	}
}

// recordEvents logs the events of a request.
func (s *Server) recordEvents(x *requestState) {
	for _, event := range x.records.TakeEvents() {
		e := s.entry(x)
		e.Action, e.Record = event.Action, event.Record
		if event.Practice != uuid.Nil {
			e.Who = trail.Who{Practice: event.Practice, User: event.User, Session: event.Session}
		}
		e.Details = map[string]any{}
		for key, value := range map[string]string{"browser": event.Browser, "network": event.Network, "method": event.Method, "reason": event.Reason} {
			if value != "" {
				e.Details[key] = value
			}
		}
		s.Logger.LogAttrs(x.r.Context(), slog.LevelInfo, "audit event",
			slog.String("action", e.Action), slog.String("practice_id", e.Practice.String()), slog.Int64("user_id", e.User),
			slog.String("record_id", e.Record), slog.String("request_id", x.id), slog.String("operation", x.name))
		s.trail.Add(e)
	}
}

// logForDevelopers hands a request with a valid token to the request log.
func (s *Server) logForDevelopers(x *requestState, status int, duration time.Duration) {
	if x.caller == nil || x.caller.TokenID == uuid.Nil {
		return
	}
	r := trail.Request{
		Practice: x.caller.PracticeID, Token: x.caller.TokenID, Application: x.caller.ApplicationID, User: x.caller.UserID,
		At: clock.Now(x.r.Context()), ID: x.id, Method: loggableMethod(x.method), Route: x.pattern, Status: status,
		Duration: duration.Microseconds(),
	}
	if code := x.code; code != "" { // a copy, because the log outlives the request
		r.ErrorCode = &code
	}
	s.requests.Add(r)
}

// loggableMethod returns a standard method or "other": a client may send any text.
func loggableMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodOptions, http.MethodTrace, http.MethodConnect:
		return method
	}
	return "other"
}

// responseWriter is the only way to the client. It logs what was read before a byte of it can
// leave, so a process that is killed while it sends has sent nothing that the log does not name.
// It therefore embeds no http.ResponseWriter, has no Unwrap, and has no method that writes but
// Write. It also counts what it sends, and limits what waits to be sent.
type responseWriter struct {
	to       http.ResponseWriter
	unread   *requestBody // of the request
	unsent   *unsentLimiter
	stopping *atomic.Int32 // a stopState
	record   func()        // logs what was read since the last call
	status   int           // 0 until the header is written
	bytes    int64
}

// Header implements http.ResponseWriter.
func (w *responseWriter) Header() http.Header { return w.to.Header() }

// WriteHeader implements http.ResponseWriter.
func (w *responseWriter) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK { // not for 1xx
		w.begin(status)
	}
	w.to.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *responseWriter) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.begin(http.StatusOK)
	}
	w.record()
	n, err := w.unsent.write(w.to, b)
	w.bytes += int64(n)
	return n, err
}

// FlushError sends what was written, for http.ResponseController.
func (w *responseWriter) FlushError() error { return http.NewResponseController(w.to).Flush() }

// SetReadDeadline is for http.ResponseController.
func (w *responseWriter) SetReadDeadline(deadline time.Time) error {
	return http.NewResponseController(w.to).SetReadDeadline(deadline)
}

// SetWriteDeadline is for http.ResponseController.
func (w *responseWriter) SetWriteDeadline(deadline time.Time) error {
	return http.NewResponseController(w.to).SetWriteDeadline(deadline)
}

// begin is called before the header is written. It drops what is left of the request's body. A server that stops closes
// the connection with the response.
func (w *responseWriter) begin(status int) {
	w.status = status
	if dropped := w.unread.drop(w.to); !dropped || w.stopping.Load() >= releasing {
		w.Header().Set("Connection", "close")
	}
}

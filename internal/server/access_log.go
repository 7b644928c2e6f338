package server

import (
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// accessLog measures each request and writes one line about it, and a second one
// where patients' records were read. Neither holds the query (it may carry a
// token or a name), a header, a body, or an id from the path.
func (s *Server) accessLog(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := of(r.Context())
		s.metrics.inFlight.Inc()
		timer := prometheus.NewTimer(prometheus.ObserverFunc(func(seconds float64) {
			s.metrics.duration.WithLabelValues(x.name).Observe(seconds)
		}))
		counted := &countingWriter{ResponseWriter: w, unsent: s.unsent}
		defer func() {
			s.metrics.inFlight.Dec()
			duration := timer.ObserveDuration()
			counted.status = max(counted.status, x.failed) // of a page that was begun, the client has seen 200
			s.metrics.requests.WithLabelValues(x.name, strconv.Itoa(counted.status)).Inc()
			s.logRequest(x, counted, duration)
			s.logAccess(x)
		}()
		next.ServeHTTP(counted, r)
	})
}

func (s *Server) logRequest(x *requestState, w *countingWriter, duration time.Duration) {
	level := slog.LevelInfo
	switch x.name {
	case "healthz", "readyz", "metrics": // asked every few seconds
		level = slog.LevelDebug
	}
	s.Logger.LogAttrs(x.r.Context(), level, "request",
		slog.String("request_id", x.id),
		slog.String("operation", x.name),
		slog.String("method", loggableMethod(x.method)),
		slog.String("route", x.pattern),
		slog.Int("status", w.status),
		slog.Float64("duration_ms", float64(duration.Microseconds())/1000),
		slog.Int64("bytes", w.bytes),
	)
}

// logAccess writes which patients' records were read, by whom. Ids only.
func (s *Server) logAccess(x *requestState) {
	if x.caller == nil || x.records.Empty() {
		return
	}
	s.Logger.LogAttrs(x.r.Context(), slog.LevelInfo, "patient data read",
		slog.String("practice_id", x.caller.PracticeID.String()),
		slog.Int64("user_id", x.caller.UserID),
		slog.String("token_id", x.caller.TokenID.String()),
		slog.String("request_id", x.id),
		slog.String("operation", x.name),
		slog.Any("records", x.records),
	)
}

// loggableMethod keeps made-up methods, which may be any text, out of the log.
func loggableMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodOptions, http.MethodTrace, http.MethodConnect:
		return method
	}
	return "other"
}

// countingWriter notes the status and the size of a response. Everything that is
// sent passes it, and so the bound on what is unsent.
type countingWriter struct {
	http.ResponseWriter
	unsent *unsent
	status int // 0 until the header is written
	bytes  int64
}

func (w *countingWriter) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK { // not for 100 Continue and its like
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *countingWriter) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.unsent.write(w.ResponseWriter, b)
	w.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (w *countingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

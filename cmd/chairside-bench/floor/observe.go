package floor

import (
	"crypto/rand"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// observer logs, counts and times requests like Chairside.
type observer struct {
	log      *slog.Logger
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	inFlight prometheus.Gauge
}

func newObserver() *observer {
	return &observer{
		log:      slog.New(slog.NewJSONHandler(os.Stderr, nil)),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "requests_total"}, []string{"route", "status"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "request_duration_seconds"}, []string{"route"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{Name: "requests_in_flight"}),
	}
}

// observe wraps a handler.
func (o *observer) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start, id := time.Now(), rand.Text()
		o.inFlight.Inc()
		w.Header().Set("X-Request-Id", id)
		recorded := &recorder{ResponseWriter: w}
		next.ServeHTTP(recorded, r)
		elapsed := time.Since(start)
		o.inFlight.Dec()
		o.duration.WithLabelValues(r.Pattern).Observe(elapsed.Seconds())
		o.requests.WithLabelValues(r.Pattern, strconv.Itoa(recorded.status)).Inc()
		o.log.LogAttrs(r.Context(), slog.LevelInfo, "request",
			slog.String("request_id", id),
			slog.String("method", r.Method),
			slog.String("route", r.Pattern),
			slog.Int("status", recorded.status),
			slog.Float64("duration_ms", float64(elapsed.Microseconds())/1000),
			slog.Int("bytes", recorded.bytes),
		)
	})
}

// recorder records the status and the size of a response.
type recorder struct {
	http.ResponseWriter
	status, bytes int
}

func (w *recorder) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

func (w *recorder) Write(p []byte) (int, error) {
	n, err := w.ResponseWriter.Write(p)
	w.bytes += n
	return n, err
}

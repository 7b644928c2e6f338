package server

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"chairside/internal/store"
)

// metrics are what /metrics tells. Labels are operation ids and status codes
// only, so the number of series is bounded.
type metrics struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	inFlight prometheus.Gauge
	serve    http.HandlerFunc
}

func newMetrics(db *store.DB) *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: "chairside", Name: "requests_total",
			Help: "Requests that were answered, by operation and status.",
		}, []string{"operation", "status"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: "chairside", Name: "request_duration_seconds",
			Help:    "Time from the arrival of a request to the end of its answer, by operation.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"operation"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Namespace: "chairside", Name: "requests_in_flight",
			Help: "Requests that are being answered.",
		}),
	}
	trips := prometheus.NewCounterFunc(prometheus.CounterOpts{
		Namespace: "chairside", Name: "database_round_trips_total",
		Help: "Statements, and beginnings and ends of transactions, that the database was asked for.",
	}, func() float64 { return float64(db.RoundTrips()) })
	registry := prometheus.NewRegistry() // its own, so that many servers fit into one test
	registry.MustRegister(m.requests, m.duration, m.inFlight,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		collectors.NewDBStatsCollector(db.SQL, "chairside"), trips)
	m.serve = promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP
	return m
}

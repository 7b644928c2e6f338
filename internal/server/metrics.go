package server

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"chairside/internal/store"
)

// metrics are the metrics of /metrics. Their labels are operation ids, kinds of work, jobs and
// status codes, so the number of series is bounded.
type metrics struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	inFlight prometheus.Gauge
	serve    http.HandlerFunc
}

func newMetrics(db *store.DB, unsent *unsentLimiter, waiting *backlog, traces *tracing) *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: "chairside", Name: "requests_total",
			Help: "Completed requests, by operation and status.",
		}, []string{"operation", "status"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: "chairside", Name: "request_duration_seconds",
			Help:    "Time from receiving a request to completing its response, by operation.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"operation"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Namespace: "chairside", Name: "requests_in_flight",
			Help: "Requests in progress.",
		}),
	}
	trips := prometheus.NewCounterFunc(prometheus.CounterOpts{
		Namespace: "chairside", Name: "database_round_trips_total",
		Help: "Statements sent to the database, including BEGIN, COMMIT and ROLLBACK.",
	}, func() float64 { return float64(db.RoundTrips()) })
	registry := prometheus.NewRegistry() // not the global one, so that tests can run several servers
	registry.MustRegister(m.requests, m.duration, m.inFlight,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		trips, loadCollector{db, unsent}, waiting, traceCollector{traces}, replicaCollector{db})
	for name, pool := range db.Pools() {
		registry.MustRegister(collectors.NewDBStatsCollector(pool, name))
	}
	m.serve = promhttp.HandlerFor(registry, promhttp.HandlerOpts{EnableOpenMetrics: true}).ServeHTTP // exemplars need OpenMetrics
	return m
}

// observe measures the duration of a request. A traced one is an exemplar of its bucket.
func (m *metrics) observe(x *requestState, seconds float64) {
	duration := m.duration.WithLabelValues(x.name)
	if exemplars, ok := duration.(prometheus.ExemplarObserver); ok && x.span != nil {
		exemplars.ObserveWithExemplar(seconds, prometheus.Labels{"trace_id": x.traceID()})
		return
	}
	duration.Observe(seconds)
}

// traceCollector collects how many spans were made and exported.
type traceCollector struct{ traces *tracing }

var (
	spansEnded    = prometheus.NewDesc("chairside_trace_spans_total", "Spans of traced requests and their statements.", nil, nil)
	spansExported = prometheus.NewDesc("chairside_trace_spans_exported_total", "Spans that the collector has accepted.", nil, nil)
)

// Describe implements prometheus.Collector.
func (c traceCollector) Describe(to chan<- *prometheus.Desc) { to <- spansEnded; to <- spansExported }

// Collect implements prometheus.Collector.
func (c traceCollector) Collect(to chan<- prometheus.Metric) {
	ended, exported := c.traces.count()
	to <- prometheus.MustNewConstMetric(spansEnded, prometheus.CounterValue, float64(ended))
	to <- prometheus.MustNewConstMetric(spansExported, prometheus.CounterValue, float64(exported))
}

// loadCollector collects how the kinds of requests share the database, and how many bytes
// clients have not read yet. A kind is the first segment of a path, so their number is bounded.
type loadCollector struct {
	db     *store.DB
	unsent *unsentLimiter
}

var (
	placesInUse = prometheus.NewDesc("chairside_database_places_in_use", "Requests admitted to the database now, by kind.", []string{"kind"}, nil)
	waiting     = prometheus.NewDesc("chairside_database_waiting", "Requests waiting to be admitted to the database, by kind.", []string{"kind"}, nil)
	admitted    = prometheus.NewDesc("chairside_database_admitted_total", "Requests admitted to the database, by kind.", []string{"kind"}, nil)
	waited      = prometheus.NewDesc("chairside_database_waited_total", "Requests that waited to be admitted to the database, by kind.", []string{"kind"}, nil)
	refused     = prometheus.NewDesc("chairside_database_refused_total", "Requests not admitted to the database in time, by kind.", []string{"kind"}, nil)
	unsentBytes = prometheus.NewDesc("chairside_unsent_bytes", "Bytes of responses in memory that clients have not read.", nil, nil)
	readersCut  = prometheus.NewDesc("chairside_readers_cut_off_total", "Slow clients disconnected to limit the memory of responses.", nil, nil)
)

// Describe implements prometheus.Collector.
func (c loadCollector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{placesInUse, waiting, admitted, waited, refused, unsentBytes, readersCut} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (c loadCollector) Collect(to chan<- prometheus.Metric) {
	for _, u := range c.db.Usage() {
		to <- prometheus.MustNewConstMetric(placesInUse, prometheus.GaugeValue, float64(u.InUse), u.Kind)
		to <- prometheus.MustNewConstMetric(waiting, prometheus.GaugeValue, float64(u.Waiting), u.Kind)
		to <- prometheus.MustNewConstMetric(admitted, prometheus.CounterValue, float64(u.Admitted), u.Kind)
		to <- prometheus.MustNewConstMetric(waited, prometheus.CounterValue, float64(u.Waited), u.Kind)
		to <- prometheus.MustNewConstMetric(refused, prometheus.CounterValue, float64(u.Refused), u.Kind)
	}
	bytes, dropped := c.unsent.usage()
	to <- prometheus.MustNewConstMetric(unsentBytes, prometheus.GaugeValue, float64(bytes))
	to <- prometheus.MustNewConstMetric(readersCut, prometheus.CounterValue, float64(dropped))
}

// replicaCollector collects what the replicas of --replica-url answer. Without any it has no series.
type replicaCollector struct{ db *store.DB }

var (
	replicaReads   = prometheus.NewDesc("chairside_replica_reads_total", "Reads that a replica answered, by its host.", []string{"replica"}, nil)
	replicaFailed  = prometheus.NewDesc("chairside_replica_reads_failed_total", "Reads that failed on a replica, so that the primary was asked, by its host.", []string{"replica"}, nil)
	replicaUp      = prometheus.NewDesc("chairside_replica_up", "Whether a replica may answer reads, by its host; without a series for a server that is the primary now.", []string{"replica"}, nil)
	replicaBehind  = prometheus.NewDesc("chairside_replica_behind_seconds", "How far a replica is behind the primary, by its host; without a series if that is not known.", []string{"replica"}, nil)
	readsOnPrimary = prometheus.NewDesc("chairside_replica_reads_on_primary_total", "Reads for which no replica could be used.", nil, nil)
)

// Describe implements prometheus.Collector.
func (c replicaCollector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{replicaReads, replicaFailed, replicaUp, replicaBehind, readsOnPrimary} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (c replicaCollector) Collect(to chan<- prometheus.Metric) {
	states := c.db.ReplicaStates()
	for _, r := range states {
		collectReplica(r, to)
	}
	if len(states) > 0 {
		to <- prometheus.MustNewConstMetric(readsOnPrimary, prometheus.CounterValue, float64(c.db.PrimaryReads()))
	}
}

func collectReplica(r store.ReplicaState, to chan<- prometheus.Metric) {
	to <- prometheus.MustNewConstMetric(replicaReads, prometheus.CounterValue, float64(r.Answered), r.Name)
	to <- prometheus.MustNewConstMetric(replicaFailed, prometheus.CounterValue, float64(r.Failed), r.Name)
	if r.LagKnown {
		to <- prometheus.MustNewConstMetric(replicaBehind, prometheus.GaugeValue, r.Lag.Seconds(), r.Name)
	}
	if r.Primary { // it is named as a replica for the time after a failover, and not left out
		return
	}
	up := 0.0
	if r.Reason == "" {
		up = 1
	}
	to <- prometheus.MustNewConstMetric(replicaUp, prometheus.GaugeValue, up, r.Name)
}

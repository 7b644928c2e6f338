package main

import (
	"cmp"
	"encoding/json"
	"os"
	"slices"
	"time"
)

// result is the content of the output file.
type result struct {
	TakenAt   time.Time        `json:"taken_at"`
	Machine   machine          `json:"machine"`
	Versions  versions         `json:"versions"`
	Settings  runSettings      `json:"settings"`
	Sizes     []sizeResult     `json:"sizes"`
	Workloads []workloadResult `json:"workloads"`
	Fresh     *freshResult     `json:"fresh_rows,omitempty"`
	Verdicts  []verdict        `json:"verdicts"`
}

// machine describes the machine of a run.
type machine struct {
	Processor   string  `json:"processor"`
	Processors  int     `json:"processors"`
	MemoryBytes int64   `json:"memory_bytes"`
	System      string  `json:"system"`
	Load        float64 `json:"load_before"` // mean number of busy processes in the minute before
}

// versions are the versions of the programs involved.
type versions struct {
	Chairside  string `json:"chairside"`
	Go         string `json:"go"`
	PostgreSQL string `json:"postgresql"`
	Generator  string `json:"generator"`
}

// runSettings are the flags of a run that affect its figures.
type runSettings struct {
	Rounds     int      `json:"rounds"`
	Clients    int      `json:"clients"`
	Duration   float64  `json:"seconds"`
	WarmUp     float64  `json:"warm_up_seconds"`
	PostgreSQL []string `json:"postgresql,omitempty"` // none with --postgres
}

// sizeResult describes a database, and the memory of its servers.
type sizeResult struct {
	Name   string           `json:"name"`
	Seeded seeded           `json:"seeded"`
	Rows   map[string]int64 `json:"rows"`
	Bytes  int64            `json:"bytes"`
	Equal  []equality       `json:"equal"`
	Memory []memoryResult   `json:"memory"` // at the end of the run
}

// memoryResult is the memory of a server process.
type memoryResult struct {
	Server   string `json:"server"`
	Resident int64  `json:"resident_bytes"`
	Peak     int64  `json:"peak_bytes"`
}

// workloadResult is one workload at one size.
type workloadResult struct {
	Size    string         `json:"size"`
	ID      string         `json:"id"`
	Title   string         `json:"title"`
	Servers []serverResult `json:"servers"`
	// Ratio is Chairside's rate to the hand-written server's, round by round.
	Ratio ratio `json:"ratio"`
	// EqualRatio is the rate to that of the hand-written server that also writes audit
	// rows, counters, a log and metrics.
	EqualRatio *ratio `json:"equal_promises_ratio,omitempty"`
	// SQLiteRatio is the rate on SQLite to that on PostgreSQL.
	SQLiteRatio *ratio `json:"sqlite_ratio,omitempty"`
}

// serverResult is one workload on one server.
type serverResult struct {
	Server string        `json:"server"`
	Rounds []measurement `json:"rounds"`
	Median measurement   `json:"median"` // of each figure separately
}

// measurement is one measurement of a workload on a server.
type measurement struct {
	Requests  int     `json:"requests"`
	PerSecond float64 `json:"requests_per_second"`
	P50       float64 `json:"p50_ms"`
	P99       float64 `json:"p99_ms"`
	// Processor time of the server and of PostgreSQL, in ms per 1,000 requests.
	ServerCPU   float64  `json:"server_cpu_ms_per_1000"`
	DatabaseCPU *float64 `json:"database_cpu_ms_per_1000"` // null if unknown
	ReplicaCPU  float64  `json:"-"`                        // that of the server's replica, if it has one
	Resident    int64    `json:"resident_bytes"`
}

// ratio is a ratio per round, with median, minimum and maximum.
type ratio struct {
	Median float64   `json:"median"`
	Min    float64   `json:"min"`
	Max    float64   `json:"max"`
	Rounds []float64 `json:"rounds"`
}

// ratioOf compares the rates of two servers round by round.
func ratioOf(a, b serverResult) ratio {
	return ratioBetween(a.Rounds, b.Rounds, func(m measurement) float64 { return m.PerSecond })
}

// ratioBetween compares a figure of two series round by round.
func ratioBetween(a, b []measurement, figure func(measurement) float64) ratio {
	var r ratio
	for i := range min(len(a), len(b)) {
		r.Rounds = append(r.Rounds, figure(a[i])/figure(b[i]))
	}
	r.Median, r.Min, r.Max = median(r.Rounds), slices.Min(r.Rounds), slices.Max(r.Rounds)
	return r
}

func median[T cmp.Ordered](values []T) T {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// medianMeasurement returns the median of each figure.
func medianMeasurement(rounds []measurement) measurement {
	of := func(figure func(m measurement) float64) float64 {
		var all []float64
		for _, m := range rounds {
			all = append(all, figure(m))
		}
		return median(all)
	}
	m := measurement{
		Requests:  int(of(func(m measurement) float64 { return float64(m.Requests) })),
		PerSecond: of(func(m measurement) float64 { return m.PerSecond }),
		P50:       of(func(m measurement) float64 { return m.P50 }),
		P99:       of(func(m measurement) float64 { return m.P99 }),
		ServerCPU: of(func(m measurement) float64 { return m.ServerCPU }),
		Resident:  int64(of(func(m measurement) float64 { return float64(m.Resident) })),
	}
	if rounds[0].DatabaseCPU != nil {
		m.DatabaseCPU = new(of(func(m measurement) float64 { return *m.DatabaseCPU }))
	}
	return m
}

// find returns the result of a workload at a size, or nil.
func (r *result) find(size, id string) *workloadResult {
	for i, w := range r.Workloads {
		if w.Size == size && w.ID == id {
			return &r.Workloads[i]
		}
	}
	return nil
}

// of returns the result of a server, or nil.
func (w *workloadResult) of(server string) *serverResult {
	for i, s := range w.Servers {
		if s.Server == server {
			return &w.Servers[i]
		}
	}
	return nil
}

// write writes the file.
func (r *result) write(path string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

// Package load sends requests from a fixed number of clients. Each keeps one connection
// open and sends its next request after the last response, or, at a rate, when it is due.
//
//	generate := load.Wrk(path) // or load.Go without wrk
//	result, err := generate(ctx, load.Job{…})
//
// A request counts once its response is read. Errors are statuses other than 2xx; for wrk,
// those from 400. Only Go measures latencies as clients see them: wrk corrects for
// coordinated omission, so that a pause of 1% of the time becomes the p99.
package load

import (
	"context"
	"time"
)

// Request is a request to send.
type Request struct {
	Method string
	Path   string // with the query
	Body   string // JSON, or ""
}

// Job is a load to send.
type Job struct {
	URL      string // of the server, without a trailing slash
	Token    string
	Requests []Request // sent one after the other, then from the beginning again
	Clients  int
	Duration time.Duration // wrk rounds it up to whole seconds

	// Rate is the number of requests per second of all clients together; 0 sends as fast as
	// responses come. With a rate a latency begins when the request is due, so that waiting
	// for a free client counts. Only Go has it.
	Rate float64
}

// UserAgent is the clients' User-Agent.
const UserAgent = "chairside-bench"

// Result is the result of a job.
type Result struct {
	Requests int    // answered
	Errors   int    // error responses and failed requests
	Detail   string // of the errors
	Duration time.Duration
	P50, P99 time.Duration
}

// PerSecond is the rate of answered requests.
func (r Result) PerSecond() float64 { return float64(r.Requests) / r.Duration.Seconds() }

// Generator runs a job.
type Generator func(ctx context.Context, job Job) (Result, error)

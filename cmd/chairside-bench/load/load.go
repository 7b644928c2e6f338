// Package load sends requests to a server from a fixed number of clients, each
// with a connection of its own that is kept open, and each sending its next
// request when the last one is answered.
//
//	generate := load.Wrk(path) // or load.Go, where wrk is not installed
//	result, err := generate(ctx, load.Job{…})
//
// A request counts when its answer has been read to the end. Errors are statuses
// other than 2xx; wrk's are those from 400 on. Latencies that clients see are Go's:
// wrk adds to each long one those of requests that would have been sent meanwhile, so
// that a pause of a hundredth of the time becomes its p99.
package load

import (
	"context"
	"time"
)

// Request is one of those to be sent.
type Request struct {
	Method string
	Path   string // with the query
	Body   string // JSON, "" for none
}

// Job is what to send, and for how long.
type Job struct {
	URL      string // of the server, without a final slash
	Token    string
	Requests []Request // sent one after the other, then from the beginning again
	Clients  int
	Duration time.Duration // wrk rounds it up to whole seconds
}

// UserAgent is what the clients call themselves.
const UserAgent = "chairside-bench"

// Result is what came of a job.
type Result struct {
	Requests int    // answered
	Errors   int    // answered with an error, or not at all
	Detail   string // of the errors
	Duration time.Duration
	P50, P99 time.Duration
}

// PerSecond is the rate of answered requests.
func (r Result) PerSecond() float64 { return float64(r.Requests) / r.Duration.Seconds() }

// Generator runs a job.
type Generator func(ctx context.Context, job Job) (Result, error)

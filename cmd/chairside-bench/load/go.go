package load

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Go is the built-in generator. It shares the machine with the server, so it prepares
// requests and connections before the clock starts. Each client sends at least one request.
func Go(ctx context.Context, job Job) (Result, error) { return run(ctx, job, 0) }

// Send sends every request of a job once, regardless of its Duration.
func Send(ctx context.Context, job Job) (Result, error) {
	return run(ctx, job, int64(len(job.Requests)))
}

// client is one connection with its measurements.
type client struct {
	connection net.Conn
	latencies  []time.Duration
	statuses   map[int]int // other than 2xx
	err        error
}

// run sends for the job's Duration, or most requests if most is not 0.
func run(ctx context.Context, job Job, most int64) (result Result, err error) {
	address, err := url.Parse(job.URL)
	if err != nil {
		return result, err
	}
	texts := make([]string, len(job.Requests))
	for i, r := range job.Requests {
		texts[i] = r.text(address.Host, job.Token)
	}
	clients := make([]client, job.Clients)
	defer func() {
		for _, c := range clients {
			if c.connection != nil {
				_ = c.connection.Close() // nothing is left to send
			}
		}
	}()
	for i := range clients {
		if clients[i].connection, err = new(net.Dialer).DialContext(ctx, "tcp", address.Host); err != nil {
			return result, fmt.Errorf("load: %w", err)
		}
	}
	var (
		next  atomic.Int64
		group sync.WaitGroup
		start = time.Now()
	)
	take := func(first bool) (text string, due time.Time, ok bool) {
		n := next.Add(1) - 1
		if due = time.Now(); job.Rate > 0 {
			due = start.Add(time.Duration(float64(n) / job.Rate * float64(time.Second)))
		}
		if ctx.Err() != nil || most > 0 && n >= most || most == 0 && !first && due.Sub(start) >= job.Duration {
			return "", due, false
		}
		time.Sleep(time.Until(due))
		return texts[n%int64(len(texts))], due, true
	}
	for i := range clients {
		group.Go(func() { clients[i].err = clients[i].work(take) })
	}
	group.Wait()
	result.Duration = time.Since(start)
	var all []time.Duration
	for _, c := range clients {
		if c.err != nil {
			return result, fmt.Errorf("load: %w", c.err)
		}
		all = append(all, c.latencies...)
		for status, n := range c.statuses {
			result.Errors += n
			result.Detail += fmt.Sprintf("status %d: %d; ", status, n)
		}
	}
	slices.Sort(all)
	result.Requests = len(all)
	if len(all) > 0 {
		result.P50, result.P99 = all[len(all)/2], all[len(all)*99/100]
	}
	return result, ctx.Err()
}

// work sends requests from take until there are none.
func (c *client) work(take func(first bool) (string, time.Time, bool)) error {
	answers := bufio.NewReaderSize(c.connection, 64<<10)
	for {
		text, due, ok := take(len(c.latencies) == 0)
		if !ok {
			return nil
		}
		if _, err := io.WriteString(c.connection, text); err != nil {
			return err
		}
		answer, err := http.ReadResponse(answers, nil)
		if err != nil {
			return err
		}
		if _, err := io.Copy(io.Discard, answer.Body); err != nil {
			return err
		}
		c.latencies = append(c.latencies, time.Since(due))
		if answer.StatusCode < 200 || answer.StatusCode > 299 {
			if c.statuses == nil {
				c.statuses = map[int]int{}
			}
			c.statuses[answer.StatusCode]++
		}
	}
}

// text returns the request's bytes.
func (r Request) text(host, token string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: %s\r\nAuthorization: Bearer %s\r\n", r.Method, r.Path, host, UserAgent, token)
	if r.Body != "" {
		fmt.Fprintf(&b, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(r.Body))
	}
	b.WriteString("\r\n")
	b.WriteString(r.Body)
	return b.String()
}

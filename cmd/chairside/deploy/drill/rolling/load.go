package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// clients is the number of clients; each has one request at a time.
const clients = 64

// load sends requests at a steady rate, whether or not earlier ones have finished.
type load struct {
	base, token string
	client      *http.Client
	due         chan int64 // numbers of requests
	cancel      context.CancelFunc
	group       sync.WaitGroup

	done, failed, booked atomic.Int64
	slowest              atomic.Int64 // ns, since takeSlowest
	mu                   sync.Mutex
	first                error // the first failure
}

type counts struct{ done, failed, booked int64 }

func startLoad(ctx context.Context, base, token string, rate int) *load {
	sending, cancel := context.WithCancel(ctx)
	l := &load{
		base: base, token: token, due: make(chan int64, 10*rate), cancel: cancel,
		client: &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: clients}},
	}
	l.group.Go(func() {
		defer close(l.due)
		tick := time.NewTicker(time.Second / time.Duration(rate))
		defer tick.Stop()
		for n := int64(0); ; n++ {
			select {
			case <-sending.Done():
				return
			case <-tick.C:
				l.due <- n
			}
		}
	})
	for range clients {
		l.group.Go(func() {
			for n := range l.due {
				l.request(context.WithoutCancel(ctx), n)
			}
		})
	}
	return l
}

// stop waits for the responses of all requests.
func (l *load) stop() {
	l.cancel()
	l.group.Wait()
}

func (l *load) counts() counts { return counts{l.done.Load(), l.failed.Load(), l.booked.Load()} }

// takeSlowest returns the slowest request since the last call.
func (l *load) takeSlowest() time.Duration { return time.Duration(l.slowest.Swap(0)) }

func (l *load) firstFailure() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.first == nil {
		return errors.New("bookings are lost, or more than acknowledged")
	}
	return l.first
}

// request sends request number n: each fifth is a booking of a slot of its own.
func (l *load) request(ctx context.Context, n int64) {
	began := time.Now()
	var err error
	if n%5 == 0 {
		if _, err = l.send(ctx, http.MethodPost, "/v1/appointments", booking(n/5), http.StatusCreated); err == nil {
			l.booked.Add(1)
		}
	} else {
		_, err = l.send(ctx, http.MethodGet, []string{"", "/v1/patients?per_page=10", "/v1/appointments?per_page=10", "/v1/practice", "/v1/practitioners"}[n%5], "", http.StatusOK)
	}
	l.done.Add(1)
	if err != nil {
		l.failed.Add(1)
		l.mu.Lock()
		if l.first == nil {
			l.first = err
		}
		l.mu.Unlock()
	}
	took := int64(time.Since(began))
	for slowest := l.slowest.Load(); took > slowest && !l.slowest.CompareAndSwap(slowest, took); slowest = l.slowest.Load() {
	}
}

// firstDay is before all bookings of the clients, and after all other appointments.
var firstDay = time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC)

// booking is the body of booking number n: two practitioners, and slots of ten minutes.
func booking(n int64) string {
	start := firstDay.Add(time.Duration(n/2) * 10 * time.Minute)
	return fmt.Sprintf(`{"appointment": {"start_time": %q, "finish_time": %q, "practitioner_id": %d, "reason": "Exam"}}`,
		start.Format(time.RFC3339), start.Add(10*time.Minute).Format(time.RFC3339), 1+n%2)
}

// errTwice means that http.Client has repeated a request whose connection was closed. That is a
// failure here.
var errTwice = errors.New("the request was sent twice")

func (l *load) send(ctx context.Context, method, path, body string, want int) (text []byte, err error) {
	var sent atomic.Int32
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { sent.Add(1) }})
	r, err := http.NewRequestWithContext(ctx, method, l.base+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+l.token)
	r.Header.Set("User-Agent", "rolling drill")
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	response, err := l.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err = io.ReadAll(response.Body)
	switch {
	case err != nil:
		return nil, err
	case response.StatusCode != want:
		return nil, fmt.Errorf("%s %s: status %d: %s", method, path, response.StatusCode, text)
	case sent.Load() > 1:
		return nil, fmt.Errorf("%s %s: %w", method, path, errTwice)
	}
	return text, nil
}

// bookings returns how many of the clients' bookings the servers hold.
func (l *load) bookings(ctx context.Context) (int64, error) {
	text, err := l.send(ctx, http.MethodGet, "/v1/appointments?per_page=1&after="+firstDay.Format(time.DateOnly), "", http.StatusOK)
	if err != nil {
		return 0, err
	}
	var page struct{ Meta struct{ Total int64 } }
	err = json.Unmarshal(text, &page)
	return page.Meta.Total, err
}

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// parallel is the number of clients; each has one request at a time.
const parallel = 4

// clients book one appointment after the other, each until it is acknowledged.
type clients struct {
	url, token   string
	practitioner int64
	cancel       context.CancelFunc
	group        sync.WaitGroup

	next, booked, repeated atomic.Int64
	mu                     sync.Mutex
	ids                    map[int64]bool // acknowledged
	failure                error
}

func startClients(ctx context.Context, url, token string) (*clients, error) {
	c := &clients{url: url, token: token, ids: map[int64]bool{}}
	var list struct {
		Practitioners []struct {
			ID int64 `json:"id"`
		} `json:"practitioners"`
	}
	if status, err := c.send(ctx, http.MethodGet, "/v1/practitioners", "", "", &list); err != nil || len(list.Practitioners) == 0 {
		return nil, fmt.Errorf("list practitioners: status %d, %d practitioners: %w", status, len(list.Practitioners), err)
	}
	c.practitioner = list.Practitioners[0].ID
	c.start(ctx)
	return c, nil
}

// start books until stop, also after an earlier stop.
func (c *clients) start(ctx context.Context) {
	booking, cancel := context.WithCancel(ctx)
	c.cancel = cancel
	for range parallel {
		c.group.Go(func() {
			for booking.Err() == nil {
				if err := c.book(ctx); err != nil {
					c.mu.Lock()
					c.failure = err
					c.mu.Unlock()
					return
				}
			}
		})
	}
}

func (c *clients) stop() {
	c.cancel()
	c.group.Wait()
}

// book books the next free time and repeats the request, with the same key, until a server
// acknowledges it.
func (c *clients) book(ctx context.Context) error {
	n := c.next.Add(1)
	start := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(n) * 15 * time.Minute)
	body := fmt.Sprintf(`{"appointment": {"practitioner_id": %d, "reason": "Exam", "start_time": %q, "finish_time": %q}}`,
		c.practitioner, start.Format(time.RFC3339), start.Add(15*time.Minute).Format(time.RFC3339))
	for {
		var created struct {
			Appointment struct {
				ID int64 `json:"id"`
			} `json:"appointment"`
		}
		switch status, err := c.send(ctx, http.MethodPost, "/v1/appointments", body, "drill-"+strconv.FormatInt(n, 10), &created); {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil && status == http.StatusCreated:
			c.mu.Lock()
			c.ids[created.Appointment.ID] = true
			c.mu.Unlock()
			c.booked.Add(1)
			return nil
		case err == nil && status != http.StatusServiceUnavailable && status != http.StatusConflict:
			return fmt.Errorf("booking %d: status %d", n, status)
		}
		c.repeated.Add(1)
		time.Sleep(20 * time.Millisecond)
	}
}

// verify fails unless the server holds exactly the acknowledged bookings.
func (c *clients) verify(ctx context.Context) error {
	if c.failure != nil {
		return c.failure
	}
	held := map[int64]bool{}
	for page := 1; ; page++ {
		var list struct {
			Appointments []struct {
				ID int64 `json:"id"`
			} `json:"appointments"`
		}
		if status, err := c.send(ctx, http.MethodGet, "/v1/appointments?per_page=100&page="+strconv.Itoa(page), "", "", &list); err != nil || status != http.StatusOK {
			return fmt.Errorf("list appointments: status %d: %w", status, err)
		}
		if len(list.Appointments) == 0 {
			break
		}
		for _, a := range list.Appointments {
			held[a.ID] = true
		}
	}
	for id := range c.ids {
		if !held[id] {
			return fmt.Errorf("the server lost appointment %d", id)
		}
	}
	if len(held) != len(c.ids) {
		return fmt.Errorf("the server holds %d appointments, acknowledged were %d", len(held), len(c.ids))
	}
	return nil
}

// send sends a request and decodes a successful response.
func (c *clients) send(ctx context.Context, method, path, body, key string, into any) (status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, c.url+path, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	request.Header.Set("User-Agent", "drill/1.0")
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Idempotency-Key", key)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	if response.StatusCode >= http.StatusBadRequest {
		_, err = io.Copy(io.Discard, response.Body)
		return response.StatusCode, err
	}
	return response.StatusCode, json.NewDecoder(response.Body).Decode(into)
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// follower keeps a copy of all appointments by a snapshot and the change feed.
type follower struct {
	load  *load
	token string

	mu        sync.Mutex
	copied    map[int64]appointment
	cursor    string // "" without a snapshot
	snapshots int
}

// run follows the changes until the load stops.
func (f *follower) run(ctx context.Context) {
	for !f.load.stopped(ctx) {
		f.advance(ctx)
	}
}

// advance takes a snapshot, or applies the next page of changes.
func (f *follower) advance(ctx context.Context) {
	f.mu.Lock()
	cursor := f.cursor
	f.mu.Unlock()
	q := request{base: f.load.servers.proxy, path: "/v1/snapshot?resources=appointments", token: f.token}
	if cursor != "" {
		q.path = "/v1/changes?resources=appointments&include=record&limit=500&wait=1&cursor=" + cursor
	}
	r, _, ok := f.load.send(ctx, q)
	switch {
	case !ok:
	case cursor == "":
		f.snapshot(r)
	case r.status == http.StatusGone:
		if r.code != "cursor_expired" || !strings.Contains(string(r.body), "/v1/snapshot") {
			f.load.fail(&f.load.wrong, "a cursor from before: %s", r.body)
		}
		f.mu.Lock()
		f.cursor = ""
		f.mu.Unlock()
	case r.status != http.StatusOK:
		f.load.fail(&f.load.wrong, "the change feed: status %d: %s", r.status, r.body)
	default:
		f.apply(r)
	}
}

// snapshot begins the copy anew. A snapshot that broke off is taken again.
func (f *follower) snapshot(r response) {
	copied, cursor, whole := map[int64]appointment{}, "", false
	for line := range bytes.Lines(r.body) {
		var part struct {
			Cursor string
			End    bool
			Record *appointment
		}
		if err := json.Unmarshal(line, &part); err != nil {
			return
		}
		if part.Cursor != "" {
			cursor = part.Cursor
		}
		whole = part.End
		if part.Record != nil && !part.Record.Start.Before(firstDay) {
			copied[part.Record.ID] = *part.Record
		}
	}
	if whole {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.copied, f.cursor = copied, cursor
		f.snapshots++
	}
}

func (f *follower) apply(r response) {
	var page struct {
		Changes []struct {
			ID     json.Number
			Record *appointment
		}
		Meta struct{ Cursor string }
	}
	if err := json.Unmarshal(r.body, &page); err != nil {
		f.load.fail(&f.load.wrong, "the change feed: %v: %s", err, r.body)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range page.Changes {
		switch id, err := c.ID.Int64(); {
		case c.Record != nil && !c.Record.Start.Before(firstDay):
			f.copied[c.Record.ID] = *c.Record
		case c.Record == nil && err == nil:
			delete(f.copied, id)
		}
	}
	f.cursor = page.Meta.Cursor
}

// equals reports whether the copy has exactly these appointments.
func (f *follower) equals(want map[int64]appointment) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.EqualFunc(f.copied, want, func(a, b appointment) bool {
		return a.Start.Equal(b.Start) && a.Practitioner == b.Practitioner && a.State == b.State
	})
}

// receiver receives the events of a webhook.
type receiver struct {
	server http.Server

	mu       sync.Mutex
	seen     map[string]bool    // ids of events
	events   map[int64][]string // by appointment, each event once
	times    map[int64]time.Time
	repeated int
	disorder []string
}

// startReceiver starts a receiver and creates a webhook that leads to it.
func startReceiver(ctx context.Context, s *servers) (*receiver, error) {
	r := &receiver{seen: map[string]bool{}, events: map[int64][]string{}, times: map[int64]time.Time{}}
	r.server = http.Server{Handler: r, ReadHeaderTimeout: time.Minute}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", ours+"20:0")
	if err != nil {
		return nil, err
	}
	go func() { _ = r.server.Serve(l) }() // ends with stop
	_, err = s.command(ctx, "webhook", "create", "--user", administrator, "--url", "http://"+l.Addr().String(), "--event", "appointments.*")
	return r, err
}

func (r *receiver) stop() { _ = r.server.Close() }

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(q.Body)
	var event struct {
		ID, Event string
		At        time.Time `json:"changed_at"`
		Data      struct{ ID int64 }
	}
	if err := errors.Join(err, json.Unmarshal(body, &event)); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen[event.ID] {
		r.repeated++
		return
	}
	r.seen[event.ID] = true
	id := event.Data.ID
	if event.At.Before(r.times[id]) || event.Event == "appointments.created" && len(r.events[id]) > 0 {
		r.disorder = append(r.disorder, fmt.Sprintf("appointment %d: %s of %s after %v of %s", id, event.Event, event.At, r.events[id], r.times[id]))
	}
	r.events[id], r.times[id] = append(r.events[id], event.Event), event.At
}

// missing returns how many of these appointments have not had both events, created and updated.
func (r *receiver) missing(want map[int64]appointment) (missing int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id := range want {
		if len(r.events[id]) < 2 || r.events[id][0] != "appointments.created" {
			missing++
		}
	}
	return missing
}

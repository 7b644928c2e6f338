package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"

	"chairside/cmd/chairside-bench/load"
)

// equality compares a server's responses with Chairside's.
type equality struct {
	Workload  string `json:"workload"`
	Server    string `json:"server"`
	Compared  int    `json:"compared"`
	Identical int    `json:"identical"` // byte for byte; the others are equivalent
}

// reply is a server's response.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// send sends a request to the server.
func (e entry) send(ctx context.Context, r load.Request) (reply, error) {
	request, err := http.NewRequestWithContext(ctx, r.Method, e.url+r.Path, strings.NewReader(r.Body))
	if err != nil {
		return reply{}, err
	}
	request.Header.Set("User-Agent", load.UserAgent)
	request.Header.Set("Authorization", "Bearer "+e.token)
	if r.Body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return reply{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return reply{response.StatusCode, response.Header, body}, err
}

// sameHeaders are the headers that every server sends.
var sameHeaders = []string{
	"Access-Control-Allow-Origin", "Access-Control-Allow-Methods", "Access-Control-Allow-Headers", "Access-Control-Expose-Headers",
	"X-OAuth-Scopes", "Content-Type", "Cache-Control", "Vary",
}

// generatedMembers are the members that differ between new appointments.
var generatedMembers = []string{"id", "start_time", "finish_time", "pending_at", "created_at", "updated_at"}

// compare sends samples of each workload to all servers of a dataset, and fails if a
// response is not equivalent to Chairside's on PostgreSQL.
func (o *runCommand) compare(ctx context.Context, d *dataset) ([]equality, error) {
	var all []equality
	for _, w := range o.chosen() {
		var requests []load.Request
		if !w.Writes {
			made, err := d.requests(ctx, w)
			if err != nil {
				return nil, err
			}
			requests = made[:min(o.Samples, len(made))]
		}
		for _, e := range d.entries[1:] {
			if !w.on(e.name) {
				continue
			}
			var equal equality
			var err error
			if w.Writes {
				equal, err = d.compareBooking(ctx, w, e)
			} else {
				equal, err = d.compareReads(ctx, w, e, requests)
			}
			if err != nil {
				return nil, fmt.Errorf("%s of size %s, %s: %w", w.ID, d.size.Name, e.name, err)
			}
			all = append(all, equal)
		}
	}
	return all, nil
}

// compareReads sends requests to Chairside and to another server, and compares the
// responses.
func (d *dataset) compareReads(ctx context.Context, w workload, e entry, requests []load.Request) (equality, error) {
	equal := equality{Workload: w.ID, Server: e.name}
	for _, r := range requests {
		ours, err := d.entries[0].send(ctx, r)
		if err != nil {
			return equal, err
		}
		theirs, err := e.send(ctx, r)
		if err != nil {
			return equal, err
		}
		if err := ours.same(theirs, nil); err != nil {
			return equal, fmt.Errorf("%s: %w", r.Path, err)
		}
		equal.Compared++
		if bytes.Equal(ours.body, theirs.body) {
			if bodyTag(ours) != bodyTag(theirs) {
				return equal, fmt.Errorf("%s: the same body has a different ETag", r.Path)
			}
			equal.Identical++
		}
	}
	return equal, nil
}

// bodyTag returns the part of a response's tag that is the hash of the body: Chairside's tags of
// lists go on with a position in the change feed.
func bodyTag(r reply) string {
	tag, _, _ := strings.Cut(strings.TrimSuffix(r.header.Get("ETag"), `"`), ".")
	return tag
}

// compareBooking books one time with each server, for the same patient and practitioner,
// and then the same time again, which must be refused.
func (d *dataset) compareBooking(ctx context.Context, w workload, e entry) (equality, error) {
	equal := equality{Workload: w.ID, Server: e.name}
	slot := d.diary.next
	requests := d.diary.bookings(2 * len(d.diary.practitioners))
	first, second := requests[0], requests[len(d.diary.practitioners)]
	second.Body = strings.Replace(first.Body, timesOf(first.Body), timesOf(second.Body), 1)
	for _, status := range []int{http.StatusCreated, http.StatusConflict} {
		ours, err := d.entries[0].send(ctx, first)
		if err != nil {
			return equal, err
		}
		theirs, err := e.send(ctx, second)
		if err != nil {
			return equal, err
		}
		if ours.status != status || theirs.status != status {
			return equal, fmt.Errorf("statuses %d and %d, not %d: %s", ours.status, theirs.status, status, theirs.body)
		}
		if status == http.StatusCreated {
			if err := ours.same(theirs, generatedMembers); err != nil {
				return equal, err
			}
			equal.Compared++
		}
	}
	// Removes the hand-written server's booking and keeps Chairside's earlier one.
	return equal, d.unbook(ctx, slot+len(d.diary.practitioners))
}

// timesOf returns the times in a booking's body.
func timesOf(body string) string { return body[:strings.Index(body, `,"practitioner_id"`)] }

// same returns an error that describes the first difference between two responses, or nil.
// It ignores the members named in except.
func (r reply) same(o reply, except []string) error {
	if r.status != o.status {
		return fmt.Errorf("status %d, not %d: %.300s", o.status, r.status, o.body)
	}
	for _, name := range sameHeaders {
		if got, want := o.header.Get(name), r.header.Get(name); got != want {
			return fmt.Errorf("the header %s is %q, not %q", name, got, want)
		}
	}
	if bytes.Equal(r.body, o.body) {
		return nil
	}
	want, err := decode(r.body, except)
	if err != nil {
		return err
	}
	got, err := decode(o.body, except)
	if err != nil {
		return err
	}
	if at, ok := difference("", want, got); ok {
		return fmt.Errorf("the responses differ at %s", at)
	}
	return nil
}

// decode parses JSON without losing digits.
func decode(body []byte, except []string) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var value map[string]any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	for _, member := range value {
		if record, ok := member.(map[string]any); ok {
			for _, name := range except {
				delete(record, name)
			}
		}
	}
	return value, nil
}

// difference returns the path of the first difference, without the values.
func difference(path string, a, b any) (string, bool) {
	if x, ok := a.(map[string]any); ok {
		if y, ok := b.(map[string]any); ok && len(x) == len(y) {
			for name := range x {
				if at, ok := difference(path+"."+name, x[name], y[name]); ok {
					return at, true
				}
			}
			return "", false
		}
	}
	if x, ok := a.([]any); ok {
		if y, ok := b.([]any); ok && len(x) == len(y) {
			for i := range x {
				if at, ok := difference(fmt.Sprintf("%s[%d]", path, i), x[i], y[i]); ok {
					return at, true
				}
			}
			return "", false
		}
	}
	return path, !reflect.DeepEqual(a, b)
}

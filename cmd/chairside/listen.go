package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"chairside/internal/config"
	"chairside/internal/events/webhook"
)

type listenCommand struct{ config.ListenFlags }

// Help is the text of --help.
func (listenCommand) Help() string {
	return `For developing a receiver of webhooks on a machine that the server cannot reach. Follows the change feed from now and sends each change to a local URL, with the body and the headers of a webhook; "user" is null, because the feed does not say who made a change. Each change is sent once: what the receiver refuses is not repeated.

Prints the signing secret, then a line for each change, without its data.

  chairside listen --forward-to http://localhost:3000/hooks --event 'patients.*'

The token needs to read what it listens to. It comes from the environment variable CHAIRSIDE_TOKEN or from --token-file, never from an argument.`
}

const (
	// feedWait is how long a request waits for the next change.
	feedWait = 30 * time.Second
	// receiverTime is how long a receiver may take, as for webhooks.
	receiverTime = 15 * time.Second
	// retryAfter is the pause after a request to the server has failed.
	retryAfter = 2 * time.Second
)

// errCursor means that the feed does not continue after a cursor.
var errCursor = errors.New("the cursor of the change feed has expired")

// feedPage is a page of the change feed.
type feedPage struct {
	Changes []struct {
		Resource  string
		ID        json.RawMessage
		Event     string // created, updated or deleted
		Version   int64
		ChangedAt string `json:"changed_at"`
		Record    json.RawMessage
	}
	Meta struct{ Cursor string }
}

// Run forwards changes until it is interrupted.
func (l *listenCommand) Run(c *console) error {
	listen, err := l.Read()
	if err != nil {
		return err
	}
	if message := webhook.CheckEvents(listen.Events); message != "" {
		return config.Mistakes{"--event " + message}
	}
	secret, id := webhook.NewSecret(), uuid.New()
	server := newClient(listen.Client)
	receiver := &http.Client{Timeout: receiverTime, CheckRedirect: server.http.CheckRedirect}
	page, err := readFeed(c, server, "")
	if err != nil {
		return err
	}
	fmt.Fprintf(c.out, "Signing secret  %s\nForwarding      %s to %s\n", secret, strings.Join(listen.Events, " "), listen.ForwardTo)
	sent := 0
	for {
		next, err := readFeed(c, server, page.Meta.Cursor)
		if errors.Is(err, errCursor) { // the database was restored: what came before is unknown
			next, err = readFeed(c, server, "")
		}
		if err != nil && c.Err() == nil {
			pause := retryAfter
			if refused, ok := errors.AsType[*refusedError](err); ok {
				if refused.status == http.StatusUnauthorized || refused.status == http.StatusForbidden {
					return err
				}
				pause = max(pause, refused.after)
			}
			fmt.Fprintf(c.err, "chairside: %v\n", err)
			wait(c, pause)
			continue
		}
		if c.Err() != nil {
			fmt.Fprintf(c.err, "sent %s\n", count(sent, "change"))
			return nil
		}
		for _, change := range next.Changes {
			event := change.Resource + "." + change.Event
			if !webhook.Wants(listen.Events, change.Resource, change.Event) {
				continue
			}
			data := change.Record
			if data == nil {
				data = json.RawMessage(`{"id":` + string(change.ID) + `}`)
			}
			body, err := json.Marshal(webhook.Payload{
				ID: webhook.EventID(id, strconv.FormatInt(change.Version, 10)), Event: event, Object: change.Resource, At: change.ChangedAt, Data: data,
			})
			if err != nil {
				return err
			}
			fmt.Fprintf(c.out, "%s  %s %s  %s\n", time.Now().Format(time.TimeOnly), event, strings.Trim(string(change.ID), `"`), forward(c, receiver, listen.ForwardTo, secret, body))
			sent++
		}
		page = next
	}
}

// readFeed returns the changes after a cursor, or, without one, the end of the feed.
func readFeed(c *console, server *client, cursor string) (page feedPage, err error) {
	address := server.Server + "/v1/changes"
	if cursor != "" {
		address += "?" + url.Values{"cursor": {cursor}, "include": {"record"}, "wait": {strconv.Itoa(int(feedWait.Seconds()))}}.Encode()
	}
	response, body, err := server.send(c, http.MethodGet, address, nil, nil)
	if err != nil {
		return page, err
	}
	switch response.StatusCode {
	case http.StatusOK:
	case http.StatusGone:
		return page, errCursor
	default:
		return page, failure(response, body)
	}
	return page, json.Unmarshal(body, &page)
}

// forward sends an event to the receiver and says what came of it.
func forward(ctx context.Context, receiver *http.Client, to, secret string, body []byte) string {
	var payload webhook.Payload
	if err := json.Unmarshal(body, &payload); err != nil {
		return err.Error()
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return err.Error()
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", webhook.UserAgent)
	begin := time.Now()
	for name, value := range webhook.Sign(payload.ID, begin, body, secret) {
		r.Header.Set(name, value)
	}
	response, err := receiver.Do(r)
	if err != nil {
		return "failed: " + err.Error()
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 1<<20)) // only the status counts
	return fmt.Sprintf("%s in %d ms", response.Status, time.Since(begin).Milliseconds())
}

// wait waits, or until the command is interrupted.
func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

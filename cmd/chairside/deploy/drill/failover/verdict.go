package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"chairside/cmd/chairside/deploy/drill/internal/drill"
)

// settleTime is how long the change feed and the webhook may take to catch up.
const settleTime = time.Minute

// verify stops the clients and fails unless everything that they were told holds.
func (l *load) verify(ctx context.Context) error {
	l.once.Do(func() { close(l.stopping) })
	l.group.Wait()
	if err := l.replay(ctx); err != nil {
		return err
	}
	held, doubles, err := l.list(ctx)
	if err != nil {
		return err
	}
	lost := 0
	for _, b := range l.booked {
		if a, there := held[b.id]; !there || a.slot() != b.slot {
			lost++
		}
	}
	var failures []string
	check := func(ok bool, name, format string, arguments ...any) {
		found := fmt.Sprintf(format, arguments...)
		fmt.Printf("%-36s %s\n", name, found)
		if !ok {
			failures = append(failures, name+": "+found)
		}
	}
	fmt.Println()
	check(lost == 0 || *async, "acknowledged bookings lost", "%d of %d", lost, len(l.booked))
	check(doubles == 0 && (len(held) == len(l.booked)-lost || *async), "slots booked twice", "%d; %d bookings held", doubles, len(held))
	for until := time.Now().Add(settleTime); time.Now().Before(until) && ctx.Err() == nil; {
		l.follower.advance(ctx)
		if l.follower.equals(held) && l.receiver.missing(held) == 0 {
			break
		}
	}
	check(l.follower.equals(held), "copy by snapshot and change feed", "%d of %d appointments, %d snapshots", len(l.follower.copied), len(held), l.follower.snapshots)
	missing := l.receiver.missing(held)
	check(missing == 0 || *async, "webhook", "%d events, %d of them again, for %d appointments; %d lack one", len(l.receiver.seen), l.receiver.repeated, len(held), missing)
	check(len(l.receiver.disorder) == 0, "webhook's events out of order", "%d %s", len(l.receiver.disorder), strings.Join(l.receiver.disorder[:min(3, len(l.receiver.disorder))], "; "))
	l.servers.stop() // which writes what they have of the audit log
	_, err = l.servers.command(ctx, "restore-check", l.servers.databaseURL)
	check(err == nil, "chairside restore-check", "%s", outcome(err))
	c := l.counts()
	check(c.other == 0, "failures other than the 503", "%d of %d requests", c.other, c.requests)
	check(c.wrong == 0, "wrong responses", "%d", c.wrong)
	if len(failures) > 0 {
		return fmt.Errorf("the drill failed:\n%s\n%s", strings.Join(failures, "\n"), strings.Join(l.first, "\n"))
	}
	return nil
}

func outcome(err error) string {
	if err != nil {
		return err.Error()
	}
	return "whole: totals, audit log, rows"
}

// list returns the bookings that the servers hold, and how many are in a slot of another one.
func (l *load) list(ctx context.Context) (held map[int64]appointment, doubles int, err error) {
	held = map[int64]appointment{}
	slots := map[int64]bool{}
	token := l.follower.token
	for page := 1; ; page++ {
		var list struct{ Appointments []appointment }
		for {
			r, err := l.servers.send(ctx, request{base: l.servers.proxy, path: fmt.Sprintf("%s&per_page=100&page=%d", listPath, page), token: token})
			if err == nil && r.status == http.StatusOK {
				if err := json.Unmarshal(r.body, &list); err != nil {
					return nil, 0, err
				}
				break
			}
			if stopped := drill.Pause(ctx, retryPause); stopped != nil {
				return nil, 0, errors.Join(err, stopped)
			}
		}
		if len(list.Appointments) == 0 {
			return held, doubles, nil
		}
		for _, a := range list.Appointments {
			if slots[a.slot()] {
				doubles++
			}
			slots[a.slot()] = true
			held[a.ID] = a
		}
	}
}

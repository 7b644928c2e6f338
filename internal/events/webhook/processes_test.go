package webhook_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"chairside/ent/webhookdelivery"
	"chairside/internal/audit/trail"
	"chairside/internal/events/feed"
	"chairside/internal/events/webhook"
	"chairside/internal/store/storetest"
	"chairside/internal/test/harness"
	"chairside/internal/test/testkeys"
	"chairside/ogent"
)

// TestProcessesShareTheWork: processes with connections of their own deliver each event once as
// long as none dies, and the events of a record in order, while some attempts fail.
func TestProcessesShareTheWork(t *testing.T) {
	t.Parallel()
	for name, database := range map[string]func(testing.TB) string{"sqlite": harness.SQLite, "postgres": harness.Postgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := database(t)
			e := harness.Start(t, url, harness.Patient)
			const records, updates = 10, 12
			r, failed := receive(t), map[string]bool{}
			r.answers(func(w http.ResponseWriter, x received) {
				r.mu.Lock()
				defer r.mu.Unlock()
				if len(failed)%7 == 0 && !failed[x.ID] { // the first attempt of every seventh event
					w.WriteHeader(http.StatusInternalServerError)
				}
				failed[x.ID] = true
			})
			create(t, e, r.URL, "treatment_categories.updated")
			for range records {
				storetest.Exec(t, e.DB, "INSERT INTO treatment_categories (practice_id, name, created_at, updated_at) SELECT id, 'new-', created_at, updated_at FROM practices WHERE slug = 'demo'")
			}
			for range 3 {
				db := storetest.Open(t, url)
				db.Keys = testkeys.Keys()
				d := webhook.New(webhook.Options{DB: db, Feed: feed.New(db), Reads: ogent.Reads{Client: db.Ent, Keys: db.Keys}, Trail: trail.New(db, slog.New(slog.DiscardHandler)), AllowPrivate: true, Logger: slog.New(slog.NewJSONHandler(e.Log, nil))})
				d.Hurry(30*time.Second, 10*time.Second, 20*time.Millisecond)
				run(t, d)
			}
			for i := range updates {
				storetest.Exec(t, e.DB, fmt.Sprintf("UPDATE treatment_categories SET name = 'new-%d' WHERE name LIKE 'new-%%'", i))
			}
			started := time.Now()
			wait(t, "all events", func() bool {
				return storetest.Int(t, e.DB, "SELECT count(*) FROM webhook_deliveries WHERE succeeded") == records*updates
			})
			t.Logf("%d events in %v", records*updates, time.Since(started))
			again := storetest.Int(t, e.DB, "SELECT sum(attempt) FROM webhook_deliveries")
			if got := len(r.all()); got != again || got > records*updates+records*updates/7+1 {
				t.Errorf("%d requests for %d attempts of %d events", got, again, records*updates)
			}
			order := map[string][]string{}
			for _, x := range r.all() {
				record := fmt.Sprint(x.Data.ID)
				if seen := order[record]; len(seen) == 0 || seen[len(seen)-1] != x.ID {
					order[record] = append(seen, x.ID)
				}
			}
			for record, ids := range order {
				if stored := storedOrder(t, e, record); !slices.Equal(ids, stored) {
					t.Errorf("record %s: received %v, stored %v", record, ids, stored)
				}
			}
		})
	}
}

// TestResumedWebhooksContinue: events of a pause are delivered after it, also if nothing changes
// anymore.
func TestResumedWebhooksContinue(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		r := receive(t)
		id, _ := create(t, e, r.URL, "rooms.*")
		path, token := "/v1/webhooks/"+id, e.Token(t, "")
		e.Patch(t, path, token, `{"webhook": {"active": false}}`).Status(t, 200)
		storetest.Exec(t, e.DB, "UPDATE rooms SET name = 'x' WHERE id = (SELECT id FROM rooms ORDER BY id LIMIT 1)")
		d := deliverer(e)
		if err := d.Collect(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := storetest.Int(t, e.DB, "SELECT count(*) FROM webhook_deliveries"); n > 0 || len(r.all()) > 0 {
			t.Errorf("%d events were collected in the pause", n)
		}
		e.Patch(t, path, token, `{"webhook": {"active": true}}`).Status(t, 200)
		run(t, d)
		wait(t, "the event", func() bool { return len(r.all()) == 1 })
	})
}

// TestLostPositionContinuesFromNow: a webhook whose position the feed no longer has.
func TestLostPositionContinuesFromNow(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		r := receive(t)
		create(t, e, r.URL, "rooms.*")
		storetest.Exec(t, e.DB, "UPDATE webhooks SET feed_cursor = ''")
		run(t, deliverer(e))
		wait(t, "a new position", func() bool {
			return storetest.Int(t, e.DB, "SELECT count(*) FROM webhooks WHERE feed_cursor <> ''") == 1
		})
		storetest.Exec(t, e.DB, "UPDATE rooms SET name = 'x' WHERE id = (SELECT id FROM rooms ORDER BY id LIMIT 1)")
		wait(t, "the event", func() bool { return len(r.all()) == 1 })
	})
}

// TestDemoWebhookCanBeResumed: it takes its position then, and nothing is reported as missing.
func TestDemoWebhookCanBeResumed(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		r := receive(t)
		id := first(t, e, "SELECT id FROM webhooks WHERE practice_id = (SELECT id FROM practices WHERE slug = 'demo')")
		e.Patch(t, "/v1/webhooks/"+id, e.Token(t, ""), `{"webhook": {"url": "`+r.URL+`", "events": ["rooms.*"], "active": true}}`).Status(t, 200)
		run(t, deliverer(e))
		wait(t, "a position", func() bool { return first(t, e, "SELECT feed_cursor FROM webhooks WHERE active") != "" })
		storetest.Exec(t, e.DB, "UPDATE rooms SET name = 'x' WHERE id = (SELECT id FROM rooms ORDER BY id LIMIT 1)")
		wait(t, "the event", func() bool { return len(r.all()) == 1 })
		if strings.Contains(e.Log.String(), "may be missing") {
			t.Error("the log says that changes may be missing")
		}
	})
}

// TestRestoredDatabaseContinues: the events of changes since the copy are sent, though the feed no
// longer takes the cursor.
func TestRestoredDatabaseContinues(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		r := receive(t)
		create(t, e, r.URL, "rooms.*")
		cursor := first(t, e, "SELECT feed_cursor FROM webhooks WHERE active")
		storetest.Exec(t, e.DB, "UPDATE feed_state SET epoch = 'that of the restored database'")
		storetest.Exec(t, e.DB, "UPDATE rooms SET name = 'x' WHERE id = (SELECT id FROM rooms ORDER BY id LIMIT 1)")
		e.Get(t, "/v1/changes?cursor="+url.QueryEscape(cursor), e.Token(t, "")).Error(t, 410, "cursor_expired")
		run(t, deliverer(e))
		wait(t, "the event", func() bool { return len(r.all()) == 1 })
	})
}

// TestFailuresOfChairsideDoNotCount: a record that cannot be read is sent later, and the receiver
// has not failed.
func TestFailuresOfChairsideDoNotCount(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		r := receive(t)
		create(t, e, r.URL, "rooms.*")
		zone := first(t, e, "SELECT time_zone FROM practices WHERE slug = 'demo'")
		storetest.Exec(t, e.DB, "UPDATE practices SET time_zone = 'Europe/Nowhere' WHERE slug = 'demo'")
		storetest.Exec(t, e.DB, "UPDATE rooms SET name = 'x' WHERE id = (SELECT id FROM rooms ORDER BY id LIMIT 1)")
		run(t, deliverer(e))
		wait(t, "two tries", func() bool { return strings.Count(e.Log.String(), "cannot read the record") >= 2 })
		storetest.Exec(t, e.DB, "UPDATE practices SET time_zone = $1 WHERE slug = 'demo'", zone)
		wait(t, "the event", func() bool { return len(r.all()) == 1 })
		wait(t, "the outcome", func() bool {
			return storetest.Int(t, e.DB, "SELECT count(*) FROM webhooks WHERE failed_deliveries = 0 AND successful_deliveries = 1") == 1
		})
		if n := storetest.Int(t, e.DB, "SELECT max(attempt) FROM webhook_deliveries"); n != 1 {
			t.Errorf("%d attempts are counted, want 1", n)
		}
	})
}

// TestLogIsSwept: old entries go, and all of a deleted webhook.
func TestLogIsSwept(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		r, token := receive(t), e.Token(t, "")
		id, _ := create(t, e, r.URL, "rooms.*")
		d, ctx := deliverer(e), e.As(t, "demo")
		row, err := e.DB.Ent.Webhook.Get(ctx, uuid.MustParse(id))
		if err != nil {
			t.Fatal(err)
		}
		entries := func(want int) {
			t.Helper()
			d.Sweep(ctx)
			for _, table := range []string{"webhook_deliveries", "webhook_attempts"} {
				if n := storetest.Int(t, e.DB, "SELECT count(*) FROM "+table); n != want {
					t.Errorf("%d rows of %s, want %d", n, table, want)
				}
			}
		}
		for range 2 {
			if _, err := d.Test(ctx, row); err != nil {
				t.Fatal(err)
			}
		}
		entries(2)
		if err := e.DB.Ent.WebhookDelivery.Update().SetSettledAt(time.Now().AddDate(0, 0, -15)).Exec(ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Test(ctx, row); err != nil {
			t.Fatal(err)
		}
		entries(1)
		// An event that waits is dropped 14 days after it was due, not after its change.
		storetest.Exec(t, e.DB, `INSERT INTO webhook_deliveries (practice_id, webhook_id, event_id, event, resource, record_id, changed_at, due_at, leased_until, attempt, succeeded)
			SELECT practice_id, webhook_id, 'evt_1', 'rooms.updated', 'rooms', '1', created_at, due_at, leased_until, 0, false FROM webhook_deliveries, practices WHERE practices.id = practice_id`)
		if err := e.DB.Ent.WebhookDelivery.Update().Where(webhookdelivery.SettledAtIsNil()).SetDueAt(time.Now().AddDate(0, 0, -13)).Exec(ctx); err != nil {
			t.Fatal(err)
		}
		waiting := func(want int) {
			t.Helper()
			d.Sweep(ctx)
			if n := storetest.Int(t, e.DB, "SELECT count(*) FROM webhook_deliveries WHERE settled_at IS NULL"); n != want {
				t.Errorf("%d events wait, want %d", n, want)
			}
		}
		waiting(1)
		if err := e.DB.Ent.WebhookDelivery.Update().Where(webhookdelivery.SettledAtIsNil()).SetDueAt(time.Now().AddDate(0, 0, -15)).Exec(ctx); err != nil {
			t.Fatal(err)
		}
		waiting(0)
		e.Delete(t, "/v1/webhooks/"+id, token).Status(t, 204)
		entries(0)
	})
}

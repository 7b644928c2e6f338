package webhook_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"

	"chairside/internal/events/webhook"
	"chairside/internal/store/storetest"
	"chairside/internal/test/harness"
)

// collected makes a webhook to a URL with n deliveries that are due, of n records.
func collected(t *testing.T, e *harness.Env, d *webhook.Deliverer, url string, n int) uuid.UUID {
	t.Helper()
	id, _ := create(t, e, url, "treatment_categories.*")
	for range n {
		storetest.Exec(t, e.DB, "INSERT INTO treatment_categories (practice_id, name, created_at, updated_at) SELECT id, 'new', created_at, updated_at FROM practices WHERE slug = 'demo'")
	}
	if err := d.Collect(t.Context()); err != nil {
		t.Fatal(err)
	}
	return uuid.MustParse(id)
}

// TestLeasesAreNotShared: a process that was slow has the number of its own lease, not that of
// the process that has the delivery since.
func TestLeasesAreNotShared(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		r := receive(t)
		r.answers(func(w http.ResponseWriter, _ received) { w.WriteHeader(http.StatusInternalServerError) })
		slow, fast := deliverer(e), deliverer(e)
		id := collected(t, e, slow, r.URL, 1)
		attempt, err := slow.Later(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		storetest.Exec(t, e.DB, "UPDATE webhook_deliveries SET leased_until = changed_at")
		if n, err := fast.Claim(t.Context(), id); err != nil || n != 1 {
			t.Fatalf("claimed %d, %v", n, err)
		}
		if err := attempt(); err != nil {
			t.Fatal(err)
		}
		if n := storetest.Int(t, e.DB, "SELECT count(*) FROM webhook_attempts"); n != 0 {
			t.Errorf("%d attempts are logged of a lease that had ended", n)
		}
		if n, err := slow.Claim(t.Context(), id); err != nil || n != 0 {
			t.Errorf("claimed %d deliveries that another process holds, %v", n, err)
		}
	})
}

// TestNothingIsSentAtTheEndOfALease: another process could send it at the same time.
func TestNothingIsSentAtTheEndOfALease(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		r, d := receive(t), deliverer(e)
		d.Hurry(900*time.Millisecond, time.Second, time.Millisecond)
		id := collected(t, e, d, r.URL, 1)
		attempt, err := d.Later(t.Context(), id)
		if err == nil {
			err = attempt()
		}
		if err != nil || len(r.all()) != 0 {
			t.Errorf("%d requests, %v", len(r.all()), err)
		}
		if n := storetest.Int(t, e.DB, "SELECT max(attempt) FROM webhook_deliveries"); n != 0 {
			t.Errorf("%d attempts are counted", n)
		}
		d.Hurry(3*time.Second, time.Second, time.Millisecond)
		wait(t, "the next claim", func() bool {
			n, err := d.Claim(t.Context(), id)
			return err == nil && n == 1
		})
	})
}

// TestUnreadableDeliveriesAreReleased: none of them keeps its lease or loses an attempt.
func TestUnreadableDeliveriesAreReleased(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		d := deliverer(e)
		id := collected(t, e, d, "https://example.com", 3)
		storetest.Exec(t, e.DB, "UPDATE webhooks SET events = '[1]'")
		if n, err := d.Claim(t.Context(), id); err == nil || n != 0 {
			t.Errorf("claimed %d, %v", n, err)
		}
		storetest.Exec(t, e.DB, `UPDATE webhooks SET events = '["*"]'`)
		if n := storetest.Int(t, e.DB, "SELECT sum(attempt) FROM webhook_deliveries"); n != 0 {
			t.Errorf("%d attempts are counted", n)
		}
		claimed := 0
		wait(t, "the next claims", func() bool {
			n, err := d.Claim(t.Context(), id)
			claimed += n
			return err == nil && claimed == 3
		})
	})
}

// TestWidenedWebhooksLoseNothing: a change is delivered whose event the webhook gets while the
// change is collected.
func TestWidenedWebhooksLoseNothing(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		id, _ := create(t, e, "https://example.com", "fees.*")
		d := deliverer(e)
		collect, err := d.CollectLater(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		e.Patch(t, "/v1/webhooks/"+id, e.Token(t, ""), `{"webhook": {"events": ["fees.*", "rooms.*"]}}`).Status(t, 200)
		storetest.Exec(t, e.DB, "UPDATE rooms SET name = 'x' WHERE id = (SELECT id FROM rooms ORDER BY id LIMIT 1)")
		if err := collect(); err == nil {
			t.Error("events that have changed since were collected")
		}
		if err := d.Collect(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := storetest.Int(t, e.DB, "SELECT count(*) FROM webhook_deliveries WHERE event = 'rooms.updated'"); n != 1 {
			t.Errorf("%d deliveries of the room", n)
		}
	})
}

// TestFailuresAtTheSameTimeCountOnce: otherwise one short outage would switch off a webhook to
// which many servers send.
func TestFailuresAtTheSameTimeCountOnce(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		const parallel = 55
		r, d := receive(t), patient(e)
		r.answers(func(w http.ResponseWriter, _ received) {
			wait(t, "all requests", func() bool { return len(r.all()) == parallel })
			w.WriteHeader(http.StatusBadGateway)
		})
		attempt, err := d.Later(t.Context(), collected(t, e, d, r.URL, parallel))
		if err == nil {
			err = attempt()
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := first(t, e, "SELECT failures_in_row || ' ' || failed_deliveries FROM webhooks WHERE active"); got != "1 55" {
			t.Errorf("failures in a row and failed attempts: %s", got)
		}
	})
}

// TestSlowReceiversLeaveRoom: four webhooks that take all the attempts they can get do not delay
// a fifth.
func TestSlowReceiversLeaveRoom(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		d, slow, fast := deliverer(e), receive(t), receive(t)
		d.Hurry(2*time.Minute, time.Minute, time.Millisecond)
		ended := make(chan struct{})
		slow.answers(func(http.ResponseWriter, received) { <-ended })
		for range 4 {
			create(t, e, slow.URL, "treatment_categories.*")
		}
		create(t, e, fast.URL, "rooms.updated")
		collected(t, e, d, slow.URL, 20)
		run(t, d)
		t.Cleanup(func() { close(ended) }) // before the deliverer waits for its attempts
		wait(t, "the slow ones", func() bool { return len(slow.all()) >= 20 })
		for i := range 3 {
			storetest.Exec(t, e.DB, fmt.Sprintf("UPDATE rooms SET name = 'x%d' WHERE id = (SELECT id FROM rooms ORDER BY id LIMIT 1)", i))
			wait(t, "the fast one", func() bool { return len(fast.all()) > i })
		}
	})
}

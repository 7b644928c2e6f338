package webhook_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/site"
	"chairside/ent/webhookdelivery"
	"chairside/internal/events/webhook"
	"chairside/internal/seed"
	"chairside/internal/store/storetest"
	"chairside/internal/test/harness"
)

// TestTagsLackTheSecret: the tag of a creation is that of the next read, which has no secret,
// also in a replay.
func TestTagsLackTheSecret(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		send := func() *harness.Response {
			return e.Do(t, harness.Request{
				Method: "POST", Path: "/v1/webhooks", Token: token, Body: json.RawMessage(`{"webhook": {"url": "https://example.com", "events": ["*"]}}`),
				Header: map[string]string{"Idempotency-Key": "9f1c1a5e-7c0f-4a53-a3b0-1f7d0f8ad6d2"},
			}).Status(t, 201)
		}
		made := send()
		again := send()
		path := "/v1/webhooks/" + made.Text(t, "webhook.id")
		read := e.Get(t, path, token).Status(t, 200)
		tag := read.Header.Get("ETag")
		if made.Header.Get("ETag") != tag || again.Header.Get("ETag") != tag || tag == "" {
			t.Errorf("tags of the creation %s, its replay %s, the read %s", made.Header.Get("ETag"), again.Header.Get("ETag"), tag)
		}
		if !strings.Contains(string(read.Raw), `"secret":null`) || made.Text(t, "webhook.secret") != again.Text(t, "webhook.secret") {
			t.Errorf("read %s, replayed %s", read.Raw, again.Raw)
		}
		e.Do(t, harness.Request{Method: "PATCH", Path: path, Token: token, Body: json.RawMessage(`{"webhook": {"events": ["rooms.*"]}}`), Header: map[string]string{"If-Match": tag}}).Status(t, 200)
		secret := made.Text(t, "webhook.secret")
		if log := e.Log.String(); strings.Contains(log, secret) {
			t.Error("the secret is in the log")
		}
		if n := storetest.Int(t, e.DB, "SELECT count(*) FROM audit_events WHERE resource = 'Webhook'"); n != 2 {
			t.Errorf("%d entries in the audit log", n)
		}
	})
}

// TestTokensSendOnlyWhatTheyRead: a webhook is no way around the scopes or the site of a token.
func TestTokensSendOnlyWhatTheyRead(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		narrow := e.Token(t, "webhook patient:read")
		body := func(event string) string {
			return `{"webhook": {"url": "https://example.com", "events": ["` + event + `"]}}`
		}
		for _, event := range []string{"*", "appointments.*", "invoices.created"} {
			e.Post(t, "/v1/webhooks", narrow, body(event)).Error(t, 403, "insufficient_scope")
		}
		e.Post(t, "/v1/webhooks", narrow, body("patients.*")).Status(t, 201)
		all, _ := create(t, e, "https://example.com", "*")
		path := "/v1/webhooks/" + all
		e.Patch(t, path, narrow, `{"webhook": {"url": "https://elsewhere.example.com"}}`).Error(t, 403, "insufficient_scope")
		e.Patch(t, path, narrow, `{"webhook": {"active": false}}`).Status(t, 200)
		e.Patch(t, path, narrow, `{"webhook": {"active": true}}`).Error(t, 403, "insufficient_scope")

		found, err := e.DB.Ent.Site.Query().Order(site.ByID()).First(e.As(t, "demo"))
		if err != nil {
			t.Fatal(err)
		}
		limited := e.TokenOf(t, seed.DemoAdmin, "", &found.ID)
		if r := e.Post(t, "/v1/webhooks", limited, body("*")); r.Code != http.StatusForbidden {
			t.Errorf("a token of one site: %d", r.Code)
		}
		if r := e.Patch(t, path, limited, body("*")); r.Code != http.StatusForbidden {
			t.Errorf("a token of one site: %d", r.Code)
		}
		e.Get(t, path, e.TokenOf(t, seed.SecondAdmin, "", nil)).Error(t, 404, "not_found")
	})
}

// TestRotationOverlaps: for a day, events have signatures of the old and of the new secret.
func TestRotationOverlaps(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		r, ctx := receive(t), e.As(t, "demo")
		id, old := create(t, e, r.URL, "rooms.*")
		d := deliverer(e)
		send := func() received {
			t.Helper()
			row, err := e.DB.Ent.Webhook.Get(ctx, uuid.MustParse(id))
			if err != nil {
				t.Fatal(err)
			}
			if result, err := d.Test(ctx, row); err != nil || !result.OK() {
				t.Fatalf("%+v %v", result, err)
			}
			return r.all()[len(r.all())-1]
		}
		var secret string
		e.Tx(t, ctx, func(tx *ent.Client) (err error) {
			secret, err = webhook.Rotate(ctx, e.DB.Keys, tx, uuid.MustParse(id))
			return err
		})
		x := send()
		verify(t, x, secret)
		if n := len(strings.Fields(x.header.Get("webhook-signature"))); n != 2 || secret == old {
			t.Errorf("%d signatures", n)
		}
		x.header.Set("X-Chairside-Signature", hexMAC(old, string(x.body)))
		verify(t, x, old)
		storetest.Exec(t, e.DB, "UPDATE webhooks SET previous_until = last_delivered_at")
		if x = send(); len(strings.Fields(x.header.Get("webhook-signature"))) != 1 {
			t.Errorf("after a day: %s", x.header.Get("webhook-signature"))
		}
		verify(t, x, secret)
	})
}

// TestRotationsAtOnceFollowEachOther: no secret is both replaced and still the previous one of
// a later secret that it never preceded.
func TestRotationsAtOnceFollowEachOther(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		ctx := e.As(t, "demo")
		id, _ := create(t, e, "https://example.com", "rooms.*")
		const rotations = 4
		var secrets [rotations]string
		var failed [rotations]error
		var running sync.WaitGroup
		for i := range rotations {
			running.Go(func() {
				failed[i] = e.DB.Tx(ctx, func(tx *ent.Client) (err error) {
					secrets[i], err = webhook.Rotate(ctx, e.DB.Keys, tx, uuid.MustParse(id))
					return err
				})
			})
		}
		running.Wait()
		if err := errors.Join(failed[:]...); err != nil {
			t.Fatal(err)
		}
		r := receive(t)
		storetest.Exec(t, e.DB, "UPDATE webhooks SET url = '"+r.URL+"'")
		row, err := e.DB.Ent.Webhook.Get(ctx, uuid.MustParse(id))
		if err != nil {
			t.Fatal(err)
		}
		if result, err := deliverer(e).Test(ctx, row); err != nil || !result.OK() {
			t.Fatalf("%+v %v", result, err)
		}
		x, signing := r.all()[0], 0
		for _, s := range secrets {
			if signs(t, x, s) {
				signing++
			}
		}
		if signing != 2 {
			t.Errorf("%d of the new secrets sign, want the last two", signing)
		}
	})
}

// TestWaitingEventsAreRetried: "Retry now" ends the pause of an event and of its webhook, and the later events of the record
// follow. Delivered and failed events can be redelivered, not retried, and the other way round.
func TestWaitingEventsAreRetried(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		r, ctx := receive(t), e.As(t, "demo")
		r.answers(func(w http.ResponseWriter, _ received) { w.WriteHeader(http.StatusServiceUnavailable) })
		id, _ := create(t, e, r.URL, "rooms.*")
		d := deliverer(e)
		d.Hurry(3*time.Second, time.Second, time.Hour, time.Hour, time.Hour)
		d.Hold(time.Hour)
		run(t, d)
		room := first(t, e, "SELECT CAST(id AS text) FROM rooms ORDER BY id LIMIT 1")
		storetest.Exec(t, e.DB, "UPDATE rooms SET name = 'Blue' WHERE id = '"+room+"'")
		read := func() (*ent.Webhook, *ent.WebhookDelivery) {
			t.Helper()
			hook, err := e.DB.Ent.Webhook.Get(ctx, uuid.MustParse(id))
			if err != nil {
				t.Fatal(err)
			}
			oldest, err := e.DB.Ent.WebhookDelivery.Query().Order(webhookdelivery.ByID()).First(ctx)
			if err != nil && !ent.IsNotFound(err) {
				t.Fatal(err)
			}
			return hook, oldest
		}
		failed := func(attempts int) func() bool {
			return func() bool {
				hook, oldest := read()
				return oldest != nil && oldest.Attempt == attempts && webhook.CanRetry(hook, oldest)
			}
		}
		wait(t, "the first attempt to fail", failed(1))
		storetest.Exec(t, e.DB, "UPDATE rooms SET name = 'Green' WHERE id = '"+room+"'")
		wait(t, "the second event", func() bool { return storetest.Int(t, e.DB, "SELECT count(*) FROM webhook_deliveries") == 2 })

		hook, oldest := read()
		if next := webhook.NextAttempt(hook, oldest); next == nil || time.Until(*next) < time.Minute {
			t.Errorf("the next attempt is at %v", next)
		}
		if err := d.Redeliver(ctx, hook, oldest); !errors.Is(err, webhook.ErrNotRedelivered) {
			t.Errorf("a waiting event is redelivered: %v", err)
		}
		if err := d.Retry(ctx, hook, oldest); err != nil {
			t.Fatal(err)
		}
		wait(t, "the second attempt to fail", failed(2))
		r.answers(nil)
		hook, oldest = read()
		if err := d.Retry(ctx, hook, oldest); err != nil {
			t.Fatal(err)
		}
		wait(t, "both events", func() bool {
			return storetest.Int(t, e.DB, "SELECT count(*) FROM webhook_deliveries WHERE succeeded") == 2
		})
		if all := r.all(); len(all) != 4 || all[2].ID != all[0].ID || all[3].ID == all[0].ID {
			t.Errorf("received %d requests", len(all))
		}
		hook, oldest = read()
		if err := d.Retry(ctx, hook, oldest); !errors.Is(err, webhook.ErrNotRetried) || webhook.NextAttempt(hook, oldest) != nil {
			t.Errorf("a delivered event is retried: %v", err)
		}
		if err := d.Redeliver(ctx, hook, oldest); err != nil {
			t.Error(err)
		}
		for command, want := range map[string]int{"retry": 2, "redeliver": 1} { // the audit log says who sent an event again
			const about = "SELECT count(*) FROM audit_events WHERE action = 'update' AND resource = 'WebhookDelivery' AND CAST(details AS text) LIKE '%' || $1 || '%'"
			if n := storetest.Int(t, e.DB, about, command); n != want {
				t.Errorf("%d entries of %s in the audit log, want %d", n, command, want)
			}
		}
		for change, x := range map[string]*ent.Webhook{"a paused webhook": {Events: hook.Events}, "an event that is no longer wanted": {Active: true, Events: []string{"patients.*"}}} {
			waiting := &ent.WebhookDelivery{Event: oldest.Event, Resource: oldest.Resource, Attempt: 1, DueAt: time.Now().Add(time.Hour)}
			if webhook.CanRetry(x, waiting) {
				t.Errorf("%s is retried", change)
			}
		}
	})
}

func TestWebhooksAreForAdministrators(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		for _, body := range []string{
			`{"webhook": {"url": "ftp://x", "events": ["*"]}}`, `{"webhook": {"url": "http://example.com", "events": ["*"]}}`, `{"webhook": {"url": "https://example.com", "events": ["patients"]}}`,
			`{"webhook": {"url": "https://example.com", "events": []}}`, `{"webhook": {"url": "https://example.com"}}`, `{"webhook": {"events": ["*"]}}`,
			`{"webhook": {"url": "https://example.com", "events": "patients.created"}}`,
		} {
			e.Post(t, "/v1/webhooks", token, body).Error(t, 422, "validation_failed")
		}
		id, secret := create(t, e, "https://example.com/hook", "*")
		if !strings.HasPrefix(secret, "whsec_") {
			t.Errorf("the secret is %q", secret)
		}
		e.Get(t, "/v1/webhooks", e.Token(t, "patient practice user")).Error(t, 403, "insufficient_scope")
		e.Delete(t, "/v1/webhooks/"+id, token).Status(t, 204)
		e.Get(t, "/v1/webhooks/"+id, token).Error(t, 404, "not_found")
	})
}

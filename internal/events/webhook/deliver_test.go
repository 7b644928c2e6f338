package webhook_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"chairside/ent/webhookdelivery"
	"chairside/internal/audit/trail"
	"chairside/internal/events/feed"
	"chairside/internal/events/webhook"
	"chairside/internal/store/storetest"
	"chairside/internal/test/harness"
	"chairside/ogent"
)

func TestMain(m *testing.M) { harness.Main(m) }

// received is one request of a receiver.
type received struct {
	header http.Header
	body   []byte
	ID     string `json:"id"`
	Event  string `json:"event"`
	Object string `json:"object"`
	Data   struct {
		ID        any    `json:"id"`
		LastName  string `json:"last_name"`
		FirstName string `json:"first_name"`
		Name      string `json:"name"`
	} `json:"data"`
	User *struct{ ID int64 } `json:"user"`
}

// receiver keeps what it receives and answers as told.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	got    []received
	answer func(http.ResponseWriter, received) // nil answers 200
}

func receive(t *testing.T) *receiver {
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, err := io.ReadAll(q.Body)
		x := received{header: q.Header, body: body}
		if err != nil || json.Unmarshal(body, &x) != nil {
			t.Errorf("received %q, %v", body, err)
		}
		r.mu.Lock()
		r.got = append(r.got, x)
		answer := r.answer
		r.mu.Unlock()
		if answer != nil {
			answer(w, x)
		}
	}))
	t.Cleanup(r.Close)
	return r
}

// all returns what was received.
func (r *receiver) all() []received {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}

// answers sets how the receiver answers.
func (r *receiver) answers(f func(http.ResponseWriter, received)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = f
}

// wait waits until a condition holds.
func wait(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for until := time.Now().Add(storetest.Timeout); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("waited too long for: ", what)
		}
	}
}

// create makes a webhook over HTTP.
func create(t *testing.T, e *harness.Env, url string, events ...string) (id, secret string) {
	t.Helper()
	body := map[string]any{"webhook": map[string]any{"url": url, "events": events}}
	r := e.Post(t, "/v1/webhooks", e.Token(t, ""), body).Status(t, 201)
	return r.Text(t, "webhook.id"), r.Text(t, "webhook.secret")
}

// patient returns a deliverer with the times of a server.
func patient(e *harness.Env) *webhook.Deliverer {
	return webhook.New(webhook.Options{
		DB: e.DB, Feed: feed.New(e.DB), Reads: ogent.Reads{Client: e.DB.Ent, Keys: e.DB.Keys, BaseURL: e.URL}, Trail: trail.New(e.DB, slog.New(slog.DiscardHandler)), AllowPrivate: true, Logger: slog.New(slog.NewJSONHandler(e.Log, nil)),
	})
}

// deliverer returns one that is in a hurry.
func deliverer(e *harness.Env) *webhook.Deliverer {
	d := patient(e)
	backOff := make([]time.Duration, 200)
	for i := range backOff {
		backOff[i] = 20 * time.Millisecond
	}
	d.Hurry(3*time.Second, time.Second, backOff...)
	return d
}

// run runs deliverers until the test ends.
func run(t *testing.T, all ...*webhook.Deliverer) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for _, d := range all {
		running.Go(func() { d.Run(ctx, func(error) {}, func(error) {}) })
	}
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
}

func hexMAC(key, message string) string {
	h := hmac.New(sha256.New, []byte(key))
	h.Write([]byte(message))
	return hex.EncodeToString(h.Sum(nil))
}

func TestEventsAreDelivered(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		r := receive(t)
		storetest.Exec(t, e.DB, "UPDATE rooms SET name = 'before'") // not delivered: it happened before
		id, secret := create(t, e, r.URL+"/hook?token=geheim", "rooms.updated", "fees.*")
		run(t, deliverer(e))
		token := e.Token(t, "")
		fee := e.Get(t, "/v1/fees?per_page=1&payment_plan_id="+first(t, e, "SELECT payment_plan_id FROM fees ORDER BY id LIMIT 1")+"&treatment_id="+first(t, e, "SELECT treatment_id FROM fees ORDER BY id LIMIT 1"), token).Status(t, 200).Text(t, "fees.0.id")
		e.Patch(t, "/v1/fees/"+fee, token, `{"fee": {"price_one": "77.50"}}`).Status(t, 200)
		room := first(t, e, "SELECT CAST(id AS text) FROM rooms ORDER BY id LIMIT 1")
		storetest.Exec(t, e.DB, "UPDATE rooms SET name = 'after' WHERE id = '"+room+"'")
		wait(t, "two events", func() bool { return len(r.all()) >= 2 })
		for _, x := range r.all() {
			switch x.Event {
			case "fees.updated":
				if x.User == nil || x.User.ID == 0 || x.Data.ID != fee || x.Object != "fees" {
					t.Errorf("of the API: %s", x.body)
				}
			case "rooms.updated":
				if x.User != nil || x.Data.ID != room || x.Data.Name != "after" {
					t.Errorf("by hand: %s", x.body)
				}
			default:
				t.Errorf("received %s", x.body)
			}
			verify(t, x, secret)
		}
		path := "/v1/webhooks/" + id
		wait(t, "the counts", func() bool { return e.Get(t, path, token).Text(t, "webhook.successful_deliveries") == "2" })
		shown := e.Get(t, path, token)
		if shown.Text(t, "webhook.secret") != "" || shown.Text(t, "webhook.failed_deliveries") != "0" || shown.Text(t, "webhook.last_delivered_at") == "" {
			t.Errorf("the webhook is %s", shown.Raw)
		}
		if log := e.Log.String(); strings.Contains(log, "geheim") || strings.Contains(log, secret) || strings.Contains(log, "77.50") {
			t.Error("the log has more than ids")
		}
	})
}

// TestSentRecordsAreAudited: who has seen a patient includes the receivers of webhooks.
func TestSentRecordsAreAudited(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		r := receive(t)
		id, _ := create(t, e, r.URL+"/hook", "patients.updated")
		log, logger := trail.New(e.DB, slog.New(slog.DiscardHandler)), slog.New(slog.DiscardHandler)
		run(t, webhook.New(webhook.Options{DB: e.DB, Feed: feed.New(e.DB), Reads: ogent.Reads{Client: e.DB.Ent, Keys: e.DB.Keys, BaseURL: e.URL}, Trail: log, AllowPrivate: true, Logger: logger}))
		token := e.Token(t, "")
		patient := e.Get(t, "/v1/patients?per_page=1", token).Status(t, 200).Text(t, "patients.0.id")
		e.Patch(t, "/v1/patients/"+patient, token, `{"patient": {"town": "Leeds"}}`).Status(t, 200)
		wait(t, "the event", func() bool {
			log.Flush(t.Context())
			return storetest.Int(t, e.DB, "SELECT count(*) FROM audit_events WHERE operation = 'sendWebhook'") > 0
		})
		e.Settle()
		seen := e.Get(t, "/v1/audit_events?action=read&patient_id="+patient, e.Token(t, "audit:read")).Status(t, 200)
		if text := string(seen.Raw); !strings.Contains(text, `"record_id":"`+id+`"`) || !strings.Contains(text, r.all()[0].ID) {
			t.Errorf("the log has %s", text)
		}
	})
}

// first returns the value of a query as text.
func first(t *testing.T, e *harness.Env, query string) string {
	t.Helper()
	return storetest.Value(t, e.DB.SQL, query)
}

// verify checks the signatures of a delivery.
func verify(t *testing.T, x received, secret string) {
	t.Helper()
	if got := x.header.Get("X-Chairside-Signature"); got != hexMAC(secret, string(x.body)) {
		t.Errorf("X-Chairside-Signature is %q", got)
	}
	if !signs(t, x, secret) {
		t.Errorf("webhook-signature is %q", x.header.Get("webhook-signature"))
	}
	if x.header.Get("webhook-id") != x.ID || x.ID == "" {
		t.Errorf("webhook-id is %q, the body's id %q", x.header.Get("webhook-id"), x.ID)
	}
}

// signs reports whether a delivery is signed with a secret.
func signs(t *testing.T, x received, secret string) bool {
	t.Helper()
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || len(key) < 24 {
		t.Fatalf("the secret has %d bytes, %v", len(key), err)
	}
	h := hmac.New(sha256.New, key)
	fmt.Fprintf(h, "%s.%s.%s", x.header.Get("webhook-id"), x.header.Get("webhook-timestamp"), x.body)
	return slices.Contains(strings.Fields(x.header.Get("webhook-signature")), "v1,"+base64.StdEncoding.EncodeToString(h.Sum(nil)))
}

// TestOrderOfARecordHolds: while the first event of a record fails, its later ones wait and
// those of other records go on. Two processes deliver.
func TestOrderOfARecordHolds(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		r := receive(t)
		create(t, e, r.URL, "treatment_categories.*")
		ids := [2]string{}
		for i := range ids {
			ids[i] = first(t, e, "INSERT INTO treatment_categories (practice_id, name, created_at, updated_at) SELECT id, 'v1', created_at, updated_at FROM practices WHERE slug = 'demo' RETURNING CAST(id AS text)")
		}
		failing := map[string]int{}
		r.answers(func(w http.ResponseWriter, x received) {
			if fmt.Sprint(x.Data.ID) != ids[0] {
				return
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			if failing[x.ID]++; failing[x.ID] < 4 { // each event of the record fails three times
				w.WriteHeader(500)
			}
		})
		run(t, deliverer(e), deliverer(e))
		for range 5 {
			for _, id := range ids {
				storetest.Exec(t, e.DB, "UPDATE treatment_categories SET name = 'v2' WHERE id = "+id)
			}
		}
		for _, id := range ids {
			storetest.Exec(t, e.DB, "DELETE FROM treatment_categories WHERE id = "+id)
		}
		settled := func() bool {
			return storetest.Int(t, e.DB, "SELECT count(*) FROM webhook_deliveries WHERE succeeded") == 14
		}
		wait(t, "all events", settled)
		for _, id := range ids {
			var order, distinct []string
			for _, x := range r.all() {
				if fmt.Sprint(x.Data.ID) == id && !slices.Contains(order, x.ID) {
					order, distinct = append(order, x.ID), append(distinct, x.Event)
				}
			}
			want := []string{"treatment_categories.created"}
			for range 5 {
				want = append(want, "treatment_categories.updated")
			}
			if want = append(want, "treatment_categories.deleted"); !slices.Equal(distinct, want) {
				t.Errorf("record %s: %v", id, distinct)
			}
			if stored := storedOrder(t, e, id); !slices.Equal(order, stored) {
				t.Errorf("record %s: received %v, stored %v", id, order, stored)
			}
		}
	})
}

// storedOrder returns the ids of a record's events in the order of the feed.
func storedOrder(t *testing.T, e *harness.Env, record string) (ids []string) {
	t.Helper()
	all, err := e.DB.Ent.WebhookDelivery.Query().Where(webhookdelivery.RecordID(record)).Order(webhookdelivery.ByID()).All(e.As(t, "demo"))
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range all {
		ids = append(ids, x.EventID)
	}
	return ids
}

// TestKilledProcessIsReplaced: what a killed process had leased is delivered once the lease
// has ended, and not before.
func TestKilledProcessIsReplaced(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		r := receive(t)
		id, _ := create(t, e, r.URL, "rooms.*")
		storetest.Exec(t, e.DB, "UPDATE rooms SET name = 'x' WHERE id = (SELECT id FROM rooms ORDER BY id LIMIT 1)")
		killed := deliverer(e)
		if err := killed.Collect(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n, err := killed.Claim(t.Context(), uuid.MustParse(id)); err != nil || n != 1 {
			t.Fatalf("claimed %d, %v", n, err)
		}
		if n, err := deliverer(e).Claim(t.Context(), uuid.MustParse(id)); err != nil || n != 0 {
			t.Fatalf("claimed %d of a leased delivery, %v", n, err)
		}
		run(t, deliverer(e))
		wait(t, "the event", func() bool { return len(r.all()) == 1 })
	})
}

// TestHostileReceivers: whatever a receiver does, a try ends, fails, and is logged.
func TestHostileReceivers(t *testing.T) {
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a redirect was followed") }))
	t.Cleanup(inside.Close)
	hijack := func(w http.ResponseWriter, talk func(net.Conn)) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		talk(conn)
	}
	stopped := make(chan struct{})
	t.Cleanup(func() { close(stopped) })
	for name, answer := range map[string]func(http.ResponseWriter, received){
		"500":      func(w http.ResponseWriter, _ received) { w.WriteHeader(500) },
		"redirect": func(w http.ResponseWriter, _ received) { w.Header().Set("Location", inside.URL); w.WriteHeader(307) },
		"reset": func(w http.ResponseWriter, _ received) {
			hijack(w, func(c net.Conn) { _ = c.(*net.TCPConn).SetLinger(0) })
		},
		"slow": func(http.ResponseWriter, received) {
			select {
			case <-time.After(5 * time.Second):
			case <-stopped:
			}
		},
		"endless headers": func(w http.ResponseWriter, _ received) {
			hijack(w, func(c net.Conn) {
				_, err := io.WriteString(c, "HTTP/1.1 200 OK\r\n")
				for err == nil {
					_, err = io.WriteString(c, "X-More: "+strings.Repeat("x", 1000)+"\r\n")
				}
			})
		},
		"no HTTP": func(w http.ResponseWriter, _ received) {
			hijack(w, func(c net.Conn) { _, _ = io.WriteString(c, "\x00\x01 hello\r\n\r\n") })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := harness.Start(t, harness.SQLite(t), harness.Patient)
			r := receive(t)
			r.answers(answer)
			id, _ := create(t, e, r.URL, "rooms.*")
			d := deliverer(e)
			row, err := e.DB.Ent.Webhook.Get(e.As(t, "demo"), uuid.MustParse(id))
			if err != nil {
				t.Fatal(err)
			}
			result, err := d.Test(t.Context(), row)
			if err != nil || result.OK() || result.Duration > storetest.Timeout {
				t.Errorf("%+v %v", result, err)
			}
			if result.Status == 0 && result.Err == "" {
				t.Error("no reason is given")
			}
			if n := storetest.Int(t, e.DB, "SELECT count(*) FROM webhook_attempts"); n != 1 {
				t.Errorf("%d attempts are logged", n)
			}
			if shown := e.Get(t, "/v1/webhooks/"+id, e.Token(t, "")); shown.Text(t, "webhook.failed_deliveries") != "1" {
				t.Errorf("the webhook is %s", shown.Raw)
			}
		})
	}
}

func TestHugeAnswersAreCut(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		r := receive(t)
		r.answers(func(w http.ResponseWriter, _ received) {
			for range 200 {
				if _, err := w.Write(slices.Repeat([]byte("\xff\x00é"), 10_000)); err != nil {
					return
				}
			}
		})
		id, _ := create(t, e, r.URL, "rooms.*")
		row, err := e.DB.Ent.Webhook.Get(e.As(t, "demo"), uuid.MustParse(id))
		if err != nil {
			t.Fatal(err)
		}
		if result, err := deliverer(e).Test(t.Context(), row); err != nil || !result.OK() {
			t.Errorf("%+v %v", result, err)
		}
		logged, err := e.DB.Ent.WebhookAttempt.Query().OnlyX(e.As(t, "demo")).OpenResponse(e.DB.Keys)
		if err != nil || logged == "" || len(logged) > 2048 {
			t.Errorf("%d characters are logged, %v", len(logged), err)
		}
	})
}

// TestFailuresSwitchAWebhookOff after 50 in a row; switched on again, it goes on from there.
func TestFailuresSwitchAWebhookOff(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		r := receive(t)
		r.answers(func(w http.ResponseWriter, _ received) { w.WriteHeader(503) })
		id, _ := create(t, e, r.URL, "rooms.*")
		run(t, deliverer(e))
		storetest.Exec(t, e.DB, "UPDATE rooms SET name = 'x' WHERE id = (SELECT id FROM rooms ORDER BY id LIMIT 1)")
		path, token := "/v1/webhooks/"+id, e.Token(t, "")
		wait(t, "the end", func() bool { return e.Get(t, path, token).Text(t, "webhook.active") == "false" })
		if failed := len(r.all()); failed < 50 || failed > 54 {
			t.Errorf("switched off after %d failures", failed)
		}
		if n := storetest.Int(t, e.DB, "SELECT count(*) FROM audit_events WHERE resource = 'Webhook' AND operation = 'sendWebhook'"); n != 1 {
			t.Errorf("%d entries in the audit log that it was switched off", n)
		}
		if !strings.Contains(e.Log.String(), "switched off: 50 attempts in a row failed") {
			t.Error("the log does not say so")
		}
		r.answers(nil)
		e.Patch(t, path, token, `{"webhook": {"active": true}}`).Status(t, 200)
		wait(t, "the event", func() bool { return e.Get(t, path, token).Text(t, "webhook.successful_deliveries") == "1" })
	})
}

// TestAShortOutageSwitchesNothingOff: while a receiver is down, its events are tried one at a
// time, and less and less often, however many events wait.
func TestAShortOutageSwitchesNothingOff(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		r := receive(t)
		id, _ := create(t, e, r.URL, "fees.*")
		r.answers(func(w http.ResponseWriter, _ received) { w.WriteHeader(503) })
		storetest.Exec(t, e.DB, "UPDATE fees SET duration_one = 35")
		waiting := "SELECT count(*) FROM webhook_deliveries WHERE settled_at IS NULL"
		run(t, patient(e))
		wait(t, "ten failures", func() bool { return len(r.all()) >= 10 })
		if n := storetest.Int(t, e.DB, waiting); n < 50 {
			t.Fatalf("only %d events wait", n)
		}
		path, token := "/v1/webhooks/"+id, e.Token(t, "")
		if shown := e.Get(t, path, token); shown.Text(t, "webhook.active") != "true" || len(r.all()) > 20 {
			t.Errorf("after %d attempts the webhook is %s", len(r.all()), shown.Raw)
		}
		r.answers(nil)
		e.Patch(t, path, token, `{"webhook": {"active": true}}`).Status(t, 200) // and what waits is due
		wait(t, "the events", func() bool { return storetest.Int(t, e.DB, waiting) == 0 })
	})
}

// TestEventsThatAreNoLongerWantedAreDropped: a webhook that gets other events and another URL
// does not send what waits there.
func TestEventsThatAreNoLongerWantedAreDropped(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		r := receive(t)
		id, _ := create(t, e, "http://127.0.0.1:9", "rooms.*")
		storetest.Exec(t, e.DB, "UPDATE rooms SET name = 'x' WHERE id = (SELECT id FROM rooms ORDER BY id LIMIT 1)")
		d := deliverer(e)
		if err := d.Collect(t.Context()); err != nil {
			t.Fatal(err)
		}
		e.Patch(t, "/v1/webhooks/"+id, e.Token(t, ""), map[string]any{"webhook": map[string]any{"url": r.URL, "events": []string{"fees.*"}}}).Status(t, 200)
		if n, err := d.Claim(t.Context(), uuid.MustParse(id)); err != nil || n != 0 {
			t.Errorf("claimed %d events, %v", n, err)
		}
		if n := storetest.Int(t, e.DB, "SELECT count(*) FROM webhook_deliveries"); n != 0 {
			t.Errorf("%d events wait", n)
		}
	})
}

package web_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"chairside/ent"
	"chairside/internal/events/webhook"
	"chairside/internal/seal"
	"chairside/internal/seed"
	"chairside/internal/server"
	"chairside/internal/store/storetest"
	"chairside/internal/test/harness"
	"chairside/internal/test/testkeys"
	"chairside/schema"
)

// TestWebhookPages follows an administrator from a new webhook to its log.
func TestWebhookPages(t *testing.T) {
	t.Parallel()
	for name, database := range map[string]func(testing.TB) string{"sqlite": harness.SQLite, "postgres": harness.Postgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := harness.Start(t, database(t), harness.Patient, func(o *server.Options) { o.WebhookAllowPrivate = true })
			checkWebhookPages(t, e)
		})
	}
}

// TestAdministratorsSeeThatAWebhookIsOff on every page, and other practices do not.
func TestAdministratorsSeeThatAWebhookIsOff(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		const notice = "A webhook was switched off"
		b := e.Browser(t).SignIn(seed.DemoAdmin)
		ctx := e.As(t, "demo")
		e.Tx(t, ctx, func(tx *ent.Client) error {
			return tx.Webhook.Create().SetURL("https://example.com").SetEvents([]string{"*"}).SetSecret(seal.Plain(webhook.NewSecret())).SetActive(false).SetDisabledReason("50 attempts in a row failed").Exec(ctx)
		})
		b.Get("/settings/tokens").Has(t, notice)
		b.Get("/reports/income").Has(t, notice)
		b.Get("/settings/webhooks").Lacks(t, notice)
		e.Browser(t).SignIn(seed.SecondAdmin).Get("/settings/tokens").Lacks(t, notice)
	})
}

func checkWebhookPages(t *testing.T, e *harness.Env) {
	t.Helper()
	storetest.Exec(t, e.DB, "DELETE FROM webhooks") // that of the demo
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		_, _ = w.Write([]byte("<b>short and stout</b>"))
	}))
	t.Cleanup(receiver.Close)
	const list = "/settings/webhooks"
	b := e.Browser(t).SignIn(seed.DemoAdmin)
	form := b.Get(list+"/new").Status(t, http.StatusOK).Form(t, list)
	b.Submit(form, url.Values{"url": {"example.com"}, "events": {}}).Status(t, http.StatusUnprocessableEntity).
		Has(t, "The URL must be an address such as https://example.com/hooks.", "The events must name at least one event.")
	made := b.Submit(form, url.Values{"url": {receiver.URL}, "events": {"patients.*"}}).Status(t, http.StatusOK)
	checkPage(t, made)
	secret := made.Value(t, "webhook-secret")
	id := regexp.MustCompile(list + `/([0-9a-f-]{36})`).FindStringSubmatch(string(made.Raw))[1]
	page := list + "/" + id
	b.Get(list).Has(t, receiver.URL, "patients.*", "Active").Lacks(t, secret)
	b.Get(page).Has(t, "No deliveries").Lacks(t, secret)

	b.Get(b.Post(page+"/test", nil).Redirect(t).String()).Status(t, http.StatusOK).
		Has(t, "webhook.test", "Failed", "418", "<b>short and stout</b>", "webhook-signature: v1,", receiver.URL).Lacks(t, secret)

	// The body of an event is patient data: its page is in the access log.
	storetest.Exec(t, e.DB, `INSERT INTO webhook_deliveries (practice_id, webhook_id, event_id, event, resource, record_id, changed_at, due_at, leased_until, attempt, settled_at, succeeded)
		SELECT practice_id, webhook_id, 'evt_1', 'patients.updated', 'patients', '4711', changed_at, due_at, leased_until, 1, settled_at, true FROM webhook_deliveries`)
	delivery := storetest.Value(t, e.DB.SQL, "SELECT max(id) FROM webhook_deliveries")
	storetest.Exec(t, e.DB, `INSERT INTO webhook_attempts (practice_id, delivery_id, at, headers, body, records, status, error, response, duration_ms)
		SELECT practice_id, `+delivery+`, at, headers, 'sealed:00000000:AA', '{"patients":{"ids":[4711]}}', 200, '', NULL, 7 FROM webhook_attempts`)
	attempt := storetest.Value(t, e.DB.SQL, "SELECT max(id) FROM webhook_attempts")
	storetest.Exec(t, e.DB, "UPDATE webhook_attempts SET body = $1 WHERE id = "+attempt,
		testkeys.Seal(storetest.Value(t, e.DB.SQL, "SELECT max(CAST(practice_id AS text)) FROM webhook_attempts"), "webhook_attempts", "body", attempt, `{"data":{"last_name":"Lovelace"}}`))
	b.Get(page).Has(t, "Deliveries of the last 14 days", "patients.updated", "Record 4711", "Delivered")
	b.Get(page+"/deliveries/"+delivery).Status(t, http.StatusOK).Has(t, "Lovelace", "7 ms")
	e.Settle()
	if log := e.Log.String(); !strings.Contains(log, "4711") || strings.Contains(log, "Lovelace") || strings.Contains(log, secret) {
		t.Error("the access log must have the record's id, and neither names nor secrets")
	}
	b.Get(b.Post(page+"/deliveries/"+delivery+"/redeliver", nil).Redirect(t).String()).Has(t, "The event will be delivered again.", "Waiting")
	if n := storetest.Int(t, e.DB, "SELECT count(*) FROM webhook_deliveries WHERE event_id = 'evt_1'"); n != 2 {
		t.Errorf("%d deliveries of the event", n)
	}

	// One that waits for its next attempt can be retried, and one that was delivered redelivered.
	storetest.Exec(t, e.DB, `INSERT INTO webhook_deliveries (practice_id, webhook_id, event_id, event, resource, record_id, changed_at, due_at, leased_until, attempt, succeeded)
		SELECT practice_id, webhook_id, 'evt_2', event, resource, '4712', changed_at, $1, leased_until, 3, false FROM webhook_deliveries WHERE id = `+delivery, time.Now().Add(time.Hour))
	waiting := page + "/deliveries/" + storetest.Value(t, e.DB.SQL, "SELECT max(id) FROM webhook_deliveries")
	b.Get(page+"/deliveries/"+delivery).Has(t, "Redeliver").Lacks(t, "Retry now")
	b.Get(waiting).Has(t, "Retry now", "Next attempt").Lacks(t, "Redeliver")
	b.Post(waiting+"/redeliver", nil).Status(t, http.StatusNotFound)
	b.Get(page).Has(t, "Next attempt")
	b.Get(b.Post(waiting+"/retry", nil).Redirect(t).String()).Has(t, "The event is being sent now.")
	b.Get(waiting).Lacks(t, "Retry now")
	b.Get(b.Post(waiting+"/retry", nil).Redirect(t).String()).Status(t, http.StatusOK).Has(t, "Waiting")
	storetest.Exec(t, e.DB, "DELETE FROM webhook_deliveries WHERE event_id = 'evt_2'")

	b.Get(b.Post(page+"/pause", nil).Redirect(t).String()).Has(t, "Webhook paused", "Paused")
	b.Get(b.Post(page+"/deliveries/"+delivery+"/redeliver", nil).Redirect(t).String()).Has(t, "The event will be delivered again when the webhook is resumed.")
	b.Get(b.Post(page+"/resume", nil).Redirect(t).String()).Has(t, "Webhook resumed", "Active")
	b.Get(page+"/deliveries/"+delivery).Has(t, "Redeliver")
	b.Post(page, url.Values{"url": {receiver.URL}, "events": {"rooms.*"}}).Redirect(t)
	b.Get(page+"/deliveries/"+delivery).Status(t, http.StatusOK).Lacks(t, "Redeliver")
	b.Post(page+"/deliveries/"+delivery+"/redeliver", nil).Status(t, http.StatusNotFound)
	b.Get(b.Post(page, url.Values{"url": {"https://example.com/other"}, "events": {"*"}}).Redirect(t).String()).Has(t, "https://example.com/other")
	if rotated := b.Post(page+"/secret", nil).Status(t, http.StatusOK).Value(t, "webhook-secret"); rotated == secret || !strings.HasPrefix(rotated, "whsec_") {
		t.Errorf("the new secret is %q", rotated)
	}

	second, manager := e.Browser(t).SignIn(seed.SecondAdmin), e.Browser(t).SignIn(userWithRole(t, e, schema.RoleManager).Email)
	second.Get(list).Lacks(t, "example.com/other")
	for _, path := range []string{"", "/deliveries/" + delivery} {
		second.Get(page+path).Status(t, http.StatusNotFound)
		manager.Get(page+path).Status(t, http.StatusForbidden)
	}
	for _, path := range []string{"", "/pause", "/resume", "/secret", "/test", "/delete", "/deliveries/" + delivery + "/redeliver", "/deliveries/" + delivery + "/retry"} {
		second.Post(page+path, nil).Status(t, http.StatusNotFound)
		manager.Post(page+path, nil).Status(t, http.StatusForbidden)
	}
	for _, path := range []string{"/deliveries/0", "/deliveries/x", "/deliveries/0" + delivery} {
		b.Get(page+path).Status(t, http.StatusNotFound)
	}
	b.Get(b.Post(page+"/delete", nil).Redirect(t).String()).Has(t, "Webhook deleted.", "No webhooks yet")
}

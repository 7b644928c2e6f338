package web_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"chairside/ent"
	"chairside/internal/audit/trail"
	"chairside/internal/seal"
	"chairside/internal/seed"
	"chairside/internal/server"
	"chairside/internal/store"
	"chairside/internal/test/harness"
	"chairside/schema"
)

func TestStatus(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		admin := e.Browser(t).SignIn(seed.DemoAdmin)
		p := admin.Get("/settings/status").Status(t, http.StatusOK)
		checkHeaders(t, p, policy)
		checkPage(t, p)
		p.Has(t, "Live", e.URL, "Migrations", " applied, the last one, ", "for all practices together",
			"Totals of lists Passed", "Keys Passed", "Migrations Passed", "Nothing", "no proxy is trusted", "Not since this process started", "The server was started without --audit-checkpoints.")
		if e.DB.File != "" {
			p.Has(t, "SQLite 3.", "None by this program.", "an embedded database has no replication", "An embedded database does this as it writes.", "there is no other one to compare it with")
		} else {
			p.Has(t, "PostgreSQL 1", "Unknown: pg_dump", "None are connected.", "differ by", "2s is allowed")
		}
		p.Lacks(t, "could not be read", "could not be run")
		for _, role := range []schema.Role{schema.RoleReceptionist, schema.RoleDentist, schema.RoleManager} {
			e.Browser(t).SignIn(userWithRole(t, e, role).Email).Get("/settings/status").Status(t, http.StatusForbidden)
		}
	})
}

// TestStatusShowsProblems that the checks find, again once a minute.
func TestStatusShowsProblems(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		admin := e.Browser(t).SignIn(seed.DemoAdmin)
		admin.Get("/settings/status").Has(t, "Totals of lists Passed")
		if _, err := e.DB.Counters.Compact(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := e.DB.SQL.ExecContext(t.Context(), "UPDATE counters SET n = n + 1"); err != nil {
			t.Fatal(err)
		}
		admin.Get("/settings/status").Has(t, "Totals of lists Passed")
		e.Clock.Advance(time.Minute)
		admin.Get("/settings/status").Lacks(t, "No problems found").Has(t, "Totals of lists Problem Totals that differ from the rows: ", `To mend it: Run "chairside counters repair".`)
	})
}

// TestStatusShowsWhatWaits for the caller's practice, and not for another one.
func TestStatusShowsWhatWaits(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		ctx := e.As(t, seed.DemoSlug)
		e.Tx(t, ctx, func(tx *ent.Client) error {
			hook, err := tx.Webhook.Create().SetURL("https://example.com/").SetEvents([]string{"*"}).SetSecret(seal.Plain("secret")).Save(ctx)
			if err != nil {
				return err
			}
			return tx.WebhookDelivery.Create().SetWebhookID(hook.ID).SetEventID("evt_1").SetEvent("patients.created").SetResource("patients").SetRecordID("1").
				SetChangedAt(harness.Now).SetDueAt(harness.Now).SetLeasedUntil(harness.Now).SetAttempt(0).Exec(ctx)
		})
		const waits = "Events of this practice: 1 The oldest since 1 Jul 2026, 10:15"
		e.Browser(t).SignIn(seed.DemoAdmin).Get("/settings/status").Has(t, waits)
		e.Browser(t).SignIn(seed.SecondAdmin).Get("/settings/status").Status(t, http.StatusOK).Lacks(t, "Events of this practice")
	})
}

// TestStatusShowsTheLastBackup of an embedded database.
func TestStatusShowsTheLastBackup(t *testing.T) {
	t.Parallel()
	e := harness.Start(t, harness.SQLite(t), func(o *server.Options) { o.Version = "v1.2.3 (commit abc)" })
	if err := trail.Write(t.Context(), e.DB, trail.Entry{At: harness.Now.Add(-time.Hour), Action: "export", Record: store.BackupRecord}); err != nil {
		t.Fatal(err)
	}
	p := e.Browser(t).SignIn(seed.DemoAdmin).Get("/settings/status").Has(t, "By this program on 1 Jul 2026, 09:15", "v1.2.3 (commit abc)")
	if strings.Contains(p.Text(), "None known") {
		t.Error("the page does not show the backup")
	}
}

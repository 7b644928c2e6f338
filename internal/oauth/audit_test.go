package oauth_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"chairside/ent"
	"chairside/ent/auditevent"
	"chairside/internal/oauth"
	"chairside/internal/principal"
	"chairside/internal/seed"
)

// TestAuditLogNamesActorsOfTokens: the user and the application for tokens that are issued, refreshed and revoked; the
// application alone if a code or a refresh token was used twice; the administrator who deleted the application. A user
// of another practice is not named.
func TestAuditLogNamesActorsOfTokens(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.withRefreshTokens()
		admin, app := userOf(t, w.Env, seed.DemoAdmin), w.id("{refreshing}")
		byApplication := fmt.Sprintf("user %d of application %s", admin.ID, app)
		alone := fmt.Sprintf("no user of application %s", app)

		r := w.refresh(w.connect().Text(t, "refresh_token"), "").Status(t, 200)
		w.post(oauth.RevokePath, asRefreshing+"&token="+r.Text(t, "refresh_token")).Status(t, 200)
		w.wantActors(byApplication, byApplication, byApplication)

		reused := w.connect().Text(t, "refresh_token")
		w.refresh(reused, "").Status(t, 200)
		wantError(t, w.refresh(reused, ""), 400, "invalid_grant")
		w.wantActors(byApplication, byApplication, alone)

		code := w.code(w.admin, "client_id={refreshing}")
		w.exchange(asRefreshing+"&code="+code).Status(t, 200)
		wantError(t, w.exchange(asRefreshing+"&code="+code), 400, "invalid_grant")
		w.wantActors(byApplication, alone)

		second := userOf(t, w.Env, seed.SecondAdmin)
		w.connect()
		w.wantActors(byApplication)
		w.exchange(asRefreshing+"&code="+w.code(w.Browser(t).SignIn(seed.SecondAdmin), "client_id={refreshing}")).Status(t, 200)
		w.wantActors(fmt.Sprintf("user %d of application %s", second.ID, app))
		w.change(seed.DemoAdmin, func(ctx context.Context, tx *ent.Client) error { return oauth.Delete(ctx, tx, app) })
		w.wantActors(fmt.Sprintf("user %d", admin.ID), "no user")
	})
}

// wantActors fails the test unless the entries about tokens since the last call name these, in any order.
func (w *world) wantActors(want ...string) {
	w.t.Helper()
	events, err := w.DB.Ent.AuditEvent.Query().
		Where(auditevent.Resource(ent.TypeAccessToken), auditevent.IDGT(w.lastEvent)).
		Order(auditevent.ByID()).
		All(principal.AsSystem(w.t.Context()))
	if err != nil {
		w.t.Fatal(err)
	}
	var got []string
	for _, e := range events {
		w.lastEvent = e.ID
		who := "no user"
		if e.SessionID != nil && e.UserID == nil {
			w.t.Errorf("the entry %d names a session without its user", e.ID)
		}
		if e.UserID != nil {
			who = fmt.Sprintf("user %d", *e.UserID)
		}
		if e.ApplicationID != nil {
			who += " of application " + e.ApplicationID.String()
		}
		got = append(got, who)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		w.t.Errorf("the audit log names %q, want %q", got, want)
	}
}

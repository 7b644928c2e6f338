package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"chairside/ent"
	"chairside/ent/practitioner"
	"chairside/ent/site"
	"chairside/ent/user"
	"chairside/internal/principal"
	"chairside/internal/seed"
	"chairside/internal/store/storetest"
	"chairside/internal/test/harness"
	"chairside/schema"
)

const (
	usersList  = "/settings/users"
	goodChoice = "plum tractor ninety owls"
)

// choosePassword opens an invitation and chooses a password.
func choosePassword(t *testing.T, b *harness.Browser, link, password string) *harness.Page {
	t.Helper()
	address, err := url.Parse(link)
	if err != nil {
		t.Fatal(err)
	}
	form := b.Get(address.RequestURI()).Status(t, http.StatusOK).Form(t, "/sign-in/invitation")
	return b.Submit(form, url.Values{"password": {password}, "again": {password}})
}

// TestAdministratorsAddUsers, who choose their own password with a link that works once.
func TestAdministratorsAddUsers(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b := e.Browser(t).SignIn(seed.DemoAdmin)
		ctx := e.As(t, seed.DemoSlug)
		at, err := e.DB.Ent.Site.Query().First(ctx)
		if err != nil {
			t.Fatal(err)
		}
		page := b.Get(usersList+"/new").Status(t, http.StatusOK)
		checkPage(t, page)
		form := page.Form(t, usersList)
		p := b.Submit(form, url.Values{"email": {"nobody"}, "first_name": {" "}, "role": {"king"}, "site": {seed.DemoSlug}})
		checkPage(t, p.Status(t, http.StatusUnprocessableEntity))
		checkFieldErrors(t, p, map[string]string{
			"email": "Enter an e-mail address, such as ann@example.com.", "first_name": "Enter a first name.", "last_name": "Enter a last name.",
			"role": "Choose a role.", "site": "Choose a site.",
		})
		given := url.Values{"email": {"Ann@New.test"}, "first_name": {"Ann"}, "last_name": {"O'Neil"}, "role": {"dentist"}, "site": {at.ID.String()}}
		for _, taken := range []string{seed.DemoAdmin, seed.SecondAdmin} { // also of another practice
			other := url.Values{"email": {taken}}
			for name, values := range given {
				if name != "email" {
					other[name] = values
				}
			}
			checkFieldErrors(t, b.Submit(form, other), map[string]string{"email": "A user with this e-mail address already exists. Enter another one."})
		}
		made := b.Submit(form, given).Status(t, http.StatusOK)
		checkPage(t, made)
		link := made.Value(t, "invitation-link")
		b.Get(usersList).Has(t, "Ann O'Neil", "ann@new.test", "No password yet").Lacks(t, link)
		ann, err := e.DB.Ent.User.Query().Where(user.Email("ann@new.test")).WithPractitioner().Only(ctx)
		if err != nil || ann.Edges.Practitioner == nil || *ann.SiteID != at.ID {
			t.Fatalf("%+v: %v", ann, err)
		}
		if by := storetest.Value(t, e.DB.SQL, fmt.Sprintf("SELECT user_id FROM audit_events WHERE resource = 'User' AND action = 'create' AND record_id = '%d'", ann.ID)); by == "" {
			t.Error("the audit log does not say who added the user")
		}
		if n := invitationsOf(t, e, ann.ID); n != 1 {
			t.Errorf("the audit log has %d invitations of a new user", n)
		}

		own := e.Browser(t)
		checkFieldErrors(t, choosePassword(t, own, link, "short"), map[string]string{"password": "The password must have at least 10 characters."})
		shared := e.Browser(t).SignIn(seed.DemoAdmin) // in which the administrator has not signed out
		if got := choosePassword(t, shared, link, goodChoice).Redirect(t).String(); got != "/sign-in?done=invitation-accepted" {
			t.Errorf("the choice redirects to %s", got)
		}
		if n := storetest.Int(t, e.DB, "SELECT count(*) FROM audit_events WHERE resource = 'User' AND action = 'update' AND record_id = CAST($1 AS text) AND user_id = $2 AND session_id IS NULL", ann.ID, ann.ID); n != 1 {
			t.Errorf("the audit log has %d entries that say that the user chose the password, want 1", n)
		}
		address, _ := url.Parse(link)
		own.Get(address.RequestURI()).Status(t, http.StatusNotFound).Has(t, "This link does not work")
		signIn := own.Get("/sign-in").Form(t, "/sign-in")
		own.Submit(signIn, url.Values{"email": {"ann@new.test"}, "password": {goodChoice}}).Status(t, http.StatusSeeOther)
		own.Get("/settings/tokens").Status(t, http.StatusOK).Has(t, "Ann O'Neil")
		own.Get(usersList).Status(t, http.StatusForbidden)
	})
}

// invitationsOf returns how many invitations of a user the audit log has, with who made them.
func invitationsOf(t *testing.T, e *harness.Env, id int64) int {
	t.Helper()
	return storetest.Int(t, e.DB, "SELECT count(*) FROM audit_events WHERE resource = 'Invitation' AND action = 'create' AND record_id = CAST($1 AS text) AND user_id IS NOT NULL AND session_id IS NOT NULL", id)
}

// TestInvitations end with time, with a use, with the user, and when they are changed.
func TestInvitations(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b := e.Browser(t).SignIn(seed.DemoAdmin)
		u := userWithRole(t, e, schema.RoleReceptionist)
		page := fmt.Sprintf("%s/%d", usersList, u.ID)
		invite := func() string {
			t.Helper()
			before := invitationsOf(t, e, u.ID)
			link := b.Submit(b.Get(page).Form(t, page+"/invitation"), nil).Status(t, http.StatusOK).Value(t, "invitation-link")
			if n := invitationsOf(t, e, u.ID) - before; n != 1 {
				t.Errorf("an invitation has %d entries in the audit log", n)
			}
			return link
		}
		works := func(link string) bool {
			address, err := url.Parse(link)
			if err != nil {
				t.Fatal(err)
			}
			return e.Browser(t).Get(address.RequestURI()).Code == http.StatusOK
		}
		signedIn := e.Browser(t).SignIn(u.Email)
		first, second := invite(), invite()
		for _, wrong := range []string{first[:len(first)-1], first + "A", strings.Split(first, "=")[0] + "=", strings.Split(first, "=")[0] + "=QQ"} {
			if works(wrong) {
				t.Errorf("%s works", wrong)
			}
		}
		e.Clock.Advance(5 * time.Minute)
		if !works(first) || !works(second) {
			t.Error("an invitation does not work")
		}
		signedIn.Get("/settings/tokens").Status(t, http.StatusOK)
		choosePassword(t, e.Browser(t), first, goodChoice).Status(t, http.StatusSeeOther)
		if works(first) || works(second) {
			t.Error("an invitation works after the password has changed")
		}
		signedIn.Get("/settings/tokens").Redirect(t)

		late, ended := invite(), invite()
		b.Submit(b.Get(page).Form(t, page+"/disable"), nil).Redirect(t)
		if works(ended) {
			t.Error("the invitation of a disabled user works")
		}
		b.Submit(b.Get(page).Form(t, page+"/enable"), nil).Redirect(t)
		if !works(late) {
			t.Error("the invitation of an enabled user does not work")
		}
		e.Clock.Advance(72 * time.Hour)
		if works(late) {
			t.Error("an invitation works for more than three days")
		}
	})
}

// TestAdministratorsChangeUsers: their name, role, site, second factor and sessions, but not those of
// another practice, nor the role of the last administrator.
func TestAdministratorsChangeUsers(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b := e.Browser(t).SignIn(seed.DemoAdmin)
		ctx := e.As(t, seed.DemoSlug)
		u := userWithRole(t, e, schema.RoleReceptionist)
		path := fmt.Sprintf("%s/%d", usersList, u.ID)
		page := b.Get(path).Status(t, http.StatusOK).Has(t, u.Email)
		checkPage(t, page)
		b.Submit(page.Form(t, path), url.Values{"last_name": {"Renamed"}, "role": {"dentist"}}).Redirect(t)
		changed, err := e.DB.Ent.User.Query().Where(user.ID(u.ID)).WithPractitioner().Only(ctx)
		if err != nil || changed.LastName != "Renamed" || changed.Role != schema.RoleDentist || changed.Edges.Practitioner == nil {
			t.Fatalf("%+v: %v", changed, err)
		}
		sites, err := e.DB.Ent.Site.Query().Where(site.Active(true)).Order(site.ByID()).All(ctx)
		if err != nil {
			t.Fatal(err)
		}
		other := sites[slices.IndexFunc(sites, func(s *ent.Site) bool { return s.ID != changed.Edges.Practitioner.SiteID })]
		b.Submit(b.Get(path).Form(t, path), url.Values{"site": {other.ID.String()}, "bookable": {}}).Redirect(t)
		moved, err := e.DB.Ent.Practitioner.Query().Where(practitioner.UserID(u.ID)).Only(ctx)
		if err != nil || moved.SiteID != other.ID || moved.Active {
			t.Errorf("a practitioner who moves and is no longer offered: %+v, %v", moved, err)
		}
		b.Submit(b.Get(path).Form(t, path), url.Values{"bookable": {"yes"}}).Redirect(t)
		if moved, err = e.DB.Ent.Practitioner.Get(ctx, moved.ID); err != nil || moved.SiteID != other.ID || !moved.Active {
			t.Errorf("offered again: %+v, %v", moved, err)
		}

		withoutSite := userWithRole(t, e, schema.RoleManager)
		if err := e.DB.Tx(ctx, func(tx *ent.Client) error { return tx.User.UpdateOneID(withoutSite.ID).ClearSiteID().Exec(ctx) }); err != nil {
			t.Fatal(err)
		}
		nowhere := fmt.Sprintf("%s/%d", usersList, withoutSite.ID)
		b.Submit(b.Get(nowhere).Form(t, nowhere), nil).Redirect(t)
		becomeDentist := func() *harness.Page {
			return b.Submit(b.Get(nowhere).Form(t, nowhere), url.Values{"role": {"dentist"}})
		}
		needsSite := map[string]string{"site": "Choose an active site. A practitioner works at one."}
		checkFieldErrors(t, becomeDentist(), needsSite)
		e.Tx(t, ctx, func(tx *ent.Client) error {
			closed, err := tx.Site.Create().SetName("Closed").SetActive(false).Save(ctx)
			if err != nil {
				return err
			}
			return tx.User.UpdateOneID(withoutSite.ID).SetSiteID(closed.ID).Exec(ctx)
		})
		checkFieldErrors(t, becomeDentist(), needsSite)
		signedIn := e.Browser(t).SignIn(u.Email)
		b.Submit(b.Get(path).Form(t, path+"/end-sessions"), nil).Redirect(t)
		signedIn.Get("/settings/tokens").Redirect(t)
		if b.Get(path).HasForm(path + "/second-factor-off") {
			t.Error("a user without a second factor can lose it")
		}

		self, err := e.DB.Ent.User.Query().Where(user.Email(seed.DemoAdmin)).Only(ctx)
		if err != nil {
			t.Fatal(err)
		}
		own := fmt.Sprintf("%s/%d", usersList, self.ID)
		for _, action := range []string{"/disable", "/second-factor-off", "/end-sessions"} {
			if got := b.Post(own+action, nil).Redirect(t).String(); got != "/settings/security" {
				t.Errorf("%s of the own account redirects to %s", action, got)
			}
		}
		checkFieldErrors(t, b.Submit(b.Get(own).Form(t, own), url.Values{"role": {"dentist"}}), map[string]string{
			"role": "This is the practice’s last administrator. Make another user one first.",
		})

		stranger, err := e.DB.Ent.User.Query().Where(user.Email(seed.SecondAdmin)).Only(principal.AsSystem(t.Context()))
		if err != nil {
			t.Fatal(err)
		}
		foreign := fmt.Sprintf("%s/%d", usersList, stranger.ID)
		b.Get(foreign).Status(t, http.StatusNotFound)
		for _, action := range []string{"", "/invitation", "/disable", "/enable", "/second-factor-off", "/end-sessions"} {
			b.Post(foreign+action, url.Values{"first_name": {"X"}, "last_name": {"Y"}, "role": {"dentist"}}).Status(t, http.StatusNotFound)
		}
		b.Get(usersList).Lacks(t, seed.SecondAdmin)

		b.Submit(b.Get(path).Form(t, path), url.Values{"role": {"administrator"}}).Redirect(t)
		given := b.Submit(b.Get(own).Form(t, own), url.Values{"role": {"manager"}}).Redirect(t)
		if given.String() != "/home?done=user-saved" {
			t.Fatalf("an administrator who gives up the role is sent to %s", given)
		}
		b.Get(b.Get(given.String()).Redirect(t).String()).Has(t, "Changes saved.", "Reports")
	})
}

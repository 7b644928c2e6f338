package web

import (
	"net/http"
	"strings"
	"unicode/utf8"

	"chairside/ent"
	"chairside/internal/apierror"
	"chairside/internal/clock"
	"chairside/internal/token"
	"chairside/schema"
)

const siteLimitsPath = "/settings/site-limits"

// maxReason is the longest reason for lifting a limit, in characters.
const maxReason = 200

// siteLimitRow is a token that is limited to a site.
type siteLimitRow struct {
	*ent.AccessToken
	Who    string // the token's user
	Lifted bool
}

// siteLimits lists the practice's tokens that are limited to a site.
func (s *Site) siteLimits(w http.ResponseWriter, r *http.Request) error {
	return s.showSiteLimits(w, r, http.StatusOK, form{})
}

func (s *Site) showSiteLimits(w http.ResponseWriter, r *http.Request, status int, f form) error {
	limited, err := token.SiteLimited(r.Context(), s.DB.Ent)
	if err != nil {
		return err
	}
	rows, lifts := make([]siteLimitRow, len(limited)), make([]string, len(limited))
	for i, t := range limited {
		u := t.Edges.User
		rows[i] = siteLimitRow{t, schema.FullName(u.FirstName, u.LastName), token.SiteLifted(t, clock.Now(r.Context()))}
		lifts[i] = siteLimitsPath + "/" + t.ID.String() + "/lift"
	}
	f = s.restored(r, f, lifts...)
	s.show(w, r, status, "site_limits", view{Title: "Site limits", Here: siteLimitsPath, Form: f, Page: rows})
	return nil
}

// liftSiteLimit lifts the limit of a token to its site for an hour.
func (s *Site) liftSiteLimit(w http.ResponseWriter, r *http.Request) error {
	ctx, f := r.Context(), submitted(r)
	id, err := pathID(r)
	if err != nil {
		return err
	}
	reason := strings.TrimSpace(f.Value("reason"))
	if reason == "" || utf8.RuneCountInString(reason) > maxReason || strings.ContainsFunc(reason, control) {
		f.add("reason-"+id.String(), "Enter a reason of up to 200 characters on one line.")
		return s.showSiteLimits(w, r, http.StatusUnprocessableEntity, f)
	}
	err = s.DB.Tx(ctx, func(tx *ent.Client) error { return token.LiftSite(ctx, tx, id, reason) })
	return toSiteLimits(w, "site-lifted", err)
}

// restoreSiteLimit ends the lift of a token early.
func (s *Site) restoreSiteLimit(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	id, err := pathID(r)
	if err != nil {
		return err
	}
	err = s.DB.Tx(ctx, func(tx *ent.Client) error { return token.RestoreSite(ctx, tx, id) })
	return toSiteLimits(w, "site-restored", err)
}

// toSiteLimits redirects to the list after a change.
func toSiteLimits(w http.ResponseWriter, done string, err error) error {
	switch {
	case ent.IsNotFound(err):
		return apierror.NotFound()
	case err != nil:
		return err
	}
	return redirect(w, siteLimitsPath+"?done="+done)
}

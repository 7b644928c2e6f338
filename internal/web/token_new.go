package web

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/site"
	"chairside/internal/civil"
	"chairside/internal/clock"
	"chairside/internal/scope"
	"chairside/internal/signin"
	"chairside/internal/token"
)

// maxTokenName is the longest name of a token or a passkey, in characters.
const maxTokenName = 100

// newToken shows the form that creates a token.
func (s *Site) newToken(w http.ResponseWriter, r *http.Request) error {
	return s.showNewToken(w, r, http.StatusOK, s.restored(r, form{}, tokensPath))
}

// showNewToken shows the form for a new token, with the messages of f.
func (s *Site) showNewToken(w http.ResponseWriter, r *http.Request, status int, f form) error {
	sites, err := s.sites(r.Context())
	if err != nil {
		return err
	}
	s.show(w, r, status, "token_new", view{Title: "New token", Here: tokensPath, Form: f, Page: struct {
		Sites  []*ent.Site
		Matrix matrix
		Today  civil.Date
	}{sites, s.matrixOf(f, signin.From(r.Context()).User.Role.PermissionLevel().MayHold()), today(r.Context())}})
	return nil
}

// sites returns the sites that a token can be limited to.
func (s *Site) sites(ctx context.Context) ([]*ent.Site, error) {
	return s.DB.Ent.Site.Query().Where(site.Active(true)).Order(site.ByName(), site.ByID()).All(ctx)
}

// today returns the current day in the practice's time zone.
func today(ctx context.Context) civil.Date {
	return civil.Of(clock.Now(ctx).In(signin.From(ctx).Zone))
}

// madeToken is a new token, shown once.
type madeToken struct {
	Name, Token string
	Permissions []scope.Permission
	Try         string // example command
}

// createToken creates a token and shows it, in this response only.
func (s *Site) createToken(w http.ResponseWriter, r *http.Request) error {
	ctx, f := r.Context(), submitted(r)
	grant, err := s.readGrant(ctx, &f)
	if err != nil {
		return err
	}
	if len(f.Wrong()) > 0 {
		return s.showNewToken(w, r, http.StatusUnprocessableEntity, f)
	}
	var value string
	err = s.DB.Tx(ctx, func(tx *ent.Client) (err error) {
		value, _, err = token.Create(ctx, tx, signin.From(ctx).User, grant)
		return err
	})
	if err != nil {
		return err
	}
	s.show(w, r, http.StatusOK, "token_made", view{Title: "Your new token", Here: tokensPath, Page: madeToken{
		grant.Name, value, grant.Scopes.Permissions(), firstRequest(s.BaseURL, value, grant.Scopes),
	}})
	return nil
}

// readGrant parses the form and adds its mistakes.
func (s *Site) readGrant(ctx context.Context, f *form) (grant token.Grant, err error) {
	grant.Name = readName(f)
	if grant.Scopes, err = scope.Parse(strings.Join(s.chosenScopes(*f, signin.From(ctx).User.Role.PermissionLevel().MayHold()), " ")); err != nil || len(grant.Scopes) == 0 {
		f.add("scopes", "Choose at least one permission.")
	}
	var beyond *token.BeyondRoleError
	if errors.As(token.CheckRole(signin.From(ctx).User, grant.Scopes), &beyond) {
		f.add("scopes", beyondRole(beyond))
	}
	if given := f.Value("site_id"); given != "" {
		id, malformed := uuid.Parse(given)
		known, err := s.DB.Ent.Site.Query().Where(site.ID(id), site.Active(true)).Exist(ctx)
		if err != nil {
			return grant, err
		}
		if malformed != nil || !known {
			f.add("site_id", "Choose a site from the list.")
		}
		grant.Site = &id
	}
	if given := f.Value("expires_on"); given != "" {
		grant.ExpiresAt = readLastDay(ctx, f, given)
	}
	return grant, nil
}

// readName parses the name of a token or a passkey and adds its mistake.
func readName(f *form) string {
	name := strings.TrimSpace(f.Value("name"))
	switch {
	case name == "":
		f.add("name", "Enter a name.")
	case utf8.RuneCountInString(name) > maxTokenName || strings.ContainsFunc(name, control):
		f.add("name", "Enter a name of up to 100 characters on one line.")
	}
	return name
}

// beyondRole names the chosen scopes that the visitor's role does not allow, and
// those that it does.
func beyondRole(e *token.BeyondRoleError) string {
	message := "Your role, " + string(e.Role) + ", does not allow " + strings.Join(e.Beyond, ", ") + "."
	if len(e.Instead) > 0 {
		message += " You can choose " + strings.Join(e.Instead, ", ") + "."
	}
	return message
}

// readLastDay parses a token's last day. The token expires at the end of that day in
// the practice's time zone.
func readLastDay(ctx context.Context, f *form, given string) *time.Time {
	day, err := civil.Parse(given)
	switch {
	case err != nil || day.Year > 9998: // its end must be in a year that both databases can store
		f.add("expires_on", "Enter a date, for example "+today(ctx).AddMonths(3).String()+".")
		return nil
	case day.Before(today(ctx)):
		f.add("expires_on", "Choose today or a later day.")
		return nil
	}
	end := day.AddDays(1).In(signin.From(ctx).Zone)
	return &end
}

// control reports whether a character is a control character.
func control(r rune) bool { return r < ' ' || r == '\u007f' }

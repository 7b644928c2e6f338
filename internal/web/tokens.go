package web

import (
	"net/http"
	"time"

	"chairside/ent"
	"chairside/ent/accesstoken"
	"chairside/internal/clock"
	"chairside/internal/signin"
	"chairside/internal/token"
)

const tokensPath = "/settings/tokens"

// tokenRow is one token in the list.
type tokenRow struct {
	*ent.AccessToken
	Summary string // effective permissions; "" for none
	Beyond  string // granted scopes beyond the visitor's role; "" for none
	Expired bool
	Ends    time.Time // expiry
	Renewed bool      // use extends the expiry
}

// tokens lists the visitor's own unrevoked tokens, the newest first.
func (s *Site) tokens(w http.ResponseWriter, r *http.Request) error {
	ctx, visitor := r.Context(), signin.From(r.Context())
	all, err := s.DB.Ent.AccessToken.Query().
		Where(accesstoken.UserID(visitor.User.ID), accesstoken.ApplicationIDIsNil(), accesstoken.RevokedAtIsNil()).
		WithSite().
		Order(ent.Desc(accesstoken.FieldCreatedAt), accesstoken.ByID()).
		All(ctx)
	if err != nil {
		return err
	}
	rows := make([]tokenRow, len(all))
	for i, t := range all {
		ends := token.Ends(t)
		rows[i] = tokenRow{
			AccessToken: t,
			Summary:     token.Scopes(t, visitor.User, nil).Set().Summary(),
			Beyond:      token.Beyond(t, visitor.User).String(),
			Expired:     token.StateOf(t, clock.Now(ctx)) == "expired",
			Ends:        ends,
			Renewed:     t.ExpiresAt == nil || ends.Before(*t.ExpiresAt),
		}
	}
	s.show(w, r, http.StatusOK, "tokens", view{Title: "Tokens", Here: tokensPath, Page: rows})
	return nil
}

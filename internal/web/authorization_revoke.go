package web

import (
	"net/http"

	"chairside/ent"
	"chairside/ent/accesstoken"
	"chairside/internal/apierror"
	"chairside/internal/oauth"
	"chairside/internal/signin"
)

// revokeAuthorization revokes an application's access to the visitor's account.
func (s *Site) revokeAuthorization(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	id, err := pathID(r)
	if err != nil {
		return err
	}
	found, err := s.DB.Ent.AccessToken.Query().
		Where(accesstoken.UserID(signin.From(ctx).User.ID), accesstoken.ApplicationID(id)).
		Exist(ctx)
	switch {
	case err != nil:
		return err
	case !found:
		return apierror.NotFound()
	}
	if err := s.DB.Tx(ctx, func(tx *ent.Client) error { return oauth.Withdraw(ctx, tx, id) }); err != nil {
		return err
	}
	return redirect(w, authorizationsPath+"?done=authorization-revoked")
}

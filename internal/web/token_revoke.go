package web

import (
	"net/http"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/accesstoken"
	"chairside/internal/apierror"
	"chairside/internal/signin"
	"chairside/internal/token"
)

// revokeToken revokes one of the visitor's own tokens.
func (s *Site) revokeToken(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	id, err := pathID(r)
	if err != nil {
		return err
	}
	mine := []token.Selector{accesstoken.ID(id), accesstoken.UserID(signin.From(ctx).User.ID), accesstoken.ApplicationIDIsNil()}
	found, err := s.DB.Ent.AccessToken.Query().Where(mine...).Exist(ctx)
	switch {
	case err != nil:
		return err
	case !found:
		return apierror.NotFound()
	}
	if err := s.DB.Tx(ctx, func(tx *ent.Client) error { return token.Revoke(ctx, tx, mine...) }); err != nil {
		return err
	}
	return redirect(w, tokensPath+"?done=token-revoked")
}

// pathID returns the id in the path. It accepts only the canonical form.
func pathID(r *http.Request) (uuid.UUID, error) {
	id, err := uuid.Parse(r.PathValue("id"))
	if err != nil || id.String() != r.PathValue("id") {
		return uuid.Nil, apierror.NotFound()
	}
	return id, nil
}

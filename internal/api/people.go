package api

import (
	"context"

	"chairside/internal/principal"
	"chairside/ogent"
)

// GetPractice answers the practice of the token.
func (h *Handler) GetPractice(ctx context.Context) (*ogent.PracticeResponse, error) {
	return h.ShowPractice(ctx, principal.Must(ctx).PracticeID)
}

// GetCurrentUser answers the token's user, also to a token that is limited to
// another site than the user's.
func (h *Handler) GetCurrentUser(ctx context.Context) (*ogent.UserResponse, error) {
	whole := *principal.Must(ctx)
	whole.SiteID = nil
	return h.ShowUser(principal.With(ctx, &whole), whole.UserID)
}

// GetUsersCurrent is the other address of GetCurrentUser.
func (h *Handler) GetUsersCurrent(ctx context.Context) (*ogent.UserResponse, error) {
	return h.GetCurrentUser(ctx)
}

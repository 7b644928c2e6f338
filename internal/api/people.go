package api

import (
	"context"

	"chairside/internal/principal"
	"chairside/ogent"
)

// GetPractice returns the caller's practice.
func (h *Handler) GetPractice(ctx context.Context) (*ogent.PracticeResponse, error) {
	return h.ReadPractice(ctx, principal.Must(ctx).PracticeID)
}

// GetCurrentUser returns the caller's user, even if the token is limited to another site.
func (h *Handler) GetCurrentUser(ctx context.Context) (*ogent.UserResponse, error) {
	return h.ReadUser(principal.AtEverySite(ctx), principal.Must(ctx).UserID)
}

// GetUsersCurrent is GetCurrentUser at another path.
func (h *Handler) GetUsersCurrent(ctx context.Context) (*ogent.UserResponse, error) {
	return h.GetCurrentUser(ctx)
}

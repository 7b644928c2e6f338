package api

import (
	"context"

	"chairside/internal/caller"
	"chairside/ogent"
)

// GetPractice answers the practice of the token.
func (h *Handler) GetPractice(ctx context.Context) (*ogent.PracticeResponse, error) {
	row, err := h.Client.Practice.Query().Only(ctx)
	if err != nil {
		return nil, err
	}
	return &ogent.PracticeResponse{Practice: ogent.PracticeOut(row, h.View(ctx))}, nil
}

// GetCurrentUser answers the token's user, also to a token that is limited to
// another site than the user's.
func (h *Handler) GetCurrentUser(ctx context.Context) (*ogent.UserResponse, error) {
	whole := *caller.Must(ctx)
	whole.SiteID = nil
	row, err := ogent.FindUser(caller.With(ctx, &whole), h.Client, whole.UserID)
	if err != nil {
		return nil, err
	}
	return &ogent.UserResponse{User: ogent.UserOut(row, h.View(ctx))}, nil
}

// GetUsersCurrent is the other address of GetCurrentUser.
func (h *Handler) GetUsersCurrent(ctx context.Context) (*ogent.UserResponse, error) {
	return h.GetCurrentUser(ctx)
}

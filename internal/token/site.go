package token

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/accesstoken"
	"chairside/internal/clock"
)

// SiteLift is how long the limit of a token to a site is lifted.
const SiteLift = time.Hour

// LiftSite lifts the limit of a token of the caller's practice to its site for SiteLift, for an
// emergency. The audit log keeps the reason and marks what the token then does. It fails with
// ent's error for a row that does not exist if the practice has no such token in use. tx is the
// client of a transaction.
func LiftSite(ctx context.Context, tx *ent.Client, id uuid.UUID, reason string) error {
	row, err := limited(ctx, tx, id)
	if err != nil {
		return err
	}
	return tx.AccessToken.UpdateOne(row).SetSiteLiftedUntil(clock.Now(ctx).Add(SiteLift)).SetSiteLiftReason(reason).Exec(ctx)
}

// RestoreSite ends a lift of LiftSite early.
func RestoreSite(ctx context.Context, tx *ent.Client, id uuid.UUID) error {
	row, err := limited(ctx, tx, id)
	if err != nil || !SiteLifted(row, clock.Now(ctx)) {
		return err
	}
	return tx.AccessToken.UpdateOne(row).SetSiteLiftedUntil(clock.Now(ctx)).Exec(ctx)
}

// SiteLifted reports whether the limit of a token to its site is lifted.
func SiteLifted(row *ent.AccessToken, now time.Time) bool {
	return row.SiteLiftedUntil != nil && now.Before(*row.SiteLiftedUntil)
}

// SiteLimited returns the tokens of the caller's practice that are limited to a site and in use,
// with their users and sites, the newest first.
func SiteLimited(ctx context.Context, client *ent.Client) ([]*ent.AccessToken, error) {
	rows, err := client.AccessToken.Query().
		Where(accesstoken.SiteIDNotNil(), accesstoken.RevokedAtIsNil()).
		WithUser().WithSite().
		Order(ent.Desc(accesstoken.FieldCreatedAt), accesstoken.ByID()).
		All(ctx)
	if err != nil {
		return nil, fmt.Errorf("find the tokens with a site: %w", err)
	}
	now, used := clock.Now(ctx), rows[:0]
	for _, row := range rows {
		if InUse(row, now) {
			used = append(used, row)
		}
	}
	return used, nil
}

// limited returns a token that SiteLimited lists.
func limited(ctx context.Context, tx *ent.Client, id uuid.UUID) (*ent.AccessToken, error) {
	rows, err := SiteLimited(ctx, tx)
	for _, row := range rows {
		if row.ID == id {
			return row, nil
		}
	}
	if err == nil {
		err = &ent.NotFoundError{}
	}
	return nil, err
}

package provision

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/site"
	"chairside/internal/principal"
	"chairside/schema"
)

// ErrNoSite means that the practice has no active site.
var ErrNoSite = errors.New("the practice has no active site")

// UserIDs are the ids of a new user.
type UserIDs struct {
	User         int64  `json:"user_id"`
	Practitioner *int64 `json:"practitioner_id"` // null if the role does not treat patients
}

// User creates a user at the practice's first active site. Dentists, hygienists and
// therapists also become practitioners; without working sessions, the practice's
// opening hours apply. It fails with ErrEmailTaken and ErrNoSite. tx is the client of
// a transaction.
func User(ctx context.Context, tx *ent.Client, practiceID uuid.UUID, p Person, role schema.Role) (ids UserIDs, err error) {
	ctx = principal.AsSystem(ctx)
	if err := checkEmailFree(ctx, tx, p.Email); err != nil {
		return ids, err
	}
	at, err := tx.Site.Query().
		Where(site.PracticeID(practiceID), site.Active(true)).
		Order(site.ByCreatedAt(), site.ByID()).
		First(ctx)
	switch {
	case ent.IsNotFound(err):
		return ids, ErrNoSite
	case err != nil:
		return ids, fmt.Errorf("find a site: %w", err)
	}
	u, err := createUser(ctx, tx, at, p, role)
	if err != nil {
		return ids, err
	}
	ids.User = u.ID
	if treats(role) {
		id, err := createPractitioner(ctx, tx, u, at.ID)
		if err != nil {
			return ids, err
		}
		ids.Practitioner = &id
	}
	return ids, nil
}

// treats reports whether the role treats patients.
func treats(role schema.Role) bool {
	return role == schema.RoleDentist || role == schema.RoleHygienist || role == schema.RoleTherapist
}

// createUser adds a user to the practice of the site.
func createUser(ctx context.Context, tx *ent.Client, at *ent.Site, p Person, role schema.Role) (*ent.User, error) {
	u, err := tx.User.Create().
		SetPracticeID(at.PracticeID).SetSiteID(at.ID).
		SetFirstName(p.FirstName).SetLastName(p.LastName).SetEmail(p.Email).
		SetRole(role).SetPasswordHash(p.Password.Hash()).
		Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("create user: %w", err)
	}
	return u, nil
}

// createPractitioner makes the user a practitioner at the site.
func createPractitioner(ctx context.Context, tx *ent.Client, u *ent.User, siteID uuid.UUID) (int64, error) {
	p, err := tx.Practitioner.Create().
		SetPracticeID(u.PracticeID).SetUserID(u.ID).SetSiteID(siteID).SetColour(diaryColour).
		Save(ctx)
	if err != nil {
		return 0, fmt.Errorf("create practitioner: %w", err)
	}
	return p.ID, nil
}

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

// ErrNoSite is returned for a practice that has no active site to work at.
var ErrNoSite = errors.New("the practice has no active site")

// Hired is the ids of a new user.
type Hired struct {
	User         int64  `json:"user_id"`
	Practitioner *int64 `json:"practitioner_id"` // null for who treats no patients
}

// User adds a user to a practice, at its first active site. Dentists,
// hygienists and therapists become practitioners as well; until they have
// working sessions, the practice's opening hours count for them. It fails with
// ErrEmailTaken and ErrNoSite. tx is the client of a transaction.
func User(ctx context.Context, tx *ent.Client, practiceID uuid.UUID, p Person, role schema.Role) (h Hired, err error) {
	ctx = principal.AsSystem(ctx)
	if err := emailFree(ctx, tx, p.Email); err != nil {
		return h, err
	}
	at, err := tx.Site.Query().
		Where(site.PracticeID(practiceID), site.Active(true)).
		Order(site.ByCreatedAt(), site.ByID()).
		First(ctx)
	switch {
	case ent.IsNotFound(err):
		return h, ErrNoSite
	case err != nil:
		return h, fmt.Errorf("provision: look for a site: %w", err)
	}
	u, err := hire(ctx, tx, at, p, role)
	if err != nil {
		return h, err
	}
	h.User = u.ID
	if treats(role) {
		id, err := practise(ctx, tx, u, at.ID)
		if err != nil {
			return h, err
		}
		h.Practitioner = &id
	}
	return h, nil
}

// treats reports whether someone of the role treats patients.
func treats(role schema.Role) bool {
	return role == schema.RoleDentist || role == schema.RoleHygienist || role == schema.RoleTherapist
}

func hire(ctx context.Context, tx *ent.Client, at *ent.Site, p Person, role schema.Role) (*ent.User, error) {
	u, err := tx.User.Create().
		SetPracticeID(at.PracticeID).SetSiteID(at.ID).
		SetFirstName(p.FirstName).SetLastName(p.LastName).SetEmail(p.Email).
		SetRole(role).SetPasswordHash(p.Password.Hash()).
		Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("provision: user: %w", err)
	}
	return u, nil
}

func practise(ctx context.Context, tx *ent.Client, u *ent.User, siteID uuid.UUID) (int64, error) {
	p, err := tx.Practitioner.Create().
		SetPracticeID(u.PracticeID).SetUserID(u.ID).SetSiteID(siteID).SetColour(diaryColour).
		Save(ctx)
	if err != nil {
		return 0, fmt.Errorf("provision: practitioner: %w", err)
	}
	return p.ID, nil
}

package provision

import (
	"context"
	"errors"
	"fmt"

	"entgo.io/ent/dialect/sql/sqlgraph"
	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/practitioner"
	"chairside/ent/site"
	"chairside/internal/principal"
	"chairside/schema"
)

// ErrNoSite means that the practice has no active site.
var ErrNoSite = errors.New("the practice has no active site")

// ErrNeedsSite means that a user without a site, or at an archived one, cannot become a practitioner, who
// works at one.
var ErrNeedsSite = errors.New("a practitioner needs a site")

// UserIDs are the ids of a new user.
type UserIDs struct {
	User         int64  `json:"user_id"`
	Practitioner *int64 `json:"practitioner_id"` // null if the role does not treat patients
}

// User creates a user. Dentists, hygienists and therapists also become practitioners;
// without working sessions, the practice's opening hours apply. It fails with
// ErrEmailTaken and ErrNoSite. tx is the client of a transaction.
func User(ctx context.Context, tx *ent.Client, practiceID uuid.UUID, p Person, role schema.Role) (ids UserIDs, err error) {
	ctx = principal.AsSystem(ctx)
	if err := checkEmailFree(ctx, tx, p.Email); err != nil {
		return ids, err
	}
	sites := tx.Site.Query().Where(site.PracticeID(practiceID), site.Active(true)).Order(site.ByCreatedAt(), site.ByID())
	if p.Site != uuid.Nil {
		sites.Where(site.ID(p.Site))
	}
	at, err := sites.First(ctx)
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

// ChangeUser sets a user's name, role and site from p. A zero site leaves the user's site unchanged; the
// e-mail address and password are never changed. A user who begins to treat patients also becomes a
// practitioner, and stays one, who moves with the user to another site; bookable is whether a practitioner
// is offered for appointments, nil for no change. It fails with store.ErrLastAdministrator and ErrNeedsSite. tx is the
// client of a transaction.
func ChangeUser(ctx context.Context, tx *ent.Client, u *ent.User, p Person, role schema.Role, bookable *bool) error {
	ctx = principal.AsSystem(ctx)
	change := tx.User.UpdateOne(u).SetFirstName(p.FirstName).SetLastName(p.LastName).SetRole(role)
	if p.Site != uuid.Nil {
		change.SetSiteID(p.Site)
	}
	if err := change.Exec(ctx); err != nil {
		return fmt.Errorf("change user: %w", err)
	}
	known, err := tx.Practitioner.Query().Where(practitioner.UserID(u.ID)).Only(ctx)
	switch {
	case err == nil:
		change := tx.Practitioner.UpdateOne(known)
		if bookable != nil && *bookable != known.Active {
			change.SetActive(*bookable)
		}
		if p.Site != uuid.Nil && (u.SiteID == nil || *u.SiteID != p.Site) {
			change.SetSiteID(p.Site)
		}
		if len(change.Mutation().Fields()) == 0 {
			return nil
		}
		if err := change.Exec(ctx); err != nil {
			return fmt.Errorf("change the practitioner: %w", err)
		}
		return nil
	case !ent.IsNotFound(err):
		return fmt.Errorf("find the practitioner: %w", err)
	case !treats(role):
		return nil
	}
	at, err := tx.Site.Query().Where(site.ID(p.Site), site.Active(true)).Exist(ctx)
	if err != nil {
		return fmt.Errorf("find the practitioner's site: %w", err)
	}
	if !at {
		return ErrNeedsSite
	}
	_, err = createPractitioner(ctx, tx, u, p.Site)
	return err
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
	if sqlgraph.IsUniqueConstraintError(err) { // by a user of a practice that the caller cannot see
		return nil, ErrEmailTaken
	}
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

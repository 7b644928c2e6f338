package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"chairside/ent"
	entsession "chairside/ent/session"
	"chairside/ent/user"
	"chairside/internal/principal"
	"chairside/schema"
)

// The hooks below enforce rules on accounts for every writer: pages, commands and the API.

var (
	// ErrLastAdministrator refuses to disable or demote the last active
	// administrator of a practice.
	ErrLastAdministrator = errors.New("store: the practice would have no active administrator")

	// ErrAccessEnded refuses a new token, code or session for a user who is disabled, or
	// from a session that has ended.
	ErrAccessEnded = errors.New("store: the user is disabled or the session has ended")
)

type forceKey struct{}

// WithoutAdministrator returns a context in which a practice may lose its last
// active administrator.
func WithoutAdministrator(ctx context.Context) context.Context {
	return context.WithValue(ctx, forceKey{}, true)
}

// protectAccounts registers the hooks.
func protectAccounts(client *ent.Client) {
	client.User.Use(keepAdministrator)
	client.AccessToken.Use(checkAccess)
	client.AuthorizationCode.Use(checkAccess)
	client.Session.Use(checkAccess)
}

// keepAdministrator refuses a change that would leave a practice without an active
// administrator. It takes a lock, so that the second of two concurrent changes waits for the
// first and sees its result.
func keepAdministrator(next ent.Mutator) ent.Mutator {
	return ent.MutateFunc(func(ctx context.Context, mutation ent.Mutation) (ent.Value, error) {
		if forced, _ := ctx.Value(forceKey{}).(bool); !forced {
			if m, ok := mutation.(*ent.UserMutation); ok && losesAdministrator(m) {
				if err := checkAdministrators(ctx, m); err != nil {
					return nil, err
				}
			}
		}
		return next.Mutate(ctx, mutation)
	})
}

// losesAdministrator reports whether m deletes, disables or demotes a user.
func losesAdministrator(m *ent.UserMutation) bool {
	if m.Op().Is(ent.OpCreate) {
		return false
	}
	active, setsActive := m.Active()
	role, setsRole := m.Role()
	return m.Op().Is(ent.OpDelete|ent.OpDeleteOne) || setsActive && !active || setsRole && role != schema.RoleAdministrator
}

// checkAdministrators returns ErrLastAdministrator if the user of m is the only active
// administrator of the practice.
func checkAdministrators(ctx context.Context, m *ent.UserMutation) error {
	id, one := m.ID()
	if !one {
		return errors.New("store: users cannot be changed in bulk")
	}
	client := m.Client()
	u, err := client.User.Get(ctx, id)
	if err != nil {
		return err
	}
	if err := TakeLocks(ctx, client, LockOf("administrators", u.PracticeID)); err != nil {
		return err
	}
	// A token that is limited to a site would not see all administrators.
	ctx = principal.With(ctx, &principal.Principal{PracticeID: u.PracticeID})
	administrator := client.User.Query().Where(user.Active(true), user.RoleEQ(schema.RoleAdministrator))
	administrators, err := administrator.IDs(ctx)
	if err != nil {
		return fmt.Errorf("store: find administrators: %w", err)
	}
	if len(administrators) == 1 && administrators[0] == id {
		return ErrLastAdministrator
	}
	return nil
}

// checkAccess refuses a new token, code or session if its user is disabled, or if the session
// that requests it has ended. It locks the user's row until the transaction ends (HoldAccess).
// So a concurrent change that ends the user's access either waits, and then ends the new
// access too, or comes first, and is seen here.
func checkAccess(next ent.Mutator) ent.Mutator {
	return ent.MutateFunc(func(ctx context.Context, mutation ent.Mutation) (ent.Value, error) {
		m, ok := mutation.(interface {
			UserID() (int64, bool)
			Client() *ent.Client
			Tx() (*ent.Tx, error)
		})
		if !ok || !mutation.Op().Is(ent.OpCreate) {
			return next.Mutate(ctx, mutation)
		}
		if _, err := m.Tx(); err != nil {
			return nil, errNoTransaction
		}
		id, ok := m.UserID()
		if !ok {
			return nil, errors.New("store: a token, code or session needs a user")
		}
		if err := HoldAccess(ctx, m.Client(), id); err != nil {
			return nil, err
		}
		return next.Mutate(ctx, mutation)
	})
}

// HoldAccess locks the user's row, so that no one can end the user's access before the
// transaction of tx ends. It returns ErrAccessEnded if the user is disabled or the session of
// ctx has ended.
func HoldAccess(ctx context.Context, tx *ent.Client, userID int64) error {
	u, err := tx.User.Query().Where(user.ID(userID), ForUpdate).Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return ErrAccessEnded
	case err != nil:
		return fmt.Errorf("store: lock the user: %w", err)
	case !u.Active:
		return ErrAccessEnded
	}
	id, ok := principal.Session(ctx)
	if !ok || id == uuid.Nil {
		return nil
	}
	exists, err := tx.Session.Query().Where(entsession.ID(id), entsession.UserID(userID)).Exist(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("store: find the session: %w", err)
	case !exists:
		return ErrAccessEnded
	}
	return nil
}

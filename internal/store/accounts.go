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

// The rules of accounts that hold however a row is written: by a page, a command
// or a later operation of the API.

var (
	// ErrLastAdministrator refuses to disable or demote the last active
	// administrator of a practice.
	ErrLastAdministrator = errors.New("store: the last active administrator of the practice")

	// ErrAccessEnded refuses to give access on behalf of a user who is disabled,
	// or of a session that has ended.
	ErrAccessEnded = errors.New("store: the user or the session may no longer give access")
)

type forceKey struct{}

// WithoutAdministrator returns a context in which a practice may lose its last
// active administrator.
func WithoutAdministrator(ctx context.Context) context.Context {
	return context.WithValue(ctx, forceKey{}, true)
}

// protectAccounts registers the rules.
func protectAccounts(client *ent.Client) {
	client.User.Use(keepAdministrator)
	client.AccessToken.Use(giveAccess)
	client.AuthorizationCode.Use(giveAccess)
	client.Session.Use(giveAccess)
}

// keepAdministrator refuses the change that would leave a practice without an
// active administrator. Of two such changes at once the second waits for the
// first and sees it.
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

// losesAdministrator reports whether the user of m cannot be an active
// administrator afterwards.
func losesAdministrator(m *ent.UserMutation) bool {
	if m.Op().Is(ent.OpCreate) {
		return false
	}
	active, setsActive := m.Active()
	role, setsRole := m.Role()
	return m.Op().Is(ent.OpDelete|ent.OpDeleteOne) || setsActive && !active || setsRole && role != schema.RoleAdministrator
}

func checkAdministrators(ctx context.Context, m *ent.UserMutation) error {
	id, one := m.ID()
	if !one {
		return errors.New("store: users are changed one at a time")
	}
	client := m.Client()
	u, err := client.User.Get(ctx, id)
	if err != nil {
		return err
	}
	if err := TakeLocks(ctx, client, LockOf("administrators", u.PracticeID)); err != nil {
		return err
	}
	// A token that is limited to a site does not see all administrators.
	ctx = principal.With(ctx, &principal.Principal{PracticeID: u.PracticeID})
	administrator := client.User.Query().Where(user.Active(true), user.RoleEQ(schema.RoleAdministrator))
	administrators, err := administrator.IDs(ctx)
	if err != nil {
		return fmt.Errorf("store: look for administrators: %w", err)
	}
	if len(administrators) == 1 && administrators[0] == id {
		return ErrLastAdministrator
	}
	return nil
}

// giveAccess lets a token, a code or a session be made for a user who is active,
// and on behalf of a session that has not ended. It holds the user's row until
// the transaction ends: what ends a user's access waits for it and finds the new
// row, or comes first and is seen here.
func giveAccess(next ent.Mutator) ent.Mutator {
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
			return nil, errors.New("store: access for no user")
		}
		if err := HoldAccess(ctx, m.Client(), id); err != nil {
			return nil, err
		}
		return next.Mutate(ctx, mutation)
	})
}

// HoldAccess keeps a user's access from being ended until the transaction of tx
// ends. It fails with ErrAccessEnded where it has ended already: the user is
// disabled, or the session of ctx is gone.
func HoldAccess(ctx context.Context, tx *ent.Client, userID int64) error {
	u, err := tx.User.Query().Where(user.ID(userID), ForUpdate).Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return ErrAccessEnded
	case err != nil:
		return fmt.Errorf("store: hold the user: %w", err)
	case !u.Active:
		return ErrAccessEnded
	}
	id, ok := principal.Session(ctx)
	if !ok || id == uuid.Nil {
		return nil
	}
	lives, err := tx.Session.Query().Where(entsession.ID(id), entsession.UserID(userID)).Exist(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("store: look for the session: %w", err)
	case !lives:
		return ErrAccessEnded
	}
	return nil
}

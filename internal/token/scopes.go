package token

import (
	"fmt"
	"strings"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/internal/scope"
	"chairside/schema"
)

// BeyondRoleError is returned where a token is to get scopes that its user's role
// may not hold.
type BeyondRoleError struct {
	Role    schema.Role
	Beyond  scope.Set // what the role may not hold
	Instead scope.Set // the rest of what was asked for
}

// Error names the scopes and what to ask for instead.
func (e *BeyondRoleError) Error() string {
	what := fmt.Sprintf("the role %s may not hold %s", e.Role, strings.Join(e.Beyond, ", "))
	if len(e.Instead) > 0 {
		return fmt.Sprintf("%s; ask for %q instead", what, e.Instead)
	}
	return fmt.Sprintf("%s; it may hold %q", what, e.Role.PermissionLevel().MayHold())
}

// CheckRole fails with *BeyondRoleError unless the user's role may hold all scopes.
func CheckRole(user *ent.User, scopes scope.Set) error {
	limit := user.Role.PermissionLevel().MayHold()
	if beyond := scopes.Beyond(limit); len(beyond) > 0 {
		return &BeyondRoleError{user.Role, beyond, scopes.Within(limit)}
	}
	return nil
}

// Scopes is what a token may do now. user is its user and application the one it
// was given to, nil for a personal token. A token without its own user, or of an
// application without that application, may do nothing.
func Scopes(row *ent.AccessToken, user *ent.User, application *ent.Application) scope.Effective {
	var registered *string
	if application != nil && row.ApplicationID != nil && application.ID == *row.ApplicationID && application.DeletedAt == nil {
		registered = &application.Scopes
	}
	if user == nil || user.ID != row.UserID {
		return scope.Effective{}
	}
	return limit(row.Scopes, user.Role, row.ApplicationID, registered)
}

// Beyond is what a token was given that its user's role does not allow now.
func Beyond(row *ent.AccessToken, user *ent.User) scope.Set {
	return row.Scopes.Beyond(user.Role.PermissionLevel())
}

// limit narrows the stored scopes of a token to what its user's role and its
// application allow. registered is nil where the application is unknown: its
// tokens may then do nothing.
func limit(granted scope.Granted, role schema.Role, application *uuid.UUID, registered *string) scope.Effective {
	if application == nil {
		return granted.Limit(role.PermissionLevel(), nil)
	}
	within := scope.Set{}
	if registered != nil {
		within = strings.Fields(*registered)
	}
	return granted.Limit(role.PermissionLevel(), &within)
}

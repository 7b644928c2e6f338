package token

import (
	"fmt"
	"strings"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/internal/scope"
	"chairside/schema"
)

// BeyondRoleError is the error for scopes beyond the user's role.
type BeyondRoleError struct {
	Role    schema.Role
	Beyond  scope.Set // requested scopes that the role does not allow
	Instead scope.Set // the other requested scopes
}

// Error names the scopes and what to request instead.
func (e *BeyondRoleError) Error() string {
	what := fmt.Sprintf("the role %s does not allow %s", e.Role, strings.Join(e.Beyond, ", "))
	if len(e.Instead) > 0 {
		return fmt.Sprintf("%s: use %q instead", what, e.Instead)
	}
	return fmt.Sprintf("%s: it allows %q", what, e.Role.PermissionLevel().MayHold())
}

// CheckRole fails with *BeyondRoleError unless the user's role allows all scopes.
func CheckRole(user *ent.User, scopes scope.Set) error {
	limit := user.Role.PermissionLevel().MayHold()
	if beyond := scopes.Beyond(limit); len(beyond) > 0 {
		return &BeyondRoleError{user.Role, beyond, scopes.Within(limit)}
	}
	return nil
}

// Scopes returns a token's effective scopes. user is its user, application the one it
// belongs to, or nil for a personal token. With another user or application, the token
// has no scopes.
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

// Beyond returns the token's stored scopes that its user's role does not allow now.
func Beyond(row *ent.AccessToken, user *ent.User) scope.Set {
	return row.Scopes.Beyond(user.Role.PermissionLevel())
}

// limit narrows a token's stored scopes to those that its user's role and its
// application allow. registered is nil if the application is unknown: the token then
// has no scopes.
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

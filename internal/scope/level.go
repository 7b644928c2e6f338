package scope

import "slices"

// Level is a user's permission level (behaviour.md section 5).
type Level int

// The permission levels.
const (
	Reception Level = 1 + iota
	Practitioner
	Manager
	Administrator
)

// levels are all scopes that each permission level may hold. A new family belongs to
// administrators alone until it is added to another level here.
var levels = map[Level]Set{
	Reception: {
		"appointment", "patient:create", "patient:read", "patient:update", "practice:read", "treatments:read", "user:read",
	},
	Practitioner:  {"appointment", "patient", "practice:read", "treatments:read", "user:read"},
	Manager:       {"appointment", "audit:read", "financials", "patient", "practice", "treatments", "user:read"},
	Administrator: Everything(),
}

// MayHold returns all scopes that a user of this level, and so a token of the user, may hold:
// none for an unknown level.
func (l Level) MayHold() Set { return slices.Clone(levels[l]) }

// Effective returns all scopes that a user of this level may hold: those of a session, which has no
// token.
func (l Level) Effective() Effective { return Granted(l.MayHold().String()).Limit(l, nil) }

// Granted are the scopes that a token was given when it was created, as they are stored. Limit
// returns what the token may do now.
type Granted string

// Effective are the scopes that a token has now. The zero value allows nothing. Only Limit
// creates any other value, so no code can mistake stored scopes for effective ones.
type Effective struct {
	set  Set
	list string
}

// Limit narrows the granted scopes to those that the user's level may hold and, for the token
// of an application, to those that the application is registered for; application is nil for
// a personal token. It runs whenever a token is resolved or displayed, so changing a role or
// an application changes every token: a promotion restores what a demotion removed, never
// more than was granted.
func (g Granted) Limit(level Level, application *Set) Effective {
	set := fields(string(g)).Within(levels[level])
	if application != nil {
		set = set.Within(*application)
	}
	return Effective{set, set.String()}
}

// Beyond returns the granted scopes that the level may not hold.
func (g Granted) Beyond(level Level) Set { return fields(string(g)).Beyond(levels[level]) }

// Allows reports whether the token has the needed scope.
func (e Effective) Allows(needed string) bool { return e.set.Allows(needed) }

// Set returns a copy of the scopes.
func (e Effective) Set() Set { return slices.Clone(e.set) }

// String returns the space-separated list, as in the X-OAuth-Scopes header.
func (e Effective) String() string { return e.list }

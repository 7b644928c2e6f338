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

// levels is the most that each permission level may hold. What is not listed is
// not held: a new family belongs to administrators until it is added to a line.
// This is the only place that says so.
var levels = map[Level]Set{
	Reception: {
		"appointment", "patient:create", "patient:read", "patient:update", "practice:read", "treatments:read", "user:read",
	},
	Practitioner:  {"appointment", "patient", "practice:read", "treatments:read", "user:read"},
	Manager:       {"appointment", "financials", "patient", "practice", "treatments", "user:read"},
	Administrator: Everything(),
}

// MayHold is the most that a user of this level, and so any token that acts for
// the user, may do. A level that does not exist may do nothing.
func (l Level) MayHold() Set { return slices.Clone(levels[l]) }

// Granted is the scopes that a token was given when it was made, as they are
// stored. It is not what the token may do: that is Limit.
type Granted string

// Effective is what a token may do now. The zero value allows nothing, and only
// Limit makes one that allows something: no code can take the stored scopes of a
// token for what it may do.
type Effective struct {
	set  Set
	list string
}

// Limit narrows what a token was given to what the level of its user may hold
// and, for the token of an application, to what the application is registered
// for; application is nil for a personal token. It is computed anew whenever a
// token is resolved or shown, so a change of role or of an application changes
// every token: a promotion gives back what a demotion took, and never more than
// the token was given.
func (g Granted) Limit(level Level, application *Set) Effective {
	set := fields(string(g)).Within(levels[level])
	if application != nil {
		set = set.Within(*application)
	}
	return Effective{set, set.String()}
}

// Beyond is what the token was given beyond what the level may hold.
func (g Granted) Beyond(level Level) Set { return fields(string(g)).Beyond(levels[level]) }

// Allows reports whether the token may do what needs this scope.
func (e Effective) Allows(needed string) bool { return e.set.Allows(needed) }

// Set is the scopes as a list of their own.
func (e Effective) Set() Set { return slices.Clone(e.set) }

// String is the space-separated list, as in the X-OAuth-Scopes header.
func (e Effective) String() string { return e.list }

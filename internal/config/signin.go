package config

import (
	"slices"
	"strings"

	"chairside/internal/scope"
)

// SignInFlags are the flags of "chairside practice sign-in".
type SignInFlags struct {
	Database
	Practice     string `arg:"" help:"Practice: its id or its short name."`
	SecondFactor string `placeholder:"LEVEL" help:"Permission level from which users need two-factor authentication: none, reception, practitioner, manager or administrator."`
	IdleLock     *int   `placeholder:"MINUTES" help:"Minutes without a request after which a browser session locks: 5 to 120, or 0 for never."`
}

// levelNames are the permission levels by their number.
var levelNames = []string{"none", "reception", "practitioner", "manager", "administrator"}

// LevelOf returns the permission level of a name that Validate accepts; 0 for none.
func LevelOf(name string) scope.Level { return scope.Level(slices.Index(levelNames, name)) }

// LevelName returns the name of a permission level.
func LevelName(level scope.Level) string { return levelNames[level] }

// Validate reports every mistake in the flags; the parser calls it.
func (f SignInFlags) Validate() error {
	var m Mistakes
	f.Database.check(&m)
	if f.SecondFactor != "" && !slices.Contains(levelNames, f.SecondFactor) {
		m.add("second-factor", "must be one of: %s", strings.Join(levelNames, ", "))
	}
	if f.IdleLock != nil && *f.IdleLock != 0 && (*f.IdleLock < 5 || *f.IdleLock > 120) {
		m.add("idle-lock", "must be 5 to 120 minutes, or 0 for never")
	}
	return m.err()
}

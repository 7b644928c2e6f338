package signin

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/internal/scope"
)

// Rules are a practice's rules for signing in to the pages. Tokens do not follow them.
type Rules struct {
	// FactorFrom is the permission level from which users must have two-factor authentication;
	// 0 for no one.
	FactorFrom scope.Level
	// IdleMinutes is after how many minutes without a request a session locks; 0 for never.
	IdleMinutes int
}

// The limits of Rules.IdleMinutes if it is not 0. The last use of a session is stored to the
// minute, and without use a session ends after IdleLife.
const (
	MinIdleMinutes = 5
	MaxIdleMinutes = int(IdleLife / time.Minute)
)

// The errors of SetRules.
var (
	ErrFactorFrom  = errors.New("two-factor authentication must be required of no one, or from a permission level")
	ErrIdleMinutes = errors.New("sessions must lock after 5 to 120 minutes, or never (0)")
)

// RulesOf returns a practice's rules.
func RulesOf(p *ent.Practice) Rules {
	return Rules{scope.Level(p.SecondFactorLevel), p.IdleLockMinutes}
}

// RequireFactor reports whether a user must have two-factor authentication.
func (r Rules) RequireFactor(u *ent.User) bool {
	return r.FactorFrom > 0 && u.Role.PermissionLevel() >= r.FactorFrom
}

// SetRules stores a practice's rules, which apply from the next request of every session. No one
// is locked out: users without a second factor set it up when they next open a page. It fails with
// ErrFactorFrom and ErrIdleMinutes. tx is the client of a transaction.
func SetRules(ctx context.Context, tx *ent.Client, practice uuid.UUID, r Rules) error {
	switch {
	case r.FactorFrom < 0 || r.FactorFrom > scope.Administrator:
		return ErrFactorFrom
	case r.IdleMinutes != 0 && (r.IdleMinutes < MinIdleMinutes || r.IdleMinutes > MaxIdleMinutes):
		return ErrIdleMinutes
	}
	return tx.Practice.UpdateOneID(practice).SetSecondFactorLevel(int(r.FactorFrom)).SetIdleLockMinutes(r.IdleMinutes).Exec(ctx)
}

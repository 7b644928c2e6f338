package signin

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"chairside/ent"
	"chairside/ent/signinattempt"
	"chairside/internal/clock"
	"chairside/internal/principal"
)

// Throttled is the error for an attempt that was not checked, because too many failed
// before it.
type Throttled struct{ Wait time.Duration }

func (t *Throttled) Error() string { return "too many attempts" }

const (
	window   = 15 * time.Minute    // how long a failure counts
	familiar = 90 * 24 * time.Hour // how long an address is known after a success
)

// limits are the failures within window that make further attempts wait.
type limits struct {
	place   int // for one account from one address
	account int // for one account from unknown addresses
	address int // from one address for any account
}

var (
	passwordLimits = limits{place: 10, account: 30, address: 100}
	factorLimits   = limits{place: 5, account: 10, address: 100} // six digits are easier to guess
)

// account is the stored key of an account that attempts are counted for.
func account(kind, name string) []byte {
	sum := sha256.Sum256([]byte(kind + ":" + name))
	return sum[:]
}

// countAttempt counts an attempt before it is checked, so that concurrent attempts
// cannot pass the limit together, and returns its id. It fails with *Throttled; a
// throttled attempt does not count.
func (s *Sessions) countAttempt(ctx context.Context, account []byte, address string, l limits) (id int64, err error) {
	now := clock.Now(ctx)
	ctx = principal.AsSystemWithin(ctx)
	row, err := s.db.Ent.SignInAttempt.Create().SetAccount(account).SetAddress(address).SetAt(now).Save(ctx)
	if err != nil {
		return 0, fmt.Errorf("count the attempt: %w", err)
	}
	wait, err := s.wait(ctx, row, l)
	if err != nil || wait == 0 {
		return row.ID, err
	}
	if err := s.db.Ent.SignInAttempt.DeleteOne(row).Exec(ctx); err != nil {
		return 0, fmt.Errorf("delete the attempt: %w", err)
	}
	return 0, &Throttled{wait}
}

// wait returns how long an attempt has to wait, or 0.
func (s *Sessions) wait(ctx context.Context, row *ent.SignInAttempt, l limits) (time.Duration, error) {
	known, err := s.db.Ent.SignInAttempt.Query().
		Where(signinattempt.Account(row.Account), signinattempt.Address(row.Address), signinattempt.Succeeded(true), signinattempt.AtGT(row.At.Add(-familiar))).
		Exist(ctx)
	if err != nil {
		return 0, fmt.Errorf("find successful attempts: %w", err)
	}
	failures, err := s.db.Ent.SignInAttempt.Query().
		Where(
			signinattempt.Or(signinattempt.Account(row.Account), signinattempt.Address(row.Address)),
			signinattempt.Succeeded(false), signinattempt.AtGT(row.At.Add(-window)), signinattempt.IDNEQ(row.ID),
		).
		Order(signinattempt.ByAt()).
		All(ctx) // few: the limits bound them
	if err != nil {
		return 0, fmt.Errorf("find failed attempts: %w", err)
	}
	var place, elsewhere, address []time.Time
	for _, f := range failures {
		sameAccount, sameAddress := string(f.Account) == string(row.Account), f.Address == row.Address
		if sameAccount && sameAddress {
			place = append(place, f.At)
		}
		if sameAccount && !known {
			elsewhere = append(elsewhere, f.At)
		}
		if sameAddress {
			address = append(address, f.At)
		}
	}
	var wait time.Duration
	for _, c := range []struct {
		at    []time.Time
		limit int
	}{{place, l.place}, {elsewhere, l.account}, {address, l.address}} {
		if over := len(c.at) - c.limit; over >= 0 { // wait until fewer than limit failures count
			wait = max(wait, c.at[over].Add(window).Sub(row.At))
		}
	}
	return wait, nil
}

// recordSuccess marks an attempt as successful, deletes the account's failures from
// the same address, and removes attempts that no longer count.
func (s *Sessions) recordSuccess(ctx context.Context, id int64, account []byte, address string) error {
	now := clock.Now(ctx)
	ctx = principal.AsSystemWithin(ctx)
	attempts := s.db.Ent.SignInAttempt
	if err := attempts.UpdateOneID(id).SetSucceeded(true).Exec(ctx); err != nil {
		return fmt.Errorf("record the success: %w", err)
	}
	_, err := attempts.Delete().Where(signinattempt.Or(
		signinattempt.And(signinattempt.Account(account), signinattempt.Address(address), signinattempt.Succeeded(false)),
		signinattempt.And(signinattempt.AtLT(now.Add(-window)), signinattempt.Succeeded(false)),
		signinattempt.AtLT(now.Add(-familiar)),
	)).Exec(ctx)
	if err != nil {
		return fmt.Errorf("delete old attempts: %w", err)
	}
	return nil
}

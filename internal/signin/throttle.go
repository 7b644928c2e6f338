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

// Throttled is returned for a try that was not even looked at, because there
// were too many wrong ones.
type Throttled struct{ Wait time.Duration }

func (t *Throttled) Error() string { return "signin: too many wrong tries" }

const (
	window   = 15 * time.Minute    // for which a failure counts
	familiar = 90 * 24 * time.Hour // for which an address is known after a success
)

// limits are how many failures within window make further tries wait.
type limits struct {
	place   int // for one account from one address
	account int // for one account from addresses it is not known at
	address int // from one address for any account
}

var (
	passwordLimits = limits{place: 10, account: 30, address: 100}
	factorLimits   = limits{place: 5, account: 10, address: 100} // six digits are soon guessed
)

// account is what is signed in to, in the form in which tries are kept.
func account(kind, name string) []byte {
	sum := sha256.Sum256([]byte(kind + ":" + name))
	return sum[:]
}

// try counts a try before it is looked at, so that many at once cannot slip
// through together, and tells its id. It fails with *Throttled where there were
// too many; such a try does not count.
func (s *Sessions) try(ctx context.Context, account []byte, address string, l limits) (id int64, err error) {
	now := clock.Now(ctx)
	ctx = principal.AsSystemWithin(ctx)
	row, err := s.db.Ent.SignInAttempt.Create().SetAccount(account).SetAddress(address).SetAt(now).Save(ctx)
	if err != nil {
		return 0, fmt.Errorf("signin: count a try: %w", err)
	}
	wait, err := s.wait(ctx, row, l)
	if err != nil || wait == 0 {
		return row.ID, err
	}
	if err := s.db.Ent.SignInAttempt.DeleteOne(row).Exec(ctx); err != nil {
		return 0, fmt.Errorf("signin: forget a try: %w", err)
	}
	return 0, &Throttled{wait}
}

// wait is how long the limits make a try wait, 0 where they do not.
func (s *Sessions) wait(ctx context.Context, row *ent.SignInAttempt, l limits) (time.Duration, error) {
	known, err := s.db.Ent.SignInAttempt.Query().
		Where(signinattempt.Account(row.Account), signinattempt.Address(row.Address), signinattempt.Succeeded(true), signinattempt.AtGT(row.At.Add(-familiar))).
		Exist(ctx)
	if err != nil {
		return 0, fmt.Errorf("signin: look for successes: %w", err)
	}
	failures, err := s.db.Ent.SignInAttempt.Query().
		Where(
			signinattempt.Or(signinattempt.Account(row.Account), signinattempt.Address(row.Address)),
			signinattempt.Succeeded(false), signinattempt.AtGT(row.At.Add(-window)), signinattempt.IDNEQ(row.ID),
		).
		Order(signinattempt.ByAt()).
		All(ctx) // as many as the limits allow, or little more
	if err != nil {
		return 0, fmt.Errorf("signin: look for failures: %w", err)
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
		if over := len(c.at) - c.limit; over >= 0 { // until one less than the limit count
			wait = max(wait, c.at[over].Add(window).Sub(row.At))
		}
	}
	return wait, nil
}

// succeed notes that a try was right, and forgets the wrong ones before it from
// the same place. What no longer counts anywhere is removed.
func (s *Sessions) succeed(ctx context.Context, id int64, account []byte, address string) error {
	now := clock.Now(ctx)
	ctx = principal.AsSystemWithin(ctx)
	attempts := s.db.Ent.SignInAttempt
	if err := attempts.UpdateOneID(id).SetSucceeded(true).Exec(ctx); err != nil {
		return fmt.Errorf("signin: note a success: %w", err)
	}
	_, err := attempts.Delete().Where(signinattempt.Or(
		signinattempt.And(signinattempt.Account(account), signinattempt.Address(address), signinattempt.Succeeded(false)),
		signinattempt.And(signinattempt.AtLT(now.Add(-window)), signinattempt.Succeeded(false)),
		signinattempt.AtLT(now.Add(-familiar)),
	)).Exec(ctx)
	if err != nil {
		return fmt.Errorf("signin: forget old tries: %w", err)
	}
	return nil
}

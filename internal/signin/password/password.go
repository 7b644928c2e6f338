package password

import (
	"context"
	"runtime"
	"sync"

	"github.com/alexedwards/argon2id"
)

// cost is the smallest setting that OWASP recommends for argon2id.
var cost = &argon2id.Params{Memory: 19 * 1024, Iterations: 2, Parallelism: 1, SaltLength: 16, KeyLength: 32}

// slots bounds how many hashes are computed at once.
var slots = make(chan struct{}, runtime.GOMAXPROCS(0))

// Chosen is the hash of a password that a user may have. The zero Chosen is no
// password: Verify matches nothing with it.
type Chosen struct{ hash string }

// Hash is the text to store.
func (c Chosen) Hash() string { return c.hash }

// Choose checks a new password as Check does and hashes it with a random salt,
// in the encoded form that names its parameters. It waits for a free slot and
// gives up with ctx.
func Choose(ctx context.Context, text string, about ...string) (Chosen, error) {
	if err := Check(text, about...); err != nil {
		return Chosen{}, err
	}
	return Unchecked(ctx, text)
}

// Unchecked is Choose without the check, for the passwords of tests. An import
// rule keeps it out of the program.
func Unchecked(ctx context.Context, text string) (Chosen, error) {
	release, err := acquire(ctx)
	if err != nil {
		return Chosen{}, err
	}
	defer release()
	hash, err := argon2id.CreateHash(text, cost)
	return Chosen{hash}, err
}

// Verify reports whether a password has the given hash. An empty hash (no
// password was ever set, or no such user) never matches, but takes as long as
// any other, so that the time of an answer does not tell who exists.
func Verify(ctx context.Context, password, hash string) (bool, error) {
	if len(password) > MaxBytes {
		return false, nil
	}
	release, err := acquire(ctx)
	if err != nil {
		return false, err
	}
	defer release()
	if hash == "" {
		_, err := argon2id.ComparePasswordAndHash(password, decoy())
		return false, err
	}
	return argon2id.ComparePasswordAndHash(password, hash)
}

func acquire(ctx context.Context) (release func(), err error) {
	select {
	case slots <- struct{}{}:
		return func() { <-slots }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// decoy is a hash that stands in for the one of a user who has none. The
// password behind it is of no use: Verify ignores the result.
var decoy = sync.OnceValue(func() string {
	hash, err := argon2id.CreateHash("decoy", cost)
	if err != nil {
		panic(err) // the system's random source has failed
	}
	return hash
})

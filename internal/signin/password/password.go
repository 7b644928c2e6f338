package password

import (
	"context"
	"runtime"
	"sync"

	"github.com/alexedwards/argon2id"
)

// cost is OWASP's smallest recommended setting for argon2id.
var cost = &argon2id.Params{Memory: 19 * 1024, Iterations: 2, Parallelism: 1, SaltLength: 16, KeyLength: 32}

// slots bounds how many hashes are computed at once.
var slots = make(chan struct{}, runtime.GOMAXPROCS(0))

// Chosen is the hash of a password that passed Check. The zero Chosen is no password:
// Verify never matches it.
type Chosen struct{ hash string }

// Hash returns the text to store.
func (c Chosen) Hash() string { return c.hash }

// Choose checks a new password and hashes it with a random salt, in the encoded form
// that includes the parameters. It waits for a free slot until ctx ends.
func Choose(ctx context.Context, text string, about ...string) (Chosen, error) {
	if err := Check(text, about...); err != nil {
		return Chosen{}, err
	}
	return Unchecked(ctx, text)
}

// Unchecked is Choose without the check, for tests. An import rule keeps it out of
// the program.
func Unchecked(ctx context.Context, text string) (Chosen, error) {
	release, err := acquire(ctx)
	if err != nil {
		return Chosen{}, err
	}
	defer release()
	hash, err := argon2id.CreateHash(text, cost)
	return Chosen{hash}, err
}

// Verify reports whether a password has the given hash. An empty hash (no password,
// or no such user) never matches, but takes as long as any other, so that timing does
// not reveal which users exist.
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

// decoy is compared in place of an empty hash. Verify ignores the result.
var decoy = sync.OnceValue(func() string {
	hash, err := argon2id.CreateHash("decoy", cost)
	if err != nil {
		panic(err) // the system's random source has failed
	}
	return hash
})

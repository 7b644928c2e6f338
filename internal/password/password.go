package password

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"unicode/utf8"

	"github.com/alexedwards/argon2id"
)

// Limits of a password. The minimum counts Unicode code points; the maximum
// counts bytes and only keeps absurd inputs out.
const (
	MinRunes = 8
	MaxBytes = 1024
)

// cost is the smallest setting that OWASP recommends for argon2id.
var cost = &argon2id.Params{Memory: 19 * 1024, Iterations: 2, Parallelism: 1, SaltLength: 16, KeyLength: 32}

// slots bounds how many hashes are computed at once.
var slots = make(chan struct{}, runtime.GOMAXPROCS(0))

// Check gives the reason why a password cannot be chosen, or nil. It judges
// length alone: rules about kinds of characters make passwords worse.
func Check(password string) error {
	switch {
	case !utf8.ValidString(password):
		return errors.New("the password is not valid UTF-8 text")
	case utf8.RuneCountInString(password) < MinRunes:
		return fmt.Errorf("the password must have at least %d characters", MinRunes)
	case len(password) > MaxBytes:
		return fmt.Errorf("the password must not have more than %d bytes", MaxBytes)
	}
	return nil
}

// Hash gives the argon2id hash of a password with a random salt, in the
// encoded form that names its parameters. It waits for a free slot and gives
// up with ctx.
func Hash(ctx context.Context, password string) (string, error) {
	release, err := acquire(ctx)
	if err != nil {
		return "", err
	}
	defer release()
	return argon2id.CreateHash(password, cost)
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

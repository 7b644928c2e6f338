package token

import (
	"bytes"
	"regexp"
	"testing"
	"time"

	"chairside/ent"
)

func TestMint(t *testing.T) {
	t.Parallel()
	value, hash := Mint(Personal)
	if !regexp.MustCompile(`^cs_pat_[A-Za-z0-9_-]{43}$`).MatchString(value) {
		t.Errorf("token %s", value)
	}
	if len(hash) != 32 || !bytes.Equal(hash, Hash(value)) || bytes.Contains([]byte(value), hash) {
		t.Errorf("hash %x", hash)
	}
	if other, _ := Mint(OAuth); other[:7] != OAuth || other[7:] == value[7:] {
		t.Errorf("another token is %s", other)
	}
	if len(value) > maxLength {
		t.Error("a token is longer than what Resolve looks up")
	}
}

func TestStateOf(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 7, 1, 9, 0, 0, 0, time.UTC)
	at := func(d time.Duration) *time.Time {
		moment := now.Add(d)
		return &moment
	}
	for _, test := range []struct {
		row  ent.AccessToken
		want string
	}{
		{ent.AccessToken{CreatedAt: now}, "active"},
		{ent.AccessToken{CreatedAt: *at(-IdleLife)}, "active"},
		{ent.AccessToken{CreatedAt: *at(-IdleLife - 1)}, "expired"},
		{ent.AccessToken{CreatedAt: *at(-2 * IdleLife), LastUsedAt: at(-time.Hour)}, "active"},
		{ent.AccessToken{CreatedAt: *at(-2 * IdleLife), LastUsedAt: at(-IdleLife - useResolution + 1)}, "active"},
		{ent.AccessToken{CreatedAt: *at(-2 * IdleLife), LastUsedAt: at(-IdleLife - useResolution)}, "expired"},
		{ent.AccessToken{CreatedAt: now, ExpiresAt: at(1)}, "active"},
		{ent.AccessToken{CreatedAt: now, ExpiresAt: at(0)}, "expired"},
		{ent.AccessToken{CreatedAt: now, ExpiresAt: at(0), RevokedAt: at(0)}, "revoked"},
	} {
		if got := StateOf(&test.row, now); got != test.want {
			t.Errorf("%+v is %s, want %s", test.row, got, test.want)
		}
	}
}

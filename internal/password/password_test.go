package password

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func TestHashAndVerify(t *testing.T) {
	hash, err := Hash(t.Context(), "correct horse")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(hash, "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Errorf("unexpected parameters in %s", hash)
	}
	for _, test := range []struct {
		password, hash string
		want           bool
	}{
		{"correct horse", hash, true},
		{"correct horsf", hash, false},
		{"", hash, false},
		{"decoy", "", false},
		{strings.Repeat("x", MaxBytes+1), hash, false},
	} {
		got, err := Verify(t.Context(), test.password, test.hash)
		if err != nil || got != test.want {
			t.Errorf("Verify(%.12q) = %t, %v", test.password, got, err)
		}
	}
	if _, err := Verify(t.Context(), "correct horse", "rubbish"); err == nil {
		t.Error("a hash of another form must be an error")
	}
}

func TestHashGivesUpWithItsContext(t *testing.T) {
	for range cap(slots) {
		slots <- struct{}{}
	}
	defer func() {
		for range cap(slots) {
			<-slots
		}
	}()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Hash(ctx, "correct horse"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestCheck(t *testing.T) {
	for password, ok := range map[string]bool{
		"1234567": false, "12345678": true, "ééééééé": false, "éééééééé": true,
		strings.Repeat("x", MaxBytes): true, strings.Repeat("x", MaxBytes+1): false, "\xff12345678": false,
	} {
		if err := Check(password); (err == nil) != ok {
			t.Errorf("Check(%.12q) = %v", password, err)
		}
	}
}

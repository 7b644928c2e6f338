package password

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func TestHashAndVerify(t *testing.T) {
	chosen, err := Choose(t.Context(), "correct horse")
	if err != nil {
		t.Fatal(err)
	}
	hash := chosen.Hash()
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

func TestChooseChecks(t *testing.T) {
	for text, about := range map[string]string{"short": "", "password1234": "", "ann@bright.test": "ann@bright.test"} {
		if chosen, err := Choose(t.Context(), text, about); err == nil || chosen.Hash() != "" {
			t.Errorf("Choose(%q) gives %q, %v", text, chosen.Hash(), err)
		}
	}
}

func TestChooseGivesUpWithItsContext(t *testing.T) {
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
	if _, err := Choose(ctx, "correct horse"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

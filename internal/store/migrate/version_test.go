package migrate

import (
	"errors"
	"testing"

	"chairside/internal/test/localpg/pgtest"
)

func TestOldServersAreRefused(t *testing.T) {
	t.Parallel()
	url := pgtest.New(t)
	db := openWith(t, url, twoFiles(url))
	if _, err := db.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	db.oldest = 1000
	if _, err := db.Up(t.Context()); !errors.Is(err, ErrTooOld) {
		t.Errorf("Up: %v", err)
	}
	if err := db.Verify(t.Context()); !errors.Is(err, ErrTooOld) {
		t.Errorf("Verify: %v", err)
	}
}

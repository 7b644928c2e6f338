package oauth_test

import (
	"os"
	"testing"

	"chairside/internal/test/localpg/pgtest"
)

func TestMain(m *testing.M) {
	status := pgtest.With{M: m}.Run()
	if leftOver != "" {
		os.RemoveAll(leftOver)
	}
	os.Exit(status)
}

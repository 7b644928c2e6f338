package token_test

import (
	"testing"

	"chairside/internal/chairsidetest"
)

func TestMain(m *testing.M) { chairsidetest.Main(m) }

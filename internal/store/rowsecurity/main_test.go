package rowsecurity_test

import (
	"testing"

	"chairside/internal/test/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

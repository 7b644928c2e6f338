package counters_test

import (
	"testing"

	"chairside/internal/test/harness"
)

// TestMain finds a PostgreSQL server and seeds the databases that the tests copy.
func TestMain(m *testing.M) { harness.Main(m) }

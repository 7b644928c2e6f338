package counters_test

import (
	"testing"

	"chairside/internal/chairsidetest"
)

// TestMain finds a PostgreSQL server and seeds what the tests copy.
func TestMain(m *testing.M) { chairsidetest.Main(m) }

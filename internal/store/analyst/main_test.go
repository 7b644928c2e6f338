package analyst_test

import (
	"testing"

	"chairside/internal/test/localpg/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

package transfer

import (
	"strings"
	"testing"
)

func TestGuide(t *testing.T) {
	t.Parallel()
	guide := Guide()
	for _, part := range []string{"# The files of another system\n", "source: oldsoft", "missing: blank", "# What becomes of a row\n", "A dry run"} {
		if !strings.Contains(guide, part) {
			t.Errorf("there is no %q", part)
		}
	}
}

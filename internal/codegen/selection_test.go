package codegen

import (
	"strings"
	"testing"

	"chairside/internal/apispec"
)

// TestComputedMemberWithoutFunctionIsNeverNull checks that such a member cannot show a nullable
// column, because null would read as 0 or as an empty text.
func TestComputedMemberWithoutFunctionIsNeverNull(t *testing.T) {
	t.Parallel()
	visit := newVisit(nil)
	if _, err := visit.Value(apispec.Computed{Name: "who", Columns: []string{"patient_id"}}); err == nil || !strings.Contains(err.Error(), "Visit.patient_id may be null") {
		t.Errorf("a column that may be null: %v", err)
	}
	if _, err := visit.Value(apispec.Computed{Name: "who", Columns: []string{"dentist_id"}}); err != nil {
		t.Errorf("a column that is never null: %v", err)
	}
}

package subject_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"chairside/internal/subject"
	"chairside/internal/test/harness"
)

// erasedAsFHIR checks that a bundle has no value that an erasure made up.
func erasedAsFHIR(t *testing.T, e *harness.Env, id int64) {
	t.Helper()
	file, _, _ := read(t, e, id)
	var out strings.Builder
	if err := file.WriteFHIR(&out); err != nil {
		t.Fatal(err)
	}
	for _, made := range []string{`"gender"`, "female", "birthDate", "1900", `"Mr"`, `"address"`, "postalCode"} {
		if strings.Contains(out.String(), made) {
			t.Errorf("the bundle of an erased patient has %s", made)
		}
	}
	if !strings.Contains(out.String(), `"text": "Erased patient"`) {
		t.Error("the bundle does not say that the patient was erased")
	}
}

// TestGuideNamesErasedValues: readers of an erased record learn what its values mean.
func TestGuideNamesErasedValues(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../guides/patient-data.md")
	if err != nil {
		t.Fatal(err)
	}
	for column, value := range subject.ErasedValues {
		name, about, _ := strings.Cut(column, ".")
		if name != "patients" || strings.HasSuffix(about, "_folded") || about == "search_text" {
			continue
		}
		if word := fmt.Sprint(value); !strings.Contains(string(guide), word) {
			t.Errorf("the guide does not name %s, the value of %s", word, column)
		}
	}
}

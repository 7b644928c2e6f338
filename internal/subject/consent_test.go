package subject_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"chairside/internal/test/harness"
)

// TestConsentHistory: the file has each change of the consent to marketing, with who made it.
func TestConsentHistory(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		id := e.Get(t, "/v1/patients?per_page=1", token).Status(t, 200).Column(t, "patients", "id")[0]
		for _, consent := range []bool{false, true, false} {
			e.Patch(t, "/v1/patients/"+id, token, map[string]any{"patient": map[string]any{"marketing": consent, "occupation": fmt.Sprint(consent)}}).Status(t, 200)
			e.Clock.Advance(time.Hour)
		}
		e.Settle()
		n, err := strconv.ParseInt(id, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		file, text, _ := read(t, e, n)
		changes := file.Consent()
		if len(changes) < 2 {
			t.Fatalf("changes %v", changes)
		}
		last := changes[len(changes)-1]
		if last.Old == nil || *last.Old != 1 || last.New != 0 || last.User == "" || !strings.HasPrefix(last.At, "2026-07-01T12:15:00") {
			t.Errorf("the last change: %+v", last)
		}
		if !strings.Contains(text, `"marketing_consent": [`) {
			t.Error("the JSON lacks the history")
		}
		var page strings.Builder
		if err := file.WriteHTML(&page); err != nil || !strings.Contains(page.String(), "Yes to No, by ") {
			t.Errorf("the page lacks the history: %v", err)
		}
	})
}

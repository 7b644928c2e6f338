package dump_test

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"chairside/internal/dump"
	"chairside/internal/seed"
	"chairside/internal/test/harness"
)

// anonymise replaces the ids in members of a name by the order in which they first occur there,
// and drops URLs.
func anonymise(v any, key string, seen map[string]map[string]float64) any {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if strings.HasSuffix(name, "_url") {
				delete(v, name)
				continue
			}
			v[name] = anonymise(v[name], name, seen)
		}
		return v
	case []any:
		for i, member := range v {
			v[i] = anonymise(member, key, seen)
		}
		return v
	case nil:
		return nil
	}
	switch {
	case key == "email", key == "slug":
		return "changed by the import"
	case key == "doctor_id", key == "family_id", key == "legacy_id", strings.HasPrefix(key, "nhs_"):
		return v
	case key == "id" || strings.HasSuffix(key, "_id") || strings.HasSuffix(key, "_ids"):
		id, err := json.Marshal(v)
		if err != nil {
			return err
		}
		if seen[key] == nil {
			seen[key] = map[string]float64{}
		}
		if _, ok := seen[key][string(id)]; !ok {
			seen[key][string(id)] = float64(len(seen[key]))
		}
		return seen[key][string(id)]
	}
	return v
}

// The API's answers about a practice are the same after it moved, apart from ids.
func TestMovedPracticeAnswersTheSame(t *testing.T) {
	t.Parallel()
	urls := map[string]func(testing.TB) string{"sqlite": harness.SQLite, "postgres": harness.Postgres}
	for from, to := range map[string]string{"sqlite": "postgres", "postgres": "sqlite"} {
		t.Run(from+" to "+to, func(t *testing.T) {
			t.Parallel()
			source, target := harness.Start(t, urls[from](t), harness.Patient), harness.Start(t, urls[to](t), harness.Patient)
			admin := source.Get(t, "/v1/user", source.Token(t, ""))
			demo := admin.Status(t, 200).Text(t, "user.practice_id")
			dir := filepath.Join(t.TempDir(), "demo")
			if err := dump.Export(t.Context(), source.DB, dir, dump.ExportOptions{Practice: demo}); err != nil {
				t.Fatal(err)
			}
			emails := map[string]string{}
			for _, email := range source.Get(t, "/v1/users?per_page=100", source.Token(t, "")).Status(t, 200).Column(t, "users", "email") {
				emails[email] = "moved." + email
			}
			if _, err := dump.ImportPractice(t.Context(), target.DB, dir, dump.PracticeOptions{Slug: "moved", Emails: emails}); err != nil {
				t.Fatal(err)
			}
			old, moved := source.Token(t, ""), target.TokenOf(t, "moved."+seed.DemoAdmin, "", nil)
			for _, list := range strings.Fields(`accounts acquisition_sources appointment_cancellation_reasons appointment_reasons appointments contracts custom_fields
				invoice_items invoices nhs_claims notes patient_referrals patient_stats patients payment_plans payments practitioners recalls
				rooms sites sundries treatment_appointments treatment_categories treatment_plan_items treatment_plans treatments users waiting_lists`) {
				var texts [2]string
				for i, answer := range []*harness.Response{source.Get(t, "/v1/"+list+"?per_page=100", old), target.Get(t, "/v1/"+list+"?per_page=100", moved)} {
					content, err := json.Marshal(anonymise(answer.Status(t, 200).List(t, list), "", map[string]map[string]float64{}))
					if err != nil {
						t.Fatal(err)
					}
					texts[i] = string(content)
				}
				if texts[0] != texts[1] {
					t.Errorf("%s differ:\n%.600s\n%.600s", list, texts[0], texts[1])
				}
			}
		})
	}
}

package scope_test

import (
	"slices"
	"strings"
	"testing"

	"chairside/internal/scope"
)

func TestParseSortsAndDropsDuplicates(t *testing.T) {
	for list, want := range map[string]string{
		"": "", "   ": "", "patient": "patient", "user:read appointment": "appointment user:read",
		"patient patient  patient:read\tpatient": "patient patient:read",
	} {
		set, err := scope.Parse(list)
		if err != nil || set.String() != want {
			t.Errorf("Parse(%q) = %q, %v; want %q", list, set, err, want)
		}
	}
}

func TestParseNamesEveryUnknownScope(t *testing.T) {
	_, err := scope.Parse("patient everything patient:write Patient patient: :read")
	if err == nil {
		t.Fatal("want an error")
	}
	for _, unknown := range []string{"everything", "patient:write", "Patient", "patient:", ":read"} {
		if !slices.Contains(strings.Fields(err.Error()), unknown) {
			t.Errorf("%q does not name %q", err, unknown)
		}
	}
}

func TestBareFamilyAllowsItsVerbs(t *testing.T) {
	for _, c := range []struct {
		held, needed string
		allowed      bool
	}{
		{"patient", "patient:read", true}, {"patient", "patient:delete", true}, {"patient:read", "patient:read", true},
		{"patient:read", "patient:update", false}, {"patient:read", "patient", false}, {"appointment", "patient:read", false},
		{"", "patient:read", false}, {"user practice:read", "practice:read", true},
		{"patient:create patient:read patient:update patient:delete", "patient", true},
		{"patient:create patient:read patient:update", "patient", false}, {"patient", "", false}, {"", "", false},
	} {
		set, err := scope.Parse(c.held)
		if err != nil {
			t.Fatal(err)
		}
		if got := set.Allows(c.needed); got != c.allowed {
			t.Errorf("%q allows %q: %v, want %v", c.held, c.needed, got, c.allowed)
		}
	}
}

func TestEveryScopeIsDescribed(t *testing.T) {
	all := scope.All()
	if want := len(scope.Families) * (1 + len(scope.Verbs)); len(all) != want {
		t.Errorf("%d scopes, want %d", len(all), want)
	}
	for _, s := range all {
		if set, err := scope.Parse(s); err != nil || set.String() != s {
			t.Errorf("Parse(%q) = %q, %v", s, set, err)
		}
		if !scope.Everything().Allows(s) {
			t.Errorf("Everything does not allow %q", s)
		}
	}
	for _, f := range scope.Families {
		if scope.Describe(f) == "" {
			t.Errorf("%q has no description", f)
		}
	}
	if scope.Describe("teeth") != "" {
		t.Error("an unknown family has a description")
	}
}

func FuzzParse(f *testing.F) {
	f.Add("patient appointment:read")
	f.Add("patient:")
	f.Fuzz(func(t *testing.T, list string) {
		set, err := scope.Parse(list)
		if err != nil {
			return
		}
		again, err := scope.Parse(set.String())
		if err != nil || !slices.Equal(again, set) || !slices.IsSorted(set) {
			t.Errorf("Parse(%q) = %q, read again as %q, %v", list, set, again, err)
		}
	})
}

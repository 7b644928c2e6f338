package scope_test

import (
	"slices"
	"strings"
	"testing"

	"chairside/internal/scope"
)

// allows is the table of behaviour.md section 7, written independently of levels.
func allows(level scope.Level, family, verb string) bool {
	switch level {
	case scope.Administrator:
		return true
	case scope.Manager:
		return slices.Contains([]string{"appointment", "patient", "practice", "financials", "treatments"}, family) || slices.Contains([]string{"user", "audit"}, family) && verb == "read"
	case scope.Practitioner, scope.Reception:
		switch family {
		case "appointment":
			return true
		case "patient":
			return verb != "delete" || level == scope.Practitioner
		case "practice", "treatments", "user":
			return verb == "read"
		}
	}
	return false
}

func TestLevelsMatchTheTable(t *testing.T) {
	for level := scope.Level(-1); level <= 6; level++ {
		for _, family := range scope.Families {
			whole := true
			for _, verb := range scope.Verbs {
				want := allows(level, family, verb)
				whole = whole && want
				if got := level.MayHold().Allows(family + ":" + verb); got != want {
					t.Errorf("level %d may hold %s:%s: %v", level, family, verb, got)
				}
			}
			if got := level.MayHold().Allows(family); got != whole {
				t.Errorf("level %d may hold %s: %v", level, family, got)
			}
		}
		set, err := scope.Parse(level.MayHold().String())
		if err != nil || !slices.Equal(set, level.MayHold()) {
			t.Errorf("level %d holds %s, which is not a sorted list of scopes: %v", level, level.MayHold(), err)
		}
	}
	level := scope.Reception
	level.MayHold()[0] = "financials"
	if level.MayHold().Allows("financials") {
		t.Error("MayHold returns the table itself")
	}
}

func TestEachLevelIncludesTheOneBelow(t *testing.T) {
	for level := scope.Practitioner; level <= scope.Administrator; level++ {
		if below := level - 1; !level.MayHold().AllowsAll(below.MayHold()) || below.MayHold().AllowsAll(level.MayHold()) {
			t.Errorf("level %d holds %s, level %d %s", below, below.MayHold(), level, level.MayHold())
		}
	}
}

func TestWithinAndBeyond(t *testing.T) {
	for _, c := range []struct{ set, limit, within, beyond string }{
		{"patient", "patient", "patient", ""},
		{"patient patient:read", "patient", "patient patient:read", ""},
		{"patient", "patient:create patient:read patient:update", "patient:create patient:read patient:update", "patient:delete"},
		{"patient patient:read", "patient:read", "patient:read", "patient:create patient:delete patient:update"},
		{"patient", "user", "", "patient"},
		{"patient:read", "patient:update", "", "patient:read"},
		{"financials patient:delete user:read", "patient:read user", "user:read", "financials patient:delete"},
		{"patient", "patient:create patient:delete patient:read patient:update", "patient", ""},
		{"", "patient", "", ""}, {"patient", "", "", "patient"}, {"teeth", "patient", "", "teeth"},
	} {
		set, limit := scope.Set(strings.Fields(c.set)), scope.Set(strings.Fields(c.limit))
		if got := set.Within(limit).String(); got != c.within {
			t.Errorf("%q within %q is %q, want %q", c.set, c.limit, got, c.within)
		}
		if got := set.Beyond(limit).String(); got != c.beyond {
			t.Errorf("%q beyond %q is %q, want %q", c.set, c.limit, got, c.beyond)
		}
		if got := limit.AllowsAll(set); got != (c.beyond == "") {
			t.Errorf("%q allows all of %q: %v", c.limit, c.set, got)
		}
	}
}

func TestLimitIsAllowedByLevelAndApplication(t *testing.T) {
	given := func(list string) *scope.Set { return new(scope.Set(strings.Fields(list))) }
	for _, c := range []struct {
		granted     scope.Granted
		level       scope.Level
		application *scope.Set
		want        string
	}{
		{"patient", scope.Administrator, nil, "patient"},
		{"patient", scope.Reception, nil, "patient:create patient:read patient:update"},
		{"financials user:update", scope.Reception, nil, ""},
		{"patient:read", 0, nil, ""},
		{"patient", scope.Administrator, given(""), ""},
		{"patient", scope.Administrator, given("patient:read user"), "patient:read"},
		{"patient", scope.Reception, given("patient:delete patient:update"), "patient:update"},
		{"patient:read", scope.Administrator, given("patient user"), "patient:read"},
		{"teeth patient:read", scope.Administrator, nil, "patient:read"},
	} {
		got := c.granted.Limit(c.level, c.application)
		if got.String() != c.want || got.Set().String() != c.want {
			t.Errorf("%q at level %d is %q, want %q", c.granted, c.level, got, c.want)
		}
		for _, s := range scope.All() {
			if want := scope.Set(strings.Fields(c.want)).Allows(s); got.Allows(s) != want {
				t.Errorf("%q allows %s: %v", got, s, got.Allows(s))
			}
		}
	}
	if (scope.Effective{}).Allows("patient:read") || (scope.Effective{}).String() != "" {
		t.Error("the zero Effective allows a scope")
	}
}

// FuzzLimit checks that a scope is effective if, and only if, the token, the level and the
// application all allow it.
func FuzzLimit(f *testing.F) {
	f.Add("patient user:read", "patient:read user", 1)
	f.Add("patient:read patient:create patient:update patient:delete", "patient", 4)
	f.Fuzz(func(t *testing.T, granted, application string, level int) {
		limit := scope.Set(strings.Fields(application))
		got := scope.Granted(granted).Limit(scope.Level(level), &limit)
		for _, family := range scope.Families {
			for _, verb := range scope.Verbs {
				s := family + ":" + verb
				want := scope.Set(strings.Fields(granted)).Allows(s) && scope.Level(level).MayHold().Allows(s) && limit.Allows(s)
				if got.Allows(s) != want {
					t.Errorf("%q allows %s: %v", got, s, !want)
				}
			}
		}
	})
}

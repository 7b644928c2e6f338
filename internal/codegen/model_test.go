package codegen

import (
	"strings"
	"testing"

	"entgo.io/ent/entc/gen"

	"chairside/internal/apispec"
	"chairside/internal/codec"
)

// TestGeneratorRefusesUnknownNames checks that the message has the unknown scope or operator
// and the known ones.
func TestGeneratorRefusesUnknownNames(t *testing.T) {
	t.Parallel()
	const families = "must be one of appointment, patient, practice, financials, treatments, user"
	const known = "must be one of EQ, GT, GTE, LT, LTE, IN"
	for _, test := range []struct {
		name   string
		scope  string
		filter apispec.Filter
		want   []string // parts of the problem, none for no problem
	}{
		{"known", "patient", apispec.Filter{Param: "room", Op: "GTE"}, nil},
		{"the default operator", "patient", apispec.Filter{Param: "room"}, nil},
		{"an array filter", "patient", apispec.Filter{Param: "rooms", Op: "IN", Kind: codec.ID, Handwritten: true}, nil},
		{"an unknown family", "patients", apispec.Filter{Param: "room"}, []string{`Visit: the scope "patients" is unknown`, families}},
		{"no family", "", apispec.Filter{Param: "room"}, []string{`the scope "" is unknown`, families}},
		{"a family with a verb", "patient:read", apispec.Filter{Param: "room"}, []string{`"patient:read"`, families}},
		{"an unknown operator", "patient", apispec.Filter{Param: "room", Op: "LIKE"}, []string{`Visit: filter room: the operator "LIKE" is unknown`, known}},
		{"a lower-case operator", "patient", apispec.Filter{Param: "room", Op: "gte"}, []string{`"gte"`, known}},
		{"an unknown operator of a hand-written filter", "patient", apispec.Filter{Param: "room", Op: "NEAR", Kind: codec.ID, Handwritten: true}, []string{`"NEAR"`, known}},
		{"an array filter that is not hand-written", "patient", apispec.Filter{Param: "room", Op: "IN"}, []string{"IN needs Handwritten"}},
	} {
		resource := apispec.Resource{Key: "visit", Scope: test.scope, Filters: []apispec.Filter{test.filter}}
		other := apispec.Resource{Key: "visit", Scope: test.scope, Operations: []apispec.Operation{{Params: []apispec.Filter{test.filter}}}}
		for _, r := range []apispec.Resource{resource, other} {
			got := strings.Join((&entity{Type: &gen.Type{Name: "Visit"}, R: r}).checkNames(), "; ")
			if len(test.want) == 0 && got != "" {
				t.Errorf("%s: %s", test.name, got)
			}
			for _, part := range test.want {
				if !strings.Contains(got, part) {
					t.Errorf("%s: %q lacks %q", test.name, got, part)
				}
			}
		}
	}
}

// TestEdgesAreNotNamedLikeTables checks the rule that entx.Names relies on.
func TestEdgesAreNotNamedLikeTables(t *testing.T) {
	t.Parallel()
	room := &entity{Type: &gen.Type{Name: "Room"}}
	for name, want := range map[string]string{"room": "", room.Table(): "Visit: the edge rooms has the name of a table"} {
		visit := &entity{Type: &gen.Type{Name: "Visit", Edges: []*gen.Edge{{Name: name, Unique: true}, {Name: "rooms"}}}}
		if got := strings.Join((&model{Entities: []*entity{visit, room}}).checkEdges(), "; "); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestCreateReturnsItsRow checks which creates the generator refuses because a caller could
// write a row that it cannot see. (Appointments, the only such resource, pass: the generator
// accepts the schema.)
func TestCreateReturnsItsRow(t *testing.T) {
	t.Parallel()
	create := apispec.Resource{Verbs: []apispec.Verb{apispec.Create}, Conflict: &apispec.Conflict{Doc: "Taken."}}
	for name, test := range map[string]struct {
		resource apispec.Resource
		site     string
		want     bool
	}{
		"practice-wide rows":          {create, "", true},
		"no conflict":                 {apispec.Resource{Verbs: create.Verbs}, "room_number", true},
		"no create":                   {apispec.Resource{Conflict: create.Conflict}, "room_number", true},
		"site column is no reference": {create, "room_number", false},
		"no site column":              {create, "-", false},
	} {
		visit := newVisit(nil)
		visit.R, visit.Tenant = test.resource, apispec.Tenant{SiteColumn: test.site}
		if c := visit.Column(test.site); c != nil {
			c.API = apispec.Field{Write: true, Required: true}
		}
		if got := visit.createReturnsItsRow(); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestLockFirstIsAReference checks that the generator refuses other columns for LockFirst.
func TestLockFirstIsAReference(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"room_number", "dentist"} {
		visit := newVisit(nil)
		visit.R.LockFirst = name
		if _, err := visit.LockedFirst(); err == nil || err.Error() != "Visit: LockFirst must be a reference, not "+name {
			t.Errorf("%s: %v", name, err)
		}
	}
}

package codegen

import (
	"strings"
	"testing"

	"entgo.io/ent/entc/gen"
	"entgo.io/ent/schema/field"

	"chairside/internal/apispec"
	"chairside/internal/codec"
)

// TestGeneratorRefusesInvalidCounters checks that each invalid declaration is refused with
// its reason.
func TestGeneratorRefusesInvalidCounters(t *testing.T) {
	t.Parallel()
	whole := apispec.Counter{Name: "open", Where: "closed_at IS NULL", Unless: "closed"}
	for _, test := range []struct {
		name     string
		counters []apispec.Counter
		want     string // part of the problem, "" for none
	}{
		{"all rows", []apispec.Counter{{Name: "all"}}, ""},
		{"each kind", []apispec.Counter{whole, {Name: "dentist", By: "dentist_id", Where: whole.Where, Unless: "closed"}, {Name: "day", Day: "at", Where: whole.Where, Unless: "closed"}, {Name: "all"}}, ""},
		{"an empty name", []apispec.Counter{{}}, "needs a name"},
		{"a name that SQL would have to quote", []apispec.Counter{{Name: "it's"}}, "needs a name"},
		{"a duplicate name", []apispec.Counter{{Name: "all"}, {Name: "all"}}, "is declared twice"},
		{"an unknown column", []apispec.Counter{{Name: "x", By: "owner_id"}}, `By is "owner_id"`},
		{"a column that may be null", []apispec.Counter{{Name: "x", By: "patient_id"}}, `By is "patient_id"`},
		{"a column of text", []apispec.Counter{{Name: "x", By: "reason"}}, "needs an integer column"},
		{"a column without a filter", []apispec.Counter{{Name: "x", By: "room_number"}}, "no filter compares room_number for equality"},
		{"By and Day", []apispec.Counter{{Name: "all"}, {Name: "x", By: "dentist_id", Day: "at"}}, "cannot have both By and Day"},
		{"Day is not a time", []apispec.Counter{{Name: "all"}, {Name: "x", Day: "reason"}}, "needs a time column"},
		{"Day is not the default order", []apispec.Counter{{Name: "all"}, {Name: "x", Day: "made_at"}}, `Day must be the default order, "at"`},
		{"Day without a total", []apispec.Counter{whole, {Name: "x", Day: "at"}}, "another counter must count the same rows"},
		{"Where without Unless", []apispec.Counter{{Name: "x", Where: "closed_at IS NULL"}}, "needs both Where and Unless"},
		{"Unless without Where", []apispec.Counter{{Name: "x", Unless: "closed"}}, "needs both Where and Unless"},
		{"Unless is no filter", []apispec.Counter{{Name: "x", Where: "closed_at IS NULL", Unless: "shut"}}, `Unless is "shut"`},
		{"Unless is another kind of filter", []apispec.Counter{{Name: "x", Where: "closed_at IS NULL", Unless: "dentist_id"}}, `Unless is "dentist_id"`},
		{"Where names an unknown column", []apispec.Counter{{Name: "x", Where: "shut_at IS NULL", Unless: "closed"}}, `has no column "shut_at"`},
		{"Where calls a function", []apispec.Counter{{Name: "x", Where: "lower(reason) IS NULL", Unless: "closed"}}, `has no column "lower"`},
		{"Where quotes", []apispec.Counter{{Name: "x", Where: "reason IS 'at'", Unless: "closed"}}, "cannot have quotes"},
	} {
		got := strings.Join(newVisit(test.counters).checkCounters(), "\n")
		if test.want == "" && got != "" || !strings.Contains(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// TestCountersServeOnlyTheirRequests checks which list requests each counter serves.
func TestCountersServeOnlyTheirRequests(t *testing.T) {
	t.Parallel()
	e := newVisit([]apispec.Counter{
		{Name: "open", Where: "closed_at IS NULL", Unless: "closed"},
		{Name: "dentist", By: "dentist_id", Where: "closed_at IS NULL", Unless: "closed"},
		{Name: "all"},
	})
	var counted []string
	for _, f := range e.uncountable() {
		counted = append(counted, f.Param)
	}
	if got := strings.Join(counted, " "); got != "on patient_id room" {
		t.Errorf("no counter serves the filters %s", got)
	}
	want := map[string][]paramTest{
		"visits.open":    {{Param: "closed", Flag: true, Not: true}, {Param: "dentist_id", Not: true}},
		"visits.dentist": {{Param: "closed", Flag: true, Not: true}, {Param: "dentist_id"}},
		"visits.all":     {{Param: "closed", Flag: true}, {Param: "dentist_id", Not: true}},
	}
	for _, a := range e.Counted() {
		if len(a.Tests) != len(want[a.Counter]) {
			t.Errorf("%s serves %v", a.Counter, a.Tests)
			continue
		}
		for i, w := range want[a.Counter] {
			if a.Tests[i] != w {
				t.Errorf("%s serves %v", a.Counter, a.Tests)
			}
		}
	}
}

// newVisit returns an entity with a column of each kind that matters to counters.
func newVisit(counters []apispec.Counter) *entity {
	e := &entity{Type: &gen.Type{Name: "Visit"}, R: apispec.Resource{
		Verbs: []apispec.Verb{apispec.List}, Order: "at", Counters: counters,
		Filters: []apispec.Filter{
			{Param: "closed", Kind: codec.Boolean, Handwritten: true}, {Param: "on", Kind: codec.Day, Handwritten: true},
			{Param: "dentist_id"}, {Param: "patient_id"}, {Param: "room", Column: "room_number", Op: "GTE"},
		},
	}}
	for name, kind := range map[string]field.Type{
		"practice_id": field.TypeUUID, "dentist_id": field.TypeInt64, "patient_id": field.TypeInt64, "room_number": field.TypeInt64,
		"reason": field.TypeString, "at": field.TypeTime, "made_at": field.TypeTime, "closed_at": field.TypeTime,
	} {
		f := &gen.Field{Name: name, Type: &field.TypeInfo{Type: kind}, Nillable: name == "patient_id" || name == "closed_at"}
		e.Columns = append(e.Columns, &column{Field: f, Owner: e, Kind: kindOf(f)})
	}
	return e
}

package codegen

import (
	"strings"
	"testing"

	"entgo.io/ent/entc/gen"

	"chairside/internal/contract"
	"chairside/internal/wire"
)

// TestUnknownNamesAreRefused holds that a misspelt scope or operator stops the
// generator, which names it and the known ones.
func TestUnknownNamesAreRefused(t *testing.T) {
	t.Parallel()
	const families = "must be one of appointment, patient, practice, financials, treatments, user"
	const known = "must be one of EQ, GT, GTE, LT, LTE, IN"
	for _, test := range []struct {
		name   string
		scope  string
		filter contract.Filter
		want   []string // parts of the complaint, none for no complaint
	}{
		{"known", "patient", contract.Filter{Param: "room", Op: "GTE"}, nil},
		{"no operator", "patient", contract.Filter{Param: "room"}, nil},
		{"an array", "patient", contract.Filter{Param: "rooms", Op: "IN", Kind: wire.ID, Manual: true}, nil},
		{"an unknown family", "patients", contract.Filter{Param: "room"}, []string{`Visit: the scope "patients" is unknown`, families}},
		{"no family", "", contract.Filter{Param: "room"}, []string{`the scope "" is unknown`, families}},
		{"a family with a verb", "patient:read", contract.Filter{Param: "room"}, []string{`"patient:read"`, families}},
		{"an unknown operator", "patient", contract.Filter{Param: "room", Op: "LIKE"}, []string{`Visit: filter room: the operator "LIKE" is unknown`, known}},
		{"an operator in small letters", "patient", contract.Filter{Param: "room", Op: "gte"}, []string{`"gte"`, known}},
		{"of a manual filter", "patient", contract.Filter{Param: "room", Op: "NEAR", Kind: wire.ID, Manual: true}, []string{`"NEAR"`, known}},
		{"an array that is generated", "patient", contract.Filter{Param: "room", Op: "IN"}, []string{"IN is for filters that are Manual"}},
	} {
		resource := contract.Resource{Key: "visit", Scope: test.scope, Filters: []contract.Filter{test.filter}}
		other := contract.Resource{Key: "visit", Scope: test.scope, Others: []contract.Other{{Params: []contract.Filter{test.filter}}}}
		for _, r := range []contract.Resource{resource, other} {
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

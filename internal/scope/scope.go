// Package scope names what a token may do.
//
// A scope is a family ("patient"), which allows every verb, or a family and
// one verb ("patient:read"). Scopes travel as a space-separated list
// (behaviour.md section 7).
package scope

import (
	"fmt"
	"slices"
	"strings"
)

// Families are the bare scopes, in the order in which they are documented.
var Families = []string{"appointment", "patient", "practice", "financials", "treatments", "user"}

// Verbs are the suffixes that narrow a family.
var Verbs = []string{"read", "create", "update", "delete"}

// Describe says in plain words what a family covers; "" for an unknown one.
func Describe(family string) string {
	return map[string]string{
		"appointment": "appointments, availability and appointment reasons",
		"patient":     "patients, custom fields and acquisition sources",
		"practice":    "the practice, sites, rooms, practitioners and contracts",
		"financials":  "accounts, invoices, invoice items, payments, sundries and NHS claims",
		"treatments":  "fees, payment plans, treatments, categories, treatment plans and their items",
		"user":        "the people who sign in: names, roles, e-mail addresses and phones",
	}[family]
}

// All lists every scope: each family bare, then with each verb.
func All() []string {
	var all []string
	for _, f := range Families {
		all = append(all, f)
		for _, v := range Verbs {
			all = append(all, f+":"+v)
		}
	}
	return all
}

// Set is the scopes of a token, sorted and without repeats.
type Set []string

// Parse reads a space-separated list. The error names every unknown scope.
func Parse(list string) (Set, error) {
	var set Set
	var unknown []string
	known := All()
	for _, s := range strings.Fields(list) {
		switch {
		case !slices.Contains(known, s):
			unknown = append(unknown, s)
		case !slices.Contains(set, s):
			set = append(set, s)
		}
	}
	if len(unknown) > 0 {
		return nil, fmt.Errorf("unknown scope: %s", strings.Join(unknown, " "))
	}
	slices.Sort(set)
	return set, nil
}

// Everything is every family, bare.
func Everything() Set {
	s := slices.Clone(Families)
	slices.Sort(s)
	return Set(s)
}

// Allows reports whether the set holds the needed scope itself or its bare family.
func (s Set) Allows(needed string) bool {
	family, _, _ := strings.Cut(needed, ":")
	return slices.Contains(s, needed) || slices.Contains(s, family)
}

// String is the space-separated list, as in the X-OAuth-Scopes header.
func (s Set) String() string { return strings.Join(s, " ") }

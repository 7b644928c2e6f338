// Package scope names what a token may do.
//
// A scope is a family ("patient"), which allows every verb, or a family and
// one verb ("patient:read"). Scopes travel as a space-separated list
// (behaviour.md section 7).
//
// # Roles
//
// No token does more than its user may. level.go has the only table of what each
// permission level may hold:
//
//	1 reception       appointment, patient (except patient:delete), practice:read, treatments:read, user:read
//	2 practitioner    as 1, and patient:delete
//	3 manager         everything except user:create, user:update and user:delete
//	4 administrator   everything
//
// The limit holds in two places:
//
//   - Where a token is made, token.Create refuses scopes beyond the role. The
//     new-token page and "chairside token create" name them and what to ask for
//     instead. The consent page leaves them out and lists them.
//   - Where a token is resolved or shown, the stored scopes (Granted) are narrowed
//     to what the role and the application allow now (Effective). A demotion, or
//     fewer scopes for an application, works within a second on every process. A
//     promotion gives back what a demotion took, and an application that is
//     widened again gets back what its users had allowed: never more than the
//     token was given.
//
// X-OAuth-Scopes, introspection, the settings pages and "chairside token list"
// show the effective scopes. A family of which only some verbs are left is shown
// as those verbs: "patient" of a receptionist is "patient:create patient:read
// patient:update".
//
// Reports follow the same table: each names the scopes of what it reads, and is
// open to those whose role may hold them (package report).
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
		"user":        "the people who sign in: names, roles, email addresses and phones",
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

// Allows reports whether the set holds the needed scope itself or its bare
// family. A bare family is held by its four verbs, too.
func (s Set) Allows(needed string) bool {
	family, _, narrow := strings.Cut(needed, ":")
	if slices.Contains(s, needed) || slices.Contains(s, family) {
		return true
	}
	return !narrow && len(verbsOf(family, s.Allows)) == len(Verbs)
}

// AllowsAll reports whether the set allows every scope of needed.
func (s Set) AllowsAll(needed Set) bool { return len(needed.Beyond(s)) == 0 }

// Within is what is left of the set inside a limit. A bare family of which the
// limit allows some verbs becomes those verbs.
func (s Set) Within(limit Set) Set { return s.split(limit.Allows, false) }

// Beyond is what of the set lies outside a limit: "patient:delete" of "patient"
// where the limit allows the other three verbs.
func (s Set) Beyond(limit Set) Set { return s.split(limit.Allows, true) }

// split gives the part of the set that is allowed, or the part that is not. A bare
// family stays one word where all of it is in the same part.
func (s Set) split(allowed func(string) bool, rest bool) Set {
	part := Set{}
	for _, name := range s {
		family, _, narrow := strings.Cut(name, ":")
		if verbs := verbsOf(family, allowed); !narrow && len(verbs) > 0 && len(verbs) < len(Verbs) {
			part = append(part, verbsOf(family, func(verb string) bool { return allowed(verb) != rest })...)
		} else if allowed(name) != rest {
			part = append(part, name)
		}
	}
	slices.Sort(part)
	return slices.Compact(part)
}

// verbsOf lists the scopes of a family with one verb that are allowed.
func verbsOf(family string, allowed func(string) bool) (all []string) {
	for _, verb := range Verbs {
		if name := family + ":" + verb; allowed(name) {
			all = append(all, name)
		}
	}
	return all
}

// fields splits a stored list, whose scopes were checked when it was stored.
func fields(list string) Set { return strings.Fields(list) }

// String is the space-separated list, as in the X-OAuth-Scopes header.
func (s Set) String() string { return strings.Join(s, " ") }

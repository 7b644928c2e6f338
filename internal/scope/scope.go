// Package scope defines what tokens may do.
//
// A scope is a family ("patient"), which allows every verb, or a family and one verb
// ("patient:read"). Several are written as a space-separated list (behaviour.md section 7).
//
// # Roles
//
// A token never does more than its user may. level.go has the only table of the scopes that
// each permission level may hold:
//
//	1 reception       appointment, patient (except patient:delete), practice:read, treatments:read, user:read
//	2 practitioner    as 1, and patient:delete
//	3 manager         everything except user:create, user:update, user:delete and webhook; of audit, audit:read
//	4 administrator   everything
//
// The limit is applied twice:
//
//   - When a token is created, token.Create refuses scopes beyond the role. The
//     new-token page and "chairside token create" list them and what to request
//     instead. The consent page lists them and does not grant them.
//   - When a token is resolved or displayed, the stored scopes (Granted) are narrowed
//     to those that the role and the application allow now (Effective). A demotion, or
//     fewer scopes for an application, takes effect within a second on every
//     process. Undoing the change restores the scopes, up to those granted.
//
// X-OAuth-Scopes, introspection, the settings pages and "chairside token list" show
// the effective scopes. A family of which only some verbs are allowed is shown as
// those verbs: for a receptionist, "patient" becomes "patient:create patient:read
// patient:update".
//
// Reports use the same table: each declares the scopes that it needs, and users whose
// role may hold them can open it (package report).
package scope

import (
	"fmt"
	"slices"
	"strings"
)

// Families are the bare scopes, in the order in which they are documented.
var Families = []string{"appointment", "patient", "practice", "financials", "treatments", "user", "webhook", "audit"}

// Verbs are the suffixes that narrow a family.
var Verbs = []string{"read", "create", "update", "delete"}

// All returns every scope: each family bare, then with each verb.
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

// Set is a list of scopes, sorted and without duplicates.
type Set []string

// Parse parses a space-separated list. The error names every unknown scope.
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

// Everything returns all families, bare.
func Everything() Set {
	s := slices.Clone(Families)
	slices.Sort(s)
	return Set(s)
}

// Allows reports whether the set has the needed scope or its bare family. A set with all four
// verbs of a family also has the bare family.
func (s Set) Allows(needed string) bool {
	family, _, narrow := strings.Cut(needed, ":")
	if slices.Contains(s, needed) || slices.Contains(s, family) {
		return true
	}
	return !narrow && len(verbsOf(family, s.Allows)) == len(Verbs)
}

// AllowsAll reports whether the set allows every scope of needed.
func (s Set) AllowsAll(needed Set) bool { return len(needed.Beyond(s)) == 0 }

// Within returns the part of the set that a limit allows. If the limit allows only some verbs
// of a bare family, the part has these verbs.
func (s Set) Within(limit Set) Set {
	within, _ := s.split(limit)
	return within
}

// Beyond returns the part of the set that a limit does not allow: "patient:delete" of
// "patient" if the limit allows the other three verbs.
func (s Set) Beyond(limit Set) Set {
	_, beyond := s.split(limit)
	return beyond
}

// split returns the part of the set that a limit allows, and the rest. A bare family stays
// bare if all its verbs are in the same part.
func (s Set) split(limit Set) (within, beyond Set) {
	within, beyond = Set{}, Set{}
	for _, name := range s {
		parts := []string{name}
		family, _, narrow := strings.Cut(name, ":")
		if verbs := verbsOf(family, limit.Allows); !narrow && len(verbs) > 0 && len(verbs) < len(Verbs) {
			parts = verbsOf(family, func(string) bool { return true })
		}
		for _, part := range parts {
			if limit.Allows(part) {
				within = append(within, part)
			} else {
				beyond = append(beyond, part)
			}
		}
	}
	slices.Sort(within)
	slices.Sort(beyond)
	return slices.Compact(within), slices.Compact(beyond)
}

// verbsOf returns the allowed scopes of a family, one for each verb.
func verbsOf(family string, allowed func(string) bool) (all []string) {
	for _, verb := range Verbs {
		if name := family + ":" + verb; allowed(name) {
			all = append(all, name)
		}
	}
	return all
}

// fields splits a stored list, which was checked when it was stored.
func fields(list string) Set { return strings.Fields(list) }

// String returns the space-separated list, as in the X-OAuth-Scopes header.
func (s Set) String() string { return strings.Join(s, " ") }

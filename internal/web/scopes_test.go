package web

import (
	"slices"
	"strings"
	"testing"

	"chairside/internal/scope"
	"chairside/internal/store"
	"chairside/ogent"
)

// TestOfferedScopesOpenOperations compares the scopes that the pages offer with the OpenAPI document:
// each opens an operation, and each operation is opened by one.
func TestOfferedScopesOpenOperations(t *testing.T) {
	t.Parallel()
	s, err := New(Options{DB: &store.DB{}, Document: ogent.Document, BaseURL: "http://localhost"})
	if err != nil {
		t.Fatal(err)
	}
	needed := map[string]bool{}
	for _, o := range s.document.operations {
		if of := o.scope(); of != "" {
			needed[of] = true
		}
	}
	for level := scope.Reception; level <= scope.Administrator; level++ {
		held := level.MayHold()
		m := s.matrixOf(form{}, held)
		offered := map[string]bool{}
		for _, row := range m.Rows {
			for _, b := range row.Boxes {
				offered[b.Scope] = b.Scope != ""
			}
		}
		delete(offered, "")
		for name := range offered {
			opens := func(of string) bool { return of == name || strings.HasPrefix(of, name+":") }
			used := false
			for of := range needed {
				used = used || opens(of)
			}
			if !used || !held.Allows(name) {
				t.Errorf("level %d: %s is offered: opens an operation %v, may be held %v", level, name, used, held.Allows(name))
			}
		}
		for of := range needed {
			if held.Allows(of) != offered[of] || held.Allows(of) != m.All.Allows(of) || strings.HasSuffix(of, ":read") && held.Allows(of) != slices.Contains(m.ReadOnly, of) {
				t.Errorf("level %d: %s may be held: %v, offered: %v, in all: %v, in read only: %v", level, of, held.Allows(of), offered[of], m.All.Allows(of), m.ReadOnly)
			}
		}
		if len(offered) < 5 || len(needed) < 15 {
			t.Errorf("level %d: only %d scopes are offered, %d needed", level, len(offered), len(needed))
		}
	}
}

// TestChosenScopesStay: a scope that opens no operation is not offered, but an application that has it
// keeps it when its form is saved.
func TestChosenScopesStay(t *testing.T) {
	t.Parallel()
	s, err := New(Options{DB: &store.DB{}, Document: ogent.Document, BaseURL: "http://localhost"})
	if err != nil {
		t.Fatal(err)
	}
	const unused = "practice:delete"
	has := func(f form) bool {
		for _, row := range s.matrixOf(f, scope.Everything()).Rows {
			if slices.ContainsFunc(row.Boxes, func(b box) bool { return b.Scope == unused && b.Chosen }) {
				return true
			}
		}
		return false
	}
	if s.opens[unused] || has(form{}) || !has(form{values: map[string][]string{"scopes": {unused}}}) {
		t.Errorf("%s: opens an operation %v", unused, s.opens[unused])
	}
}

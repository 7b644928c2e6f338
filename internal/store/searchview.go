package store

import (
	"entgo.io/ent/dialect/sql"

	"chairside/ent/patient"
	"chairside/ent/predicate"
	"chairside/internal/store/rowsecurity"
)

// InSearchView returns the predicate that a patient is in the view in which a confined search looks for
// patients (package rowsecurity), and that where holds there.
func InSearchView(where []predicate.Patient) predicate.Patient {
	return func(s *sql.Selector) {
		found := sql.Dialect(s.Dialect()).Select(patient.FieldID).From(sql.Table(rowsecurity.SearchView))
		for _, holds := range where {
			holds(found)
		}
		found.Offset(0) // or PostgreSQL 18 joins the table with itself into one, whose policy hides the index
		s.Where(sql.In(s.C(patient.FieldID), found))
	}
}

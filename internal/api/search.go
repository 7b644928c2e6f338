package api

import (
	"strings"
	"unicode"

	"entgo.io/ent/dialect/sql"

	"chairside/ent/patient"
	"chairside/ent/predicate"
	"chairside/schema"
)

// found are the predicates of a patient search. A query without letters is a
// number in any format: a phone, also by its international form, or an NHS
// number, compared by its digits. In any other query every word must be the
// beginning of a word of the patient's, in any order.
func found(query, country string) []predicate.Patient {
	query = strings.TrimSpace(query)
	if query == "" {
		return nil
	}
	if digits := schema.Digits(query); digits != "" && !strings.ContainsFunc(query, unicode.IsLetter) && !strings.Contains(query, "@") {
		forms := []predicate.Patient{holds(digits)}
		if e164 := schema.Digits(schema.NormalizePhone(query, "", country)); e164 != "" && e164 != digits {
			forms = append(forms, holds(e164))
		}
		return []predicate.Patient{patient.Or(forms...)}
	}
	var where []predicate.Patient
	for _, word := range strings.Fields(schema.SearchFold(query)) {
		where = append(where, holds(" "+word))
	}
	return where
}

// holds is served by the trigram index of PostgreSQL.
func holds(part string) predicate.Patient {
	return func(s *sql.Selector) { s.Where(sql.Contains(s.C(patient.FieldSearchText), part)) }
}

package api

import (
	"strings"
	"unicode"

	"entgo.io/ent/dialect/sql"

	"chairside/ent/patient"
	"chairside/ent/predicate"
	"chairside/schema"
)

// found are the predicates of a patient search. A word with a letter in it must
// be the beginning of a word of the patient's, in any order. What is left is a
// number in any format: a phone, also by its international form, or an NHS
// number, compared by its digits; or the beginnings of words, such as "4711-08",
// an identifier of a previous system.
func found(query, country string) []predicate.Patient {
	var where, starts []predicate.Patient
	var rest []string
	for _, word := range strings.Fields(strings.ReplaceAll(schema.SearchFold(query), ",", " ")) {
		if strings.ContainsFunc(word, unicode.IsLetter) {
			where = append(where, holds(" "+schema.SearchWords(word)[0])) // "Brearley," is Brearley
			continue
		}
		rest, starts = append(rest, word), append(starts, holds(" "+word))
	}
	if len(rest) == 0 {
		return where
	}
	number := strings.Join(rest, " ")
	forms := []predicate.Patient{patient.And(starts...)}
	for _, form := range []string{number, schema.NormalizePhone(number, "", country)} {
		if digits := schema.Digits(form); digits != "" {
			forms = append(forms, holds(digits))
		}
	}
	return append(where, patient.Or(forms...))
}

// holds is served by the trigram index of PostgreSQL.
func holds(part string) predicate.Patient {
	return func(s *sql.Selector) { s.Where(sql.Contains(s.C(patient.FieldSearchText), part)) }
}

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
	var where []predicate.Patient
	var rest []string
	for _, word := range strings.Fields(strings.ReplaceAll(schema.SearchFold(query), ",", " ")) {
		if strings.ContainsFunc(word, unicode.IsLetter) {
			where = append(where, begins(schema.SearchWords(word)[0])) // "Brearley," is Brearley
			continue
		}
		rest = append(rest, word)
	}
	if len(rest) == 0 {
		return where
	}
	return append(where, number(rest, country))
}

// begins finds a word by its beginning. Of an address the index is asked for
// the part before the @ alone: what comes after it is many patients'.
func begins(word string) predicate.Patient {
	if name, _, ok := strings.Cut(word, "@"); ok && len(name) >= telling {
		return patient.And(holds(" "+name), reads(" "+word))
	}
	return holds(" " + word)
}

// number finds a number in any of its forms, or the beginnings of words. The
// index is asked for the last digits, which all of these have in common: the
// first ones are many patients'.
func number(words []string, country string) predicate.Patient {
	whole, last := strings.Join(words, " "), words[len(words)-1]
	end := last[len(strings.TrimRight(last, "0123456789")):]
	end = end[max(0, len(end)-telling):]
	look := reads
	var numbers []string
	for _, form := range []string{whole, schema.NormalizePhone(whole, "", country)} {
		if digits := schema.Digits(form); digits != "" {
			numbers = append(numbers, digits)
			if !strings.HasSuffix(digits, end) {
				end = ""
			}
		}
	}
	if len(end) < shortest {
		look = holds
	}
	var starts, forms []predicate.Patient
	for _, word := range words {
		starts = append(starts, look(" "+word))
	}
	forms = append(forms, patient.And(starts...))
	for _, digits := range numbers {
		forms = append(forms, look(digits))
	}
	if len(end) < shortest {
		return patient.Or(forms...)
	}
	return patient.And(holds(end), patient.Or(forms...))
}

const (
	shortest = 3 // characters that the index can find
	telling  = 5 // characters of a number or an address that few patients share
)

// holds is served by the trigram index of PostgreSQL. Each trigram of the part
// is looked up, so that a long part with common ones takes a while.
func holds(part string) predicate.Patient {
	return func(s *sql.Selector) { s.Where(sql.Contains(s.C(patient.FieldSearchText), part)) }
}

// reads is holds for what the index is not to be asked for: it reads the rows
// that something else has found.
func reads(part string) predicate.Patient {
	return func(s *sql.Selector) { s.Where(sql.Contains(s.C(patient.FieldSearchText)+" || ''", part)) }
}

package api

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"entgo.io/ent/dialect"
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

// begins finds a word by its beginning.
func begins(word string) predicate.Patient {
	parts := telling(word)
	if len(parts) == 0 {
		return holds(" " + word)
	}
	all := []predicate.Patient{reads(" " + word)}
	for _, part := range parts {
		all = append(all, looksUp(part))
	}
	return patient.And(all...)
}

// telling are the parts of a word that the index is asked for: its first and
// its last characters, as many as one trigram has. Each further trigram costs
// more than the few rows that it spares. What comes after the @ of an address is
// many patients'.
func telling(word string) []string {
	name, _, _ := strings.Cut(word, "@")
	var runs [][]rune
	for _, run := range strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if run := []rune(run); len(run) >= shortest {
			runs = append(runs, run)
		}
	}
	if len(runs) == 0 {
		return nil
	}
	last := runs[len(runs)-1]
	return slices.Compact([]string{string(runs[0][:shortest]), string(last[len(last)-shortest:])})
}

// number finds a number in any of its forms, or the beginnings of words. The
// index is asked for the last digits, which all of these have in common: the
// first ones are many patients'.
func number(words []string, country string) predicate.Patient {
	whole, last := strings.Join(words, " "), words[len(words)-1]
	end := last[len(strings.TrimRight(last, "0123456789")):]
	end = end[max(0, len(end)-tellingDigits):]
	var numbers []string
	for _, form := range []string{whole, schema.NormalizePhone(whole, "", country)} {
		if digits := schema.Digits(form); digits != "" {
			numbers = append(numbers, digits)
			if !strings.HasSuffix(digits, end) {
				end = ""
			}
		}
	}
	look := reads
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
	return patient.And(looksUp(end), patient.Or(forms...))
}

const (
	shortest      = 3 // characters that the index can find: a trigram
	tellingDigits = 5 // last digits of a number, which few patients share
)

// looksUp is for PostgreSQL's trigram index alone: what it finds is read as
// well. The part is of letters and digits. That it stands in a SELECT keeps the
// statement from being planned anew for each part, which takes as long as the
// search; where the part is not ASCII it has to be, since the index may not know
// these letters (LC_CTYPE C) and is better left alone then.
func looksUp(part string) predicate.Patient {
	return func(s *sql.Selector) {
		switch {
		case s.Dialect() != dialect.Postgres:
		case strings.ContainsFunc(part, func(r rune) bool { return r >= utf8.RuneSelf }):
			holds(part)(s)
		default:
			s.Where(sql.P(func(b *sql.Builder) {
				b.Ident(s.C(patient.FieldSearchText)).WriteString(" LIKE (SELECT ").Arg("%" + part + "%").WriteString(")")
			}))
		}
	}
}

// holds is served by the trigram index where it can be. Each trigram of the part
// is looked up, so that a long part with common ones takes a while.
func holds(part string) predicate.Patient {
	return func(s *sql.Selector) { s.Where(sql.Contains(s.C(patient.FieldSearchText), part)) }
}

// reads is holds without the index: it reads the rows that something else has
// found, on SQLite those of the practice.
func reads(part string) predicate.Patient {
	return func(s *sql.Selector) {
		position := "strpos"
		if s.Dialect() == dialect.SQLite {
			position = "instr"
		}
		s.Where(sql.P(func(b *sql.Builder) {
			b.WriteString(position + "(").Ident(s.C(patient.FieldSearchText)).Comma().Arg(part).WriteString(") > 0")
		}))
	}
}

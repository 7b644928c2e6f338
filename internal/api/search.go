package api

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"
	"github.com/google/uuid"

	"chairside/ent/patient"
	"chairside/ent/predicate"
	"chairside/internal/principal"
	"chairside/schema"
)

// found are the predicates of a patient search. A word with a letter in it must
// be the beginning of a word of the patient's, in any order and with any
// apostrophe or hyphen. What is left is a
// number in any format: a phone, also by its international form, or an NHS
// number, compared by its digits; or the beginnings of words, such as "4711-08",
// an identifier of a previous system.
//
// The search text is what decides. PostgreSQL reads no more of them than its
// index of keys leads to (practice_search_keys, internal/store/migrate/migrations/postgres): the first
// 2, 3 and 5 characters of each word, the first where it is not from a to z,
// what an address has up to its @, and of a number each 5 digits in a row and
// the last 4 and 3; each behind the end of the practice's id, so that a search
// reads nothing of other practices. Where two ids end alike it reads too much,
// and finds no more.
func found(query string, c *principal.Principal) []predicate.Patient {
	var where []predicate.Patient
	var rest []string
	for _, word := range strings.Fields(strings.ReplaceAll(schema.SearchFold(query), ",", " ")) {
		if strings.ContainsFunc(word, unicode.IsLetter) {
			word = schema.SearchWords(word)[0] // "Brearley," is Brearley
			where = append(where, holding(c.PracticeID, names(word)...))
			continue
		}
		rest = append(rest, word)
	}
	if len(rest) == 0 {
		return where
	}
	return append(where, holding(c.PracticeID, numbers(rest, c.Country)...))
}

// form is one way in which a search text may hold what is looked for: with all
// the parts, and therefore with one key of each set.
type form struct {
	parts []string
	keys  [][]string
}

// names are the forms of a word with a letter in it. One with an apostrophe or a
// hyphen is also found without it, because there are many of either and a name
// of parts is stored in one as well; and where each part may be a name, by them
// all: Anne-Marie is Anne Marie to some.
func names(word string) []form {
	forms := []form{{[]string{" " + word}, beginning(word)}}
	parts := strings.FieldsFunc(word, joint)
	if len(parts) < 2 {
		return forms
	}
	whole := strings.Join(parts, "")
	forms = append(forms, form{[]string{" " + whole}, beginning(whole)})
	var each form
	for _, part := range parts {
		if utf8.RuneCountInString(part) < 2 || strings.ContainsFunc(part, unicode.IsDigit) {
			return forms // D'Arcy is nobody's second name with a D before it, nor is AB-12
		}
		each.parts = append(each.parts, " "+part)
		each.keys = append(each.keys, beginning(part)...)
	}
	return append(forms, each)
}

// joint reports whether r is one of the apostrophes or hyphens there are.
func joint(r rune) bool { return unicode.Is(unicode.Pd, r) || strings.ContainsRune("'’‘`´", r) }

// numbers are the forms of a number that is given in words.
func numbers(words []string, country string) []form {
	var starts form
	for _, word := range slices.Backward(words) {
		starts.parts = append(starts.parts, " "+word)
		if len(starts.keys) < 2 { // rule out most patients
			starts.keys = append(starts.keys, beginning(word)...)
		}
	}
	forms := []form{starts}
	whole := strings.Join(words, " ")
	for _, number := range []string{schema.Digits(whole), schema.Digits(schema.NormalizePhone(whole, "", country))} {
		if number != "" {
			forms = append(forms, form{[]string{number}, ending(number)})
		}
	}
	return forms
}

// beginning are the keys of what begins with a word that the fewest patients
// have, none of a single letter from a to z.
func beginning(word string) [][]string {
	if name, _, ok := strings.Cut(word, "@"); ok && name != "" {
		return [][]string{{name + "@"}}
	}
	if len(word) >= keyLength && schema.Digits(word) == word {
		return ending(word)
	}
	characters := []rune(word)
	length := min(len(characters), keyLength)
	switch {
	case length == 4:
		length = 3
	case length == 1 && 'a' <= characters[0] && characters[0] <= 'z':
		return nil
	}
	return [][]string{{string(characters[:length])}}
}

// ending are the keys of the last digits of a number, which fewer patients have
// than the first ones; of a short number all that begin with it. Those of one or
// two digits are too many.
func ending(number string) [][]string {
	switch n := len(number); {
	case n > keyLength:
		return [][]string{{number[n-keyLength:]}, {number[n-keyLength-1 : n-1]}}
	case n < 3:
		return nil
	}
	keys := []string{number}
	for i := 0; len(keys[i]) < keyLength; i++ {
		for digit := '0'; digit <= '9'; digit++ {
			keys = append(keys, keys[i]+string(digit))
		}
	}
	return [][]string{keys}
}

const (
	keyLength      = 5 // characters or digits of the longest keys
	practiceLength = 8 // last characters of the practice's id, which all its keys begin with
)

// holding finds the patients whose search text has one of the forms.
func holding(practice uuid.UUID, forms ...form) predicate.Patient {
	return patient.And(func(s *sql.Selector) { // side by side: Where would put each within the next
		if s.Dialect() == dialect.Postgres {
			askIndex(s, practice, forms)
		}
		var alternatives []*sql.Predicate
		for _, f := range forms {
			var parts []*sql.Predicate
			for _, part := range f.parts {
				parts = append(parts, has(s, part))
			}
			alternatives = append(alternatives, sql.And(parts...))
		}
		s.Where(sql.Or(alternatives...))
	})
}

// askIndex asks PostgreSQL's index for the first set of the practice's keys of
// any form, and for the second of any, and so on. A form without keys can be
// anywhere. That the keys stand in a SELECT keeps the statement from being
// planned anew for each search, which takes as long as the search.
//
// Of keys that it does not see the planner takes one in a hundred rows to have
// any, and would read another index of all the practice's patients beside. So it
// asks twice for no keys at all, which every row has: the planner takes one in
// two hundred for those, and the index compares nothing.
func askIndex(s *sql.Selector, practice uuid.UUID, forms []form) {
	most := 0
	for _, f := range forms {
		if len(f.keys) == 0 {
			return
		}
		most = max(most, len(f.keys))
	}
	id := practice.String()
	owned := id[len(id)-practiceLength:]
	ask := func(operator string, keys []string) {
		s.Where(sql.P(func(b *sql.Builder) {
			b.WriteString("practice_search_keys(").Ident(s.C(patient.FieldPracticeID)).Comma().Ident(s.C(patient.FieldSearchText))
			b.WriteString(") " + operator + " (SELECT ARRAY[")
			for i, key := range keys {
				if i > 0 {
					b.Comma()
				}
				b.Arg(owned + key)
			}
			b.WriteString("]::text[])")
		}))
	}
	for i := range most {
		var keys []string
		for _, f := range forms {
			keys = append(keys, f.keys[min(i, len(f.keys)-1)]...)
		}
		slices.Sort(keys)
		ask("&&", slices.Compact(keys))
	}
	ask("@>", nil)
	ask("@>", nil)
}

// has is not LIKE, in which some characters mean others.
func has(s *sql.Selector, part string) *sql.Predicate {
	position := "strpos"
	if s.Dialect() == dialect.SQLite {
		position = "instr"
	}
	return sql.P(func(b *sql.Builder) {
		b.WriteString(position + "(").Ident(s.C(patient.FieldSearchText)).Comma().Arg(part).WriteString(") > 0")
	})
}

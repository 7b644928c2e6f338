package api

import (
	"context"
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
	"chairside/internal/seal"
	"chairside/internal/store"
	"chairside/schema"
)

// nhsDigits is the length of an NHS number, and of the numbers of Scotland and Northern Ireland.
// Other numbers are not hashed, which saves reading the key.
const nhsDigits = 10

// searchPredicates returns the predicates of a patient search. A word with a letter must be
// the start of a word in the patient's search text, in any order, with any apostrophe or
// hyphen. The other words together are a number in any format (a phone number, also in
// international form, compared by digits, or a whole NHS number, compared by its hash, which hash
// returns: "" if there are none), or each is the start of a word, such as "4711-08", an identifier
// of a previous system.
//
// The search text decides. On PostgreSQL an index of keys narrows the rows to compare
// (practice_search_keys, internal/store/migrate/migrations/postgres). The keys of a text are:
//
//   - the first 2, 3 and 5 characters of each word, and the first one if it is not a to z
//   - an e-mail address up to its @
//   - each 5 consecutive digits of a number, and its last 4 and 3
//
// Each key starts with the last characters of the practice's id, so a search reads nothing
// of other practices, unless two ids end alike; then it reads more, but finds no more.
func searchPredicates(query string, c *principal.Principal, hash func(digits string) (string, error)) ([]predicate.Patient, error) {
	var where []predicate.Patient
	var rest []string
	for _, word := range strings.Fields(strings.ReplaceAll(schema.SearchFold(query), ",", " ")) {
		if strings.ContainsFunc(word, unicode.IsLetter) {
			word = schema.SearchWords(word)[0] // without punctuation: "Brearley."
			where = append(where, contains(c.PracticeID, nameForms(word)...))
			continue
		}
		rest = append(rest, word)
	}
	if len(rest) == 0 {
		return where, nil
	}
	forms := numberForms(rest, c.Country)
	if digits := schema.Digits(strings.Join(rest, "")); len(digits) == nhsDigits {
		switch h, err := hash(digits); {
		case err != nil:
			return nil, err
		case h != "":
			word := schema.SearchHash(h)
			forms = append(forms, form{[]string{" " + word}, prefixKeys(word)})
		}
	}
	return append(where, contains(c.PracticeID, forms...)), nil
}

// search returns the predicates of a patient search for this database. Where row-level security
// is on, they hold for the view of a search, which lets them use the index.
func (h *Handler) search(ctx context.Context, query string) ([]predicate.Patient, error) {
	c := principal.Must(ctx)
	where, err := searchPredicates(query, c, func(digits string) (string, error) {
		key, err := h.DB.SearchKey(ctx, h.DB.Ent, c.PracticeID)
		if key == "" || err != nil {
			return "", err
		}
		return seal.Hash(key, digits), nil
	})
	if err != nil || len(where) == 0 || !h.DB.Confined() {
		return where, err
	}
	return []predicate.Patient{store.InSearchView(where)}, nil
}

// form is one way to find a term: the search text contains all parts, and so it has a key of
// each set.
type form struct {
	parts []string
	keys  [][]string
}

// nameForms returns the forms of a word with a letter. A word with an apostrophe or hyphen is
// also found without it, because search texts contain such names joined, and by its parts if
// each may be a name: Anne-Marie may be stored as Anne Marie.
func nameForms(word string) []form {
	forms := []form{{[]string{" " + word}, prefixKeys(word)}}
	parts := strings.FieldsFunc(word, isJoint)
	if len(parts) < 2 {
		return forms
	}
	joined := strings.Join(parts, "")
	forms = append(forms, form{[]string{" " + joined}, prefixKeys(joined)})
	var separate form
	for _, part := range parts {
		if utf8.RuneCountInString(part) < 2 || strings.ContainsFunc(part, unicode.IsDigit) {
			return forms // D'Arcy and AB-12 are no two names
		}
		separate.parts = append(separate.parts, " "+part)
		separate.keys = append(separate.keys, prefixKeys(part)...)
	}
	return append(forms, separate)
}

// isJoint reports whether r is an apostrophe or a hyphen of any kind.
func isJoint(r rune) bool { return unicode.Is(unicode.Pd, r) || strings.ContainsRune("'’‘`´", r) }

// numberForms returns the forms of a number that is written as several words.
func numberForms(words []string, country string) []form {
	var separate form
	for _, word := range slices.Backward(words) {
		separate.parts = append(separate.parts, " "+word)
		if len(separate.keys) < 2 { // enough to rule out most patients
			separate.keys = append(separate.keys, prefixKeys(word)...)
		}
	}
	forms := []form{separate}
	joined := strings.Join(words, " ")
	for _, number := range []string{schema.Digits(joined), schema.Digits(schema.NormalizePhone(joined, "", country))} {
		if number != "" {
			forms = append(forms, form{[]string{number}, numberKeys(number)})
		}
	}
	return forms
}

// prefixKeys returns the rarest key of words that start with word; none for a single letter
// from a to z.
func prefixKeys(word string) [][]string {
	if name, _, ok := strings.Cut(word, "@"); ok && name != "" {
		return [][]string{{name + "@"}}
	}
	if len(word) >= keyLength && schema.Digits(word) == word {
		return numberKeys(word)
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

// numberKeys returns the keys of a number's last digits, which are rarer than its first ones;
// for a short number, every key that starts with it. One or two digits would have too many.
func numberKeys(number string) [][]string {
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
	practiceLength = 8 // last characters of the practice's id, with which its keys start
)

// contains returns the condition that the search text contains one of the forms.
func contains(practice uuid.UUID, forms ...form) predicate.Patient {
	return patient.And(func(s *sql.Selector) { // And joins side by side; Where would nest
		if s.Dialect() == dialect.Postgres {
			whereKeys(s, practice, forms)
		}
		var alternatives []*sql.Predicate
		for _, f := range forms {
			var parts []*sql.Predicate
			for _, part := range f.parts {
				parts = append(parts, containsText(s, part))
			}
			alternatives = append(alternatives, sql.And(parts...))
		}
		s.Where(sql.Or(alternatives...))
	})
}

// whereKeys adds conditions for PostgreSQL's index of keys: the row has a key of the first set
// of any form, one of the second set of any form, and so on. A form without keys can be in
// any row, so then there is no condition. The keys are in a sub-query, because planning the
// statement for each search would take as long as the search.
//
// The planner cannot see the keys and assumes that they match 1 % of rows, so it would also
// read an index of all the practice's patients. Two more conditions, that the row contains no
// keys, hold for every row and cost the index nothing, but the planner assumes that each
// matches 0.5 % of rows.
func whereKeys(s *sql.Selector, practice uuid.UUID, forms []form) {
	sets := 0
	for _, f := range forms {
		if len(f.keys) == 0 {
			return
		}
		sets = max(sets, len(f.keys))
	}
	id := practice.String()
	prefix := id[len(id)-practiceLength:]
	where := func(operator string, keys []string) {
		s.Where(sql.P(func(b *sql.Builder) {
			b.WriteString("practice_search_keys(").Ident(s.C(patient.FieldPracticeID)).Comma().Ident(s.C(patient.FieldSearchText))
			b.WriteString(") " + operator + " (SELECT ARRAY[")
			for i, key := range keys {
				if i > 0 {
					b.Comma()
				}
				b.Arg(prefix + key)
			}
			b.WriteString("]::text[])")
		}))
	}
	for i := range sets {
		var keys []string
		for _, f := range forms {
			keys = append(keys, f.keys[min(i, len(f.keys)-1)]...)
		}
		slices.Sort(keys)
		where("&&", slices.Compact(keys))
	}
	where("@>", nil)
	where("@>", nil)
}

// containsText returns the condition that the search text contains part. It does not use LIKE,
// which has wildcards.
func containsText(s *sql.Selector, part string) *sql.Predicate {
	position := "strpos"
	if s.Dialect() == dialect.SQLite {
		position = "instr"
	}
	return sql.P(func(b *sql.Builder) {
		b.WriteString(position + "(").Ident(s.C(patient.FieldSearchText)).Comma().Arg(part).WriteString(") > 0")
	})
}

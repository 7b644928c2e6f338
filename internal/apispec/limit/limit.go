// Package limit checks the values of a row.
//
// The schema declares a limit once: an enum's values, a column's Min, Max, MaxRunes or
// Format, a rule between columns. The generator collects the declarations in ent.Limits and
// ent.Rules. Three packages apply them:
//
//	internal/store     makes a CHECK constraint of each, on both databases, unless it is Unchecked
//	internal/codec     refuses values that clients send
//	internal/dump      refuses rows of an export, with the line
//	internal/importer  refuses rows of a file, with the field and the reason
//
// A CHECK accepts every value that Column.Check accepts, and a few more: SQL cannot express
// everything, such as all Unicode spaces.
package limit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// SealedPrefix begins every sealed value.
const SealedPrefix = "sealed:"

// LongText is the maximum length, in code points, of a text without a declared limit.
const LongText = 65535

// Column limits the values of one column. Null always passes: NOT NULL is a property of the
// column itself. A zero member limits nothing.
type Column struct {
	Table, Name string
	Nullable    bool
	Values      []string // one of these; of a JSON array, its elements
	Words       []string // the allowed words of a list, separated by one space
	Min, Max    *int64   // of integers; of amounts in hundredths
	MaxRunes    int      // of texts, in code points
	MaxBytes    int      // of bytes
	Filled      bool     // not blank
	Form        string   // name in Forms
	Email       bool     // looks like an e-mail address; the API checks more
	JSON        string   // "object" or "array"; a JSON null means an empty one
	Sealed      bool     // encrypted (package seal), not in plain text
	Unchecked   bool     // no CHECK is made of it (apispec.Resource.Unchecked)
}

// Row is a rule between the columns of one row.
type Row struct {
	Table, Name string
	// SQL is a condition that both databases understand. It may also use minutes(a, b) and
	// milliseconds(a, b), the whole minutes or milliseconds from time a to time b.
	SQL string
}

// elapsed matches the calls of minutes and milliseconds in Row.SQL.
var elapsed = regexp.MustCompile(`(minutes|milliseconds)\((\w+), (\w+)\)`)

// Constraint returns the name of the CHECK.
func (c Column) Constraint() string { return c.Table + "_" + c.Name + "_check" }

// Constraint returns the name of the CHECK.
func (r Row) Constraint() string { return r.Table + "_" + r.Name }

// Condition returns the CHECK's condition, or "" if the column has no limit. Texts are cast,
// because PostgreSQL prints a comparison of varchar differently after a dump and restore.
func (c Column) Condition(postgres bool) string {
	text := "CAST(" + c.Name + " AS text)"
	var all []string
	if len(c.Values) > 0 && c.JSON == "" {
		all = append(all, text+" IN ("+quoteAll(c.Values)+")")
	}
	if len(c.Words) > 0 {
		all = append(all, c.words(text))
	}
	if c.Form != "" {
		all = append(all, Forms[c.Form].condition(text, postgres))
	}
	if c.Min != nil {
		all = append(all, fmt.Sprintf("%s >= %d", c.Name, *c.Min))
	}
	if c.Max != nil {
		all = append(all, fmt.Sprintf("%s <= %d", c.Name, *c.Max))
	}
	if c.Filled {
		all = append(all, trim(text, " ", postgres)+" <> ''")
	}
	if c.MaxRunes > 0 {
		all = append(all, fmt.Sprintf("length(%s) <= %d", text, c.MaxRunes))
	}
	if c.MaxBytes > 0 {
		all = append(all, fmt.Sprintf("length(%s) <= %d", c.Name, c.MaxBytes))
	}
	if c.Email {
		all = append(all, text+" LIKE '%_@_%._%'")
	}
	if c.Sealed {
		all = append(all, text+" LIKE '"+SealedPrefix+"%'")
	}
	if c.JSON != "" {
		function := "json_type"
		if postgres {
			function = "jsonb_typeof"
		}
		all = append(all, function+"("+c.Name+") IN ('"+c.JSON+"', 'null')")
	}
	if len(c.Values) > 0 && c.JSON != "" {
		all = append(all, c.elements(text, postgres))
	}
	return strings.Join(all, " AND ")
}

// elements returns the condition that a JSON array has no elements but c.Values: without them,
// only punctuation is left of its text.
func (c Column) elements(text string, postgres bool) string {
	for _, v := range c.Values {
		text = "replace(" + text + ", " + quote(`"`+v+`"`) + ", '')"
	}
	return trim(text, "[null], ", postgres) + " = ''"
}

// words returns the condition that a text consists of c.Words. It doubles the spaces, so that
// each word has its own space on both sides, removes each allowed word with these spaces, and
// compares the total length removed with the length of the whole text, less its two outer
// spaces. The terms are added, not nested, because SQLite's parser allows only 100 levels.
func (c Column) words(text string) string {
	padded := "replace(' ' || " + text + " || ' ', ' ', '  ')"
	var taken []string
	for _, w := range c.Words {
		taken = append(taken, "length("+padded+") - length(replace("+padded+", ' "+w+" ', ''))")
	}
	return "(" + text + " = '' OR " + strings.Join(taken, " + ") + " = length(" + padded + ") - 2)"
}

// Condition returns the CHECK's condition.
func (r Row) Condition(postgres bool) string {
	return "(" + elapsed.ReplaceAllStringFunc(r.SQL, func(call string) string {
		m := elapsed.FindStringSubmatch(call)
		microseconds := map[string]string{"minutes": "60000000", "milliseconds": "1000"}[m[1]]
		if postgres {
			return fmt.Sprintf("floor(EXTRACT(epoch FROM %s - %s) * 1000000 / %s)", m[3], m[2], microseconds)
		}
		return fmt.Sprintf("(%s - %s) / %s", m[3], m[2], microseconds) // as SQLite stores times
	}) + ")"
}

// Check returns what is wrong with a value (nil, string, int64 or []byte), or "".
func (c Column) Check(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case int64:
		return c.checkInteger(v)
	case string:
		return c.checkText(v)
	case []byte:
		if c.MaxBytes > 0 && len(v) > c.MaxBytes {
			return "must not be longer than " + strconv.Itoa(c.MaxBytes) + " bytes"
		}
	}
	return ""
}

func (c Column) checkInteger(n int64) string {
	switch low, high := c.Min != nil && n < *c.Min, c.Max != nil && n > *c.Max; {
	case !low && !high:
		return ""
	case c.Min != nil && c.Max != nil:
		return fmt.Sprintf("must be between %d and %d", *c.Min, *c.Max)
	case low:
		return fmt.Sprintf("must be at least %d", *c.Min)
	default:
		return fmt.Sprintf("must be at most %d", *c.Max)
	}
}

func (c Column) checkText(s string) string {
	switch {
	case c.JSON != "" && len(c.Values) > 0:
		return cmp.Or(checkJSON(s, c.JSON), c.checkElements(s))
	case c.JSON != "":
		return checkJSON(s, c.JSON)
	case c.Filled && strings.TrimSpace(s) == "":
		return "can't be blank"
	case c.MaxRunes > 0 && utf8.RuneCountInString(s) > c.MaxRunes:
		return "must not be longer than " + strconv.Itoa(c.MaxRunes) + " characters"
	case len(c.Values) > 0 && !slices.Contains(c.Values, s):
		return "must be one of: " + strings.Join(c.Values, ", ")
	case len(c.Words) > 0 && slices.ContainsFunc(strings.Fields(s), func(w string) bool { return !slices.Contains(c.Words, w) }):
		return "must be made of: " + strings.Join(c.Words, " ")
	case len(c.Words) > 0 && strings.Join(strings.Fields(s), " ") != s:
		return "must have one space between its words"
	case c.Form != "" && !Forms[c.Form].Matches(s):
		return Forms[c.Form].Message
	case c.Sealed && !strings.HasPrefix(s, SealedPrefix):
		return "must be sealed"
	case c.Email && !looksLikeEmail(s):
		return "must be an e-mail address"
	}
	return ""
}

// checkElements checks the elements of a JSON array.
func (c Column) checkElements(s string) string {
	var given []string
	if json.Unmarshal([]byte(s), &given) != nil || slices.ContainsFunc(given, func(e string) bool { return !slices.Contains(c.Values, e) }) {
		return "must be made of: " + strings.Join(c.Values, ", ")
	}
	return ""
}

func checkJSON(s, kind string) string {
	if kind == "array" && json.Unmarshal([]byte(s), new([]json.RawMessage)) != nil {
		return "must be a list"
	}
	if kind == "object" && json.Unmarshal([]byte(s), new(map[string]json.RawMessage)) != nil {
		return "must be an object"
	}
	return ""
}

// looksLikeEmail is the same test as in the CHECK; the API checks more (codec.ValidEmail).
func looksLikeEmail(s string) bool {
	local, domain, ok := strings.Cut(s, "@")
	dot := strings.LastIndex(domain, ".")
	return ok && local != "" && dot > 0 && dot < len(domain)-1
}

// Inside returns a value that Check and the CHECK accept, for tests that cover every column.
func (c Column) Inside() any {
	switch {
	case c.JSON == "object":
		return "{}"
	case c.JSON == "array":
		return "[]"
	case c.Email:
		return "a@b.example"
	case c.Sealed:
		return SealedPrefix + "00000000:AA"
	case len(c.Values) > 0:
		return c.Values[0]
	case len(c.Words) > 0:
		return strings.Join(c.Words[:min(2, len(c.Words))], " ")
	case c.Form != "":
		return Forms[c.Form].Example
	case c.MaxBytes > 0:
		return []byte("x")
	case c.Min != nil || c.Max != nil:
		return *cmp.Or(c.Min, c.Max)
	}
	return "x"
}

// Outside returns values that Check and the CHECK refuse, for the same tests.
func (c Column) Outside() (all []any) {
	if c.JSON != "" {
		all = append(all, map[string]string{"object": "[]", "array": "{}"}[c.JSON], "1")
	}
	if len(c.Values) > 0 && c.JSON == "" {
		all = append(all, "Dancing", "", strings.ToUpper(c.Values[0])+" ")
	}
	if len(c.Values) > 0 && c.JSON != "" {
		all = append(all, `["Dancing"]`, `["`+c.Values[0]+`", "`+strings.ToUpper(c.Values[0])+`"]`)
	}
	if len(c.Words) > 0 {
		all = append(all, "everything", c.Words[0]+" everything", c.Words[0]+c.Words[0])
	}
	if c.Email {
		all = append(all, "no at sign", "a@b")
	}
	if c.Sealed {
		all = append(all, "", "plain", "a"+SealedPrefix)
	}
	if c.Form != "" {
		all = append(all, "", "é", Forms[c.Form].Example+"0000000000000000000000")
	}
	if c.Min != nil {
		all = append(all, *c.Min-1)
	}
	if c.Max != nil {
		all = append(all, *c.Max+1)
	}
	if c.Filled {
		all = append(all, "", "   ")
	}
	if c.MaxRunes > 0 {
		all = append(all, strings.Repeat("é", c.MaxRunes+1))
	}
	if c.MaxBytes > 0 {
		all = append(all, make([]byte, c.MaxBytes+1))
	}
	return all
}

func quoteAll(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = quote(w)
	}
	return strings.Join(quoted, ", ")
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// trim returns the SQL that removes characters from both ends of an expression.
func trim(expression, characters string, postgres bool) string {
	function := "trim"
	if postgres {
		function = "btrim"
	}
	return function + "(" + expression + ", " + quote(characters) + ")"
}

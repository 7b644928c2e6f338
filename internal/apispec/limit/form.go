package limit

import (
	"fmt"
	"slices"
	"strings"
)

// Form is the format of a short code: a prefix, then characters of an alphabet. Unlike a
// regular expression it can be checked in SQL by both databases.
type Form struct {
	Prefix   string
	Alphabet string
	Lengths  []int // allowed lengths after the prefix
	Message  string
	Example  string
}

const (
	digits = "0123456789"
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	lower  = "abcdefghijklmnopqrstuvwxyz"
)

// The names of Forms.
const (
	Country   = "country"
	Ethnicity = "ethnicity"
	Colour    = "colour"
	E164      = "e164"
	SHA256    = "sha256"
)

// Forms are the forms by name.
var Forms = map[string]Form{
	Country:   {Alphabet: upper, Lengths: []int{2}, Message: "must be an ISO 3166 country code of two letters", Example: "GB"},
	Ethnicity: {Alphabet: digits + upper + lower, Lengths: []int{1, 2}, Message: "must be a code of one or two letters or digits", Example: "99"},
	Colour:    {Prefix: "#", Alphabet: digits + "abcdefABCDEF", Lengths: []int{3, 6}, Message: "must be a colour such as #3b82f6", Example: "#3b82f6"},
	E164:      {Prefix: "+", Alphabet: digits, Lengths: upTo(20), Message: "must be a telephone number in E.164 form", Example: "+442079460123"},
	SHA256:    {Alphabet: digits + "abcdef", Lengths: []int{64}, Message: "must be a SHA-256 in hexadecimal digits", Example: strings.Repeat("0a", 32)},
}

func upTo(n int) []int {
	lengths := make([]int, n)
	for i := range lengths {
		lengths[i] = i + 1
	}
	return lengths
}

// Matches reports whether s has the form.
func (f Form) Matches(s string) bool {
	rest, ok := strings.CutPrefix(s, f.Prefix)
	return ok && slices.Contains(f.Lengths, len(rest)) && strings.Trim(rest, f.Alphabet) == ""
}

// condition returns Matches in SQL: trimming the alphabet's characters leaves nothing.
func (f Form) condition(text string, postgres bool) string {
	var lengths []string
	for _, n := range f.Lengths {
		lengths = append(lengths, fmt.Sprint(n+len(f.Prefix)))
	}
	condition := "length(" + text + ") IN (" + strings.Join(lengths, ", ") + ")"
	rest := text
	if f.Prefix != "" {
		condition += fmt.Sprintf(" AND substr(%s, 1, %d) = %s", text, len(f.Prefix), quote(f.Prefix))
		rest = fmt.Sprintf("substr(%s, %d)", text, len(f.Prefix)+1)
	}
	return condition + " AND " + trim(rest, f.Alphabet, postgres) + " = ''"
}

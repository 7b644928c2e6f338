package schema

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"chairside/internal/decimal"
)

// Requests and imports share the rules below. A message is "" if nothing is wrong.

// CheckFinish checks an appointment's finish_time.
func CheckFinish(start, finish time.Time) (message string) {
	switch length := finish.Sub(start); {
	case length <= 0:
		return "must be after start_time"
	case length > LongestAppointment:
		return fmt.Sprintf("must be at most %d hours after start_time", LongestAppointment/time.Hour)
	}
	return ""
}

// longestAnswer is the longest answer to a custom field, in bytes.
const longestAnswer = 65535

// ReadAnswer returns the stored form of an answer to a custom field, or a message.
func ReadAnswer(t QuestionType, options []Option, answer string) (stored, message string) {
	switch {
	case len(answer) > longestAnswer:
		return "", "is too long"
	case t == QuestionCheckbox && answer != "true" && answer != "false":
		return "", "must be true or false"
	case t == QuestionNumber:
		d, err := decimal.Parse(answer)
		if err != nil {
			return "", err.Error()
		}
		return d.String(), ""
	case t == QuestionEnum && len(options) > 0 && !slices.ContainsFunc(options, func(o Option) bool { return o.Name == answer }):
		return "", "must be one of its options"
	}
	return answer, ""
}

// Derived returns those of the columns that Derive sets.
func Derived(columns []string) (derived []string) {
	for _, c := range columns {
		if strings.HasSuffix(c, "_folded") || strings.HasSuffix(c, "_normalized") || c == "search_text" {
			derived = append(derived, c)
		}
	}
	return derived
}

// Derive sets the derived columns of a row that is written past the hooks, as imports do:
// folded copies, normalised telephone numbers and, last, the search text, which contains the
// numbers.
func Derive(derived []string, country string, get func(column string) string, set func(column, text string)) {
	for _, c := range derived {
		if of, ok := strings.CutSuffix(c, "_folded"); ok {
			set(c, Fold(get(of)))
		}
		if of, ok := strings.CutSuffix(c, "_normalized"); ok {
			set(c, NormalizePhone(get(of), get(of+"_country"), country))
		}
	}
	if slices.Contains(derived, "search_text") {
		set("search_text", searchTextOf(get))
	}
}

// searchTextOf returns the search text of a patient from its columns.
func searchTextOf(get func(column string) string) string {
	var names, phones []string
	for _, c := range searchColumns[:4] {
		names = append(names, get(c))
	}
	for _, c := range searchColumns[8:] {
		phones = append(phones, get(c))
	}
	return SearchText(names, get("postcode"), get("email_address"), get("nhs_number_hash"), get("legacy_id"), phones)
}

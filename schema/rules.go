package schema

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"chairside/internal/decimal"
)

// The functions below are rules that requests and imports share. A message is "" where
// nothing is wrong.

// CheckFinish is the rule on an appointment's finish_time.
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

// ReadAnswer gives the stored form of an answer to a custom field.
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

// Derived are the columns that Derive sets.
func Derived(columns []string) (derived []string) {
	for _, c := range columns {
		if strings.HasSuffix(c, "_folded") || strings.HasSuffix(c, "_normalized") || c == "search_text" {
			derived = append(derived, c)
		}
	}
	return derived
}

// Derive sets the derived columns of a row: folded copies, normalized telephone numbers, and
// last what a patient is found by. The hooks do the same for what one request changes.
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

// searchTextOf is SearchText of a patient's columns.
func searchTextOf(get func(column string) string) string {
	var names, phones []string
	for _, c := range searched[:4] {
		names = append(names, get(c))
	}
	for _, c := range searched[8:] {
		phones = append(phones, get(c))
	}
	return SearchText(names, get("postcode"), get("email_address"), get("nhs_number"), get("legacy_id"), phones)
}

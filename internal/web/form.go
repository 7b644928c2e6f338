package web

import (
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"chairside/internal/apierror"
)

// form is what a visitor has filled in, and what is wrong with it. The zero
// form is empty and right.
type form struct {
	values url.Values
	wrong  []Mistake
}

// Mistake is one message, beside its field and at the top of the page.
type Mistake struct {
	Field   string // id of the field; "" for one of the whole form
	Message string
}

// filled is what the form in the request's body holds.
func filled(r *http.Request) form { return form{values: r.PostForm} }

// add notes a mistake.
func (f *form) add(field, message string) { f.wrong = append(f.wrong, Mistake{field, message}) }

// addFault notes the mistakes of a apierror.ValidationFailed, and reports whether
// err is one. labels name the fields, in their order on the page.
func (f *form) addFault(err error, labels []label) bool {
	var invalid *apierror.Error
	if !errors.As(err, &invalid) || invalid.Status != http.StatusUnprocessableEntity {
		return false
	}
	for _, l := range labels {
		for _, message := range invalid.Params[l.field] {
			if message == "can't be blank" {
				f.add(l.field, l.blank)
				continue
			}
			f.add(l.field, l.text+" "+message+".")
		}
	}
	return len(f.wrong) > 0
}

// label is the name of a field for people, as the beginning of a sentence, and
// what to say where nothing was entered.
type label struct{ field, text, blank string }

// Value is what stands in a field.
func (f form) Value(field string) string { return f.values.Get(field) }

// Chosen reports whether a box or option is chosen.
func (f form) Chosen(field, value string) bool { return slices.Contains(f.values[field], value) }

// Wrong are all mistakes.
func (f form) Wrong() []Mistake { return f.wrong }

// Error is what is wrong with a field, "" for nothing.
func (f form) Error(field string) string {
	var messages []string
	for _, m := range f.wrong {
		if m.Field == field {
			messages = append(messages, m.Message)
		}
	}
	return strings.Join(messages, " ")
}

// Aria ties a field to its message, and to the ids of what else describes it.
func (f form) Aria(field string, described ...string) template.HTMLAttr {
	attribute := ""
	if f.Error(field) != "" {
		attribute = `aria-invalid="true" `
		described = append([]string{field + "-error"}, described...)
	}
	if len(described) > 0 {
		attribute += `aria-describedby="` + strings.Join(described, " ") + `"`
	}
	return template.HTMLAttr(attribute) // of ids in this package's templates alone
}

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

// form holds the values that a visitor entered, and their error messages. The zero form is
// empty and valid.
type form struct {
	values url.Values
	wrong  []Mistake // in page order
}

// Mistake is one error message, shown beside its field and at the top of the page.
type Mistake struct {
	Field   string // id of the field; "" for the whole form
	Message string
}

// submitted returns the form in the request's body.
func submitted(r *http.Request) form { return form{values: r.PostForm} }

// add adds a mistake.
func (f *form) add(field, message string) { f.wrong = append(f.wrong, Mistake{field, message}) }

// addFieldErrors adds the field errors of an apierror.ValidationFailed, and reports
// whether err is one. labels name the fields, in page order.
func (f *form) addFieldErrors(err error, labels []label) bool {
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

// label is a field's name at the start of a sentence, and the message for a blank
// field.
type label struct{ field, text, blank string }

// Value returns the value of a field.
func (f form) Value(field string) string { return f.values.Get(field) }

// has reports whether a field was sent, even if it is empty.
func (f form) has(field string) bool { return f.values.Has(field) }

// Chosen reports whether a box or option is selected.
func (f form) Chosen(field, value string) bool { return slices.Contains(f.values[field], value) }

// Wrong returns all mistakes.
func (f form) Wrong() []Mistake { return f.wrong }

// Error returns the messages for a field, or "".
func (f form) Error(field string) string {
	var messages []string
	for _, m := range f.wrong {
		if m.Field == field {
			messages = append(messages, m.Message)
		}
	}
	return strings.Join(messages, " ")
}

// Aria returns the attributes that tie a field to its error message and to the
// elements that describe it.
func (f form) Aria(field string, described ...string) template.HTMLAttr {
	attribute := ""
	if f.Error(field) != "" {
		attribute = `aria-invalid="true" `
		described = append([]string{field + "-error"}, described...)
	}
	if len(described) > 0 {
		attribute += `aria-describedby="` + strings.Join(described, " ") + `"`
	}
	return template.HTMLAttr(attribute) // ids come from this package's templates
}

package web

import (
	"errors"
	"html/template"
	"maps"
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
	kept   string    // the action for which the values were kept (restored); "" if they were not
}

// Mistake is one error message, shown beside its field and at the top of the page.
type Mistake struct {
	Field   string // id of the field; "" for the whole form
	Message string
}

// submitted returns the form in the request's body.
func submitted(r *http.Request) form { return form{values: r.PostForm} }

// secretFields are the fields whose values are never kept or sent back.
var secretFields = []string{"password", "current", "again", "code", passkeyField}

// keep keeps the form of a request that needs a proof first, without secrets.
func (s *Site) keep(r *http.Request) {
	values := maps.Clone(r.PostForm)
	maps.DeleteFunc(values, func(name string, _ []string) bool { return slices.Contains(secretFields, name) })
	if len(values) > 0 {
		s.sessions.KeepForm(r.Context(), r.URL.Path, values)
	}
}

// restored returns what the visitor entered in a form of the page before it asked for a proof, once
// that is given, or else f. actions are those of the page's forms.
func (s *Site) restored(r *http.Request, f form, actions ...string) form {
	if r.Method != http.MethodGet || !s.sessions.Proven(r.Context()) {
		return f
	}
	action, values := s.sessions.TakeForm(r.Context(), func(action string) bool { return slices.Contains(actions, action) })
	if action == "" {
		return f
	}
	return form{values: values, kept: action}
}

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

// Kept reports whether the values were entered for an action before it asked for a proof.
func (f form) Kept(action string) bool { return f.kept == action }

// HasValues reports whether a value was given.
func (f form) HasValues() bool { return len(f.values) > 0 }

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

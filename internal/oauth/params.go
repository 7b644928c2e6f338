package oauth

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxBody is the longest body that is read, in bytes.
const maxBody = 64 << 10

// params are the parameters of a request. One that is sent empty counts as not
// sent (RFC 6749, section 3.1).
type params map[string]string

// once gives the parameters of a form that come once, and the names of those
// that do not, sorted.
func once(form url.Values) (p params, twice []string) {
	p = params{}
	for name, values := range form {
		switch {
		case len(values) > 1:
			twice = append(twice, name)
		case values[0] != "":
			p[name] = values[0]
		}
	}
	slices.Sort(twice)
	return p, twice
}

// readParams reads the body of a request by an application: a form or a JSON
// object of strings. The address must hold no parameters: it ends up in logs.
func readParams(w http.ResponseWriter, r *http.Request) (params, *Error) {
	if r.URL.RawQuery != "" {
		return nil, invalidRequest("Parameters belong in the body of the request.")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, &Error{Status: http.StatusRequestEntityTooLarge, Code: "invalid_request", Description: "The body is too large."}
	case err != nil:
		return nil, invalidRequest("The body could not be read.")
	}
	mediaType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case err == nil && mediaType == "application/x-www-form-urlencoded":
		return readForm(string(body))
	case err == nil && mediaType == "application/json":
		return readJSON(body)
	}
	return nil, &Error{
		Status: http.StatusUnsupportedMediaType, Code: "invalid_request",
		Description: "The body must be application/x-www-form-urlencoded or application/json.",
	}
}

func readForm(body string) (params, *Error) {
	form, err := url.ParseQuery(body)
	if err != nil {
		return nil, invalidRequest("The body is not a well-formed form.")
	}
	return legible(form)
}

// readJSON reads an object token by token: decoded into a map, a member that
// comes twice would go unnoticed.
func readJSON(body []byte) (params, *Error) {
	malformed := invalidRequest("The body is not a JSON object of strings.")
	decoder := json.NewDecoder(bytes.NewReader(body))
	if open, err := decoder.Token(); err != nil || open != json.Delim('{') {
		return nil, malformed
	}
	form := url.Values{}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return nil, malformed
		}
		value, err := decoder.Token()
		if err != nil {
			return nil, malformed
		}
		text, isText := value.(string)
		if !isText && value != nil {
			return nil, malformed
		}
		form.Add(name.(string), text) // within an object every other token is a name
	}
	if _, err := decoder.Token(); err != nil {
		return nil, malformed
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, malformed
	}
	return legible(form)
}

// legible gives the parameters of a form in which each comes once and is text
// that both databases can hold.
func legible(form url.Values) (params, *Error) {
	p, twice := once(form)
	if len(twice) > 0 {
		return nil, invalidRequest("A parameter is sent more than once: " + printable(twice[0]) + ".")
	}
	for name, value := range p {
		if !utf8.ValidString(value) || strings.ContainsRune(value, 0) {
			return nil, invalidRequest("A parameter is not text: " + printable(name) + ".")
		}
	}
	return p, nil
}

// printable keeps of a text what error_description may hold (RFC 6749, section
// 5.2), and not more than a line of it.
func printable(text string) string {
	const line = 80
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || r == '"' || r == '\\' {
			return -1
		}
		return r
	}, text)
	return text[:min(len(text), line)]
}

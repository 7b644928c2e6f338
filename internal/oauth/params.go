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

// maxBody is the largest accepted body in bytes.
const maxBody = 64 << 10

// params are the parameters of a request. An empty one counts as missing (RFC 6749,
// section 3.1).
type params map[string]string

// singleValues returns the parameters that occur once, and the sorted names of those that
// occur more often.
func singleValues(form url.Values) (p params, repeated []string) {
	p = params{}
	for name, values := range form {
		switch {
		case len(values) > 1:
			repeated = append(repeated, name)
		case values[0] != "":
			p[name] = values[0]
		}
	}
	slices.Sort(repeated)
	return p, repeated
}

// readParams parses the body of an application's request: a form or a JSON object of
// strings. It refuses parameters in the URL, because URLs end up in logs.
func readParams(w http.ResponseWriter, r *http.Request) (params, *Error) {
	if r.URL.RawQuery != "" {
		return nil, invalidRequest("Send the parameters in the body, not in the URL.")
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

// readForm parses a form.
func readForm(body string) (params, *Error) {
	form, err := url.ParseQuery(body)
	if err != nil {
		return nil, invalidRequest("The body is not a well-formed form.")
	}
	return checkParams(form)
}

// readJSON parses an object token by token, because decoding into a map would hide
// repeated members.
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
		form.Add(name.(string), text) // in an object every other token is a name
	}
	if _, err := decoder.Token(); err != nil {
		return nil, malformed
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, malformed
	}
	return checkParams(form)
}

// checkParams returns the parameters if each occurs once and is text that both databases
// can store.
func checkParams(form url.Values) (params, *Error) {
	p, repeated := singleValues(form)
	if len(repeated) > 0 {
		return nil, invalidRequest("A parameter is sent more than once: " + printable(repeated[0]) + ".")
	}
	for name, value := range p {
		if !utf8.ValidString(value) || strings.ContainsRune(value, 0) {
			return nil, invalidRequest("A parameter is not text: " + printable(name) + ".")
		}
	}
	return p, nil
}

// printable removes what error_description may not contain (RFC 6749, section 5.2),
// and shortens the text to a line.
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

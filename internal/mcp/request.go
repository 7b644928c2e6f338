package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// dryRun is the preference for checking a write without storing anything.
const dryRun = "dry-run"

// request is a request to the API. Only operation.request makes one for an operation.
type request struct {
	method, path string
	query        url.Values
	header       http.Header
	body         []byte
}

// arguments are the arguments of a tool call.
type arguments map[string]json.RawMessage

// parseArguments reads the arguments of a call and refuses names that the tool does not have.
func (o *operation) parseArguments(text json.RawMessage) (arguments, error) {
	args := arguments{}
	if len(bytes.TrimSpace(text)) > 0 {
		if err := json.Unmarshal(text, &args); err != nil {
			return nil, errors.New("the arguments must be a JSON object")
		}
	}
	for name, value := range args {
		if !slices.ContainsFunc(o.inputs, func(in input) bool { return in.name == name }) {
			return nil, fmt.Errorf("%.64q is not an argument of %s: it has %s", name, o.ID, o.argumentNames())
		}
		if string(value) == "null" && !slices.ContainsFunc(o.inputs, func(in input) bool { return in.name == name && (in.in == "member" || in.in == wholeBody) }) {
			delete(args, name) // an optional argument that the assistant filled in
		}
	}
	for _, in := range o.inputs {
		if _, ok := args[in.name]; in.required && !ok {
			return nil, fmt.Errorf("%s is required", in.name)
		}
	}
	return args, nil
}

func (o *operation) argumentNames() string {
	var names []string
	for _, in := range o.inputs {
		names = append(names, in.name)
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// confirmed reports whether the caller asks for the write to be made. Only the literal true does.
func (a arguments) confirmed() (bool, error) {
	switch string(a[confirmArgument]) {
	case "true":
		return true, nil
	case "", "false":
		return false, nil
	}
	return false, errors.New("confirm must be true or false")
}

// pathValue matches values of path parameters: ids. Everything else would name another path.
var pathValue = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// request returns the request for a call. It is a dry run unless the operation only reads or the
// arguments confirm the write.
func (o *operation) request(args arguments) (r *request, confirmed bool, err error) {
	if confirmed, err = args.confirmed(); err != nil {
		return nil, false, err
	}
	r = &request{method: o.method, path: o.path, query: url.Values{}, header: http.Header{}}
	members := map[string]json.RawMessage{}
	var body any = members
	for _, in := range o.inputs {
		value, ok := args[in.name]
		if !ok {
			continue
		}
		switch in.in {
		case "member":
			members[in.target] = value
		case wholeBody:
			body = value
		case "query":
			err = r.addQuery(in, value)
		case "path":
			err = r.fillPath(in, value)
		case "header":
			err = r.addHeader(in, value)
		}
		if err != nil {
			return nil, false, err
		}
	}
	if o.RequestBody != nil {
		r.header.Set("Content-Type", jsonMedia)
		if r.body, err = json.Marshal(body); err != nil {
			return nil, false, fmt.Errorf("the arguments are not valid JSON: %w", err)
		}
	}
	if o.writes() && !confirmed {
		r.header.Set("Prefer", dryRun)
		r.header.Del("Idempotency-Key") // the key belongs to the write, not to its preview
	}
	return r, confirmed, nil
}

func (r *request) addQuery(in input, value json.RawMessage) error {
	values := []json.RawMessage{value}
	if value[0] == '[' && json.Unmarshal(value, &values) != nil {
		return fmt.Errorf("%s is not valid JSON", in.name)
	}
	for _, one := range values {
		text, err := scalar(in.name, one)
		if err != nil {
			return err
		}
		r.query.Add(in.target, text)
	}
	return nil
}

func (r *request) fillPath(in input, value json.RawMessage) error {
	text, err := scalar(in.name, value)
	if err != nil {
		return err
	}
	if !pathValue.MatchString(text) {
		return fmt.Errorf("%s must be an id", in.name)
	}
	r.path = strings.ReplaceAll(r.path, "{"+in.target+"}", text)
	return nil
}

func (r *request) addHeader(in input, value json.RawMessage) error {
	text, err := scalar(in.name, value)
	if err != nil {
		return err
	}
	if len(text) > 255 || strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c > '~' }) {
		return fmt.Errorf("%s must be at most 255 printable ASCII characters", in.name)
	}
	r.header.Set(in.target, text)
	return nil
}

// scalar returns a string, number or boolean as text.
func scalar(name string, value json.RawMessage) (text string, err error) {
	switch c := value[0]; {
	case c == '"':
		err = json.Unmarshal(value, &text)
		return text, err
	case c == '{', c == '[', c == 'n':
		return "", fmt.Errorf("%s must be a string, a number or a boolean", name)
	}
	return string(value), nil
}

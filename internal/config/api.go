package config

import (
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// ClientFlags are the flags of commands that send requests to a server. The token is not one of
// them: other users of a machine can see a program's arguments.
type ClientFlags struct {
	Server    string `placeholder:"URL" default:"http://127.0.0.1:8080" help:"URL of the server. Default: ${default}"`
	TokenFile string `placeholder:"FILE" help:"File that holds the access token. Default: the environment variable CHAIRSIDE_TOKEN."`
}

// Client is the parsed ClientFlags.
type Client struct {
	Server string // URL, without a trailing slash
	Token  string
}

// read checks the flags.
func (f ClientFlags) read(m *Mistakes) Client {
	c := Client{Server: strings.TrimRight(f.Server, "/")}
	if !isPrivate(c.Server) {
		m.add("server", "%s", serverRule)
	}
	c.Token = readToken(f.TokenFile, m)
	return c
}

// serves reports whether an address is one of the server's.
func (c Client) serves(address string) bool { return strings.HasPrefix(address, c.Server+"/") }

// APIFlags are the flags of "chairside api".
type APIFlags struct {
	ClientFlags
	Method   string   `arg:"" help:"GET, POST, PUT, PATCH or DELETE."`
	Path     string   `arg:"" help:"Path, such as /v1/patients, or a URL of the server."`
	Field    []string `short:"f" placeholder:"KEY=TEXT" sep:"none" help:"Send a text. Repeatable."`
	Typed    []string `short:"F" placeholder:"KEY=VALUE" sep:"none" help:"Send a number, true, false or null. Repeatable."`
	Header   []string `short:"H" placeholder:"NAME:VALUE" sep:"none" help:"Send a header. Repeatable."`
	Input    string   `placeholder:"FILE" help:"Send this file as the body; - is standard input."`
	Paginate bool     `help:"Also get the following pages, each printed on its own."`
}

// APIRequest is the parsed APIFlags.
type APIRequest struct {
	Client
	Method, URL string
	Header      map[string][]string
	Body        []byte // if the flags do not name a file
}

// absolute matches a URL with a scheme.
var absolute = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://`)

var apiMethods = []string{"GET", "POST", "PUT", "PATCH", "DELETE"}

// Read checks the flags. The error is Mistakes, with everything that is wrong.
func (f APIFlags) Read() (APIRequest, error) {
	var m Mistakes
	r := APIRequest{Client: f.read(&m), Method: strings.ToUpper(f.Method), Header: map[string][]string{}}
	if !slices.Contains(apiMethods, r.Method) {
		m = append(m, "<method>: must be one of: "+strings.Join(apiMethods, ", "))
	}
	if f.Paginate && r.Method != "GET" {
		m.add("paginate", "needs the method GET")
	}
	for _, text := range f.Header {
		name, value, ok := strings.Cut(text, ":")
		if !ok || name == "" || strings.EqualFold(name, "Authorization") {
			m.add("header", "must be a name and a value, such as \"Prefer: dry-run\", and not Authorization")
			continue
		}
		r.Header[name] = append(r.Header[name], strings.TrimSpace(value))
	}
	address, err := url.Parse("/" + strings.TrimLeft(strings.TrimPrefix(f.Path, r.Server+"/"), "/"))
	if err != nil || absolute.MatchString(f.Path) && !r.serves(f.Path) {
		m = append(m, "<path>: must be a path, such as /v1/patients, or a URL of "+r.Server)
		return r, m.err()
	}
	fields := f.fields(&m)
	query := address.Query()
	switch {
	case r.Method == "GET" || r.Method == "DELETE":
		for _, x := range fields {
			query.Add(x.key, x.text)
		}
	case f.Input != "" && len(fields) > 0:
		m.add("input", "cannot be used with -f or -F")
	case f.Input == "":
		r.Body = body(fields, &m)
	}
	address.RawQuery = query.Encode()
	r.URL = r.Server + address.String()
	return r, m.err()
}

// Validate reports every mistake in the flags; the parser calls it.
func (f APIFlags) Validate() error {
	_, err := f.Read()
	return err
}

// member is a field to send.
type member struct {
	key, text string
	value     any
}

func (f APIFlags) fields(m *Mistakes) (all []member) {
	for _, text := range f.Field {
		key, value, ok := strings.Cut(text, "=")
		if !ok || key == "" {
			m.add("field", "must be KEY=TEXT")
		}
		all = append(all, member{key, value, value})
	}
	for _, text := range f.Typed {
		key, value, ok := strings.Cut(text, "=")
		var typed any
		decoder := json.NewDecoder(strings.NewReader(value))
		decoder.UseNumber()
		if !ok || key == "" || decoder.Decode(&typed) != nil || decoder.More() {
			m.add("typed", "must be KEY=VALUE, with a number, true, false or null")
		}
		all = append(all, member{key, value, typed})
	}
	return all
}

// body returns fields as a JSON object; nil without fields.
func body(fields []member, m *Mistakes) []byte {
	if len(fields) == 0 {
		return nil
	}
	object := map[string]any{}
	for _, x := range fields {
		if !place(object, strings.Split(strings.ReplaceAll(x.key, "]", ""), "["), x.value) {
			m.add("field", "%s is both a value and an object", x.key)
		}
	}
	text, err := json.Marshal(object)
	if err != nil {
		m.add("field", "%v", err)
	}
	return text
}

// place puts a value at the path a, b, c of {"a": {"b": {"c": …}}}; an empty name adds to a list.
func place(object map[string]any, path []string, value any) bool {
	name := path[0]
	switch {
	case len(path) == 1:
		object[name] = value
		return true
	case len(path) == 2 && path[1] == "":
		list, ok := object[name].([]any)
		if !ok && object[name] != nil {
			return false
		}
		object[name] = append(list, value)
		return true
	case object[name] == nil:
		object[name] = map[string]any{}
	}
	inner, ok := object[name].(map[string]any)
	return ok && place(inner, path[1:], value)
}

// ListenFlags are the flags of "chairside listen".
type ListenFlags struct {
	ClientFlags
	ForwardTo string   `required:"" placeholder:"URL" help:"Where to send the changes, such as http://localhost:3000/hooks."`
	Event     []string `placeholder:"EVENT" default:"*" help:"Changes to send, such as patients.created or patients.*; repeatable. Default: all that the token may read."`
}

// Listen is the parsed ListenFlags.
type Listen struct {
	Client
	ForwardTo string
	Events    []string
}

// Read checks the flags. The error is Mistakes, with everything that is wrong.
func (f ListenFlags) Read() (Listen, error) {
	var m Mistakes
	l := Listen{Client: f.read(&m), ForwardTo: f.ForwardTo, Events: f.Event}
	if u, err := url.Parse(f.ForwardTo); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		m.add("forward-to", "must be a URL such as http://localhost:3000/hooks")
	}
	return l, m.err()
}

// Validate reports every mistake in the flags; the parser calls it.
func (f ListenFlags) Validate() error {
	_, err := f.Read()
	return err
}

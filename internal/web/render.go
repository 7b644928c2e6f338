package web

import (
	"bytes"
	"embed"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"chairside/internal/clock"
	"chairside/internal/scope"
	"chairside/internal/signin"
	"chairside/internal/signin/password"
)

//go:embed templates
var templateFiles embed.FS

// templates are the pages by name, each in the layout.
var templates = parse()

// functions are what the templates call besides methods.
var functions = template.FuncMap{
	"asset":    assetAddress,
	"minRunes": func() int { return password.MinRunes },
	// picture lets the address of a picture that package signin drew stand in a
	// page; of data addresses the templates would else believe none.
	"picture": func(address string) template.URL { return template.URL(address) },
	"scopes": func(f form, legend string, families []family) any {
		return struct {
			Form     form
			Legend   string
			Families []family
		}{f, legend, families}
	},
	"codeField": func(f form, name string) any {
		return struct {
			Form form
			ID   string
		}{f, name + "-code"}
	},
	"snippet": func(id, label, text string) any { return struct{ ID, Label, Text string }{id, label, text} },
}

func parse() map[string]*template.Template {
	base := template.Must(template.New("").Funcs(functions).
		ParseFS(templateFiles, "templates/layout.html", "templates/parts.html"))
	files, err := fs.Glob(templateFiles, "templates/*.html")
	if err != nil {
		panic(err) // the pattern is well-formed
	}
	pages := map[string]*template.Template{}
	for _, file := range files {
		page := template.Must(template.Must(base.Clone()).ParseFS(templateFiles, file))
		pages[strings.TrimSuffix(path.Base(file), ".html")] = page
	}
	return pages
}

// view is what the layout shows of a page.
type view struct {
	Title string // and heading
	Here  string // address of the section that the page belongs to
	Form  form
	Page  any // for the page's own template

	// Set by write.
	Visitor  *signin.Visitor // nil where nobody has signed in
	Sections []section       // that the visitor may go to
	Done     string          // what has just been done
	now      time.Time
	zone     *time.Location
}

// show sends a page.
func (s *Site) show(w http.ResponseWriter, r *http.Request, status int, name string, v view) {
	page := write(r, name, v)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(page)))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(page) // fails where the visitor went away
	}
}

// write writes a page for the visitor.
func write(r *http.Request, name string, v view) []byte {
	v.Visitor = signin.From(r.Context())
	v.now, v.zone = clock.Now(r.Context()), time.UTC
	if v.Visitor != nil {
		v.Sections, v.zone = sectionsFor(v.Visitor), v.Visitor.Zone
	}
	if r.Method != http.MethodPost {
		v.Done = done[r.URL.Query().Get("done")]
	}
	var page bytes.Buffer
	if err := templates[name].ExecuteTemplate(&page, "layout", v); err != nil {
		panic(err) // a template and its page do not fit: a mistake of ours
	}
	return page.Bytes()
}

// done is what a page tells after a redirect with ?done=.
var done = map[string]string{
	"token-revoked":         "The token is revoked. It has stopped working.",
	"application-saved":     "The changes are saved.",
	"application-deleted":   "The application is deleted. Its tokens have stopped working.",
	"authorization-revoked": "The application may no longer act for you. Its tokens have stopped working.",
	"session-ended":         "The session is ended.",
	"others-ended":          "You are signed out everywhere else.",
	"password-changed":      "Your password is changed. You are signed out everywhere else.",
	"factor-off":            "The second factor is off. Your password alone signs you in.",
	"ended":                 "Your session has ended. Sign in again.",

	"password-changed-tokens": "Your password is changed. You are signed out everywhere else, and your tokens and authorised applications have stopped working.",
	"signed-out":              "You are signed out.",
	"too-late":                "That took too long. Enter your password again.",
}

// section is one entry of the navigation.
type section struct {
	Path, Name string
	level      scope.Level // least permission level
}

var sections = []section{
	{reportsPath, "Reports", user}, // there are some for everybody
	{"/settings/tokens", "Tokens", user},
	{"/settings/applications", "Applications", manager},
	{"/settings/authorizations", "Authorised applications", user},
	{"/settings/sessions", "Sessions", user},
	{"/settings/security", "Security", user},
}

// sectionsFor are the sections that a visitor may go to.
func sectionsFor(v *signin.Visitor) []section {
	var all []section
	for _, s := range sections {
		if v.User.Role.PermissionLevel() >= s.level {
			all = append(all, s)
		}
	}
	return all
}

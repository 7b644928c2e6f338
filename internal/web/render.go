package web

import (
	"bytes"
	"embed"
	"html/template"
	"net/http"
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

// templates are the layout, the pages by the names of their files, and their parts. They are one set: with a copy of
// the layout and the parts for each page, an idle server would have 7 MB more.
var templates = template.Must(template.New("").Funcs(functions).ParseFS(templateFiles, "templates/*.html"))

// functions are the templates' functions.
var functions = template.FuncMap{
	"asset":      assetAddress,
	"count":      thousands,
	"pretty":     pretty,
	"errorCodes": func() []errorCode { return errorCodes },
	"minRunes":   func() int { return password.MinRunes },
	// picture marks the data: URL of a QR code from package signin as safe;
	// html/template rejects data: URLs by default.
	"picture": func(address string) template.URL { return template.URL(address) },
	// breakable lets a long name continue on the next line after an underscore, but not after a hyphen.
	"breakable": func(name string) template.HTML {
		name = template.HTMLEscapeString(name)
		return template.HTML(`<span class="whole">` + strings.ReplaceAll(name, "_", `_</span><wbr><span class="whole">`) + `</span>`)
	},
	// prose marks what is between backticks in a text as code.
	"prose": func(text string) template.HTML {
		var marked strings.Builder
		for i, part := range strings.Split(text, "`") {
			if part = template.HTMLEscapeString(part); i%2 == 1 {
				part = "<code>" + part + "</code>"
			}
			marked.WriteString(part)
		}
		return template.HTML(marked.String()) // escaped above
	},
	"scopes": func(f form, legend string, m matrix) any {
		return struct {
			Form   form
			Legend string
			Matrix matrix
		}{f, legend, m}
	},
	"codeField": func(f form, name string) any {
		return struct {
			Form form
			ID   string
		}{f, name + "-code"}
	},
	"passkeyForm": func(origin, step, next string, alone bool) any {
		return struct {
			Origin, Step, Next string
			Alone              bool // the page has no other way
		}{origin, step, next, alone}
	},
	"requestTable": func(v view, caption string, rows []requestRow) any {
		return struct {
			View    view
			Caption string
			Rows    []requestRow
		}{v, caption, rows}
	},
	"snippet": func(id, label, text string) any { return struct{ ID, Label, Text string }{id, label, text} },
}

// view is a page's data for the layout.
type view struct {
	Title string // also the heading
	Here  string // path of the page's section in the navigation; "" for none
	Menu  *menu  // of the reference, in place of the navigation
	Form  form
	Style string // name of the page's own style sheet; "" for none
	Page  any    // for the page's own template

	notices

	// Framed is whether the page has the bar and the navigation. Pages that ask for one thing first,
	// such as the password, have neither. write sets it for pages with a section or a menu.
	Framed bool

	// Set by write.
	Visitor  *signin.Visitor // nil if signed out
	Sections []section       // that the visitor may open
	Done     string          // confirmation message
	Content  template.HTML   // the page's own template, rendered
	now      time.Time
	zone     *time.Location
}

// notices are what the visitor must see on every page.
type notices struct {
	SwitchedOff bool   // whether failures switched a webhook off, for administrators
	NewBrowsers bool   // whether a new browser has signed in as the visitor
	ClosesOn    string // day on which the practice closes and is deleted, for its managers; "" for never
}

// notices returns those of a page of the section here. Error pages, which query nothing, and pages that ask for
// one thing first have no section.
func (s *Site) notices(r *http.Request, here string) (n notices) {
	n.SwitchedOff = here != "" && here != webhooksPath && s.webhookIsOff(r)
	visitor := signin.From(r.Context())
	if visitor == nil {
		return n
	}
	if here != "" && here != signInsPath {
		n.NewBrowsers = len(signin.NewBrowsers(visitor, s.sessions.Identify(r))) > 0
	}
	if closes := visitor.Practice().ClosesAt; closes != nil && visitor.User.Role.PermissionLevel() >= scope.Manager {
		n.ClosesOn = closes.In(visitor.Zone).Format("2 January 2006, 15:04")
	}
	return n
}

// show sends a page.
func (s *Site) show(w http.ResponseWriter, r *http.Request, status int, name string, v view) {
	v.notices = s.notices(r, v.Here)
	page := s.write(r, name, v)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(page)))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(page) // fails if the visitor has left
	}
}

// write renders a page for the visitor.
func (s *Site) write(r *http.Request, name string, v view) []byte {
	v.Visitor, v.Framed = signin.From(r.Context()), v.Framed || v.Here != "" || v.Menu != nil
	v.now, v.zone = clock.Now(r.Context()), time.UTC
	if v.Visitor != nil {
		v.Sections, v.zone = s.sectionsFor(v.Visitor), v.Visitor.Zone
	}
	if r.Method != http.MethodPost {
		v.Done = done[r.URL.Query().Get("done")]
	}
	v.Content = template.HTML(execute(name+".html", v)) // escaped by its template
	return execute("layout", v)
}

func execute(name string, v view) []byte {
	var page bytes.Buffer
	if err := templates.ExecuteTemplate(&page, name, v); err != nil {
		panic(err) // the template does not fit its data
	}
	return page.Bytes()
}

// done maps the ?done= of a redirect to its confirmation message.
var done = map[string]string{
	"token-revoked":             "Token revoked. It no longer works.",
	"application-saved":         "Changes saved.",
	"application-deleted":       "Application deleted. Its tokens no longer work.",
	"webhook-saved":             "Changes saved.",
	"webhook-paused":            "Webhook paused. Its events wait.",
	"webhook-resumed":           "Webhook resumed. Waiting events are being delivered.",
	"webhook-deleted":           "Webhook deleted.",
	"webhook-redelivered":       "The event will be delivered again.",
	"webhook-retried":           "The event is being sent now.",
	"webhook-redelivered-later": "The event will be delivered again when the webhook is resumed.",
	"authorization-revoked":     "Access revoked. The application’s tokens no longer work.",
	"user-saved":                "Changes saved.",
	"user-disabled":             "User disabled. The user’s sessions, tokens and authorised applications no longer work.",
	"user-enabled":              "User enabled.",
	"user-factor-off":           "Two-factor authentication is off for this user.",
	"user-signed-out":           "The user is signed out everywhere.",
	"invitation-accepted":       "Password saved. Sign in with it.",
	"practice-saved":            "Changes saved.",
	"site-lifted":               "Limit lifted for an hour. The audit log has your reason.",
	"site-restored":             "Limit restored.",
	"sign-ins-dismissed":        "Notice dismissed.",
	"session-ended":             "Session revoked.",
	"others-ended":              "You are signed out everywhere else.",
	"password-changed":          "Password changed. You are signed out everywhere else.",
	"passkey-added":             "Passkey added. You can sign in with it.",
	"passkey-renamed":           "Changes saved.",
	"passkey-removed":           "Passkey removed. It no longer signs you in. Also delete it on your device.",
	"factor-off":                "Two-factor authentication is off.",
	"ended":                     "Your session has ended. Sign in again.",

	"password-changed-tokens": "Password changed. You are signed out everywhere else, and your tokens and authorised applications no longer work.",
	"signed-out":              "You are signed out.",
	"too-late":                "Sign-in timed out. Enter your password again.",
}

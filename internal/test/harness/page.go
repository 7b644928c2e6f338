package harness

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Page is a page that a Browser received.
type Page struct {
	Code    int
	Header  http.Header
	Raw     []byte
	method  string
	address *url.URL
	root    *html.Node
}

// Form is a form of a page with its initial values. Buttons are not in Values: pass the
// pressed one to Submit.
type Form struct {
	Method, Action string
	Values         url.Values
}

// Status fails the test unless the page has the status.
func (p *Page) Status(t testing.TB, code int) *Page {
	t.Helper()
	if p.Code != code {
		t.Fatalf("%s %s: status %d, want %d: %s", p.method, p.address, p.Code, code, p.Text())
	}
	return p
}

// Redirect returns the target of a 303, and fails the test for any other status.
func (p *Page) Redirect(t testing.TB) *url.URL {
	t.Helper()
	p.Status(t, http.StatusSeeOther)
	to, err := url.Parse(p.Header.Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// Text returns the visible text.
func (p *Page) Text() string { return text(p.root) }

// Has fails the test unless the page shows all the texts.
func (p *Page) Has(t testing.TB, texts ...string) *Page {
	t.Helper()
	for _, want := range texts {
		if !strings.Contains(p.Text(), want) {
			t.Errorf("%s %s: %q is not on the page: %s", p.method, p.address, want, p.Text())
		}
	}
	return p
}

// Lacks fails the test if the page's source contains one of the texts.
func (p *Page) Lacks(t testing.TB, texts ...string) *Page {
	t.Helper()
	for _, bad := range texts {
		if strings.Contains(html.UnescapeString(string(p.Raw)), bad) {
			t.Errorf("%s %s: %q is on the page: %s", p.method, p.address, bad, p.Text())
		}
	}
	return p
}

// Title returns the page's title.
func (p *Page) Title() string {
	title := p.find(func(n *html.Node) bool { return n.DataAtom == atom.Title })
	if title == nil {
		return ""
	}
	return strings.TrimSpace(title.FirstChild.Data)
}

// Form returns the form whose action is a path.
func (p *Page) Form(t testing.TB, action string) *Form {
	t.Helper()
	f := p.form(action)
	if f == nil {
		t.Fatalf("%s %s: no form for %s: %s", p.method, p.address, action, p.Raw)
	}
	return f
}

// HasForm reports whether there is a form whose action is a path.
func (p *Page) HasForm(action string) bool { return p.form(action) != nil }

func (p *Page) form(action string) *Form {
	node := p.find(func(n *html.Node) bool { return n.DataAtom == atom.Form && attr(n, "action") == action })
	if node == nil {
		return nil
	}
	f := &Form{Method: strings.ToUpper(attr(node, "method")), Action: action, Values: url.Values{}}
	if f.Method == "" {
		f.Method = http.MethodGet
	}
	for n := range node.Descendants() {
		if name, value, ok := field(n); ok {
			f.Values.Add(name, value)
		}
	}
	return f
}

// field adds an element's initial value to its form.
func field(n *html.Node) (name, value string, ok bool) {
	name = attr(n, "name")
	if n.Type != html.ElementNode || name == "" || has(n, "disabled") {
		return "", "", false
	}
	switch n.DataAtom {
	case atom.Textarea:
		return name, content(n), true
	case atom.Select:
		for o := range n.Descendants() {
			if o.DataAtom == atom.Option && (has(o, "selected") || !ok) {
				value, ok = attr(o, "value"), true
			}
		}
		return name, value, ok
	case atom.Input:
		switch attr(n, "type") {
		case "submit", "button", "image", "reset":
			return "", "", false
		case "checkbox", "radio":
			return name, attr(n, "value"), has(n, "checked")
		}
		return name, attr(n, "value"), true
	}
	return "", "", false
}

// FieldError returns the error message of a field, or "" if it has none. The field is
// given by its id or its name. It fails the test if there is no such field.
func (p *Page) FieldError(t testing.TB, name string) string {
	t.Helper()
	n := p.ByID(name)
	if n == nil {
		n = p.find(func(n *html.Node) bool { return attr(n, "name") == name })
	}
	if n == nil {
		t.Fatalf("%s %s: no field %s: %s", p.method, p.address, name, p.Text())
	}
	for ; n != nil; n = n.Parent { // a group of boxes is marked as a whole
		if attr(n, "aria-invalid") == "true" || n.DataAtom == atom.Fieldset && attr(n, "aria-describedby") != "" {
			break
		}
	}
	if n == nil {
		return ""
	}
	for id := range strings.FieldsSeq(attr(n, "aria-describedby")) {
		if described := p.ByID(id); described != nil && strings.HasSuffix(id, "-error") {
			return text(described)
		}
	}
	return ""
}

// Value returns the value of an input, or the text of another element, with an id.
func (p *Page) Value(t testing.TB, id string) string {
	t.Helper()
	n := p.ByID(id)
	if n == nil {
		t.Fatalf("%s %s: nothing with the id %s: %s", p.method, p.address, id, p.Raw)
	}
	if n.DataAtom == atom.Input {
		return attr(n, "value")
	}
	return strings.TrimSpace(content(n))
}

// Links returns the page's links in order.
func (p *Page) Links() []string {
	var links []string
	for n := range p.root.Descendants() {
		if n.DataAtom == atom.A && n.Type == html.ElementNode {
			links = append(links, attr(n, "href"))
		}
	}
	return links
}

// ByID returns the element with an id, or nil.
func (p *Page) ByID(id string) *html.Node {
	return p.find(func(n *html.Node) bool { return attr(n, "id") == id })
}

// All returns the elements that match.
func (p *Page) All(match func(n *html.Node) bool) []*html.Node {
	var found []*html.Node
	for n := range p.root.Descendants() {
		if n.Type == html.ElementNode && match(n) {
			found = append(found, n)
		}
	}
	return found
}

func (p *Page) find(match func(n *html.Node) bool) *html.Node {
	if all := p.All(match); len(all) > 0 {
		return all[0]
	}
	return nil
}

// Attr returns an attribute of an element, or "".
func Attr(n *html.Node, name string) string { return attr(n, name) }

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func has(n *html.Node, name string) bool {
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == name })
}

// content returns the text of an element as in the source.
func content(n *html.Node) string {
	var out strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			out.WriteString(d.Data)
		}
	}
	return out.String()
}

// text returns the text of an element with single spaces.
func text(n *html.Node) string {
	var out strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode && d.Parent.DataAtom != atom.Style && d.Parent.DataAtom != atom.Script && d.Parent.DataAtom != atom.Title {
			out.WriteString(d.Data)
		}
	}
	return strings.Join(strings.Fields(out.String()), " ")
}

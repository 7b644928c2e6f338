package harness

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"chairside/internal/seed"
)

// Firefox is the User-Agent of a Browser.
const Firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"

// Browser visits the server's pages. It keeps cookies, sends Origin like a browser, and
// runs no scripts. It follows redirects only on request.
//
//	b := e.Browser(t).SignIn(seed.DemoAdmin)
//	page := b.Get("/settings/tokens/new").Status(t, 200)
//	made := b.Submit(page.Form(t, "/settings/tokens"), url.Values{"name": {"Import"}, "scopes": {"patient:read"}})
//	secret := made.Value(t, "token")
type Browser struct {
	Header http.Header // sent with every request
	t      testing.TB
	url    string // of the server
	client *http.Client
}

// Browser returns a new browser without cookies.
func (e *Env) Browser(t testing.TB) *Browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &Browser{
		Header: http.Header{"User-Agent": {Firefox}, "Accept": {"text/html,*/*;q=0.8"}},
		t:      t, url: e.URL,
		client: &http.Client{Jar: jar, CheckRedirect: client.CheckRedirect},
	}
}

// At returns the same browser, with its cookies, at another server: two processes behind
// one address.
func (b *Browser) At(e *Env) *Browser {
	other := *b
	other.url = e.URL
	return &other
}

// SignIn signs a seeded user in.
func (b *Browser) SignIn(email string) *Browser {
	b.t.Helper()
	page := b.Get("/sign-in").Status(b.t, http.StatusOK)
	b.Submit(page.Form(b.t, "/sign-in"), url.Values{"email": {email}, "password": {seed.Password}}).Status(b.t, http.StatusSeeOther)
	return b
}

// Get requests a page. It does not follow redirects.
func (b *Browser) Get(path string) *Page {
	b.t.Helper()
	return b.Send(http.MethodGet, path, nil, http.Header{"Sec-Fetch-Site": {"none"}})
}

// Open requests a page and follows redirects within this server.
func (b *Browser) Open(path string) *Page {
	b.t.Helper()
	return b.Follow(b.Get(path))
}

// Follow follows redirects from p within this server.
func (b *Browser) Follow(p *Page) *Page {
	b.t.Helper()
	for range 10 {
		to, err := p.address.Parse(p.Header.Get("Location"))
		if err != nil {
			b.t.Fatal(err)
		}
		if p.Header.Get("Location") == "" || to.Host != p.address.Host {
			return p
		}
		p = b.Get(to.RequestURI())
	}
	b.t.Fatalf("%s: too many redirects", p.address)
	return nil
}

// Submit sends a form. The given values replace the form's values of the same name; a
// name without values is omitted.
func (b *Browser) Submit(f *Form, given url.Values) *Page {
	b.t.Helper()
	sent := url.Values{}
	for _, values := range []url.Values{f.Values, given} {
		for name, value := range values {
			sent[name] = slices.Clone(value)
		}
	}
	if f.Method == http.MethodGet {
		return b.Get(f.Action + "?" + sent.Encode())
	}
	return b.Post(f.Action, sent)
}

// Post sends values as a form of this server.
func (b *Browser) Post(path string, values url.Values) *Page {
	b.t.Helper()
	return b.Send(http.MethodPost, path, values, http.Header{"Sec-Fetch-Site": {"same-origin"}, "Origin": {b.url}})
}

// Send sends any request, with values, unless nil, as a form. header adds to the
// browser's headers; a name without values removes one.
func (b *Browser) Send(method, path string, values url.Values, header http.Header) *Page {
	b.t.Helper()
	var body io.Reader
	if values != nil {
		body = strings.NewReader(values.Encode())
	}
	r, err := http.NewRequestWithContext(b.t.Context(), method, b.url+path, body)
	if err != nil {
		b.t.Fatal(err)
	}
	if values != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for _, h := range []http.Header{b.Header, header} {
		for name, value := range h {
			r.Header[http.CanonicalHeaderKey(name)] = value
		}
	}
	if r.Header["User-Agent"] == nil {
		r.Header["User-Agent"] = []string{""} // or net/http names itself
	}
	res, err := b.client.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer res.Body.Close()
	p := &Page{Code: res.StatusCode, Header: res.Header, method: method, address: r.URL}
	if p.Raw, err = io.ReadAll(res.Body); err != nil {
		b.t.Fatal(err)
	}
	if p.root, err = html.Parse(strings.NewReader(string(p.Raw))); err != nil {
		b.t.Fatal(err)
	}
	return p
}

// Cookies returns the browser's session cookie, if it has one.
func (b *Browser) Cookies() []*http.Cookie {
	b.t.Helper()
	address, err := url.Parse(b.url)
	if err != nil {
		b.t.Fatal(err)
	}
	return slices.DeleteFunc(b.client.Jar.Cookies(address), func(c *http.Cookie) bool { return !strings.HasSuffix(c.Name, "chairside_session") })
}

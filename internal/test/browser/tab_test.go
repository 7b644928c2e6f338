package browser

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"chairside/internal/seed"
	"chairside/internal/test/harness"
)

// patience is the time limit of a tab.
const patience = 5 * time.Minute

// tab is a tab with its own cookies.
type tab struct {
	t   testing.TB
	env *harness.Env
	key string // of the signed-in user's authenticator
	ctx context.Context

	mu        sync.Mutex
	waiting   chan struct{}              // closed when the next page has loaded
	begun     bool                       // that page has replaced the old one
	document  *network.Response          // of the page
	documents map[network.RequestID]bool // requests for pages, and of scripts
	asked     []string                   // URLs of requested pages
	console   []string                   // console messages
}

// open opens a tab.
func open(t testing.TB, e *harness.Env) *tab {
	t.Helper()
	browser, err := chromium()
	require(t, "no Chromium: ", err)
	ctx, closeTab := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	ctx, cancel := context.WithTimeout(ctx, patience)
	p := &tab{t: t, env: e, ctx: ctx, documents: map[network.RequestID]bool{}}
	t.Cleanup(func() {
		cancel()
		closeTab()
	})
	t.Cleanup(p.checkConsole)
	chromedp.ListenTarget(ctx, p.handleEvent)
	p.run(chromedp.EmulateViewport(desktop.width, desktop.height))
	return p
}

// withoutScript disables scripts in the tab.
func (p *tab) withoutScript() *tab {
	p.t.Helper()
	p.run(emulation.SetScriptExecutionDisabled(true))
	return p
}

// run runs actions in the browser.
func (p *tab) run(actions ...chromedp.Action) {
	p.t.Helper()
	if err := chromedp.Run(p.ctx, actions...); err != nil {
		p.t.Fatalf("%v\n%s", err, p.report())
	}
}

// call calls a protocol method, and ignores parts of a newer Chromium's response that
// cdproto does not know.
func (p *tab) call(method string, given, result any) {
	p.t.Helper()
	p.run(chromedp.ActionFunc(func(ctx context.Context) error {
		if err := cdp.Execute(ctx, method, given, result); err != nil {
			return fmt.Errorf("%s: %w", method, err)
		}
		return nil
	}))
}

// handleEvent handles the tab's events.
func (p *tab) handleEvent(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		switch e.Type {
		case network.ResourceTypeDocument:
			p.asked = append(p.asked, e.Request.URL)
			p.documents[e.RequestID] = true
		case network.ResourceTypeFetch: // by a page's script, which shows a refusal
			p.documents[e.RequestID] = true
		}
	case *network.EventResponseReceived:
		if e.Type == network.ResourceTypeDocument {
			p.document = e.Response
		}
	case *page.EventFrameNavigated:
		p.begun = e.Frame.ParentID == ""
	case *page.EventLoadEventFired:
		if p.begun && p.waiting != nil {
			close(p.waiting)
			p.waiting = nil
		}
	case *log.EventEntryAdded:
		if !p.documents[e.Entry.NetworkRequestID] { // the tests check the status themselves
			p.console = append(p.console, fmt.Sprintf("%s %s: %s %s", e.Entry.Source, e.Entry.Level, e.Entry.Text, e.Entry.URL))
		}
	case *runtime.EventExceptionThrown:
		p.console = append(p.console, "exception: "+e.ExceptionDetails.Error())
	case *runtime.EventConsoleAPICalled:
		p.console = append(p.console, fmt.Sprintf("console.%s", e.Type))
	}
}

// load calls do, which opens another page, and waits until that page has loaded.
func (p *tab) load(do func()) *tab {
	p.t.Helper()
	there := make(chan struct{})
	p.mu.Lock()
	p.waiting, p.begun, p.document = there, false, nil
	p.mu.Unlock()
	do()
	select {
	case <-there:
	case <-p.ctx.Done():
		p.t.Fatalf("no page was loaded\n%s", p.report())
	}
	return p
}

// visit opens a URL, or a path of the server.
func (p *tab) visit(address string) *tab {
	p.t.Helper()
	if strings.HasPrefix(address, "/") {
		address = p.env.URL + address
	}
	return p.load(func() {
		p.t.Helper()
		var failed struct {
			ErrorText string `json:"errorText"`
		}
		p.call(page.CommandNavigate, page.Navigate(address), &failed)
		if failed.ErrorText != "" {
			p.t.Fatalf("%s: %s", address, failed.ErrorText)
		}
	})
}

// signIn signs a seeded user in on the page.
func (p *tab) signIn(email string) *tab {
	p.t.Helper()
	p.visit("/sign-in")
	return p.giveCredentials(email, seed.Password)
}

// giveCredentials fills in the current sign-in page.
func (p *tab) giveCredentials(email, password string) *tab {
	p.t.Helper()
	p.fill("E-mail address", email)
	p.fill("Password", password)
	return p.submit("Sign in")
}

// setCookie sets a cookie.
func (p *tab) setCookie(cookie *http.Cookie) {
	p.t.Helper()
	p.run(network.SetCookie(cookie.Name, cookie.Value).WithURL(p.env.URL).WithHTTPOnly(true))
}

// status fails the test unless the page has the status.
func (p *tab) status(want int) *tab {
	p.t.Helper()
	if got := p.answer(); int(got.Status) != want {
		p.t.Fatalf("status %d, want %d\n%s", got.Status, want, p.report())
	}
	return p
}

// answer returns the page's response.
func (p *tab) answer() *network.Response {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.document == nil {
		p.t.Fatal("no page was requested")
	}
	return p.document
}

// addresses returns the URLs of all pages that the tab requested.
func (p *tab) addresses() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.asked)
}

// until polls for a condition that has no event.
func (p *tab) until(what string, done func() bool) {
	p.t.Helper()
	for !done() {
		if p.ctx.Err() != nil {
			p.t.Fatalf("timed out: %s\n%s\n%q", what, p.report(), p.addresses())
		}
		eval[int](p, "new Promise(resolve => setTimeout(resolve, 20, 0))")
	}
}

// here returns the page's URL.
func (p *tab) here() *url.URL {
	p.t.Helper()
	address, err := url.Parse(eval[string](p, "location.href"))
	if err != nil {
		p.t.Fatal(err)
	}
	return address
}

// at fails the test unless the page has the path.
func (p *tab) at(path string) *tab {
	p.t.Helper()
	if here := p.here(); here.Path != path {
		p.t.Fatalf("at %s, want %s\n%s", here, path, p.report())
	}
	return p
}

// has fails the test unless the page shows all the texts.
func (p *tab) has(texts ...string) *tab {
	p.t.Helper()
	shown := p.text()
	for _, want := range texts {
		if !strings.Contains(shown, want) {
			p.t.Fatalf("%q is not on the page\n%s", want, p.report())
		}
	}
	return p
}

// lacks fails the test if the page shows one of the texts.
func (p *tab) lacks(texts ...string) *tab {
	p.t.Helper()
	shown := p.text()
	for _, bad := range texts {
		if strings.Contains(shown, bad) {
			p.t.Fatalf("%q is on the page\n%s", bad, p.report())
		}
	}
	return p
}

// text returns the visible text.
func (p *tab) text() string {
	p.t.Helper()
	return eval[string](p, "document.body.innerText")
}

// value returns the text of the element with an id.
func (p *tab) value(id string) string {
	p.t.Helper()
	return strings.TrimSpace(eval[string](p, fmt.Sprintf("document.getElementById(%q).textContent", id)))
}

// eval evaluates an expression in the page and awaits a promise. It also works on pages
// without scripts.
func eval[T any](p *tab, expression string) (value T) {
	p.t.Helper()
	p.run(chromedp.Evaluate(expression, &value, func(q *runtime.EvaluateParams) *runtime.EvaluateParams {
		return q.WithAwaitPromise(true)
	}))
	return value
}

// checkConsole fails the test for any console message.
func (p *tab) checkConsole() {
	if p.ctx.Err() == nil && chromedp.FromContext(p.ctx).Target != nil {
		eval[int](p, "1") // all messages have arrived by now
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, line := range p.console {
		p.t.Error("console: ", line)
	}
}

// report describes the tab, for messages.
func (p *tab) report() string {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(p.ctx), 10*time.Second)
	defer cancel()
	var shown string
	if err := chromedp.Run(ctx, chromedp.Evaluate(`location.href + "\n" + document.title + "\n" + document.body.innerText`, &shown)); err != nil {
		shown = err.Error()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(append([]string{shown}, p.console...), "\n")
}

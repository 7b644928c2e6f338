package browser

import (
	"context"
	_ "embed"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"chairside/internal/seed"
	"chairside/internal/test/harness"
	"chairside/internal/web"
	"chairside/ogent"
)

// size is a window size.
type size struct {
	width, height int64
	mobile        bool
}

var (
	phone   = size{390, 844, true}
	desktop = size{1280, 900, false}
	schemes = []string{"light", "dark"}
)

//go:embed testdata/fits.js
var fitsScript string

// TestPages checks every page of the table in each size and colour scheme, each with its
// own server and database.
func TestPages(t *testing.T) {
	t.Parallel()
	axe, dir := axeCore(t), t.ArtifactDir()
	kept := flag.Lookup("test.artifacts").Value.String() == "true" // otherwise the screenshots are deleted
	shown := buildPractice(t)
	for _, s := range pages() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			p := shown.show(t, s)
			p.checkHeaders()
			for i, window := range []size{phone, desktop} {
				for j, scheme := range schemes {
					p.resize(window, scheme)
					if i != j { // dark on the phone, light on the desktop: only once each, because it is slow
						p.checkAccessibility(axe)
					}
					if kept {
						p.capture(filepath.Join(dir, fmt.Sprintf("%s-%d-%s.png", s.name, window.width, scheme)))
					}
				}
				p.checkLayout(window)
			}
		})
	}
}

// show opens a page in a state.
func (shown *practice) show(t *testing.T, s state) *tab {
	t.Helper()
	content, err := os.ReadFile(shown.database)
	if err != nil {
		t.Fatal(err)
	}
	database := filepath.Join(t.TempDir(), "page.db")
	if err := os.WriteFile(database, content, 0o600); err != nil {
		t.Fatal(err)
	}
	e := harness.Start(t, "sqlite:"+database)
	e.URL = byName(e.URL)
	p := open(t, e)
	if s.who != signedOut {
		p.setCookie(shown.cookies[s.who])
		p.key = shown.key
	}
	p.visit(shown.address(s.path))
	if s.then != nil {
		s.then(p)
	}
	return p.status(max(s.status, http.StatusOK))
}

// resize sets the window's size and colour scheme.
func (p *tab) resize(window size, scheme string) {
	p.t.Helper()
	var mobile []chromedp.EmulateViewportOption
	if window.mobile {
		mobile = append(mobile, chromedp.EmulateMobile)
	}
	p.run(
		chromedp.EmulateViewport(window.width, window.height, mobile...),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
	)
}

// capture saves a screenshot of the whole page.
func (p *tab) capture(file string) {
	p.t.Helper()
	p.run(chromedp.ActionFunc(func(ctx context.Context) error {
		picture, err := page.CaptureScreenshot().WithCaptureBeyondViewport(true).WithOptimizeForSpeed(true).Do(ctx)
		if err != nil {
			return err
		}
		return os.WriteFile(file, picture, 0o600)
	}))
}

// checkLayout fails the test if an element is too wide or too small, and logs small touch
// targets.
func (p *tab) checkLayout(window size) {
	p.t.Helper()
	found := eval[struct {
		Wrong []string `json:"wrong"`
		Small []string `json:"small"`
	}](p, fitsScript)
	for _, wrong := range found.Wrong {
		p.t.Errorf("at %d: %s", window.width, wrong)
	}
	if window.mobile {
		for _, small := range found.Small {
			p.t.Logf("at %d, less than 44: %s", window.width, small)
		}
	}
}

// checkHeaders fails the test unless the page has the security headers.
func (p *tab) checkHeaders() {
	p.t.Helper()
	answer := p.answer()
	for name, wants := range map[string][]string{
		"Content-Type":            {"text/html; charset=utf-8"},
		"Content-Security-Policy": {"default-src 'none'", "script-src 'self'", "style-src 'self'", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'"},
		"X-Frame-Options":         {"DENY"},
		"X-Content-Type-Options":  {"nosniff"},
		"Referrer-Policy":         {"no-referrer"},
		"Cache-Control":           {"no-store"},
	} {
		got := fmt.Sprint(answer.Headers[name])
		for _, want := range wants {
			if !strings.Contains(got, want) || strings.Contains(got, "unsafe") {
				p.t.Errorf("%s: %s: %s, want %s", answer.URL, name, got, want)
			}
		}
	}
}

// TestHeaderIsAsHighSignedOutAsSignedIn: the page does not move when someone signs in.
func TestHeaderIsAsHighSignedOutAsSignedIn(t *testing.T) {
	t.Parallel()
	p := open(t, start(t))
	height := func() float64 {
		p.visit("/docs")
		return eval[float64](p, `document.querySelector(".top").getBoundingClientRect().height`)
	}
	signedOut := height()
	p.signIn(seed.DemoAdmin)
	if signedIn := height(); signedIn != signedOut {
		t.Errorf("the header is %v high signed out, %v signed in", signedOut, signedIn)
	}
}

// TestFiguresOfReportsFit: each is on one line and within its tile.
func TestFiguresOfReportsFit(t *testing.T) {
	t.Parallel()
	p := open(t, start(t))
	p.signIn(seed.DemoAdmin)
	for _, name := range []string{"plan-acceptance", "income", "contract-performance"} {
		p.visit("/reports/" + name)
		for _, window := range []size{phone, {768, 1024, false}, {1024, 768, false}, desktop} {
			p.resize(window, "light")
			broken := eval[[]string](p, `[...document.querySelectorAll(".figures dd")].filter(e => {
				const value = document.createRange();
				value.selectNodeContents(e.querySelector("a") ?? e.firstChild);
				const tops = new Set([...value.getClientRects()].map(r => Math.round(r.top)));
				return tops.size != 1 || value.getBoundingClientRect().right > e.parentElement.getBoundingClientRect().right;
			}).map(e => e.innerText)`)
			if len(broken) > 0 {
				t.Errorf("%s at %d: %q", name, window.width, broken)
			}
		}
	}
}

// TestEveryRouteIsInTheTable fails for a route without a line in pages.
func TestEveryRouteIsInTheTable(t *testing.T) {
	t.Parallel()
	e := start(t)
	site, err := web.New(web.Options{DB: e.DB, Document: ogent.Document, BaseURL: e.URL})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	for _, route := range site.Routes() {
		mux.Handle(route.Path, http.NotFoundHandler())
	}
	seen := map[string]bool{}
	for _, s := range pages() {
		path := strings.NewReplacer("{app}", "x", "{public}", "x").Replace(s.path)
		if strings.HasPrefix(path, "{consent") {
			path = "/oauth/authorize"
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, pattern := mux.Handler(r)
		seen[pattern] = true
	}
	for _, route := range site.Routes() {
		path := strings.NewReplacer("{id}", "x", "{name}", "x").Replace(route.Path)
		answer := e.Do(t, harness.Request{Method: http.MethodPut, Path: path})
		if shown := slices.Contains(strings.Split(answer.Header.Get("Allow"), ", "), http.MethodGet); shown && !seen[route.Path] {
			t.Errorf("%s: no line in pages", route.Path)
		}
	}
}

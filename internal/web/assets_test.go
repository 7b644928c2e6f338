package web_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"chairside/internal/test/harness"
)

func TestAssets(t *testing.T) {
	t.Parallel()
	e := harness.Start(t, harness.SQLite(t))
	b := e.Browser(t)
	var addresses []string
	for _, n := range b.Get("/sign-in").All(func(n *html.Node) bool {
		return n.DataAtom == atom.Link || n.DataAtom == atom.Script || n.DataAtom == atom.Img
	}) {
		addresses = append(addresses, harness.Attr(n, "href")+harness.Attr(n, "src"))
	}
	slices.Sort(addresses)
	if addresses = slices.Compact(addresses); len(addresses) != 6 {
		t.Errorf("the page has %v", addresses)
	}
	for _, address := range addresses {
		p := b.Get(address).Status(t, http.StatusOK)
		if len(p.Raw) == 0 || p.Header.Get("X-Content-Type-Options") != "nosniff" || p.Header.Get("Set-Cookie")+p.Header.Get("Vary") != "" {
			t.Errorf("%s: %v", address, p.Header)
		}
		name, _, ours := strings.Cut(address, "?v=")
		if !ours {
			continue
		}
		if got := p.Header.Get("Cache-Control"); got != "public, max-age=31536000, immutable" {
			t.Errorf("%s: Cache-Control %q", address, got)
		}
		if got := b.Get(name+"?v=older").Status(t, http.StatusOK).Header.Get("Cache-Control"); got != "no-cache" {
			t.Errorf("%s of another release: Cache-Control %q", name, got)
		}
		again := b.Send(http.MethodGet, address, nil, http.Header{"If-None-Match": {p.Header.Get("ETag")}})
		again.Status(t, http.StatusNotModified)
	}
	// The style sheet loads nothing.
	if style := string(b.Get("/assets/style.css").Raw); strings.Contains(style, "url(") || strings.Contains(style, "@import") {
		t.Error("the style sheet loads something")
	}
}

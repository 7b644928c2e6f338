package web

import (
	"net/http"
	"strings"
)

// policy lets a page have our own style, script and pictures, and send forms
// to us alone. Data addresses are for the picture of a second factor.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// guard sets the headers that every page has, redirects and errors too. What
// the layout says of referrers replaces Referrer-Policy for forms: with
// no-referrer they would carry "Origin: null", and over plain HTTP the origin
// is all by which a form of ours can be told from another's.
func guard(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
}

// allowReturn lets the form of a consent page lead on to the application's
// address: Chromium holds form-action against redirects as well. It names the
// scheme, not the host, because the application may redirect once more.
func allowReturn(h http.Header, address string) {
	scheme, _, _ := strings.Cut(address, ":")
	sources := scheme + ":"
	if scheme == "http" {
		sources = "http: https:"
	}
	h.Set("Content-Security-Policy", strings.Replace(policy, "form-action 'self'", "form-action 'self' "+sources, 1))
}

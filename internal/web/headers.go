package web

import (
	"net/http"
	"strings"
)

// policy allows our own styles, scripts and images, and forms sent to this server.
// data: is for the QR code of two-factor authentication, connect-src for the challenges
// of passkeys.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// setHeaders sets the security headers of every page, including redirects and errors. The
// referrer meta tag of the layout overrides Referrer-Policy for forms: with no-referrer
// they would send "Origin: null", and over plain HTTP only the origin tells our forms
// from those of other sites.
func setHeaders(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
}

// allowReturn lets the consent form redirect to the application: Chromium applies
// form-action to redirects too. It names the scheme, not the host, because the
// application may redirect again.
func allowReturn(h http.Header, address string) {
	scheme, _, _ := strings.Cut(address, ":")
	sources := scheme + ":"
	if scheme == "http" {
		sources = "http: https:"
	}
	h.Set("Content-Security-Policy", strings.Replace(policy, "form-action 'self'", "form-action 'self' "+sources, 1))
}

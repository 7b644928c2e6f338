package web

import "net/http"

// settings redirects to the tokens page, which integrators need first.
func (s *Site) settings(w http.ResponseWriter, _ *http.Request) error {
	return redirect(w, tokensPath)
}

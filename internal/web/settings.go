package web

import "net/http"

// settings leads to what integrators need first.
func (s *Site) settings(w http.ResponseWriter, _ *http.Request) error {
	return redirect(w, tokensPath)
}

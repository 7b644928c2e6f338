package web

import (
	"errors"
	"net/http"
	"net/url"
	"path"
	"strings"
	"unicode/utf8"

	"chairside/internal/apierror"
	"chairside/internal/principal"
	"chairside/internal/signin"
)

// maxBody is the largest accepted form in bytes.
const maxBody = 64 << 10

// Serve returns the handler of a route.
func (s *Site) Serve(route Route) http.Handler {
	return s.page(func(w http.ResponseWriter, r *http.Request) error {
		if err := s.check(r, route); err != nil {
			return err
		}
		act, err := s.admit(w, r, route)
		if err != nil {
			return err
		}
		return act(w, r)
	})
}

// Refuse returns the handler of an address that has no page. Visitors see the error in their frame.
func (s *Site) Refuse(f *apierror.Error) http.Handler {
	return s.page(func(http.ResponseWriter, *http.Request) error { return f })
}

// page loads the session, runs the action, and shows its error.
func (s *Site) page(act action) http.Handler {
	loaded := s.sessions.Load(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if who, err := principal.From(r.Context()); err == nil {
			s.Visited(r.Context(), who)
		}
		if err := act(w, r); err != nil {
			s.fail(w, r, err)
		}
	}))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		setHeaders(w.Header())
		loaded.ServeHTTP(w, r)
	})
}

// check checks the method and the origin of the request, which do not depend on the
// visitor.
func (s *Site) check(r *http.Request, route Route) error {
	var allow []string
	if route.get != nil {
		allow = append(allow, http.MethodGet, http.MethodHead)
	}
	if route.post != nil {
		allow = append(allow, http.MethodPost)
	}
	known := false
	for _, method := range allow {
		known = known || r.Method == method
	}
	switch {
	case !known:
		return apierror.MethodNotAllowed(allow)
	case s.origins.Check(r) != nil:
		return errCrossSite
	}
	return nil
}

// admit returns the action if the visitor may run it, and parses the form.
func (s *Site) admit(w http.ResponseWriter, r *http.Request, route Route) (action, error) {
	visitor := signin.From(r.Context())
	// A locked session needs a proof, too. Its form is kept below if the page restores it.
	locked := visitor == nil && signin.FromLocked(r.Context()) != nil && r.Method == http.MethodPost && route.rules&proofToPost != 0
	switch {
	case route.level > anyone && visitor == nil && !locked:
		return toSignIn(pageOf(r, route)), nil
	case visitor != nil && visitor.NeedsFactor() && route.rules&beforeSetUp == 0:
		return toSetUp(pageOf(r, route)), nil
	case visitor != nil && visitor.User.Role.PermissionLevel() < route.level:
		if route.level == administrator {
			return nil, errAdministrator
		}
		return nil, errLevel
	}
	asks := locked || s.needsProof(r, route)
	switch {
	case asks && r.Method != http.MethodPost:
		return toConfirm(r.URL.RequestURI()), nil
	case r.Method != http.MethodPost:
		return route.get, nil
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	var tooLarge *http.MaxBytesError
	switch err := r.ParseForm(); {
	case errors.As(err, &tooLarge):
		return nil, apierror.BodyTooLarge()
	case err != nil || !storable(r.PostForm):
		return nil, errMalformed
	case asks:
		s.keep(r)
		return toConfirm(s.formOf(r)), nil
	}
	return route.post, nil
}

// storable reports whether both databases can store every value of a form.
func storable(form url.Values) bool {
	for _, values := range form {
		for _, value := range values {
			if !utf8.ValidString(value) || strings.ContainsRune(value, 0) {
				return false
			}
		}
	}
	return true
}

// pageOf returns the page to open after sign-in: the requested one, or for a POST the
// page of its section.
func pageOf(r *http.Request, route Route) string {
	if route.get != nil && r.Method != http.MethodPost {
		return r.URL.RequestURI()
	}
	parts := strings.SplitN(r.URL.Path, "/", 4) // "", settings, section, rest
	switch section := strings.Join(parts[:min(len(parts), 3)], "/"); section {
	case "/settings/password", "/settings/second-factor", passkeysPath:
		return "/settings/security"
	default:
		return section
	}
}

// toSignIn redirects to sign-in, or for a locked session to its confirmation. Both return to next.
func toSignIn(next string) action {
	return func(w http.ResponseWriter, r *http.Request) error {
		if signin.FromLocked(r.Context()) != nil {
			return toConfirm(next)(w, r)
		}
		return redirect(w, "/sign-in?next="+url.QueryEscape(next))
	}
}

// toConfirm redirects to the page that asks for a proof and returns to next.
func toConfirm(next string) action {
	return func(w http.ResponseWriter, _ *http.Request) error {
		return redirect(w, confirmPath+"?next="+url.QueryEscape(next))
	}
}

// toSetUp redirects to the page that sets up two-factor authentication and returns to next.
func toSetUp(next string) action {
	return func(w http.ResponseWriter, _ *http.Request) error {
		return redirect(w, secondFactorPath+"?next="+url.QueryEscape(next))
	}
}

// needsProof reports whether the visitor must prove the password or the second factor again before
// the request.
func (s *Site) needsProof(r *http.Request, route Route) bool {
	rule := proofToGet
	if r.Method == http.MethodPost {
		rule = proofToPost
	} else if _, file := splitFormat(path.Base(r.URL.Path)); file != "" {
		rule |= proofToDownload
	}
	return route.rules&rule != 0 && !s.sessions.Proven(r.Context())
}

// formOf returns the page that has the form of a POST, to open once the visitor has proven the
// password or the second factor.
func (s *Site) formOf(r *http.Request) string {
	pages := http.NewServeMux()
	for _, route := range s.Routes() {
		if route.get != nil {
			pages.Handle(route.Path, http.NotFoundHandler())
		}
	}
	here := r.URL.Path
	for _, path := range []string{here + "/new", here, path.Dir(here), path.Dir(path.Dir(here))} {
		if _, pattern := pages.Handler(&http.Request{Method: http.MethodGet, URL: &url.URL{Path: path}}); strings.Count(pattern, "/") == strings.Count(path, "/") {
			return path
		}
	}
	return homePath
}

// redirect sends the browser to an address with GET. Addresses of other servers come
// from package oauth.
func redirect(w http.ResponseWriter, address string) error {
	w.Header().Set("Location", address)
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

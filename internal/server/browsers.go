package server

import (
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"chairside/internal/apierror"
)

// wantsPage reports whether a client would rather have a page than JSON: its Accept header names
// HTML, as that of every browser does. Clients that accept anything get JSON.
func wantsPage(r *http.Request) bool {
	html, json := 0.0, 0.0
	for member := range strings.SplitSeq(strings.Join(r.Header.Values("Accept"), ","), ",") {
		mediaType, params, err := mime.ParseMediaType(member)
		if err != nil {
			continue
		}
		weight, err := strconv.ParseFloat(params["q"], 64)
		if err != nil {
			weight = 1
		}
		switch mediaType {
		case "text/html":
			html = weight
		case "application/json":
			json = weight
		}
	}
	return html > 0 && html >= json
}

// orPage serves browsers a page at addresses that are neither the API's nor a page's, and
// everything else by the API. Below /v1 there are no pages.
func (s *Server) orPage(api http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1" && !strings.HasPrefix(r.URL.Path, "/v1/") && wantsPage(r) {
			if missed := s.missed(r); missed != nil {
				s.htmlPage(s.site.Refuse(missed)).ServeHTTP(w, r)
				return
			}
		}
		api.ServeHTTP(w, r)
	})
}

// missed returns the API's error for an address that it does not have, or does not have with this
// method; nil if the API serves it.
func (s *Server) missed(r *http.Request) *apierror.Error {
	if r.Method == http.MethodOptions || handwrittenPath(r.URL.Path) {
		return nil
	}
	sought := *r // lookUp changes the method
	if _, err := s.lookUp(&sought); err != nil {
		return apierror.From(err)
	}
	return nil
}

// forBrowsers serves browsers a page where other clients get the API's response.
func forBrowsers(page, api http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Vary", "Accept")
		if wantsPage(r) {
			page.ServeHTTP(w, r)
			return
		}
		api.ServeHTTP(w, r)
	})
}

// failAsJSON sends an error of a page as the API does, and returns false for a client that wants a page.
func (s *Server) failAsJSON(w http.ResponseWriter, r *http.Request, e *apierror.Error) bool {
	if !slices.Contains(w.Header().Values("Vary"), "Accept") {
		w.Header().Add("Vary", "Accept")
	}
	if wantsPage(r) {
		return false
	}
	s.send(w, stateOf(r.Context()), e)
	return true
}

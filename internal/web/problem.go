package web

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"

	"chairside/internal/apierror"
	"chairside/internal/oauth"
	"chairside/internal/signin"
	"chairside/internal/store"
)

// problem is an error with a title and a message for the visitor.
type problem struct {
	Status         int
	Title, Message string
}

func (p *problem) Error() string { return "web: " + p.Title }

var (
	errCrossSite = &problem{http.StatusForbidden, "The form came from another site",
		"Nothing was changed. Open the page on this site and try again."}
	errLevel = &problem{http.StatusForbidden, "You don’t have access to this page",
		"Only managers and administrators do."}
	errAdministrator = &problem{http.StatusForbidden, "You don’t have access to this page",
		"Only administrators do."}
	errReportLevel = &problem{http.StatusForbidden, "You don’t have access to this report",
		"Managers and administrators do."}
	errInvitation = &problem{http.StatusNotFound, "This link does not work",
		"It works once, for three days. Ask your practice’s administrator for another one."}
	errMalformed = &problem{http.StatusBadRequest, "The form could not be read",
		"Reload the page and try again."}
)

// fail shows the error page for an error of an action.
func (s *Site) fail(w http.ResponseWriter, r *http.Request, err error) {
	var refusal *oauth.Refusal
	if errors.As(err, &refusal) {
		s.draw(w, r, false, &problem{http.StatusBadRequest, "The application’s request is not valid",
			refusal.Message + " You were not redirected, and nothing was authorised. Contact the application’s developer."})
		return
	}
	if errors.Is(err, store.ErrAccessEnded) {
		_ = redirect(w, "/sign-in?done=ended")
		return
	}
	var p *problem
	if errors.As(err, &p) {
		s.draw(w, r, true, p)
		return
	}
	s.Problem(w, r, s.Explain(r.Context(), err))
}

// Problem shows the error page for an API error, or sends the error as the API does to a client that does
// not want pages.
func (s *Site) Problem(w http.ResponseWriter, r *http.Request, f *apierror.Error) {
	setHeaders(w.Header())
	if s.FailAsJSON(w, r, f) {
		return
	}
	if len(f.Allow) > 0 {
		w.Header().Set("Allow", strings.Join(f.Allow, ", "))
	}
	if f.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(seconds(f.RetryAfter.Seconds())))
	}
	s.draw(w, r, true, problemFor(f))
}

// draw renders the error page, in the frame of the other pages or on its own.
func (s *Site) draw(w http.ResponseWriter, r *http.Request, framed bool, p *problem) {
	s.show(w, r, p.Status, "problem", view{Title: p.Title, Framed: framed, Page: struct {
		Message, RequestID string
		Reports            bool // link to the reports, not to the start page
	}{p.Message, w.Header().Get("X-Request-Id"), p == errReportLevel}})
}

// problemFor turns an API error into a title and a message for people.
func problemFor(f *apierror.Error) *problem {
	p := &problem{Status: f.Status, Title: "The request failed", Message: f.Message}
	switch f.Status {
	case http.StatusNotFound:
		p.Title, p.Message = "Page not found", "The page does not exist, or you don’t have access to it."
	case http.StatusMethodNotAllowed:
		p.Title, p.Message = "Method not allowed", "Open the page and use its buttons."
	case http.StatusRequestEntityTooLarge:
		p.Title, p.Message = "The form is too large", "A form can be at most 64 KiB."
	case http.StatusInternalServerError:
		p.Title, p.Message = "Something went wrong", "Try again. If the problem continues, contact your system administrator."
	case http.StatusServiceUnavailable:
		p.Title, p.Message = "The service is temporarily unavailable", "Try again in a few seconds."
	}
	return p
}

// throttled returns the message for a throttled visitor, and sets Retry-After.
func throttled(w http.ResponseWriter, t *signin.Throttled) string {
	wait := seconds(t.Wait.Seconds())
	w.Header().Set("Retry-After", strconv.Itoa(wait))
	minutes := (wait + 59) / 60
	if minutes == 1 {
		return "Too many attempts. Try again in a minute."
	}
	return fmt.Sprintf("Too many attempts. Try again in %d minutes.", minutes)
}

// seconds rounds up to at least 1: a visitor who waits that long is never too early.
func seconds(s float64) int { return max(1, int(math.Ceil(s))) }

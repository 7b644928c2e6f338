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

// problem is an error with words for the visitor.
type problem struct {
	Status         int
	Title, Message string
}

func (p *problem) Error() string { return "web: " + p.Title }

var (
	errCrossSite = &problem{http.StatusForbidden, "That form came from another site",
		"For your safety nothing was changed. Open the page here and try again."}
	errLevel = &problem{http.StatusForbidden, "You may not open this page",
		"Applications are registered by managers and administrators. Ask one of them, or use a token of your own."}
	errReportLevel = &problem{http.StatusForbidden, "You may not see this report",
		"It is for people with more responsibility in your practice. Ask a manager or an administrator to show it to you."}
	errMalformed = &problem{http.StatusBadRequest, "That form could not be read",
		"Go back, load the page again and try once more."}
)

// fail shows the page that an error becomes.
func (s *Site) fail(w http.ResponseWriter, r *http.Request, err error) {
	var refusal *oauth.Refusal
	if errors.As(err, &refusal) {
		err = &problem{http.StatusBadRequest, "The application’s request is not valid",
			refusal.Message + " You have not been sent on, and nothing was allowed. Tell the people who make the application."}
	}
	if errors.Is(err, store.ErrAccessEnded) {
		_ = redirect(w, "/sign-in?done=ended")
		return
	}
	var p *problem
	if errors.As(err, &p) {
		s.draw(w, r, p)
		return
	}
	s.Problem(w, r, s.Explain(r.Context(), err))
}

// Problem shows the page of a fault.
func (s *Site) Problem(w http.ResponseWriter, r *http.Request, f *apierror.Error) {
	guard(w.Header())
	if len(f.Allow) > 0 {
		w.Header().Set("Allow", strings.Join(f.Allow, ", "))
	}
	if f.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(seconds(f.RetryAfter.Seconds())))
	}
	s.draw(w, r, inWords(f))
}

func (s *Site) draw(w http.ResponseWriter, r *http.Request, p *problem) {
	s.show(w, r, p.Status, "problem", view{Title: p.Title, Page: struct {
		Message, RequestID string
		Reports            bool // where to go on, rather than to the settings
	}{p.Message, w.Header().Get("X-Request-Id"), p == errReportLevel}})
}

// inWords is what a fault means to somebody at a browser.
func inWords(f *apierror.Error) *problem {
	p := &problem{Status: f.Status, Title: "That did not work", Message: f.Message}
	switch f.Status {
	case http.StatusNotFound:
		p.Title, p.Message = "Page not found", "There is nothing at this address, or it is not yours to see."
	case http.StatusMethodNotAllowed:
		p.Title, p.Message = "That is not how this page works", "Open the page it belongs to and use its buttons."
	case http.StatusRequestEntityTooLarge:
		p.Title, p.Message = "That form is too long", "A form may hold at most 64 KiB."
	case http.StatusInternalServerError:
		p.Title, p.Message = "Something went wrong on our side", "Try again. If it happens again, tell whoever runs this server."
	case http.StatusServiceUnavailable:
		p.Title, p.Message = "The service is unavailable for the moment", "Try again in a few seconds."
	}
	return p
}

// throttled tells how long a visitor has to wait, and sets Retry-After.
func throttled(w http.ResponseWriter, t *signin.Throttled) string {
	wait := seconds(t.Wait.Seconds())
	w.Header().Set("Retry-After", strconv.Itoa(wait))
	minutes := (wait + 59) / 60
	if minutes == 1 {
		return "Too many wrong tries. Try again in a minute."
	}
	return fmt.Sprintf("Too many wrong tries. Try again in %d minutes.", minutes)
}

// seconds rounds up: whoever comes after them is not early.
func seconds(s float64) int { return max(1, int(math.Ceil(s))) }

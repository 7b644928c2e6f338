package web

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"chairside/internal/oauth"
	"chairside/internal/signin"
)

// consentView is the data of the consent page.
type consentView struct {
	*oauth.Request
	oauth.Offer
	Here string // URL of this page
}

// Returns describes where the browser goes afterwards: a host, or an application on the
// device.
func (c consentView) Returns() string {
	u, err := url.Parse(c.RedirectURI)
	switch {
	case err != nil:
		return c.RedirectURI
	case u.Host == "":
		return "the application on this device (" + u.Scheme + ")"
	}
	return u.Host
}

// Fields returns the hidden fields: the request, the user who sees the page, and the scopes
// that it shows as granted.
func (c consentView) Fields(v *signin.Visitor) url.Values {
	fields := c.Values()
	fields.Set(askedField, strconv.FormatInt(v.User.ID, 10))
	fields.Set(grantedField, c.Granted.String())
	return fields
}

const (
	// askedField holds the id of the user who was shown the page.
	askedField = "user"
	// grantedField holds the scopes that the page showed as granted.
	grantedField = "granted"
)

// consentPage asks whether an application may act for the visitor.
func (s *Site) consentPage(w http.ResponseWriter, r *http.Request) error {
	sent, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return errMalformed
	}
	q, err := s.checkRequest(w, r, sent)
	if q == nil {
		return err
	}
	s.showConsent(w, r, http.StatusOK, q)
	return nil
}

// checkRequest returns a valid request from a signed-in visitor, who has recently proven the
// password or the second factor unless the visitor refuses the application. A nil request means that
// the browser was redirected, or that the error says why the request is invalid.
func (s *Site) checkRequest(w http.ResponseWriter, r *http.Request, sent url.Values) (*oauth.Request, error) {
	q, err := s.OAuth.Check(r.Context(), sent)
	var refused *oauth.Redirection
	switch {
	case errors.As(err, &refused):
		return nil, redirect(w, refused.Address)
	case err != nil:
		return nil, err
	}
	switch visitor := signin.From(r.Context()); {
	case visitor == nil:
		return nil, toSignIn(consentAddress(q))(w, r)
	case visitor.NeedsFactor():
		return nil, toSetUp(consentAddress(q))(w, r)
	case sent.Get("decision") != "deny" && !s.sessions.Proven(r.Context()):
		return nil, toConfirm(consentAddress(q))(w, r)
	}
	return q, nil
}

// consentAddress returns the URL of the consent page for a request.
func consentAddress(q *oauth.Request) string { return oauth.AuthorizePath + "?" + q.Values().Encode() }

func (s *Site) showConsent(w http.ResponseWriter, r *http.Request, status int, q *oauth.Request) {
	allowReturn(w.Header(), q.RedirectURI)
	title := "Authorise " + strings.TrimSpace(q.Application.Name)
	s.show(w, r, status, "consent", view{Title: title, Page: consentView{q, q.Offer(signin.From(r.Context()).User), consentAddress(q)}})
}

// consent records the decision. If another user has signed in since the page was
// shown, or the user's role has changed, it shows the page again.
func (s *Site) consent(w http.ResponseWriter, r *http.Request) error {
	q, err := s.checkRequest(w, r, r.PostForm)
	if q == nil {
		return err
	}
	user := signin.From(r.Context()).User
	asked, granted, decision := r.PostForm[askedField], r.PostForm[grantedField], r.PostForm.Get("decision")
	switch {
	case len(asked) > 0 && !slices.Equal(asked, []string{strconv.FormatInt(user.ID, 10)}),
		len(granted) > 0 && !slices.Equal(granted, []string{q.Offer(user).Granted.String()}):
		s.showConsent(w, r, http.StatusOK, q)
		return nil
	case len(r.PostForm["decision"]) > 1:
		s.showConsent(w, r, http.StatusUnprocessableEntity, q)
		return nil
	case decision == "allow":
		address, err := s.OAuth.Allow(r.Context(), q, user)
		if err != nil {
			return err
		}
		return redirect(w, address)
	case decision == "deny":
		return redirect(w, s.OAuth.Deny(q))
	default:
		s.showConsent(w, r, http.StatusUnprocessableEntity, q)
		return nil
	}
}

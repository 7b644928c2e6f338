package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"chairside/internal/apierror"
	"chairside/internal/oauth"
	"chairside/internal/principal"
	"chairside/internal/signin"
	"chairside/internal/store"
)

// Options are what the pages need.
type Options struct {
	DB      *store.DB
	OAuth   *oauth.Server
	BaseURL string // the public address, without a final slash
	// Explain gives the meaning of an error, and logs it where it is a failure
	// of ours.
	Explain func(context.Context, error) *apierror.Error
	// Visited is told on whose behalf a request reads, for the record of accesses.
	Visited func(context.Context, *principal.Principal)
}

// Site is the pages.
type Site struct {
	Options
	sessions *signin.Sessions
	origins  *http.CrossOriginProtection
}

// New makes the pages. Nothing is read from the database yet.
func New(o Options) (*Site, error) {
	s := &Site{Options: o, origins: http.NewCrossOriginProtection()}
	// Behind a proxy that renames the host, the public address is ours as well.
	public, err := url.Parse(o.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("web: the base URL: %w", err)
	}
	if public.Host != "" {
		if err := s.origins.AddTrustedOrigin(public.Scheme + "://" + public.Host); err != nil {
			return nil, fmt.Errorf("web: the base URL: %w", err)
		}
	}
	s.sessions = signin.New(o.DB, strings.HasPrefix(o.BaseURL, "https:"), s.fail)
	return s, nil
}

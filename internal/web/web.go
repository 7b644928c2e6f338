package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/google/uuid"

	"chairside/internal/apierror"
	"chairside/internal/codec"
	"chairside/internal/events/feed"
	"chairside/internal/events/webhook"
	"chairside/internal/oauth"
	"chairside/internal/principal"
	"chairside/internal/ratelimit"
	"chairside/internal/scope"
	"chairside/internal/signin"
	"chairside/internal/store"
)

// Options configure the pages.
type Options struct {
	DB      *store.DB
	OAuth   *oauth.Server
	BaseURL string // the public URL, without a trailing slash
	// Document is the OpenAPI document, which the reference shows.
	Document []byte
	// Demo is the user of the demo; nil on a live server.
	Demo *DemoUser
	// Ready returns nil if the server can serve requests that read the database.
	Ready func(context.Context) error
	// Status returns what administrators see of the server.
	Status func(context.Context) *Status
	// Feed and Webhooks follow the changes of records.
	Feed     *feed.Feed
	Webhooks *webhook.Deliverer
	// Limits returns what remains of the rate limits of a token and of its practice.
	Limits func(token, practice uuid.UUID, now time.Time) ratelimit.Usage
	// Operations are the API's, by id, and Read sends a GET request to one of them for the visitor of a
	// page, with the given scopes.
	Operations map[string]codec.Operation
	Read       func(r *http.Request, scopes scope.Effective, address string) (status int, body []byte)
	// Explain turns an error into an API error, and logs internal ones.
	Explain func(context.Context, error) *apierror.Error
	// FailAsJSON sends an error as the API does, and returns false for a client that wants a page.
	FailAsJSON func(http.ResponseWriter, *http.Request, *apierror.Error) bool
	// Visited notes the user of a request for the access log.
	Visited func(context.Context, *principal.Principal)
}

// Site serves the pages.
type Site struct {
	Options
	document *apiDocument
	index    func() searchIndex // of the reference, made when first needed
	sections []section
	opens    map[string]bool // scopes that open an operation
	kinds    []*recordKind   // of the record browser
	sessions *signin.Sessions
	origins  *http.CrossOriginProtection
}

// New returns the pages. It does not query the database.
func New(o Options) (*Site, error) {
	s := &Site{Options: o, origins: http.NewCrossOriginProtection()}
	// A proxy may change the Host header, so trust the public URL too.
	public, err := url.Parse(o.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("base URL: %w", err)
	}
	if public.Host != "" {
		if err := s.origins.AddTrustedOrigin(public.Scheme + "://" + public.Host); err != nil {
			return nil, fmt.Errorf("base URL: %w", err)
		}
	}
	if s.document, err = parseDocument(o.Document); err != nil {
		return nil, err
	}
	s.document.BaseURL = o.BaseURL
	s.index = sync.OnceValue(func() searchIndex { return newSearchIndex(s.document) })
	if s.sections, err = sectionsOf(s.Routes()); err != nil {
		return nil, err
	}
	s.opens, s.kinds = s.document.scopes(), s.recordKinds()
	s.sessions = signin.New(o.DB, public, s.fail)
	return s, nil
}

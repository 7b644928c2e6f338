package server

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"chairside/internal/api"
	"chairside/internal/audit/chain"
	"chairside/internal/audit/trail"
	"chairside/internal/clock"
	"chairside/internal/codec"
	"chairside/internal/events/feed"
	"chairside/internal/events/webhook"
	"chairside/internal/mcp"
	"chairside/internal/oauth"
	"chairside/internal/ratelimit"
	"chairside/internal/report/schedule"
	"chairside/internal/store"
	"chairside/internal/store/admission"
	"chairside/internal/store/backup"
	"chairside/internal/token"
	"chairside/internal/web"
	"chairside/internal/write/etag"
	"chairside/ogent"
)

// Options are what a server needs to run.
type Options struct {
	DB      *store.DB
	BaseURL string // public address, for links in responses
	Demo    bool   // marks every response as a sandbox's
	// DemoUser is the user as whom anyone may sign in to the demo; nil to show none.
	DemoUser *web.DemoUser
	// Version is that of the program, for administrators; "" if it is not known.
	Version string
	// SecretFiles hold keys; their permissions are checked.
	SecretFiles []string

	// RateLimit is the maximum number of requests of each token in an hour, and in one
	// burst, over all server processes; 0 is unlimited. It is also that of each address
	// without a valid token, on this process.
	RateLimit int
	// PracticeRateLimit is RateLimit for all tokens of a practice together; 0 is unlimited.
	PracticeRateLimit int

	Clock  clock.Clock  // if nil, the machine's
	Logger *slog.Logger // if nil, slog.Default

	// TrustedProxies are the networks whose X-Forwarded-For and X-Forwarded-Proto headers
	// are used.
	TrustedProxies []netip.Prefix

	// CertFile and KeyFile are PEM files with a certificate and its key. Without them the
	// server speaks plain HTTP.
	CertFile, KeyFile string

	// MCPAllowWrites offers assistants at /mcp the operations that write.
	MCPAllowWrites bool

	// OperationTime is the time limit of an API operation, after which it responds 503; 0
	// is 4.5 s.
	OperationTime time.Duration
	// ChangesRetention is how long changes stay in the change feed; 0 is feed.DefaultRetention.
	ChangesRetention time.Duration
	// Checkpoints writes checkpoints of the audit log; nil if none are kept.
	Checkpoints *chain.Checkpoints
	// Backups makes copies of an embedded database; nil for none.
	Backups *backup.Schedule
	// Mail is the server that scheduled reports are mailed by; nil for none.
	Mail *schedule.Mail
	// Drain is how long Run serves on once it is told to stop, with /readyz at 503.
	Drain time.Duration
	// Hurry ends the waiting of a stop when it is closed; nil never does.
	Hurry <-chan struct{}
	// SlowRequest is the time beyond which a request is logged with its statements; 0 logs none.
	SlowRequest time.Duration
	// OTLPEndpoint is the URL of the OpenTelemetry collector that gets traces, without /v1/traces;
	// "" traces nothing. OTLPHeaders are sent with them.
	OTLPEndpoint string
	OTLPHeaders  map[string]string
	// TraceSampleRatio is the share of requests that are traced, from 0 to 1.
	TraceSampleRatio float64
	// WebhookAllowPrivate lets webhooks reach loopback and private addresses.
	WebhookAllowPrivate bool
}

// Server serves the API and the pages.
type Server struct {
	Options
	routes   *ogent.Server
	document []byte        // the OpenAPI document, with this server's URL
	packed   func() []byte // the document, compressed when first needed
	version  string        // tag of the document
	tokens   *token.Cache
	oauth    *oauth.Server
	site     *web.Site
	limiter  *ratelimit.Limiter
	metrics  *metrics
	tracing  *tracing // nil without traces
	// addresses limits requests without a valid token.
	addresses *ratelimit.Addresses
	unsent    *unsentLimiter
	trail     *trail.Trail
	requests  *trail.Requests
	feed      *feed.Feed
	webhooks  *webhook.Deliverer
	schedules *schedule.Runner
	reads     ogent.Reads
	snapshots chan struct{}   // holds one element for each snapshot that is being sent
	batches   *admission.Gate // of batches
	jobs      *jobs
	replica   *replica
	backlog   *backlog
	started   time.Time
	diagnosis diagnosis // of the last time
	confirmed confirmed
	migrated  atomic.Bool  // whether all migrations were found applied
	stopping  atomic.Int32 // a stopState
	handler   http.Handler
}

// New returns a server. It reads nothing from the database.
func New(o Options) (*Server, error) {
	o.BaseURL = strings.TrimRight(o.BaseURL, "/")
	return build(o, operations{api.New(o.DB, o.BaseURL)})
}

// Reads returns the reads of the API's documents outside requests, for the command line.
func Reads(db *store.DB) ogent.Reads { return api.New(db, "").Reads }

// build is New for any implementation of the operations.
func build(o Options, handler ogent.Handler) (s *Server, err error) {
	if (o.CertFile == "") != (o.KeyFile == "") {
		return nil, errors.New("server: TLS needs both a certificate and its key")
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	o.OperationTime = cmp.Or(o.OperationTime, operationTime)
	o.ChangesRetention = cmp.Or(o.ChangesRetention, feed.DefaultRetention)
	s = &Server{Options: o, tokens: token.NewCache(o.DB.Ent), addresses: ratelimit.NewAddresses(o.RateLimit), unsent: newUnsentLimiter(maxUnsent)}
	s.feed, s.snapshots, s.batches = feed.New(o.DB), make(chan struct{}, maxSnapshots), admission.NewTurns(maxBatches, admission.AtMost(batchWait))
	s.trail, s.requests = trail.New(o.DB, o.Logger), trail.NewRequests(o.DB, o.Logger)
	s.replica = newReplica(o.DB, o.Logger)
	s.jobs, s.started = newJobs(o.Clock, o.DB, s.replica, o.Checkpoints != nil, o.Backups), o.Clock.Now()
	s.limiter = s.newLimiter()
	s.reads = ogent.Reads{Client: o.DB.Ent, Keys: o.DB.Keys, BaseURL: o.BaseURL}
	if own, ok := handler.(operations); ok {
		s.reads = own.Reads
	}
	s.webhooks = webhook.New(webhook.Options{DB: o.DB, Feed: s.feed, Reads: s.reads, Trail: s.trail, AllowPrivate: o.WebhookAllowPrivate, Retention: o.ChangesRetention, Logger: o.Logger})
	s.schedules = schedule.New(schedule.Options{DB: o.DB, Trail: s.trail, Mail: o.Mail, Logger: o.Logger})
	s.backlog = newBacklog(o.DB, s.jobs, s.trail, o.Backups, o.Clock)
	if s.tracing, err = newTracing(&o); err != nil {
		return nil, err
	}
	s.metrics = newMetrics(o.DB, s.unsent, s.backlog, s.tracing)
	s.routes, err = ogent.NewServer(handler, ogent.WithErrorHandler(keepError), ogent.WithNotFound(keepNotFound), ogent.WithMiddleware(s.encode))
	if err != nil {
		return nil, err
	}
	if s.document, err = withServerURL(ogent.Document, o.BaseURL); err != nil {
		return nil, err
	}
	s.packed = sync.OnceValue(func() []byte { return compress(s.document) })
	s.version = etag.Of(s.document)
	s.oauth = oauth.New(oauth.Options{DB: o.DB, Issuer: o.BaseURL, Explain: s.explain})
	if s.site, err = web.New(web.Options{
		DB: o.DB, Document: s.document, OAuth: s.oauth, BaseURL: o.BaseURL, Feed: s.feed, Webhooks: s.webhooks,
		Limits: s.limiter.Peek, Operations: ogent.Operations, Read: s.recordReader(),
		Demo: o.DemoUser, Ready: s.ready, Status: s.status, Explain: s.explain, FailAsJSON: s.failAsJSON, Visited: s.visited,
	}); err != nil {
		return nil, err
	}
	s.handler = s.begin(s.accessLog(s.recoverPanic(s.mounts())))
	return s, nil
}

// Document returns the OpenAPI document, with this server's URL.
func (s *Server) Document() []byte { return s.document }

// Handler returns the whole server as one handler, for tests.
func (s *Server) Handler() http.Handler { return s.handler }

// mounts returns the handler of all addresses.
func (s *Server) mounts() http.Handler {
	api, batch := s.orPage(s.operation()), s.batch()

	mux := http.NewServeMux()
	mux.Handle("/", api)
	mux.Handle(batchPath, batch)
	mux.Handle("/v1"+batchPath, batch)

	mux.Handle("/healthz", s.getOnly("healthz", s.healthz))
	mux.Handle("/readyz", s.getOnly("readyz", s.readyz))
	mux.Handle("/metrics", s.getOnly("metrics", s.metrics.serve))
	mux.Handle("/openapi.json", s.getOnly("openapi", s.openapi, userAgent))
	mux.Handle("/docs/{$}", s.getOnly("docs", docsIndex, userAgent))
	mux.Handle(iconPath, s.getOnly("docs", icon, userAgent))
	mux.Handle("/favicon.ico", s.getOnly("favicon", favicon))
	mux.Handle(codec.AvatarPath, s.getOnly("avatar", s.avatar, userAgent))

	mux.Handle(oauth.TokenPath, s.endpoint(s.oauth.Token()))
	mux.Handle(oauth.RevokePath, s.endpoint(s.oauth.Revoke()))
	mux.Handle(oauth.IntrospectPath, s.endpoint(s.oauth.Introspect()))
	mux.Handle(oauth.MetadataPath, s.endpoint(s.oauth.Metadata()))
	mux.Handle(oauth.ResourcePath, s.endpoint(s.oauth.Resource("")))
	mux.Handle(oauth.ResourcePath+mcp.Path, s.endpoint(s.oauth.Resource(mcp.Path)))
	mux.Handle(mcp.Path, s.assistants())
	mux.Handle(web.AssetsPath, s.htmlPage(http.HandlerFunc(s.site.Assets)))
	for _, route := range s.site.Routes() {
		page := s.htmlPage(s.site.Serve(route))
		if route.Path == web.FrontPath {
			page = forBrowsers(page, api)
		}
		mux.Handle(route.Path, page)
	}

	// The mux would redirect a path like "//x" with HTML. The API has no such path and
	// responds 404.
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if cleaned := path.Clean(r.URL.Path); cleaned != r.URL.Path && (cleaned == "/" || cleaned+"/" != r.URL.Path) {
			api.ServeHTTP(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// operation returns the handler of the API's operations.
func (s *Server) operation() http.Handler {
	return s.api(
		userAgent,
		s.route,
		accept,
		s.authenticate,
		s.limit,
		authorize,
		prefer,
		readQuery,
		readBody,
		ifMatch,
		idempotencyKey,
	)
}

// api serves the operations: it runs the checks in order, then the operation.
func (s *Server) api(checks ...check) http.Handler {
	return s.cors(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := stateOf(r.Context())
		ctx, cancel := context.WithTimeout(r.Context(), s.OperationTime)
		defer cancel()
		x.client, x.controller = r.Context(), http.NewResponseController(w)
		x.r = r.WithContext(ctx) // a copy, which the checks may change
		private(x.header)
		switch {
		case !s.passes(w, x, checks):
		case x.stream != nil:
			x.stream(w, x)
		default:
			s.call(w, x)
		}
	}))
}

// passes runs the checks in order and sends the error of the first one that fails.
func (s *Server) passes(w http.ResponseWriter, x *requestState, checks []check) bool {
	for _, c := range checks {
		if err := c(x); err != nil {
			s.fail(w, x, err)
			return false
		}
	}
	return true
}

// getOnly serves an address outside the API, for GET and HEAD.
func (s *Server) getOnly(name string, serve http.HandlerFunc, checks ...check) http.Handler {
	checks = append(checks, readOnly)
	return s.cors(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := stateOf(r.Context())
		x.named(name, r.Pattern)
		if s.passes(w, x, checks) {
			serve(w, r.WithContext(admission.With(r.Context(), kindOf(x.pattern), x.name)))
		}
	}))
}

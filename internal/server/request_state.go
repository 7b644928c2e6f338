package server

import (
	"context"
	"crypto/rand"
	"net/http"
	"net/url"
	"regexp"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/trace"

	"chairside/internal/apierror"
	"chairside/internal/audit"
	"chairside/internal/codec"
	"chairside/internal/principal"
	"chairside/internal/store"
)

// requestState is what the functions of this package share about one request.
type requestState struct {
	r      *http.Request // replaced whenever a function adds to its context
	header http.Header   // headers of the response
	id     string        // request id

	method     string                   // as the client sent it
	name       string                   // operation id or name of the page, for logs and metrics
	pattern    string                   // path with {id} in place of ids
	operation  codec.Operation          // set by route
	serve      http.Handler             // set by route
	prefer     preferences              // set by prefer
	sent       []byte                   // the body as sent, set by readBody
	sentQuery  string                   // the query as sent, set by readQuery
	token      string                   // set by authenticate
	caller     *principal.Principal     // set by authenticate or the session of a page
	session    uuid.UUID                // of a page; zero for the API
	records    *audit.Log               // ids of the patient records read so far
	query      url.Values               // in canonical form, set by readQuery
	known      string                   // If-None-Match of a read
	position   string                   // of a list in the change feed, for its tag; see unchanged
	same       string                   // tag of the response that the client has already; of a list, set by unchanged
	shape      *shape                   // of the records in the response; nil for whole records
	response   *bufferedResponse        // what the operation has written so far
	client     context.Context          // ends when the client disconnects; set for the API
	controller *http.ResponseController // of the connection; set for the API
	// stream sends the response while it is made, in place of serve; set by route.
	stream func(http.ResponseWriter, *requestState)
	err    error  // error from the operation or its decoder
	polls  bool   // waits for changes: a long poll
	code   string // code of the error that was sent; "" without one
	failed int    // status of a logged error (5xx); 0 without one

	span       trace.Span       // nil if the request is not traced
	statements store.Statements // recorded if the request is traced or slow ones are logged

	// resource is the URL of the protected resource's metadata (RFC 9728), named in
	// WWW-Authenticate; "" for the API.
	resource string

	// errorPage writes an error of a page: as a page to browsers, else as JSON. It is nil for the API.
	errorPage func(http.ResponseWriter, *http.Request, *apierror.Error)
}

// named sets the operation or page of the request.
func (x *requestState) named(name, pattern string) {
	x.name, x.pattern = name, pattern
	x.records.Operation = name
}

// check refuses a request by returning an error, or adds to its state.
type check func(x *requestState) error

type stateKey struct{}

// stateOf returns the state that begin put into the request's context.
func stateOf(ctx context.Context) *requestState {
	x, _ := ctx.Value(stateKey{}).(*requestState)
	return x
}

// strictTransport tells browsers to use only HTTPS for a year (RFC 6797). Every response has
// it if this server terminates TLS; otherwise the proxy that does must set it. It does not
// cover other hosts of the domain.
const strictTransport = "max-age=31536000"

// requestID matches the request ids that are accepted from clients and proxies.
var requestID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/+-]{0,127}$`)

// begin gives each request its id, its clock reading, its client's address and its state.
func (s *Server) begin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := &requestState{header: w.Header(), id: r.Header.Get("X-Request-Id"), method: r.Method, name: "none"}
		if !requestID.MatchString(x.id) {
			x.id = rand.Text()
		}
		x.header.Set("X-Request-Id", x.id)
		x.header.Set("X-Content-Type-Options", "nosniff")
		if s.CertFile != "" {
			x.header.Set("Strict-Transport-Security", strictTransport)
		}
		if s.Demo {
			x.header.Set("X-Chairside-Environment", "sandbox")
		}
		ctx, records := audit.With(s.Clock.With(r.Context()))
		x.span = s.tracing.start(r, stateOf(r.Context()), s.fromTrustedProxy(r))
		if x.statements.Keep = x.span != nil; x.statements.Keep || s.SlowRequest > 0 {
			ctx = store.WithStatements(ctx, &x.statements)
		}
		x.records = records
		records.RequestID = x.id
		if result, ok := w.(*resultWriter); ok {
			result.records = records
		}
		x.r = s.throughProxies(r.WithContext(context.WithValue(ctx, stateKey{}, x)))
		next.ServeHTTP(w, x.r)
	})
}

package server

import (
	"context"
	"crypto/rand"
	"net/http"
	"regexp"

	"chairside/internal/apierror"
	"chairside/internal/audit"
	"chairside/internal/codec"
	"chairside/internal/principal"
)

// requestState is one request on its way through the layers, and what they tell
// each other about it.
type requestState struct {
	r      *http.Request // replaced as the layers learn more
	header http.Header   // of the response
	id     string        // the request id

	method    string               // as the client sent it
	name      string               // operation id or name of the page, for logs and metrics
	pattern   string               // the path with {id} in place of ids
	operation codec.Operation      // known once the route is
	serve     http.Handler         // what answers, known once the route is
	caller    *principal.Principal // known once the token or the session is
	records   *audit.Log           // which patients' records were read
	answer    *answer              // what the operation answers
	err       error                // what the generated server reported
	failed    int                  // status of a failure of ours; 0 for none

	// draw tells a failure to a person; nil where a program asks.
	draw func(http.ResponseWriter, *http.Request, *apierror.Error)
}

// check is one condition on a request. It may add to the exchange.
type check func(x *requestState) error

type exchangeKey struct{}

// of gives the exchange that begin made for the request.
func of(ctx context.Context) *requestState {
	x, _ := ctx.Value(exchangeKey{}).(*requestState)
	return x
}

// strictTransport has browsers come by HTTPS alone for a year (RFC 6797). It goes
// with every answer where this server speaks TLS itself; behind a proxy that does,
// the header is the proxy's to set. Other hosts of the domain may still speak HTTP.
const strictTransport = "max-age=31536000"

// requestID is what an id sent by a client or proxy must look like to be kept.
var requestID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/+-]{0,127}$`)

// begin gives each request its id, its one reading of the clock, the address
// of its client, and the exchange in which the layers meet.
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
		x.records = records
		x.r = s.throughProxies(r.WithContext(context.WithValue(ctx, exchangeKey{}, x)))
		next.ServeHTTP(w, x.r)
	})
}

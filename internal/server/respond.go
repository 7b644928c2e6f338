package server

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"strconv"
	"sync"

	"github.com/go-faster/jx"
	ht "github.com/ogen-go/ogen/http"
	"github.com/ogen-go/ogen/middleware"

	"chairside/internal/api"
	"chairside/internal/apierror"
	"chairside/internal/events/idempotency"
	"chairside/internal/write/etag"
	"chairside/ogent"
)

// privateHeaders mark a response as one token's own: a client may cache it, but must
// revalidate it.
var privateHeaders = http.Header{"Cache-Control": {"private, no-cache"}, "Vary": {"Authorization"}}

func private(h http.Header) { maps.Copy(h, privateHeaders) }

// operations are the methods of package api as the generated server calls them.
type operations struct{ *api.Handler }

// NewError stores the error of an operation for call, because errors.go writes all
// errors. The response that it returns is never sent.
func (operations) NewError(ctx context.Context, err error) *ogent.ErrorStatusCode {
	stateOf(ctx).err = err
	return &ogent.ErrorStatusCode{StatusCode: http.StatusInternalServerError}
}

// keepError is the generated server's error handler. It stores decoding errors for call,
// as NewError stores those of operations.
func keepError(ctx context.Context, _ http.ResponseWriter, _ *http.Request, err error) {
	if !errors.Is(err, errEncoded) {
		stateOf(ctx).err = err
	}
}

// errEncoded tells the generated server that encode has already written the response. It
// wraps ErrNotImplemented, the one error that the generated server passes to its error
// handler (keepError) instead of to NewError.
var errEncoded = fmt.Errorf("server: the response is already encoded: %w", ht.ErrNotImplemented)

// encode is the generated server's middleware. It writes the response into pooled memory;
// the generated server would grow a new buffer for each one. Responses without a body are
// left to the generated server.
func (s *Server) encode(r middleware.Request, next middleware.Next) (middleware.Response, error) {
	response, err := next(r)
	body, ok := response.Type.(interface{ Encode(*jx.Encoder) })
	if err != nil || !ok {
		return response, err
	}
	x := stateOf(r.Context)
	x.response.header.Set("Content-Type", jsonType)
	x.response.WriteHeader(x.success())
	body.Encode(&x.response.body)
	if link := s.pageLinks(x, response.Type); link != "" {
		x.header.Set("Link", link)
	}
	if x.shape != nil {
		shaped, err := x.shape.apply(r.Context, x.response.body.Bytes(), s.reads)
		if err != nil {
			return response, err
		}
		x.response.body = *shaped
	}
	return response, errEncoded
}

// asRead returns the body that the next read of a created record has: without the member that
// only the response to its creation has. The tag of a write is that of the next read.
func (x *requestState) asRead(body []byte) []byte {
	if x.operation.CreateOnly == "" {
		return body
	}
	member := regexp.MustCompile(`"` + regexp.QuoteMeta(x.operation.CreateOnly) + `":"[^"\\]*"`)
	return member.ReplaceAllLiteral(body, []byte(`"`+x.operation.CreateOnly+`":null`))
}

// keepNotFound is the generated server's handler for unknown paths.
func keepNotFound(_ http.ResponseWriter, r *http.Request) {
	stateOf(r.Context()).err = apierror.NotFound()
}

// call runs the operation into a buffered response and sends that. It gives up its place at
// the database first, so that a slow client does not hold one.
func (s *Server) call(w http.ResponseWriter, x *requestState) {
	x.response = responsePool.Get().(*bufferedResponse)
	if !s.readReplica(x) {
		leave, err := s.hold(x)
		if err != nil {
			x.response.free()
			s.fail(w, x, err)
			return
		}
		s.run(x, leave)
		s.reached(x)
	}
	s.setPosition(x)
	if stored := (*idempotency.Replay)(nil); errors.As(x.err, &stored) {
		x.replay(stored)
	}
	if x.err != nil {
		s.fail(w, x, x.err)
	} else if x.response.send(w, x) != nil {
		return // an aborted HTTP/2 stream may still read the buffer, so it is not reused
	}
	s.confirm(x)
	x.response.free()
}

// run runs the operation, unless its response is known to be the same, and then gives up its place at the database, even if it panics.
func (s *Server) run(x *requestState, leave func()) {
	defer leave()
	if x.same = s.unchanged(x); x.same == "" {
		x.serve.ServeHTTP(x.response, x.r)
	}
}

// bufferedResponse is a response in memory. Its entity tag is a hash of the whole body, so
// nothing can be sent before the body is complete.
type bufferedResponse struct {
	header http.Header
	status int
	body   jx.Encoder
}

var responsePool = sync.Pool{New: func() any { return &bufferedResponse{header: http.Header{}} }}

// maxPooled is the largest body, in bytes, whose memory goes back to the pool.
const maxPooled = 1 << 20

// free returns the response's memory to the pool.
func (b *bufferedResponse) free() {
	if cap(b.body.Bytes()) > maxPooled {
		return
	}
	b.reset()
	responsePool.Put(b)
}

func (b *bufferedResponse) reset() {
	clear(b.header)
	b.status = 0
	b.body.Reset()
}

// Header implements http.ResponseWriter. Only its Content-Type is sent; this package sets the
// other headers.
func (b *bufferedResponse) Header() http.Header { return b.header }

// Write implements http.ResponseWriter.
func (b *bufferedResponse) Write(p []byte) (int, error) {
	b.WriteHeader(http.StatusOK)
	return b.body.Write(p)
}

// WriteHeader implements http.ResponseWriter.
func (b *bufferedResponse) WriteHeader(status int) {
	if b.status == 0 {
		b.status = status
	}
}

// notModified responds that the client has the response already, with this tag.
func (x *requestState) notModified(w http.ResponseWriter, tag string) {
	x.header.Set("ETag", tag)
	w.WriteHeader(http.StatusNotModified)
}

// send sends the response, or 304 if the client has it already. It fails if the client has
// disconnected.
func (b *bufferedResponse) send(w http.ResponseWriter, x *requestState) error {
	b.WriteHeader(http.StatusOK)
	body := b.body.Bytes()
	switch {
	case x.same != "":
		x.notModified(w, x.same)
		return nil
	case len(body) == 0:
		w.WriteHeader(b.status)
		return nil
	}
	tag := etag.Of(x.asRead(body))
	if x.position != "" {
		tag = etag.At(tag, x.position)
	}
	if x.same = etag.NoneMatch(x.known, tag); x.same != "" {
		x.notModified(w, x.same)
		return nil
	}
	x.header.Set("ETag", tag)
	x.header.Set("Content-Type", b.header.Get("Content-Type"))
	x.header.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(b.status)
	if x.method == http.MethodHead {
		return nil
	}
	_, err := w.Write(body)
	return err
}

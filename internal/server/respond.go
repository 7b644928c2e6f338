package server

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/go-faster/jx"
	ht "github.com/ogen-go/ogen/http"
	"github.com/ogen-go/ogen/middleware"

	"chairside/internal/api"
	"chairside/internal/apierror"
	"chairside/internal/write/etag"
	"chairside/ogent"
)

// privateHeaders mark a response as one token's own: a client may cache it, but must
// revalidate it.
var privateHeaders = http.Header{"Cache-Control": {"private, no-cache"}, "Vary": {"Authorization"}}

func private(h http.Header) { maps.Copy(h, privateHeaders) }

// operations are the methods of package api as the generated server calls them.
type operations struct{ *api.Handler }

// NewError keeps the failure of an operation for call, because errors.go writes all
// errors. The response that it returns goes into an answer that is not sent.
func (operations) NewError(ctx context.Context, err error) *ogent.ErrorStatusCode {
	of(ctx).err = err
	return &ogent.ErrorStatusCode{StatusCode: http.StatusInternalServerError}
}

// keepError is the generated server's error handler. It keeps what could not be decoded
// for call, as NewError does.
func keepError(ctx context.Context, _ http.ResponseWriter, _ *http.Request, err error) {
	if !errors.Is(err, errAnswered) {
		of(ctx).err = err
	}
}

// errAnswered keeps the generated server from writing what encode has written: it
// leaves errors of this kind to its error handler.
var errAnswered = fmt.Errorf("server: the answer is written: %w", ht.ErrNotImplemented)

// encode is the generated server's middleware. It writes a response into the answer's
// pooled memory, where the generated server would grow a buffer for each. Responses
// without a body are left to the generated server.
func encode(r middleware.Request, next middleware.Next) (middleware.Response, error) {
	response, err := next(r)
	body, ok := response.Type.(interface{ Encode(*jx.Encoder) })
	if err != nil || !ok {
		return response, err
	}
	x := of(r.Context)
	x.answer.header.Set("Content-Type", jsonType)
	if b := x.operation.Body; b != nil && b.Create {
		x.answer.WriteHeader(http.StatusCreated)
	}
	body.Encode(&x.answer.body)
	return response, errAnswered
}

// keepNotFound is the generated server's handler for unknown paths.
func keepNotFound(_ http.ResponseWriter, r *http.Request) { of(r.Context()).err = apierror.NotFound() }

// call runs the operation, with its response in memory, and sends the response. It leaves the
// database before it sends anything.
func (s *Server) call(w http.ResponseWriter, x *requestState) {
	leave, err := s.hold(x)
	if err != nil {
		s.fail(w, x, err)
		return
	}
	x.answer = answers.Get().(*answer)
	s.run(x, leave)
	if x.err != nil {
		s.fail(w, x, x.err)
	} else if x.answer.send(w, x) != nil {
		return // the connection may still use its memory
	}
	x.answer.free()
}

// run runs the operation and leaves the database, even if it panics.
func (s *Server) run(x *requestState, leave func()) {
	defer leave()
	x.serve.ServeHTTP(x.answer, x.r)
}

// answer is a response in memory. Its entity tag needs the whole body.
type answer struct {
	header http.Header
	status int
	body   jx.Encoder
}

var answers = sync.Pool{New: func() any { return &answer{header: http.Header{}} }}

// maxPooled is the maximum size of a buffer that is reused, in bytes.
const maxPooled = 1 << 20

func (a *answer) free() {
	if cap(a.body.Bytes()) > maxPooled {
		return
	}
	clear(a.header)
	a.status = 0
	a.body.Reset()
	answers.Put(a)
}

// Header implements http.ResponseWriter. Only its Content-Type is sent; this package sets the
// other headers.
func (a *answer) Header() http.Header { return a.header }

// Write implements http.ResponseWriter.
func (a *answer) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(b)
}

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

// send sends the response, or 304 if the client has it already. It fails if the client has
// disconnected.
func (a *answer) send(w http.ResponseWriter, x *requestState) error {
	a.WriteHeader(http.StatusOK)
	body := a.body.Bytes()
	if len(body) == 0 {
		w.WriteHeader(a.status)
		return nil
	}
	tag := etag.Of(body)
	x.header.Set("ETag", tag)
	reading := x.method == http.MethodGet || x.method == http.MethodHead
	if reading && !etag.None(strings.Join(x.r.Header.Values("If-None-Match"), ", "), tag) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	x.header.Set("Content-Type", a.header.Get("Content-Type"))
	x.header.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(a.status)
	if x.method == http.MethodHead {
		return nil
	}
	_, err := w.Write(body)
	return err
}

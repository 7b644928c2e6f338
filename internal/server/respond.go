package server

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/go-faster/jx"
	"github.com/ogen-go/ogen/middleware"

	"chairside/internal/apierror"
	"chairside/internal/write/etag"
)

// privateAnswer marks an answer as one token's own: it may be kept, but has to
// be checked before it is used again.
var privateAnswer = http.Header{"Cache-Control": {"private, no-cache"}, "Vary": {"Authorization"}}

func private(h http.Header) { maps.Copy(h, privateAnswer) }

// keepError is the generated server's error handler: call looks at the error,
// errors.go writes it.
func keepError(ctx context.Context, _ http.ResponseWriter, _ *http.Request, err error) {
	if !errors.Is(err, errAnswered) {
		of(ctx).err = err
	}
}

// errAnswered keeps the generated server from writing what encode has written.
var errAnswered = errors.New("server: the answer is written")

// encode is the generated server's middleware. It writes what an operation gives
// into the answer's memory, which is used again, where the generated server
// would let a buffer grow anew for each. What has no body is left to that.
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

// keepNotFound is for paths that the generated server does not know after all.
func keepNotFound(_ http.ResponseWriter, r *http.Request) { of(r.Context()).err = apierror.NotFound() }

// call runs the operation into memory and sends what came out. Its place at the
// database is free again before a byte is sent.
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
		return // what writes it may still hold some of its memory
	}
	x.answer.free()
}

// run runs the operation, and leaves its place even where it panics.
func (s *Server) run(x *requestState, leave func()) {
	defer leave()
	x.serve.ServeHTTP(x.answer, x.r)
}

// answer is a response in memory: its tag is known only once all of it is.
type answer struct {
	header http.Header
	status int
	body   jx.Encoder
}

var answers = sync.Pool{New: func() any { return &answer{header: http.Header{}} }}

// maxPooled keeps the memory of an unusually large answer from being held for good.
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

// Header implements http.ResponseWriter. Of what is set here, only the
// Content-Type is sent: the other headers are this package's to choose.
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

// send sends the answer, or 304 to a reader who holds it already. It fails where
// the client went away.
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

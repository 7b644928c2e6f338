package server

import (
	"bytes"
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"chairside/internal/etag"
	"chairside/internal/fault"
)

// private marks an answer as one token's own: it may be kept, but has to be
// checked before it is used again.
func private(h http.Header) {
	h.Set("Cache-Control", "private, no-cache")
	h.Set("Vary", "Authorization")
}

// keepError is the generated server's error handler: call looks at the error,
// errors.go writes it.
func keepError(ctx context.Context, _ http.ResponseWriter, _ *http.Request, err error) {
	of(ctx).err = err
}

// keepNotFound is for paths that the generated server does not know after all.
func keepNotFound(_ http.ResponseWriter, r *http.Request) { of(r.Context()).err = fault.NotFound() }

// call runs the operation into memory and sends what came out.
func (s *Server) call(w http.ResponseWriter, x *exchange) {
	answer := answers.Get().(*answer)
	defer answer.free()
	x.serve.ServeHTTP(answer, x.r)
	if x.err != nil {
		s.fail(w, x, x.err)
		return
	}
	answer.send(w, x)
}

// answer is a response in memory: its tag is known only once all of it is.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

var answers = sync.Pool{New: func() any { return &answer{header: http.Header{}} }}

// maxPooled keeps the memory of an unusually large answer from being held for good.
const maxPooled = 1 << 20

func (a *answer) free() {
	if a.body.Cap() > maxPooled {
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

// send sends the answer, or 304 to a reader who holds it already.
func (a *answer) send(w http.ResponseWriter, x *exchange) {
	a.WriteHeader(http.StatusOK)
	if a.body.Len() == 0 {
		w.WriteHeader(a.status)
		return
	}
	tag := etag.Of(a.body.Bytes())
	x.header.Set("ETag", tag)
	reading := x.method == http.MethodGet || x.method == http.MethodHead
	if reading && !etag.None(strings.Join(x.r.Header.Values("If-None-Match"), ", "), tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	x.header.Set("Content-Type", a.header.Get("Content-Type"))
	x.header.Set("Content-Length", strconv.Itoa(a.body.Len()))
	w.WriteHeader(a.status)
	if x.method != http.MethodHead {
		_, _ = w.Write(a.body.Bytes()) // fails where the client went away
	}
}

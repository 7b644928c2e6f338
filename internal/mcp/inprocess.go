package mcp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
)

// caller is who a request to the API is made for.
type caller struct {
	authorization string // the Authorization header
	remoteAddr    string // network address, for the API's limits
}

type callerKey struct{}

func withCaller(ctx context.Context, c caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

func callerOf(ctx context.Context) caller {
	c, _ := ctx.Value(callerKey{}).(caller)
	return c
}

// InProcess sends requests to a handler of this process.
func InProcess(handler http.Handler) http.RoundTripper { return inProcess{handler} }

type inProcess struct{ handler http.Handler }

// RoundTrip implements http.RoundTripper.
func (p inProcess) RoundTrip(r *http.Request) (res *http.Response, err error) {
	defer func() {
		if recover() != nil { // the server logs its own panics, and aborts the response
			res, err = nil, errors.New("the response was aborted")
		}
	}()
	r = r.Clone(r.Context())
	r.RemoteAddr = callerOf(r.Context()).remoteAddr
	w := &recorder{header: http.Header{}, status: http.StatusOK}
	p.handler.ServeHTTP(w, r)
	return &http.Response{StatusCode: w.status, Header: w.header, Body: io.NopCloser(&w.body)}, nil
}

// recorder keeps a response in memory.
type recorder struct {
	header http.Header
	status int
	begun  bool
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (w *recorder) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter.
func (w *recorder) WriteHeader(status int) {
	if !w.begun && status >= http.StatusOK {
		w.status, w.begun = status, true
	}
}

// Write implements http.ResponseWriter.
func (w *recorder) Write(b []byte) (int, error) {
	w.begun = true
	return w.body.Write(b)
}

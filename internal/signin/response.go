package signin

import (
	"maps"
	"net/http"
)

// response is the response of a page. The session manager stores a session when an action begins to
// send its page. If that fails, it sends the error page, and response drops the action's own.
type response struct {
	http.ResponseWriter
	before http.Header // headers without those of the action
	failed bool
}

func newResponse(w http.ResponseWriter) *response {
	before := w.Header().Clone()
	before.Add("Vary", "Cookie") // as the session manager does
	return &response{ResponseWriter: w, before: before}
}

// failOnce returns the session manager's function for errors, which sends the page of fail with none of
// the action's headers, such as the address of a redirect.
func failOnce(fail func(http.ResponseWriter, *http.Request, error)) func(http.ResponseWriter, *http.Request, error) {
	return func(w http.ResponseWriter, r *http.Request, err error) {
		x, ok := w.(*response)
		if ok {
			clear(x.Header())
			maps.Copy(x.Header(), x.before.Clone())
		}
		fail(w, r, err)
		if ok {
			x.failed = true
		}
	}
}

// WriteHeader implements http.ResponseWriter.
func (x *response) WriteHeader(status int) {
	if !x.failed {
		x.ResponseWriter.WriteHeader(status)
	}
}

// Write implements http.ResponseWriter.
func (x *response) Write(p []byte) (int, error) {
	if x.failed {
		return len(p), nil
	}
	return x.ResponseWriter.Write(p)
}

// Unwrap returns the response that net/http knows.
func (x *response) Unwrap() http.ResponseWriter { return x.ResponseWriter }

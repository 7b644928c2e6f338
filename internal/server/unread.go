package server

import (
	"errors"
	"io"
	"net/http"
	"time"

	"chairside/internal/clock"
)

const (
	// maxUnread is the most of a request's body that is read after the response is decided, in bytes.
	maxUnread = 8 << 20
	// unreadTime is how long its client may take to send that.
	unreadTime = 5 * time.Second
)

// requestBody is the body of a request, which may be decided before all of it was read: the token is unknown, or the body
// is too large. Many clients, such as Python's urllib, write the whole body before they read. If the server closed the
// connection meanwhile, they would report a broken pipe in place of the response. So the rest is read first, and dropped.
// The server of net/http does so with 256 KiB.
type requestBody struct {
	io.ReadCloser
	length int64 // in bytes, as declared; -1 if unknown
	ended  bool  // read to its end, or not readable
}

// watchBody replaces the body of a request by one that knows whether all of it was read. It returns nil if there is
// nothing to read: no body, one that the client sends only when it is asked to (Expect), or one of HTTP/2, whose clients
// read while they write.
func watchBody(r *http.Request) *requestBody {
	if r.Body == nil || r.Body == http.NoBody || r.Header.Get("Expect") != "" || r.ProtoMajor > 1 {
		return nil
	}
	b := &requestBody{ReadCloser: r.Body, length: r.ContentLength}
	r.Body = b
	return b
}

// Read implements io.Reader.
func (b *requestBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.ended = b.ended || err != nil
	return n, err
}

// drop reads the rest of the body. It returns false if the rest is larger than maxUnread or takes longer than unreadTime:
// the connection must be closed with the response.
func (b *requestBody) drop(w http.ResponseWriter) bool {
	switch {
	case b == nil || b.ended:
		return true
	case b.length > maxUnread:
		return false
	}
	_ = http.NewResponseController(w).SetReadDeadline(clock.Deadline(unreadTime)) // fails for a test's recorder; the next read without a body clears it
	_, err := io.CopyN(io.Discard, b, maxUnread)
	return errors.Is(err, io.EOF)
}

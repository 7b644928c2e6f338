package webhook

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"chairside/internal/clock"
)

// UserAgent is the User-Agent of deliveries.
const UserAgent = "Chairside-Webhook/1"

const (
	// sendTime bounds one request, from the look-up of the name to the end of the response.
	sendTime = 10 * time.Second
	// maxResponse is how much of a response is read, in bytes; maxLogged how much is logged.
	maxResponse, maxLogged = 64 << 10, 2 << 10
	// maxResponseHeader is the longest header of a response, in bytes.
	maxResponseHeader = 64 << 10
)

// newClient returns a client that follows no redirects, uses no proxy and, unless allowPrivate,
// connects to public addresses only.
func newClient(allowPrivate bool) *http.Client {
	dialer := &net.Dialer{Timeout: sendTime}
	if !allowPrivate {
		dialer.Control = guard
	}
	return clientOf(dialer)
}

// clientOf returns a client that connects with a dialer.
func clientOf(dialer *net.Dialer) *http.Client {
	return &http.Client{
		Timeout:       sendTime,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext:            dialer.DialContext,
			TLSHandshakeTimeout:    sendTime,
			ResponseHeaderTimeout:  sendTime,
			MaxResponseHeaderBytes: maxResponseHeader,
			IdleConnTimeout:        time.Minute,
			MaxIdleConns:           64,
			MaxIdleConnsPerHost:    parallel,
			DisableCompression:     true, // a small response could unpack to a huge one
		},
	}
}

// outcome is that of one request.
type outcome struct {
	status   int    // 0 without a response
	text     string // beginning of the body
	err      string // why there is no response
	duration time.Duration
}

// ok reports whether the receiver has accepted the event.
func (a outcome) ok() bool { return Accepted(a.status) }

// Accepted reports whether the status of a response accepts an event.
func Accepted(status int) bool { return status >= 200 && status < 300 }

// recordedBody is the body of a request. It calls record before its first byte leaves.
type recordedBody struct {
	reader *bytes.Reader
	record func()
}

// Read implements io.Reader.
func (b *recordedBody) Read(p []byte) (int, error) {
	b.record()
	return b.reader.Read(p)
}

// Close implements io.Closer.
func (b *recordedBody) Close() error { return nil }

// send sends a body. It calls record once, before the first byte of the body leaves; never if the
// receiver is not reached.
func send(ctx context.Context, client *http.Client, to string, headers map[string]string, body []byte, record func()) (a outcome) {
	started := clock.Deadline(0)
	defer func() { a.duration = clock.Deadline(0).Sub(started) }()
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, to, nil)
	if err != nil {
		return outcome{err: loggable([]byte(hide(err)))}
	}
	record = sync.OnceFunc(record)
	request.ContentLength = int64(len(body))
	request.GetBody = func() (io.ReadCloser, error) { return &recordedBody{bytes.NewReader(body), record}, nil }
	request.Body, _ = request.GetBody() // never fails
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	response, err := client.Do(request)
	if err != nil {
		return outcome{err: loggable([]byte(hide(err)))}
	}
	defer response.Body.Close()
	// A body that breaks off does not undo the status.
	read, _ := io.ReadAll(io.LimitReader(response.Body, maxResponse))
	return outcome{status: response.StatusCode, text: loggable(read)}
}

// loggable returns the first maxLogged bytes of a response, or of an error that quotes one, as text
// that both databases can store.
func loggable(b []byte) string {
	text := strings.ToValidUTF8(string(b[:min(len(b), maxLogged)]), "\uFFFD")
	text = strings.ReplaceAll(text, "\x00", "\uFFFD")
	for len(text) > maxLogged || !utf8.ValidString(text) {
		text = text[:len(text)-1]
	}
	return text
}

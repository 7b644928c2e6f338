package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Serve serves one assistant over a pair of streams, as the user of the token, until in ends.
func (s *Server) Serve(ctx context.Context, token string, in io.ReadCloser, out io.Writer) error {
	ctx = withCaller(ctx, caller{authorization: "Bearer " + token})
	d := &drain{in: in, out: out, answered: make(chan struct{}, 1)}
	err := s.sdk.Run(ctx, &sdk.IOTransport{Reader: d, Writer: answers{d}, MaxLineLength: MaxMessage})
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// drainTime is how long the requests in progress may take once the input has ended.
const drainTime = 10 * time.Second

// drain reads an assistant's messages, one a line. It holds the end of its input back until every
// request has its response, so that a script need not wait before it ends its own output.
type drain struct {
	in       io.ReadCloser
	out      io.Writer
	line     []byte // read so far
	open     atomic.Int64
	answered chan struct{}
}

// Read implements io.Reader.
func (d *drain) Read(b []byte) (int, error) {
	n, err := d.in.Read(b)
	for rest := b[:n]; len(rest) > 0; {
		part, after, whole := bytes.Cut(rest, []byte("\n"))
		if len(d.line)+len(part) <= MaxMessage { // the SDK ends the session otherwise
			d.line = append(d.line, part...)
		}
		if whole {
			d.count()
		}
		rest = after
	}
	if n == 0 && err != nil {
		d.wait()
	}
	return n, err
}

// count counts the line if it is a request.
func (d *drain) count() {
	var message struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if json.Unmarshal(d.line, &message) == nil && message.ID != nil && message.Method != "" {
		d.open.Add(1)
	}
	d.line = d.line[:0]
}

func (d *drain) wait() {
	late := time.After(drainTime)
	for d.open.Load() > 0 {
		select {
		case <-d.answered:
		case <-late:
			return
		}
	}
}

// Close implements io.Closer.
func (d *drain) Close() error { return d.in.Close() }

// answers writes the responses, one a line. The protocol's end does not close it.
type answers struct{ d *drain }

// Write implements io.Writer.
func (a answers) Write(b []byte) (int, error) {
	n, err := a.d.out.Write(b)
	a.d.open.Add(-int64(bytes.Count(b[:n], []byte("\n"))))
	select {
	case a.d.answered <- struct{}{}:
	default:
	}
	return n, err
}

// Close implements io.Closer.
func (answers) Close() error { return nil }

// Time limits of a remote server. Its operations take at most 30 s.
const (
	remoteTime  = 40 * time.Second
	maxDocument = 16 << 20
)

// HTTP sends requests to another server. It follows no redirects, so a token goes only where
// the user sends it.
func HTTP() http.RoundTripper {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = remoteTime
	return transport
}

// Fetch reads the OpenAPI document of a server.
func Fetch(ctx context.Context, api http.RoundTripper, baseURL string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, baseURL+"/openapi.json", http.NoBody)
	if err != nil {
		return nil, err
	}
	r.Header.Set("User-Agent", "chairside-mcp")
	res, err := api.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s/openapi.json: status %d", baseURL, res.StatusCode)
	}
	return io.ReadAll(io.LimitReader(res.Body, maxDocument))
}

package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Serve serves one assistant over a pair of streams, as the user of the token, until in ends.
func (s *Server) Serve(ctx context.Context, token string, in io.ReadCloser, out io.Writer) error {
	ctx = withCaller(ctx, caller{authorization: "Bearer " + token})
	err := s.sdk.Run(ctx, &sdk.IOTransport{Reader: in, Writer: keepOpen{out}, MaxLineLength: MaxMessage})
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// keepOpen is a stream that the protocol's end does not close.
type keepOpen struct{ io.Writer }

// Close implements io.Closer.
func (keepOpen) Close() error { return nil }

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

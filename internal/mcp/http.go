package mcp

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/url"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Path is the address of the streamable HTTP transport.
const Path = "/mcp"

// Handler serves the streamable HTTP transport. It must follow a check of the bearer token, which
// it passes on to the API.
func (s *Server) Handler() http.Handler {
	serve := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s.sdk }, &sdk.StreamableHTTPOptions{
		Stateless:                    true,
		JSONResponse:                 true,
		PropagateRequestCancellation: true,
		// Behind a proxy on the same machine every request arrives at a loopback address.
		// The check of Origin refuses pages that reach it by DNS rebinding.
		DisableLocalhostProtection: true,
	})
	own := origin(s.BaseURL)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if from := r.Header.Get("Origin"); from != "" && from != own {
			http.Error(w, "Requests from pages of other origins are refused.", http.StatusForbidden)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxMessage))
		switch first := bytes.TrimLeft(body, " \t\r\n"); {
		case errors.As(err, new(*http.MaxBytesError)):
			http.Error(w, "The message is larger than 1 MiB.", http.StatusRequestEntityTooLarge)
			return
		case err != nil:
			return // the client has disconnected
		case bytes.HasPrefix(first, []byte("[")):
			http.Error(w, "Send one message at a time: batches are not supported.", http.StatusBadRequest)
			return
		}
		r = r.WithContext(withCaller(r.Context(), caller{r.Header.Get("Authorization"), r.RemoteAddr}))
		r.Body = io.NopCloser(bytes.NewReader(body))
		serve.ServeHTTP(w, r)
	})
}

// origin returns the origin of a URL: its scheme and host.
func origin(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

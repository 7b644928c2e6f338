package server

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// collector sends spans to an OpenTelemetry collector by OTLP over HTTP. It is an
// otlptrace.Client. OpenTelemetry's own client for HTTP would link gRPC into the program, for the
// type of one message: that of TracesData is the same on the wire.
type collector struct {
	url     string
	headers map[string]string
	client  *http.Client
}

// firstPause is the pause before the second attempt to send spans; each further one is twice as long.
const firstPause = 500 * time.Millisecond

func newCollector(endpoint string, headers map[string]string) *collector {
	return &collector{url: endpoint + "/v1/traces", headers: headers, client: &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Start implements otlptrace.Client.
func (c *collector) Start(context.Context) error { return nil }

// Stop implements otlptrace.Client.
func (c *collector) Stop(context.Context) error {
	c.client.CloseIdleConnections()
	return nil
}

// UploadTraces implements otlptrace.Client. It tries again until ctx ends if the collector cannot
// be reached or asks for it by its status.
func (c *collector) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: spans})
	if err != nil {
		return err
	}
	for pause := firstPause; ; pause *= 2 {
		again, err := c.post(ctx, body)
		if !again {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return err
		}
	}
}

// post sends one request. again is true if it may succeed later.
func (c *collector) post(ctx context.Context, body []byte) (again bool, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	for name, value := range c.headers {
		r.Header.Set(name, value)
	}
	r.Header.Set("Content-Type", "application/x-protobuf")
	response, err := c.client.Do(r)
	if err != nil {
		return ctx.Err() == nil, err
	}
	_, _ = io.ReadAll(io.LimitReader(response.Body, 64<<10)) // so that the connection can be used again
	_ = response.Body.Close()
	switch response.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		again = true
	case http.StatusOK, http.StatusAccepted, http.StatusNoContent:
		return false, nil
	}
	return again, fmt.Errorf("the collector responds %d", response.StatusCode)
}

package contract

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"chairside/internal/server"
	"chairside/internal/test/harness"
)

// collector is an OpenTelemetry collector that keeps the spans that it receives.
type collector struct {
	url string

	mu       sync.Mutex
	received []*tracepb.TracesData
	refuse   int // the number of exports to refuse
}

func newCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var data tracepb.TracesData
		if err != nil || r.Method+r.URL.Path != "POST/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" || proto.Unmarshal(body, &data) != nil {
			t.Errorf("the collector got %s %s, %v", r.Method, r.URL, r.Header)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.refuse > 0 {
			c.refuse--
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		c.received = append(c.received, &data)
	}))
	t.Cleanup(s.Close)
	c.url = s.URL
	return c
}

// all returns the spans so far.
func (c *collector) all() (all []*tracepb.Span) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, data := range c.received {
		for _, r := range data.ResourceSpans {
			for _, s := range r.ScopeSpans {
				all = append(all, s.Spans...)
			}
		}
	}
	return all
}

// text returns everything that was received, as text.
func (c *collector) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var b strings.Builder
	for _, data := range c.received {
		b.WriteString(prototext.Format(data))
	}
	return withoutTableOfTokens(b.String())
}

// withoutTableOfTokens returns a text without the names of statements about access tokens: a part
// of them is also the name of a parameter, and so a canary.
func withoutTableOfTokens(text string) string {
	for _, verb := range []string{"select", "insert", "update", "delete"} {
		text = strings.ReplaceAll(text, `"`+verb+` access_tokens"`, `""`)
	}
	return text
}

// of returns the span of a request and its children.
func (c *collector) of(t *testing.T, e *harness.Env, r *harness.Response) (span *tracepb.Span, children []*tracepb.Span) {
	t.Helper()
	e.Settle()
	all := c.all()
	for _, s := range all {
		if attributes(s)["chairside.request_id"] == r.Header.Get("X-Request-Id") {
			span = s
		}
	}
	for _, s := range all {
		if span != nil && string(s.ParentSpanId) == string(span.SpanId) {
			children = append(children, s)
		}
	}
	return span, children
}

func attributes(s *tracepb.Span) map[string]string {
	all := map[string]string{}
	for _, a := range s.Attributes {
		all[a.Key] = a.Value.GetStringValue()
		if a.Value.GetStringValue() == "" {
			all[a.Key] = fmt.Sprint(a.Value.GetIntValue())
		}
	}
	return all
}

// traced makes a server trace every request, log each as a slow one, and trust local proxies.
func traced(endpoint string) func(*server.Options) {
	return func(o *server.Options) {
		o.OTLPEndpoint, o.TraceSampleRatio, o.SlowRequest = endpoint, 1, 1
		o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	}
}

// eachTraced is harness.Each with a collector of traces.
func eachTraced(t *testing.T, test func(t *testing.T, e *harness.Env, spans *collector)) {
	t.Helper()
	t.Parallel()
	for name, database := range map[string]func(testing.TB) string{"sqlite": harness.SQLite, "postgres": harness.Postgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spans := newCollector(t)
			test(t, harness.Start(t, database(t), harness.Patient, traced(spans.url)), spans)
		})
	}
}

// spanAttributes are all attributes that spans may have. A new one must not be able to hold
// patients' data, secrets, or text that a client sent.
var spanAttributes = []string{
	"chairside.practice_id", "chairside.request_id", "chairside.token_id", "db.query.summary", "db.system.name",
	"http.request.method", "http.response.status_code", "http.route",
}

// TestEveryOperationHasASpan with its name and route, and a child for each statement.
func TestEveryOperationHasASpan(t *testing.T) {
	eachTraced(t, func(t *testing.T, e *harness.Env, spans *collector) {
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		for _, op := range operations() {
			q := w.request(op, 0)
			q.Token = token
			r := send(t, e, op, q)
			span, children := spans.of(t, e, r)
			if span == nil {
				t.Errorf("%s has no span", op.ID)
				continue
			}
			about := attributes(span)
			for _, name := range slices.Concat(slices.Collect(maps.Keys(about)), attributeNames(children)) {
				if !slices.Contains(spanAttributes, name) {
					t.Errorf("%s has the attribute %s", op.ID, name)
				}
			}
			name := op.ID
			if op.Method == http.MethodPut { // handled as PATCH
				name = "update" + strings.TrimPrefix(name, "put")
			}
			if span.Name != name || span.Kind != tracepb.Span_SPAN_KIND_SERVER || about["http.route"] != op.Path || about["http.response.status_code"] != fmt.Sprint(r.Code) {
				t.Errorf("%s: the span is %s of %v", op.ID, span.Name, about)
			}
			if len(children) == 0 && op.ID != "getRateLimit" {
				t.Errorf("%s has no statements", op.ID)
			}
			for _, child := range children {
				if child.StartTimeUnixNano < span.StartTimeUnixNano || child.EndTimeUnixNano > span.EndTimeUnixNano || child.EndTimeUnixNano < child.StartTimeUnixNano {
					t.Errorf("%s: the statement %s is outside of its request", op.ID, child.Name)
				}
			}
			switch names := namesOf(children); op.ID {
			case "listAppointments":
				if !slices.Contains(names, "select appointments") {
					t.Errorf("%s: %v", op.ID, names)
				}
			case "createAppointment":
				if !slices.Contains(names, "insert appointments") {
					t.Errorf("%s: %v", op.ID, names)
				}
			case "createPatient":
				if !slices.Contains(names, "insert patients") {
					t.Errorf("%s: %v", op.ID, names)
				}
			}
			if slices.Contains(namesOf(children), "other") {
				t.Errorf("%s has a statement without a name: %v", op.ID, namesOf(children))
			}
		}
	})
}

// attributeNames returns the names of the attributes of spans.
func attributeNames(all []*tracepb.Span) (names []string) {
	for _, s := range all {
		names = slices.AppendSeq(names, maps.Keys(attributes(s)))
	}
	return names
}

func namesOf(all []*tracepb.Span) (names []string) {
	for _, s := range all {
		names = append(names, s.Name)
	}
	return names
}

// TestTracesOfOthers: a trusted proxy names the trace and decides whether it is sampled. A client
// cannot.
func TestTracesOfOthers(t *testing.T) {
	t.Parallel()
	const id, parent = "0af7651916cd43dd8448eb211c80319c", "00f067aa0ba902b7"
	for _, test := range []struct {
		name    string
		proxy   bool
		header  string
		ratio   float64
		joins   bool
		sampled bool
	}{
		{"trusted and sampled", true, "00-" + id + "-" + parent + "-01", 0, true, true},
		{"trusted and not sampled", true, "00-" + id + "-" + parent + "-00", 1, false, false},
		{"trusted and malformed", true, "00-" + id + "-" + parent, 1, false, true},
		{"trusted without one", true, "", 1, false, true},
		{"a client's", false, "00-" + id + "-" + parent + "-01", 0, false, false},
		{"a client's, not sampled", false, "00-" + id + "-" + parent + "-00", 1, false, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			spans := newCollector(t)
			e := harness.Start(t, harness.SQLite(t), harness.Patient, traced(spans.url), func(o *server.Options) {
				if o.TraceSampleRatio = test.ratio; !test.proxy {
					o.TrustedProxies = nil
				}
			})
			q := harness.Request{Method: http.MethodGet, Path: "/v1/practice", Token: e.Token(t, ""), Header: map[string]string{}}
			if test.header != "" {
				q.Header = map[string]string{"Traceparent": test.header, "Tracestate": "x=" + canary, "Baggage": "x=" + canary}
			}
			r := e.Do(t, q)
			r.Status(t, http.StatusOK)
			span, _ := spans.of(t, e, r)
			if (span != nil) != test.sampled {
				t.Fatalf("sampled: %v", span != nil)
			}
			if joins := span != nil && fmt.Sprintf("%x", span.TraceId) == id && fmt.Sprintf("%x", span.ParentSpanId) == parent; joins != test.joins {
				t.Errorf("joins the trace: %v", joins)
			}
			checkNoCanary(t, "the traces", spans.text())
		})
	}
}

// TestRequestsOfABatchAreOneTrace: the batch and each of its requests.
func TestRequestsOfABatchAreOneTrace(t *testing.T) {
	eachTraced(t, func(t *testing.T, e *harness.Env, spans *collector) {
		r := sendBatch(t, e, e.Token(t, ""), map[string]any{"requests": []any{
			map[string]any{"method": "GET", "path": "/v1/practice"}, map[string]any{"method": "GET", "path": "/v1/rooms"},
		}}, nil)
		span, children := spans.of(t, e, r)
		if names := namesOf(children); span == nil || span.Name != "batch" || !slices.Contains(names, "getPractice") || !slices.Contains(names, "listRooms") {
			t.Errorf("the spans are %v with %v", span, names)
		}
	})
}

// TestProbesAreNotTraced, nor is anything without a collector.
func TestProbesAreNotTraced(t *testing.T) {
	t.Parallel()
	spans := newCollector(t)
	e := harness.Start(t, harness.SQLite(t), harness.Patient, traced(spans.url))
	for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
		e.Get(t, path, "")
	}
	e.Settle()
	if n := len(spans.all()); n != 0 {
		t.Errorf("%d spans", n)
	}
}

// TestCollectorThatRefusesGetsSpansLater: an export is repeated.
func TestCollectorThatRefusesGetsSpansLater(t *testing.T) {
	t.Parallel()
	spans := newCollector(t)
	spans.refuse = 1
	e := harness.Start(t, harness.SQLite(t), harness.Patient, traced(spans.url))
	r := e.Get(t, "/v1/practice", e.Token(t, ""))
	if span, _ := spans.of(t, e, r); span == nil {
		t.Error("the spans are lost")
	}
}

// TestCollectorThatHangsHoldsNothingUp: requests go on, spans beyond the queue are dropped, and a
// flush ends.
func TestCollectorThatHangsHoldsNothingUp(t *testing.T) {
	t.Parallel()
	hang := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-hang:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(s.Close)
	t.Cleanup(func() { close(hang) })
	e := harness.Start(t, harness.SQLite(t), harness.Patient, traced(s.URL))
	token := e.Token(t, "")
	for range 3000 { // more than the queue holds
		e.Get(t, "/v1/practice", token).Status(t, http.StatusOK)
	}
	ended := make(chan struct{})
	go func() {
		e.Settle()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Fatal("the flush does not end")
	}
	metrics := string(e.Get(t, "/metrics", "").Raw)
	if !strings.Contains(metrics, "\nchairside_trace_spans_exported_total 0\n") || strings.Contains(metrics, "\nchairside_trace_spans_total 0\n") {
		t.Errorf("wrong numbers of spans in:\n%s", metrics)
	}
	if n := strings.Count(e.Log.String(), "cannot export traces"); n > 1 { // one failure after the other
		t.Errorf("%d lines say that traces cannot be exported", n)
	}
}

// TestExemplarsNameTraces, for scrapers that accept OpenMetrics.
func TestExemplarsNameTraces(t *testing.T) {
	t.Parallel()
	spans := newCollector(t)
	e := harness.Start(t, harness.SQLite(t), harness.Patient, traced(spans.url))
	span, _ := spans.of(t, e, e.Get(t, "/v1/practice", e.Token(t, "")))
	exemplar := fmt.Sprintf(`# {trace_id="%x"}`, span.GetTraceId())
	for accept, want := range map[string]bool{"application/openmetrics-text; version=1.0.0": true, "text/plain": false} {
		r := e.Do(t, harness.Request{Method: http.MethodGet, Path: "/metrics", Header: map[string]string{"Accept": accept}})
		if got := strings.Contains(string(r.Raw), exemplar); got != want {
			t.Errorf("%s: an exemplar: %v", accept, got)
		}
	}
}

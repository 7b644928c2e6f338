package server

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"

	"entgo.io/ent/dialect"
	"github.com/google/uuid"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"chairside/internal/store"
)

const (
	// exportTime bounds one export of spans, with its further attempts.
	exportTime = 10 * time.Second
	// flushTime bounds the export of the last spans at shutdown, and closeTime what then remains.
	flushTime = 5 * time.Second
	closeTime = time.Second
)

// tracing makes a span of each sampled request, with a child for each statement, and exports them
// to an OpenTelemetry collector. The queue of spans that wait for it is bounded: spans that do not
// fit are dropped, and no request waits. A nil *tracing traces nothing.
//
// Spans are made when a request ends, from its state and its recorded statements, so their
// attributes are those listed here and no others: no query, id of a path, header or body.
type tracing struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
	system   attribute.KeyValue // the kind of database

	ended, exported atomic.Int64 // numbers of spans
}

// newTracing returns the tracing of a server, or nil if it has no collector. It opens no
// connection.
func newTracing(o *Options) (*tracing, error) {
	if o.OTLPEndpoint == "" {
		return nil, nil
	}
	exporter, err := otlptrace.New(context.Background(), newCollector(o.OTLPEndpoint, o.OTLPHeaders))
	if err != nil {
		return nil, err
	}
	about := []attribute.KeyValue{attribute.String("service.name", "chairside")}
	if o.Version != "" {
		about = append(about, attribute.String("service.version", o.Version))
	}
	// OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES have the last word. Detectors of the process
	// are left out, because a command line can hold a password.
	from, err := resource.New(context.Background(), resource.WithAttributes(about...), resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil && !errors.Is(err, resource.ErrPartialResource) {
		return nil, err
	}
	system := "postgresql"
	if o.DB.Dialect == dialect.SQLite {
		system = "sqlite"
	}
	t := &tracing{system: attribute.String("db.system.name", system)}
	t.provider = sdktrace.NewTracerProvider(
		sdktrace.WithBatcher(&countingExporter{SpanExporter: exporter, exported: &t.exported, logger: o.Logger}, sdktrace.WithExportTimeout(exportTime)),
		sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.TraceIDRatioBased(o.TraceSampleRatio))),
		sdktrace.WithResource(from),
	)
	t.tracer = t.provider.Tracer("chairside")
	return t, nil
}

// start begins the span of a request; nil if it is not traced. A request that is part of another
// one, outer, continues its trace: one of a batch, or of an assistant's tool. Only trusted proxies
// may name a trace, with the header traceparent, which also decides whether to sample. What else
// they and clients send (tracestate, baggage) is ignored, because it can be any text.
func (t *tracing) start(r *http.Request, outer *requestState, trusted bool) trace.Span {
	if t == nil || isProbe(r.URL.Path) {
		return nil
	}
	ctx := context.Background()
	switch sent := r.Header.Values("traceparent"); {
	case outer != nil && outer.span == nil:
		return nil
	case outer != nil:
		ctx = trace.ContextWithSpan(ctx, outer.span)
	case trusted && len(sent) == 1:
		ctx = propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": sent[0]})
	}
	_, span := t.tracer.Start(ctx, "request", trace.WithSpanKind(trace.SpanKindServer))
	if !span.IsRecording() {
		return nil
	}
	return span
}

// isProbe reports whether a path is requested every few seconds by machines.
func isProbe(path string) bool { return path == "/healthz" || path == "/readyz" || path == "/metrics" }

// end ends the span of a request, with a child for each of its statements and waits.
func (t *tracing) end(x *requestState, status int) {
	if x.span == nil {
		return
	}
	ctx := trace.ContextWithSpan(context.Background(), x.span)
	kept, dropped := x.statements.Each()
	for _, one := range kept {
		kind, about := trace.SpanKindClient, []attribute.KeyValue{t.system, attribute.String("db.query.summary", one.Name)}
		switch one.Name {
		case store.WaitConnection, store.WaitLock, store.WaitTurn:
			kind, about = trace.SpanKindInternal, nil
		}
		_, child := t.tracer.Start(ctx, one.Name, trace.WithTimestamp(one.Start), trace.WithSpanKind(kind), trace.WithAttributes(about...))
		if one.Failed {
			child.SetStatus(codes.Error, "")
		}
		child.End(trace.WithTimestamp(one.Start.Add(one.Duration)))
	}
	about := []attribute.KeyValue{
		attribute.String("http.request.method", loggableMethod(x.method)),
		attribute.Int("http.response.status_code", status),
		attribute.String("chairside.request_id", x.id),
	}
	if x.pattern != "" {
		about = append(about, attribute.String("http.route", x.pattern))
	}
	if dropped > 0 {
		about = append(about, attribute.Int("chairside.statements_dropped", dropped))
	}
	if x.caller != nil {
		about = append(about, attribute.String("chairside.practice_id", x.caller.PracticeID.String()))
		if x.caller.TokenID != uuid.Nil { // a page has a session instead
			about = append(about, attribute.String("chairside.token_id", x.caller.TokenID.String()))
		}
	}
	if status >= http.StatusInternalServerError {
		x.span.SetStatus(codes.Error, "")
		about = append(about, attribute.String("error.type", x.code))
	}
	x.span.SetName(x.name)
	x.span.SetAttributes(about...)
	x.span.End()
	t.ended.Add(int64(len(kept)) + 1)
}

// traceID returns the id of a request's trace, or "".
func (x *requestState) traceID() string {
	if x.span == nil {
		return ""
	}
	return x.span.SpanContext().TraceID().String()
}

// flush exports the spans so far. It takes at most flushTime, and drops those that are not
// exported by then.
func (t *tracing) flush(ctx context.Context) {
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, flushTime)
	defer cancel()
	_ = t.provider.ForceFlush(ctx) // countingExporter logs errors
}

// close ends the work of tracing. Call flush first.
func (t *tracing) close(ctx context.Context) {
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, closeTime)
	defer cancel()
	_ = t.provider.Shutdown(ctx) // as above
}

// count returns the numbers of spans that ended and that were exported.
func (t *tracing) count() (ended, exported int64) {
	if t == nil {
		return 0, 0
	}
	return t.ended.Load(), t.exported.Load()
}

// countingExporter counts exported spans. It logs when exports begin to fail, and when they
// succeed again, but not each failure.
type countingExporter struct {
	sdktrace.SpanExporter
	exported *atomic.Int64
	failing  atomic.Bool
	logger   *slog.Logger
}

// ExportSpans implements sdktrace.SpanExporter. It returns no error, because the SDK would print
// each of them.
func (e *countingExporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := e.SpanExporter.ExportSpans(ctx, spans)
	switch failed := err != nil; {
	case failed && !e.failing.Swap(true):
		e.logger.Warn("cannot export traces; they are dropped until the collector responds", slog.String("cause", err.Error()))
	case !failed && e.failing.Swap(false):
		e.logger.Info("traces are exported again")
	}
	if err == nil {
		e.exported.Add(int64(len(spans)))
	}
	return nil
}

// fromTrustedProxy reports whether the peer of a connection is a trusted proxy.
func (s *Server) fromTrustedProxy(r *http.Request) bool {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && s.trusts(peer.Addr())
}

package server

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/go-faster/jx"

	"chairside/ent"
	"chairside/internal/apierror"
	"chairside/internal/audit"
	"chairside/internal/events/idempotency"
	"chairside/internal/store"
	"chairside/internal/store/admission"
	"chairside/internal/write"
)

const (
	batchPath = "/batch"
	// maxBatch is the most requests of a batch.
	maxBatch = 50
	// maxBatches is how many batches run at once, because their responses stay in memory.
	maxBatches = 4
	// batchTime is the time limit of a batch.
	batchTime = 20 * time.Second
	// batchWait is how long a batch waits for others.
	batchWait = 2 * time.Second
)

// batchRequest is one request of a batch.
type batchRequest struct {
	ID      json.RawMessage   `json:"id"`
	Method  string            `json:"method"`
	Path    string            `json:"path"`
	Headers map[string]string `json:"headers"`
	Body    json.RawMessage   `json:"body"`
}

// batchResult is the response to one request of a batch.
type batchResult struct {
	ID      json.RawMessage   `json:"id"`
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers"`
	Body    json.RawMessage   `json:"body"`
}

// batchBody is the body of a batch.
type batchBody struct {
	Requests batchRequests `json:"requests"`
	Atomic   bool          `json:"atomic"`
}

// batchRequests are the requests of a batch. Of too many, only the first are kept.
type batchRequests []batchRequest

// UnmarshalJSON implements json.Unmarshaler, which is called with valid JSON.
func (q *batchRequests) UnmarshalJSON(text []byte) error {
	in := json.NewDecoder(bytes.NewReader(text))
	if start, err := in.Token(); err != nil || start != json.Delim('[') {
		return &json.UnmarshalTypeError{Value: "value", Type: reflect.TypeFor[batchRequests](), Field: "requests"}
	}
	for in.More() && len(*q) <= maxBatch {
		var one batchRequest
		if err := in.Decode(&one); err != nil {
			return err
		}
		*q = append(*q, one)
	}
	return nil
}

// batchResponse is the response to a batch. Committed is false if an atomic batch was rolled back, and for a dry run.
type batchResponse struct {
	Results   []batchResult `json:"results"`
	Committed bool          `json:"committed"`
}

// Encode implements write.Response.
func (b *batchResponse) Encode(e *jx.Encoder) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(b) // bodies are JSON that the server has written or read
	e.Raw(bytes.TrimSpace(out.Bytes()))
}

var (
	batchMethods = []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}
	// batchHeaders are the headers that a request of a batch may have. The others are the batch's.
	batchHeaders = []string{"Idempotency-Key", "If-Match", "If-None-Match", "Prefer"}
	// resultHeaders are the headers of a result; those of all responses are left out.
	resultHeaders = []string{"Allow", "ETag", "Idempotency-Replayed", "Location", "Preference-Applied", "Retry-After", "X-Request-Id", "X-Unknown-Parameters"}
)

// batch serves /batch: it runs each request as one of its own, with the token of the batch, and
// responds with all results. Each counts against the rate limit; the batch itself counts only if it runs none.
func (s *Server) batch() http.Handler {
	single := s.begin(s.accessLog(s.recoverPanic(s.operation())))
	checks := []check{userAgent, postOnly(http.MethodPost, http.MethodOptions), accept, s.authenticate, s.limit, prefer}
	return s.cors(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := stateOf(r.Context())
		x.named("batch", batchPath)
		x.operation.ID = "batch"
		ctx, cancel := context.WithTimeout(admission.With(r.Context(), kindOf(batchPath), x.name), batchTime)
		defer cancel()
		x.r = r.WithContext(ctx)
		private(x.header)
		if !s.passes(w, x, checks) {
			return
		}
		if err := s.runBatch(w, x, single); err != nil {
			s.fail(w, x, err)
		}
	}))
}

// postOnly refuses all methods but POST and names the allowed ones.
func postOnly(allowed ...string) check {
	return func(x *requestState) error {
		if x.method != http.MethodPost {
			return apierror.MethodNotAllowed(allowed)
		}
		return nil
	}
}

// parseBatch parses and checks the body of a batch.
func parseBatch(sent []byte) (*batchBody, error) {
	var body batchBody
	if err := json.Unmarshal(sent, &body); err != nil {
		if other := (*json.UnmarshalTypeError)(nil); errors.As(err, &other) {
			return nil, apierror.ValidationFailed(apierror.Params{"requests": {"must be a list of requests with id, method, path, headers and body"}})
		}
		return nil, apierror.MalformedJSON().Because(err)
	}
	params := apierror.Params{}
	if n := len(body.Requests); n < 1 || n > maxBatch {
		params.Add("requests", fmt.Sprintf("must have between 1 and %d requests", maxBatch))
	}
	for i, q := range body.Requests[:min(len(body.Requests), maxBatch)] {
		q.check(params, fmt.Sprintf("requests[%d]", i), body.Atomic)
	}
	if len(params) > 0 {
		return nil, apierror.ValidationFailed(params)
	}
	return &body, nil
}

// check adds what is wrong with a request that could not be sent on its own. at is its name.
func (q batchRequest) check(params apierror.Params, at string, atomic bool) {
	if !slices.Contains(batchMethods, q.Method) {
		params.Add(at+".method", "must be one of "+strings.Join(batchMethods, ", "))
	} else if atomic && q.Method == http.MethodGet {
		params.Add(at+".method", "must not be GET in an atomic batch")
	}
	address, err := url.ParseRequestURI(q.Path)
	switch {
	case err != nil || !strings.HasPrefix(q.Path, "/") || strings.HasPrefix(q.Path, "//"):
		params.Add(at+".path", "must be a path such as /v1/patients")
	case slices.Contains([]string{batchPath, changesPath, snapshotPath}, unversioned(address).Path): // which wait, or send much
		params.Add(at+".path", "must not be a batch, the change feed or a snapshot")
	}
	for name, value := range q.Headers {
		switch canonical := http.CanonicalHeaderKey(name); {
		case !slices.Contains(batchHeaders, canonical):
			params.Add(at+".headers", "may have only "+strings.Join(batchHeaders, ", "))
		case strings.ContainsAny(value, "\r\n\x00"):
			params.Add(at+".headers", "must not contain control characters")
		case atomic && canonical == "Prefer" && parsePrefer([]string{value}).dryRun:
			params.Add(at+".headers", "must not prefer a dry run in an atomic batch: set it on the batch")
		}
	}
}

// errRolledBack ends the transaction of an atomic batch with a failed request.
var errRolledBack = errors.New("server: a request of the batch failed")

// runBatch reads the batch, runs its requests and sends their results. Practices take turns. A batch waits for its
// turn when it has arrived, and is parsed in it, because 1 MiB of short requests takes much memory.
func (s *Server) runBatch(w http.ResponseWriter, x *requestState, single http.Handler) error {
	sent, err := readSent(x)
	if err != nil {
		return cmp.Or(s.take(x), err)
	}
	leave, err := s.batches.Enter(x.r.Context())
	if err != nil {
		return apierror.Unavailable(fmt.Errorf("wait for other batches: %w", err))
	}
	defer leave()
	body, err := parseBatch(sent)
	if err != nil {
		return cmp.Or(s.take(x), err)
	}
	response, err := s.results(x, single, body)
	stored := (*idempotency.Replay)(nil)
	switch {
	case errors.As(err, &stored):
		if err := s.take(x); err != nil {
			return err
		}
	case err != nil && apierror.From(err).Status < http.StatusInternalServerError: // only an atomic batch fails as a whole
		return cmp.Or(s.take(x), err)
	case err != nil:
		return err
	}
	x.response = responsePool.Get().(*bufferedResponse)
	x.response.header.Set("Content-Type", jsonType)
	if stored != nil {
		x.replay(stored)
	} else {
		response.Encode(&x.response.body)
	}
	s.setPosition(x)
	if x.response.send(w, x) == nil {
		x.response.free()
	}
	return nil
}

// results runs the requests. An atomic batch is one transaction, with its own idempotency key.
func (s *Server) results(x *requestState, single http.Handler, body *batchBody) (response *batchResponse, err error) {
	ctx, key := x.r.Context(), ""
	if values := x.r.Header.Values("Idempotency-Key"); len(values) > 0 {
		var ok bool
		if key, ok = idempotency.ParseKey(values); !ok {
			return nil, apierror.InvalidHeader("Idempotency-Key", idempotency.Message)
		}
	}
	if !body.Atomic {
		response = &batchResponse{Committed: !x.prefer.dryRun}
		for i, q := range body.Requests {
			response.Results = append(response.Results, s.runOne(ctx, x, single, q, itemKey(key, i)))
		}
		return response, nil
	}
	if key != "" && !x.prefer.dryRun {
		ctx = idempotency.With(ctx, idempotency.New(ctx, key, http.StatusOK, []byte(x.method), []byte(batchPath), x.sent))
	}
	err = write.Tx(ctx, s.DB, func(tx *ent.Client) (write.Response, error) {
		response = &batchResponse{Committed: !x.prefer.dryRun}
		joined := store.Join(x.r.Context(), tx)
		for _, q := range body.Requests {
			result := s.runOne(joined, x, single, q, "")
			response.Results = append(response.Results, result)
			if result.Status >= http.StatusBadRequest {
				return nil, errRolledBack
			}
		}
		return response, nil
	})
	if errors.Is(err, errRolledBack) {
		return s.rolledBack(x, body, response), nil
	}
	return response, err
}

// rolledBack replaces all results but that of the last request, which failed.
func (s *Server) rolledBack(x *requestState, body *batchBody, run *batchResponse) *batchResponse {
	failed := len(run.Results) - 1
	out := &batchResponse{Results: make([]batchResult, len(body.Requests))}
	for i, q := range body.Requests {
		if i == failed {
			out.Results[i] = run.Results[i]
			continue
		}
		e := apierror.FailedDependency()
		out.Results[i] = batchResult{ID: orNull(q.ID), Status: e.Status, Headers: map[string]string{}, Body: bytes.TrimSpace(s.errorBody(x, e))}
	}
	return out
}

// itemKey returns the idempotency key of a request of a batch with a key, or "".
func itemKey(key string, i int) string {
	if key == "" {
		return ""
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%d", key, i))
	return "batch-" + hex.EncodeToString(sum[:])
}

// runOne runs one request as if the client had sent it on its own. Without a key of its own it
// gets the given one.
func (s *Server) runOne(ctx context.Context, x *requestState, single http.Handler, q batchRequest, key string) batchResult {
	body := q.Body
	if q.Method == http.MethodGet || string(body) == "null" {
		body = nil
	}
	r, err := http.NewRequestWithContext(ctx, q.Method, q.Path, bytes.NewReader(body))
	if err != nil { // check has parsed the path
		panic(err)
	}
	r.RemoteAddr, r.TLS, r.RequestURI = x.r.RemoteAddr, x.r.TLS, q.Path
	for name, value := range q.Headers {
		r.Header.Set(name, value)
	}
	r.Header.Set("User-Agent", x.r.UserAgent())
	r.Header.Set("Authorization", "Bearer "+bearer(x))
	if len(body) > 0 {
		r.Header.Set("Content-Type", "application/json")
	}
	if key != "" && r.Header.Get("Idempotency-Key") == "" {
		r.Header.Set("Idempotency-Key", key)
	}
	if sent := x.r.Header.Get(positionHeader); sent != "" {
		r.Header.Set(positionHeader, sent)
	}
	for _, preference := range x.r.Header.Values("Prefer") {
		r.Header.Add("Prefer", preference)
	}
	recorder := &resultWriter{header: http.Header{}}
	single.ServeHTTP(recorder, r)
	x.records.Add(recorder.records) // a replay of the batch has no requests
	return recorder.result(q.ID)
}

// resultWriter keeps the response to a request of a batch.
type resultWriter struct {
	header  http.Header
	status  int
	body    bytes.Buffer
	records *audit.Log // set by begin
}

func (w *resultWriter) Header() http.Header { return w.header }

func (w *resultWriter) WriteHeader(status int) { w.status = status }

func (w *resultWriter) Write(b []byte) (int, error) { return w.body.Write(b) }

func (w *resultWriter) result(id json.RawMessage) batchResult {
	r := batchResult{ID: orNull(id), Status: w.status, Headers: map[string]string{}, Body: orNull(bytes.TrimSpace(w.body.Bytes()))}
	for _, name := range resultHeaders {
		if value := w.header.Get(name); value != "" {
			r.Headers[name] = value
		}
	}
	return r
}

func orNull(text []byte) json.RawMessage {
	if len(text) == 0 {
		return json.RawMessage("null")
	}
	return text
}

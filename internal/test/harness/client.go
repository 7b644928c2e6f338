package harness

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"

	"chairside/ogent"
)

// Client is the generated client with a token. It fails on responses that do not decode.
//
//	c := e.Client(t, token)
//	p := harness.Call(t, c.GetPatient, ogent.GetPatientParams{ID: 7}).Patient
//	_, err := c.UpdatePatient(t.Context(), body, ogent.UpdatePatientParams{ID: 7})
//	harness.Refused(t, err, 422, "validation_failed", "title")
//
// Use Do for what the client cannot send (values of a wrong type, malformed JSON, unknown
// members), and to compare responses byte for byte.
func (e *Env) Client(t testing.TB, token string) *ogent.Client {
	t.Helper()
	c, err := ogent.NewClient(e.URL+"/v1", ogent.WithClient(client), ogent.WithRequestEditor(func(_ context.Context, r *http.Request) error {
		r.Header.Set("User-Agent", UserAgent)
		r.Header.Set("Authorization", "Bearer "+token)
		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Call calls an operation with its parameters, or with its body, and fails the test
// unless it succeeds.
func Call[Q, R any](t testing.TB, operation func(context.Context, Q, ...ogent.RequestOption) (R, error), q Q, options ...ogent.RequestOption) R {
	t.Helper()
	r, err := operation(t.Context(), q, options...)
	if err != nil {
		t.Fatalf("%T: %v", q, err)
	}
	return r
}

// Refused fails the test unless err is this error of the API; params, if given, are
// exactly the offending fields.
func Refused(t testing.TB, err error, status int, code string, params ...string) ogent.ErrorError {
	t.Helper()
	var refused *ogent.ErrorStatusCode
	if !errors.As(err, &refused) {
		t.Fatalf("%v, want %d %s", err, status, code)
	}
	if refused.StatusCode != status || refused.Response.Error.Code != code {
		t.Fatalf("%v, want %d %s", err, status, code)
	}
	if len(params) > 0 {
		var names []string
		for name := range refused.Response.Error.Params.Value {
			names = append(names, name)
		}
		slices.Sort(names)
		slices.Sort(params)
		if !slices.Equal(names, params) {
			t.Fatalf("params %v, want %v: %v", names, params, err)
		}
	}
	return refused.Response.Error
}

// Status is the status of a response whose error is err: 200 for each success.
func Status(t testing.TB, err error) int {
	t.Helper()
	var refused *ogent.ErrorStatusCode
	switch {
	case err == nil:
		return http.StatusOK
	case errors.As(err, &refused):
		return refused.StatusCode
	}
	t.Fatal(err)
	return 0
}

// ETag keeps the entity tag of a response in tag.
func ETag(tag *string) ogent.RequestOption {
	return ogent.WithEditResponse(func(r *http.Response) error {
		*tag = r.Header.Get("ETag")
		return nil
	})
}

// IfMatch makes a write conditional on an entity tag.
func IfMatch(tag string) ogent.RequestOption {
	return ogent.WithEditRequest(func(r *http.Request) error {
		r.Header.Set("If-Match", tag)
		return nil
	})
}

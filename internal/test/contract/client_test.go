package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"chairside/internal/test/harness"
	"chairside/ogent"
)

// replay is an HTTP client that answers every request with the same response.
type replay struct{ *harness.Response }

// Do returns the response.
func (r replay) Do(q *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: r.Code, Header: r.Header, Body: io.NopCloser(bytes.NewReader(r.Raw)), Request: q}, nil
}

// checkDecoding checks that the generated client decodes a response, errors included, and
// loses nothing: encoded again, the result is the same JSON.
func checkDecoding(t testing.TB, op operation, r *harness.Response) {
	t.Helper()
	if op.ID == "" || r.Code == http.StatusNotModified || r.Code < 300 && len(r.Raw) == 0 && r.Code != http.StatusNoContent || r.Code > 399 && len(r.Raw) == 0 {
		return // the client knows no other paths, sends no conditional request, and no HEAD
	}
	client, err := ogent.NewClient("http://server.test", ogent.WithClient(replay{r}))
	if err != nil {
		t.Fatal(err)
	}
	id := op.ID
	if op.Method == http.MethodPut { // it sends PATCH
		id = "update" + strings.TrimPrefix(id, "put")
	}
	method := reflect.ValueOf(client).MethodByName(strings.ToUpper(id[:1]) + id[1:])
	if !method.IsValid() {
		if op.ID != "getRateLimit" { // is not an operation of ogen's
			t.Errorf("the client has no %s", id)
		}
		return
	}
	args := []reflect.Value{reflect.ValueOf(t.Context())}
	for i := 1; i < method.Type().NumIn()-1; i++ { // the last are options
		if in := method.Type().In(i); in.Kind() == reflect.Pointer {
			args = append(args, reflect.New(in.Elem()))
		} else {
			args = append(args, reflect.Zero(in))
		}
	}
	results := method.Call(args)
	err, _ = results[len(results)-1].Interface().(error)
	var decoded json.Marshaler
	var refused *ogent.ErrorStatusCode
	switch {
	case errors.As(err, &refused):
		decoded = &refused.Response
	case err != nil:
		t.Errorf("%s: the client cannot decode %s: %v", op, r.Raw, err)
		return
	case len(results) == 1:
		return // there is no body
	default:
		decoded, _ = results[0].Interface().(json.Marshaler)
	}
	again, err := decoded.MarshalJSON()
	if err != nil {
		t.Errorf("%s: %v", op, err)
		return
	}
	if bytes.Equal(again, bytes.TrimSpace(r.Raw)) {
		return
	}
	var members map[string]any
	d := json.NewDecoder(bytes.NewReader(again))
	d.UseNumber()
	if err := d.Decode(&members); err != nil || !reflect.DeepEqual(members, r.JSON) {
		t.Errorf("%s: the client decodes\n%sas\n%s", op, r.Raw, again)
	}
}

package server

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"chairside/internal/write/etag"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

func TestResponsesHaveETags(t *testing.T) {
	t.Parallel()
	b := setup(t)
	fee := "/fees/" + b.firstFee()
	read := b.get(fee).ok(t, 200)
	tag := read.Header.Get("ETag")
	if tag != etag.Of([]byte(read.body)) {
		t.Errorf("ETag is %s", tag)
	}
	for header, status := range map[string]int{tag: 304, "W/" + tag: 304, "*": 304, `"x", ` + tag: 304, `"x"`: 200} {
		if a := b.get(fee, "If-None-Match: "+header).ok(t, status); status == 304 && (a.body != "" || a.Header.Get("ETag") != tag || a.Header.Get("Content-Type") != "") {
			t.Errorf("304 has body %q, tag %s, type %q", a.body, a.Header.Get("ETag"), a.Header.Get("Content-Type"))
		}
	}

	b.do("PATCH", fee, `{"fee":{"price_one":"99.00"}}`, `If-Match: "other"`).refused(t, 412, "version_mismatch")
	b.do("PATCH", fee, `{"fee":{"price_one":"99.00"}}`, "If-Match: W/"+tag).refused(t, 412, "version_mismatch")
	written := b.do("PATCH", fee, `{"fee":{"price_one":"99.00"}}`, "If-Match: "+tag, "If-None-Match: *").ok(t, 200)
	next := b.get(fee).ok(t, 200)
	if written.Header.Get("ETag") != next.Header.Get("ETag") || written.Header.Get("ETag") == tag || written.body != next.body {
		t.Error("a write and the next read have different tags")
	}
	b.do("PATCH", fee, `{"fee":{"price_one":"1.00"}}`, "If-Match: "+tag).refused(t, 412, "version_mismatch")
	if got := b.get("/patients/9").Header.Get("ETag"); got != "" {
		t.Errorf("an error has tag %s", got)
	}
}

func TestHeadIsGetWithoutBody(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, path := range []string{"/practice", "/sites?per_page=1", "/rate_limit", "/patients/9", "/nothing", "/openapi.json", "/static/avatar.svg", "/healthz"} {
		get, head := b.get(path, "X-Request-Id: same"), b.do(http.MethodHead, path, "", "X-Request-Id: same")
		if head.StatusCode != get.StatusCode {
			t.Errorf("%s: %d, %d", path, get.StatusCode, head.StatusCode)
		}
		for _, header := range []string{"Content-Type", "ETag", "Cache-Control", "X-OAuth-Scopes"} {
			if get.Header.Get(header) != head.Header.Get(header) {
				t.Errorf("%s: %s is %q, %q", path, header, get.Header.Get(header), head.Header.Get(header))
			}
		}
		if path == "/healthz" { // net/http sets its length
			continue
		}
		if head.body != "" || head.Header.Get("Content-Length") != strconv.Itoa(len(get.body)) {
			t.Errorf("%s: HEAD has %d bytes, Content-Length %s for %d", path, len(head.body), head.Header.Get("Content-Length"), len(get.body))
		}
	}
	a := b.do(http.MethodHead, "/practice", "", "If-None-Match: "+b.get("/practice").Header.Get("ETag"))
	a.ok(t, 304)
}

// disconnected is a client that disconnected while HTTP/2 still held the written bytes.
type disconnected struct {
	*httptest.ResponseRecorder
	held []byte
}

func (d *disconnected) Write(b []byte) (int, error) {
	d.held = b
	return 0, errors.New("the stream was reset")
}

// TestUnsentBodyIsNotReused checks that a body which may still be sent is not overwritten by
// the next response, which may be another practice's.
func TestUnsentBodyIsNotReused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/practice", nil)
	r.Header.Set("User-Agent", "test/1.0")
	r.Header.Set("Authorization", "Bearer "+b.token)
	w := &disconnected{ResponseRecorder: httptest.NewRecorder()}
	b.Handler().ServeHTTP(w, r)
	held := string(w.held)
	if held == "" {
		t.Fatal("nothing was written")
	}
	for range 50 {
		b.get("/payment_plans").ok(t, 200)
	}
	if string(w.held) != held {
		t.Errorf("the unsent body was overwritten with %s", w.held)
	}
}

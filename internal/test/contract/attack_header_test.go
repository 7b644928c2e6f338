package contract

import (
	"net/http"
	"strings"
	"testing"

	"chairside/internal/test/harness"
)

func TestBodiesMustBeJSON(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		for _, op := range operations() {
			if op.Body == nil || op.Method == http.MethodPost {
				continue
			}
			for declared, ok := range map[string]bool{
				"application/json": true, "application/json; charset=utf-8": true, "application/json;charset=UTF-8": true, "Application/JSON": true,
				`application/json; charset="utf-8"`: true, "application/json; odata=verbose": true,
				"": false, "text/plain": false, "text/json": false, "application/x-www-form-urlencoded": false, "multipart/form-data; boundary=x": false,
				"application/json; charset=utf-16": false, "application/json; charset=iso-8859-1": false, "application/xml": false,
				"application/json, text/plain": false, "json": false, ";": false, "application/": false, "*/*": false, "application/json;;;": false, strings.Repeat("a", 8000): false,
			} {
				q := w.request(op, 0)
				q.Token, q.Header = token, map[string]string{"Content-Type": declared}
				r := send(t, e, op, q)
				if !ok {
					r.Error(t, http.StatusUnsupportedMediaType, "unsupported_media_type")
				} else if r.Code != op.Success {
					t.Errorf("%s: Content-Type %q: status %d: %s", op, declared, r.Code, r.Raw)
				}
			}
			for _, encoding := range []string{"gzip", "br", "deflate", "identity, gzip", "x"} {
				q := w.request(op, 0)
				q.Token, q.Header = token, map[string]string{"Content-Encoding": encoding}
				send(t, e, op, q).Error(t, http.StatusUnsupportedMediaType, "unsupported_media_type")
			}
		}
	})
}

func TestResponsesAreOnlyJSON(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		for _, op := range operations() {
			if op.writes() {
				continue
			}
			for accept, ok := range map[string]bool{
				"": true, "*/*": true, "application/json": true, "application/*": true, "APPLICATION/JSON": true, "application/json; charset=utf-8": true,
				"text/html, application/json;q=0.1": true, "text/html, */*;q=0.8": true, "text/html;q=1, application/json;q=0.001": true,
				"text/html": false, "text/*": false, "application/xml": false, "application/json;q=0": false, "*/*;q=0": false, "application/json;q=0, */*": false,
				"garbage": false, ";": true, ",,,": true, strings.Repeat("text/html,", 500): false,
			} {
				q := w.request(op, 0)
				q.Token, q.Header = token, map[string]string{"Accept": accept}
				r := send(t, e, op, q)
				if ok && r.Code != http.StatusOK {
					t.Errorf("%s: Accept %.60q: status %d", op, accept, r.Code)
				}
				if !ok && accept != "garbage" {
					r.Error(t, http.StatusNotAcceptable, "not_acceptable")
				}
			}
		}
	})
}

// TestStrangeHeaders: no header value makes the server fail.
func TestStrangeHeaders(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		values := []string{"\"", ",", ",,,", "*", "**", "W/", `W/"`, `"a" "b"`, "é", "=", ";", ";;=", "\t", strings.Repeat(",", 20_000), strings.Repeat(`"x",`, 5000), strings.Repeat("a", 40_000), "handling=strict;;;", "handling==strict", "-1", "0", "NaN", "bytes=0-10"}
		for _, id := range []string{"listPatients", "getAppointment", "updateFee", "getRateLimit"} { // headers are checked before the operation
			op := find(t, id)
			for _, header := range []string{"If-Match", "If-None-Match", "If-Modified-Since", "Prefer", "Idempotency-Key", "Range", "Expect", "X-Request-Id", "X-Forwarded-For", "X-Forwarded-Proto", "X-HTTP-Method-Override", "Origin", "Cookie", "Te", "Accept-Encoding", "Accept-Language", "User-Agent", "Forwarded"} {
				for _, value := range values {
					if header == "Expect" || header == "User-Agent" && value == "\t" {
						continue
					}
					q := w.request(op, 0)
					q.Token, q.Header = token, map[string]string{header: value}
					r := send(t, e, op, q)
					switch {
					case r.Code == http.StatusOK, r.Code == http.StatusNotModified, r.Code == http.StatusPreconditionFailed:
					case r.Code == http.StatusBadRequest && header == "Idempotency-Key" && op.writes():
					default:
						t.Errorf("%s: %s %.40q: status %d: %.300s", op, header, value, r.Code, r.Raw)
					}
					for name := range r.Header {
						if strings.HasPrefix(name, "X-Injected") {
							t.Errorf("%s: a header was injected", op)
						}
					}
				}
			}
		}
	})
}

// TestMethodOverridesAreIgnored: a GET stays a GET.
func TestMethodOverridesAreIgnored(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		before := dump(t, e, w.practice)
		for _, op := range operations() {
			if !op.one() {
				continue
			}
			q := w.request(op, 0)
			q.Method, q.Token, q.Body = http.MethodGet, token, nil
			q.Path += "?_method=DELETE"
			q.Header = map[string]string{"X-HTTP-Method-Override": "DELETE", "X-Method-Override": "DELETE"}
			send(t, e, operation{}, q).Status(t, http.StatusOK)
		}
		compare(t, before, dump(t, e, w.practice))
	})
}

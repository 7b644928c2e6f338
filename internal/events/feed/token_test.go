package feed_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"chairside/internal/store/storetest"
	"chairside/internal/test/harness"
)

// revoke ends all tokens, by another process, and waits until this one knows.
func revoke(t *testing.T, e *harness.Env) {
	t.Helper()
	storetest.Exec(t, e.DB, "UPDATE access_tokens SET revoked_at = created_at")
	time.Sleep(1100 * time.Millisecond)
}

// waitDuring waits for a change with query and bearer from the end of the feed. Meanwhile it calls act, and then changes a
// patient.
func waitDuring(t *testing.T, e *harness.Env, token, query, bearer string, act func()) *harness.Response {
	t.Helper()
	cursor, waited := end(t, e, token), make(chan *harness.Response)
	go func() {
		waited <- e.Get(t, "/v1/changes?wait=30&cursor="+url.QueryEscape(cursor)+query, bearer)
	}()
	time.Sleep(300 * time.Millisecond) // until it waits; a slower request proves less
	act()
	storetest.Exec(t, e.DB, "UPDATE patients SET middle_name = 'x' WHERE id = (SELECT min(id) FROM patients)")
	return <-waited
}

// TestRevokedTokenEndsAWait: nothing is read for a token that has been revoked meanwhile.
func TestRevokedTokenEndsAWait(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		waitDuring(t, e, token, "&include=record", token, func() { revoke(t, e) }).Error(t, 401, "invalid_token")
	})
}

// TestTokenInTheQuery works for requests that check the token again.
func TestTokenInTheQuery(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		waited := waitDuring(t, e, token, "&access_token="+token, "", func() {})
		if n := len(waited.Status(t, 200).Column(t, "changes", "id")); n != 1 {
			t.Errorf("%d changes", n)
		}
		if text := e.Get(t, "/v1/snapshot?resources=sites&access_token="+token, "").Status(t, 200).Raw; !bytes.Contains(text, []byte(`"end":true`)) {
			t.Errorf("the snapshot is cut off: %s", text)
		}
	})
}

// revoking is a response whose first part revokes the token.
type revoking struct {
	*httptest.ResponseRecorder
	revoke func()
}

func (r *revoking) Write(part []byte) (int, error) {
	if r.revoke != nil {
		r.revoke()
		r.revoke = nil
	}
	return r.ResponseRecorder.Write(part)
}

// TestRevokedTokenEndsASnapshot before its next page.
func TestRevokedTokenEndsASnapshot(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/snapshot?resources=patients", nil)
		r.Header.Set("Authorization", "Bearer "+e.Token(t, ""))
		r.Header.Set("User-Agent", "test/1.0")
		w := &revoking{httptest.NewRecorder(), func() { revoke(t, e) }}
		func() {
			defer func() {
				if reason := recover(); reason != http.ErrAbortHandler {
					t.Errorf("the snapshot was not cut off: %v", reason)
				}
			}()
			e.Server.Handler().ServeHTTP(w, r)
		}()
		if text := w.Body.String(); !strings.Contains(text, `"cursor"`) || strings.Contains(text, `"record"`) {
			t.Errorf("sent %.300s", text)
		}
	})
}

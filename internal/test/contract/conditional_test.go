package contract

import (
	"net/http"
	"testing"

	"chairside/internal/test/harness"
)

// otherTags match no record.
var otherTags = []string{`"other"`, `W/"other"`, `other`, `"`, `""`, `"a", "b"`, `,,,`, `"unclosed`, "\t\"x\"\t"}

func TestIfNoneMatchAnswers304(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		for _, op := range operations() {
			if op.writes() {
				continue
			}
			for _, method := range []string{http.MethodGet, http.MethodHead} {
				q := w.request(op, 0)
				q.Method, q.Token = method, token
				tag := send(t, e, op, q).Status(t, http.StatusOK).Header.Get("ETag")
				for _, known := range []string{tag, "W/" + tag, "*", `"other", ` + tag, tag + `,"other"`} {
					q.Header = map[string]string{"If-None-Match": known}
					r := send(t, e, op, q).Status(t, http.StatusNotModified)
					if got := r.Header.Get("ETag"); got != tag {
						t.Errorf("%s: ETag of 304 is %q, want %q", op, got, tag)
					}
					if r.Header.Get("X-OAuth-Scopes") == "" {
						t.Errorf("%s: 304 without X-OAuth-Scopes", op)
					}
				}
				for _, other := range otherTags {
					q.Header = map[string]string{"If-None-Match": other}
					send(t, e, op, q).Status(t, http.StatusOK)
				}
			}
		}
	})
}

// TestWritesHonourIfMatch also checks that a write's tag equals that of the next GET.
func TestWritesHonourIfMatch(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		n := 0
		for _, op := range operations() {
			if !op.one() || !op.writes() {
				continue
			}
			n++
			q := w.request(op, n)
			q.Token = token
			current := func() string {
				return e.Get(t, q.Path, token).Status(t, http.StatusOK).Header.Get("ETag")
			}
			stale := current()
			for _, tag := range append([]string{"W/" + stale}, otherTags...) {
				q.Header = map[string]string{"If-Match": tag}
				send(t, e, op, q).Error(t, http.StatusPreconditionFailed, "version_mismatch")
			}
			if got := current(); got != stale {
				t.Errorf("%s: a refused write changed the record", op)
			}
			if op.Method != http.MethodDelete {
				for _, tag := range []string{stale, "*"} {
					e.Clock.Advance(1e9)
					q.Header = map[string]string{"If-Match": tag}
					written := send(t, e, op, q).Status(t, op.Success).Header.Get("ETag")
					if got := current(); got != written {
						t.Errorf("%s: ETag %s, of the next GET %s", op, written, got)
					}
				}
				if current() == stale {
					t.Errorf("%s: the tag is still the same", op)
				}
				q.Header = map[string]string{"If-Match": stale}
				send(t, e, op, q).Error(t, http.StatusPreconditionFailed, "version_mismatch")
				continue
			}
			q.Header = map[string]string{"If-Match": `"other", ` + stale}
			send(t, e, op, q).Status(t, op.Success)
		}
		if n == 0 {
			t.Error("no operation was tested")
		}
	})
}

// TestOrderOfRefusals checks which error a request with several mistakes gets: 401, 415,
// 400, 404, 412 or 422, in this order.
func TestOrderOfRefusals(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		for _, op := range operations() {
			if !op.one() || !op.writes() {
				continue
			}
			q := w.request(op, 0)
			q.Token, q.Header = token, map[string]string{"If-Match": `"other"`}
			if op.Body != nil {
				q.Body = map[string]any{}
			}
			send(t, e, op, q).Error(t, http.StatusPreconditionFailed, "version_mismatch")
			q.Path = op.path(missing(w.ids[op.table()][0]))
			send(t, e, op, q).Error(t, http.StatusNotFound, "not_found")
			if op.Body == nil {
				continue
			}
			q.Body = "{"
			send(t, e, op, q).Error(t, http.StatusBadRequest, "malformed_json")
			q.Header["Content-Type"] = "text/plain"
			send(t, e, op, q).Error(t, http.StatusUnsupportedMediaType, "unsupported_media_type")
			q.Token = ""
			send(t, e, op, q).Error(t, http.StatusUnauthorized, "missing_token")
		}
	})
}

func TestNewRecordsHaveTheTagOfTheNextGet(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		for _, op := range operations() {
			if op.Method != http.MethodPost {
				continue
			}
			q := w.request(op, 0)
			q.Token = token
			r := send(t, e, op, q).Status(t, http.StatusCreated)
			next := e.Get(t, q.Path+"/"+r.Text(t, op.Body.Key+".id"), token).Status(t, http.StatusOK)
			if r.Header.Get("ETag") != next.Header.Get("ETag") {
				t.Errorf("%s:\n%s\n%s", op, r.Raw, next.Raw)
			}
		}
	})
}

// TestTagsAreDeterministic, also for hashes, which have no order.
func TestTagsAreDeterministic(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		for _, op := range operations() {
			if op.Method != http.MethodPost {
				continue
			}
			q := w.request(op, 0)
			q.Token = token
			members := q.Body.(map[string]any)[op.Body.Key].(map[string]any)
			members["metadata"] = map[string]string{"one": "1", "two": "2", "three": "3"}
			r := send(t, e, op, q).Status(t, http.StatusCreated)
			for range 20 {
				again := e.Get(t, q.Path+"/"+r.Text(t, op.Body.Key+".id"), token)
				if again.Header.Get("ETag") != r.Header.Get("ETag") {
					t.Fatalf("%s:\n%s\n%s", op, r.Raw, again.Raw)
				}
			}
		}
	})
}

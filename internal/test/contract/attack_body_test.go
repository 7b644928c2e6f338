package contract

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"entgo.io/ent/dialect"

	"chairside/internal/test/harness"
)

// wrongTypes are JSON values of every type.
var wrongTypes = []string{`null`, `true`, `0`, `-1`, `1.5`, `1e999`, `123456789012345678901234567890`, `""`, `"abc"`, `"\u0000"`, `"\ud800"`, `[]`, `[1]`, `{}`, `{"a": {}}`}

// hostile are extreme values of the correct type, and values that a program might accept
// as that type.
var hostile = []string{
	`false`, `-0`, `1`, `1e3`, `-1e999`, `1E-999`, `0.001`, `12.345`,
	`2147483648`, `9223372036854775807`, `9223372036854775808`, `-9223372036854775809`, `92233720368547758.07`, `92233720368547758.08`,
	`" "`, `"\t\n"`, `"0"`, `"-1"`, `"1.5"`, `"1e3"`, `"NaN"`, `"Infinity"`, `"null"`, `"true"`, `"TRUE"`, `"0x10"`, `"1_000"`, `"+5"`, `" 5 "`, `"٣"`, `"9999999999999999999"`,
	`[[[]]]`, `{"a": 1}`, `{"id": 1}`, `{"a": {"b": {}}}`, `[{"field_id": 1}]`, `[{"field_id": null, "value": {}}]`,
	`"a\u0000b"`, `"\udc00\ud800"`, `"\uffff"`, `"\ufeff"`, `"\u202e\u0301\u0301"`, `"🦷👩‍⚕️"`, `"ﬀ İ ı ẞ"`, `"%_\\%"`, `"'; DROP TABLE patients; --"`, `"<script>alert(1)</script>"`, `"${jndi:ldap://x}"`, `"{{7*7}}"`, `"\r\nX-Injected: 1"`,
	`"2026-02-30"`, `"0000-00-00"`, `"9999-12-31"`, `"10000-01-01"`, `"-0001-01-01"`, `"2026-13-01T25:61:61Z"`, `"2026-07-01T09:30:00+99:99"`, `"0001-01-01T00:00:00Z"`, `"9999-12-31T23:59:59.999999999Z"`, `"2026-03-29T01:30:00"`, `"2026-10-25T01:30:00"`,
	`"00000000-0000-0000-0000-000000000000"`, `"{0198f2a4-c1d0-7b3e-9a51-3f6f0c9d2e10}"`, `"0198f2a4c1d07b3e9a513f6f0c9d2e10"`, `"urn:uuid:0198f2a4-c1d0-7b3e-9a51-3f6f0c9d2e10"`,
	`{"` + strings.Repeat("k", 41) + `": "v"}`, `{"k": "` + strings.Repeat("v", 501) + `"}`, `{"a": "1", "b": "2", "c": "3", "d": "4"}`, `{"": "v"}`, `{"a": "\u0000"}`, `{"\u0000": "a"}`, `{"a": null}`, `{"a": [1]}`, `{"a": 1e999}`,
	`"` + strings.Repeat("x", 100_000) + `"`, `"` + strings.Repeat("🦷", 255) + `"`, `"` + strings.Repeat("🦷", 256) + `"`, `"` + strings.Repeat("ﷺ", 65_535) + `"`,
	strings.Repeat("[", 5000) + strings.Repeat("]", 5000), strings.Repeat(`{"a":`, 5000) + `1` + strings.Repeat("}", 5000),
}

// with returns a valid JSON body with one member's value replaced.
func with(t testing.TB, w *world, op operation, member, value string) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, `{%q: {`, op.Body.Key)
	for _, f := range op.Body.Fields {
		if f.Name == member {
			continue
		}
		text, err := json.Marshal(w.value(f))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, `%q: %s, `, f.Name, text)
	}
	fmt.Fprintf(&b, `%q: %s}}`, member, value)
	return b.String()
}

// everySecond returns the values at odd positions, or those at even ones.
func everySecond(values []string, odd bool) (half []string) {
	for i, v := range values {
		if (i%2 == 1) == odd {
			half = append(half, v)
		}
	}
	return half
}

// TestHostileMembers sends values of every type for every member of every body, half of them on
// each database, and all hostile values for the first member of each kind on both. The value is
// accepted, or the response names the member; send checks the rest.
func TestHostileMembers(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		seen := map[string]bool{}
		for _, op := range operations() {
			if op.Body == nil || op.Method == http.MethodPut {
				continue
			}
			for _, f := range op.Body.Fields {
				values := everySecond(wrongTypes, e.DB.Dialect == dialect.Postgres)
				if like := fmt.Sprint(op.Method, f.Kind, f.Required, f.Nullable, f.MaxRunes); !seen[like] {
					seen[like], values = true, slices.Concat(wrongTypes, hostile)
				}
				for _, value := range values {
					q := w.request(op, 0)
					q.Token, q.Body = token, with(t, w, op, f.Name, value)
					r := send(t, e, op, q)
					switch {
					case r.Code == op.Success, r.Code == http.StatusBadRequest:
					case r.Code == http.StatusConflict && (f.Name == "force_changes" || op.Body.Key == "hold"):
					case r.Code == http.StatusUnprocessableEntity:
						params, _ := r.At(t, "error.params").(map[string]any)
						for name := range params {
							if name != f.Name && !(strings.HasSuffix(f.Name, "_time") && name == "finish_time") {
								t.Errorf("%s: %s = %.60s is blamed on %s: %v", op, f.Name, value, name, params[name])
							}
						}
					default:
						t.Errorf("%s: %s = %.60s: status %d: %.300s", op, f.Name, value, r.Code, r.Raw)
					}
				}
			}
		}
	})
}

// TestAcceptedTextIsReturnedUnchanged on both databases.
func TestAcceptedTextIsReturnedUnchanged(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		texts := []string{
			"plain", " leading and trailing ", "two\nlines\r\n", "tab\t", "Ünïcödé", "é", "🦷👩‍⚕️", "\u202eright to left", "%_\\", "'\"`", "<&>", "{{x}}", "a\\u0000b",
			"a\u2028b", "\ufeff", "\uffff", "ﬀ", "İı", "\x7f", "\x1b[31m", strings.Repeat("ﷺ", 255),
		}
		for _, op := range operations() {
			if op.Body == nil || op.Method == http.MethodPut {
				continue
			}
			for _, f := range op.Body.Fields {
				if !isFreeText(f) {
					continue
				}
				for _, want := range texts {
					q := w.request(op, 0)
					q.Token = token
					q.Body.(map[string]any)[op.Body.Key].(map[string]any)[f.Name] = want
					if got := send(t, e, op, q).Status(t, op.Success).Text(t, op.Body.Key+"."+f.Name); got != want {
						t.Errorf("%s: %s %q came back as %q", op, f.Name, want, got)
					}
				}
			}
		}
	})
}

// TestHostileBodies sends bodies that fit no operation.
func TestHostileBodies(t *testing.T) {
	const half = 1 << 19
	bodies := map[string]struct {
		body   func(key string) string
		status int
	}{
		"empty":               {func(string) string { return "" }, 400},
		"blank":               {func(string) string { return " \n\t" }, 400},
		"text":                {func(string) string { return "hello" }, 400},
		"cut short":           {func(k string) string { return `{"` + k + `": {` }, 400},
		"two values":          {func(k string) string { return `{"` + k + `": {}} {}` }, 400},
		"garbage after":       {func(k string) string { return `{"` + k + `": {}}x` }, 400},
		"trailing comma":      {func(k string) string { return `{"` + k + `": {},}` }, 400},
		"comment":             {func(k string) string { return `{/**/"` + k + `": {}}` }, 400},
		"single quotes":       {func(k string) string { return `{'` + k + `': {}}` }, 400},
		"NaN":                 {func(k string) string { return `{"` + k + `": NaN}` }, 400},
		"invalid UTF-8":       {func(k string) string { return "{\"" + k + "\": {\"notes\": \"\xff\xfe\"}}" }, 400},
		"overlong UTF-8":      {func(k string) string { return "{\"" + k + "\": {\"notes\": \"\xc0\x80\"}}" }, 400},
		"encoded surrogate":   {func(k string) string { return "{\"" + k + "\": {\"notes\": \"\xed\xa0\x80\"}}" }, 400},
		"UTF-16":              {func(string) string { return "\xff\xfe{\x00}\x00" }, 400},
		"byte order mark":     {func(k string) string { return "\xef\xbb\xbf{\"" + k + "\": {}}" }, 400},
		"control character":   {func(k string) string { return "{\"" + k + "\": {\"notes\": \"a\x01b\"}}" }, 400},
		"deep":                {func(string) string { return strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) }, 400},
		"deeper":              {func(string) string { return strings.Repeat(`{"a":`, half/5) }, 400},
		"null":                {func(string) string { return "null" }, 422},
		"true":                {func(string) string { return "true" }, 422},
		"number":              {func(string) string { return "1e999" }, 422},
		"string":              {func(k string) string { return `"` + k + `"` }, 422},
		"array":               {func(k string) string { return `[{"` + k + `": {}}]` }, 422},
		"no wrapper":          {func(string) string { return `{}` }, 422},
		"other wrapper":       {func(string) string { return `{"other": {}}` }, 422},
		"wrapper in capitals": {func(k string) string { return `{"` + strings.ToUpper(k) + `": {}}` }, 422},
		"wrapper is null":     {func(k string) string { return `{"` + k + `": null}` }, 422},
		"wrapper is array":    {func(k string) string { return `{"` + k + `": []}` }, 422},
		"wrapper is text":     {func(k string) string { return `{"` + k + `": "x"}` }, 422},
		"one byte too many":   {func(k string) string { return `{"` + k + `": {}}` + strings.Repeat(" ", 1<<20) }, 413},
	}
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w := loadWorld(t, e, "demo")
		for name, c := range bodies {
			t.Run(name, func(t *testing.T) {
				token := e.Token(t, "")
				for _, op := range operations() {
					if op.Body == nil {
						continue
					}
					q := w.request(op, 0)
					q.Token, q.Body = token, c.body(op.Body.Key)
					r := send(t, e, op, q).Status(t, c.status)
					if c.status == 422 {
						r.Error(t, 422, "validation_failed", op.Body.Key)
					}
				}
			})
		}
	})
}

// TestLargestBody: exactly 1 MiB is accepted.
func TestLargestBody(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		op := find(t, "updateFee")
		q := w.request(op, 0)
		body := `{"fee": {}}`
		q.Token, q.Body = token, body+strings.Repeat(" ", 1<<20-len(body))
		send(t, e, op, q).Status(t, http.StatusOK)
	})
}

// TestDuplicateMembers: the last one counts, as is usual in JSON, and the check and the
// write see the same one.
func TestDuplicateMembers(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		op := find(t, "updatePatient")
		q := w.request(op, 0)
		q.Token, q.Body = token, `{"patient": {"first_name": "One"}, "patient": {"first_name": "Two", "first_name": "Three", "FIRST_NAME": "Four"}}`
		if got := send(t, e, op, q).Status(t, http.StatusOK).Text(t, "patient.first_name"); got != "Three" {
			t.Errorf("first_name is %q", got)
		}
		q.Body = `{"patient": {"first_name": "One", "first_name": 1, "first_name": null}}`
		send(t, e, op, q).Error(t, http.StatusUnprocessableEntity, "validation_failed", "first_name")
	})
}

// TestReadOnlyMembersAreIgnored sends every member of a response back.
func TestReadOnlyMembersAreIgnored(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		foreign := loadWorld(t, e, "second")
		for _, op := range operations() {
			if op.Body == nil || !op.one() {
				continue
			}
			q := w.request(op, 3)
			q.Token = token
			before := e.Get(t, q.Path, token).Status(t, http.StatusOK)
			members := map[string]any{
				"id": 987654321, "practice_id": foreign.practice, "created_at": "2000-01-01T00:00:00Z", "updated_at": "2000-01-01T00:00:00Z",
				"account_id": 1, "image_url": "x", "home_phone_normalized": "x", "duration": 999, "patient_name": "x", "booked_via_api": true, "user_id": 1,
				"search_text": "x", "last_name_folded": "x", "cancelled_at": "2000-01-01T00:00:00Z", "treatment_description": "x", "room_id": foreign.ids["rooms"][0],
				"treatment_id": 1, "__proto__": map[string]any{"active": false}, "unknown": 1,
			}
			if op.Body.Key == "fee" {
				members["payment_plan_id"] = foreign.ids["payment_plans"][0]
			}
			if op.Body.Key == "waiting_list" {
				delete(members, "duration") // which clients write
			}
			q.Body = map[string]any{op.Body.Key: members}
			checkSame(t, op.String(), before, send(t, e, op, q).Status(t, http.StatusOK))

			// Sending a response back unchanged changes nothing.
			q.Body = string(before.Raw)
			checkSame(t, op.String()+" of what was read", before, send(t, e, op, q).Status(t, http.StatusOK))
		}
	})
}

// TestBodiesOfUnknownLength: a chunked body is measured while it arrives.
func TestBodiesOfUnknownLength(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		op := find(t, "updateFee")
		for padding, want := range map[int]int{0: http.StatusOK, 1 << 20: http.StatusRequestEntityTooLarge, 8 << 20: http.StatusRequestEntityTooLarge} {
			body := io.MultiReader(strings.NewReader(`{"fee": {"duration_one": 30}}`), io.LimitReader(blanks{}, int64(padding)))
			r, err := http.NewRequestWithContext(t.Context(), op.Method, e.URL+w.request(op, 0).Path, body)
			if err != nil {
				t.Fatal(err)
			}
			r.Header = http.Header{"Authorization": {"Bearer " + token}, "User-Agent": {"test"}, "Content-Type": {"application/json"}}
			response, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			if response.StatusCode != want {
				t.Errorf("%d bytes too many: status %d, want %d", padding, response.StatusCode, want)
			}
		}
	})
}

// blanks is an endless reader of blanks.
type blanks struct{}

func (blanks) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

package server

import (
	"encoding/json"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
)

// firstFee returns the id of a fee of the practice.
func (b *bundle) firstFee() string {
	b.t.Helper()
	var list struct{ Fees []struct{ ID string } }
	a := b.get("/fees?per_page=1&payment_plan_id="+itoa(b.opened.PrivatePlan)).ok(b.t, 200)
	if err := json.Unmarshal([]byte(a.body), &list); err != nil || len(list.Fees) == 0 {
		b.t.Fatalf("%v in %s", err, a.body)
	}
	return list.Fees[0].ID
}

func TestBodyNeedsJSONMediaType(t *testing.T) {
	t.Parallel()
	b := setup(t)
	fee := "/fees/" + b.firstFee()
	for _, test := range []struct {
		headers []string
		ok      bool
	}{
		{[]string{"Content-Type: application/json"}, true},
		{[]string{"Content-Type: Application/JSON; charset=UTF-8"}, true},
		{[]string{"Content-Type: application/json", "Content-Encoding: identity"}, true},
		{[]string{"Content-Type: application/json; charset=latin1"}, false},
		{[]string{"Content-Type: application/json", "Content-Encoding: gzip"}, false},
		{[]string{"Content-Type: application/merge-patch+json"}, false},
		{[]string{"Content-Type: application/x-www-form-urlencoded"}, false},
		{[]string{"Content-Type: json"}, false},
		{[]string{"Content-Type: ;;"}, false},
		{[]string{"Content-Type:"}, false},
	} {
		a := b.do("PATCH", fee, `{"fee":{"price_one":"1.00"}}`, test.headers...)
		if test.ok {
			a.ok(t, 200)
		} else {
			a.refused(t, 415, "unsupported_media_type")
		}
	}
	b.do("PATCH", fee, "", "Content-Type:").refused(t, 400, "malformed_json")
}

func TestBodySizeIsLimited(t *testing.T) {
	t.Parallel()
	b := setup(t)
	fee := "/fees/" + b.firstFee()
	fits := `{"fee":{"price_one":"1.00"}}`
	fits += strings.Repeat(" ", maxBody-len(fits))
	b.do("PATCH", fee, fits).ok(t, 200)
	b.do("PATCH", fee, fits+" ").refused(t, 413, "body_too_large")

	// Without Content-Length, the size is known only when the body is read.
	r := httptest.NewRequestWithContext(t.Context(), "PATCH", fee, io.MultiReader(strings.NewReader(fits), strings.NewReader("  ")))
	r.Header.Set("User-Agent", "test")
	r.Header.Set("Authorization", "Bearer "+b.token)
	r.Header.Set("Content-Type", "application/json")
	r.ContentLength = -1
	w := httptest.NewRecorder()
	b.Handler().ServeHTTP(w, r)
	result{w.Result(), w.Body.String()}.refused(t, 413, "body_too_large")
}

func TestMalformedJSONIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, body := range []string{`{`, `{"fee":{}} x`, "{\"fee\":\"\xff\"}", `{'fee':{}}`, strings.Repeat("[", 20000)} {
		b.do("PATCH", "/fees/01934c04-c000-7000-a2f6-00114deeb39f", body).refused(t, 400, "malformed_json")
	}
}

func TestMissingRecordComesBeforeInvalidFields(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const bad = `{"fee":{"price_one":"dear","duration_one":-1,"multiple_pricing":"no idea"}}`
	b.do("PATCH", "/fees/01934c04-c000-7000-a2f6-00114deeb39f", bad).refused(t, 404, "not_found")
	a := b.do("PATCH", "/fees/"+b.firstFee(), bad)
	a.refused(t, 422, "validation_failed")
	if got := a.errorOf(t).Params; len(got) != 3 {
		t.Errorf("params are %v", got)
	}
	a = b.do("PATCH", "/fees/"+b.firstFee(), `{"price_one":"1.00"}`)
	a.refused(t, 422, "validation_failed")
	if got := a.errorOf(t).Params["fee"]; len(got) != 1 || got[0] != "is missing" {
		t.Errorf("params of fee are %v", got)
	}
}

package contract

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"chairside/internal/codec"
	"chairside/internal/test/harness"
)

// hostileValues are unescaped values for any query parameter.
var hostileValues = []string{
	"", " ", "0", "-1", "1", "+1", "1.5", "1e3", "01", "0x1", "abc", "null", "undefined", "NaN", "true", "TRUE", "yes", "[]", "{}", "1,2", ",", ",,,", "*",
	"2147483648", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "99999999999999999999999999", strings.Repeat("9", 400),
	"%", "_", "\\", "%%%___\\\\", "'", "''", "\"", "' OR '1'='1", "1; DROP TABLE patients", "1) UNION SELECT 1--", "/*", "${7*7}", "a\r\nX-Injected: 1",
	"2026-02-30", "0000-00-00", "9999-12-31", "10000-01-01", "2026-07-01", "2026-07-01T09:30:00 01:00", "2026-07-01T09:30:00+01:00", "0001-01-01T00:00:00Z", "9998-12-31T23:59:59-14:00", "1000-01-01", "2026-03-29T01:30:00", "now", "yesterday",
	"00000000-0000-0000-0000-000000000000", "0198f2a4c1d07b3e9a513f6f0c9d2e10", "urn:uuid:0198f2a4-c1d0-7b3e-9a51-3f6f0c9d2e10",
	"id", "id desc", "created_at", "(SELECT 1)", "asc", "DESC", "Pending", "pending", "\u202e", "🦷", "é", "ﬀİ", "٣", strings.Repeat("x", 10_000), strings.Repeat("é ", 2_000),
}

// hostileEscaped are values that no escaping produces.
var hostileEscaped = []string{"%", "%z", "%zz", "%0", "%00", "a%00b", "%ff", "%c0%80", "%ed%a0%80", "%F0%9F", "+", "%2", "%u0041", ";", "a;b", "&&&", "=", "=="}

// fewValues are the values for parameters whose name has been tested with all of them.
var fewValues = []string{"", "-1", "9223372036854775808", "abc", "%_\\", "' OR '1'='1", "2026-02-30", "🦷"}

// TestHostileParameters sends hostile values for every parameter of every operation, and
// all of them for the first of each name. The value is accepted, or the response names
// the parameter.
func TestHostileParameters(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		seen := map[string]bool{}
		for _, op := range operations() {
			for _, p := range op.Params {
				values, escaped := fewValues, []string(nil)
				if like := p.Name + " " + string(p.Kind); !seen[like] {
					seen[like], values, escaped = true, hostileValues, hostileEscaped
				}
				for _, value := range values {
					sendHostileParameter(t, e, w, op, token, p, p.Name+"="+url.QueryEscape(value))
				}
				for _, value := range escaped {
					sendHostileParameter(t, e, w, op, token, p, p.Name+"="+value)
				}
				for _, pair := range []string{p.Name, p.Name + "=1&" + p.Name + "=2", p.Name + "[]=1", p.Name + "[0]=1", p.Name + "[a]=1", p.Name + "[=1", p.Name + "]=1", strings.ToUpper(p.Name) + "=1"} {
					sendHostileParameter(t, e, w, op, token, p, pair)
				}
			}
		}
	})
}

// sendHostileParameter adds a pair to a valid query. The server must accept it, or name the
// parameter in a 400.
func sendHostileParameter(t *testing.T, e *harness.Env, w *world, op operation, token string, p codec.Param, pair string) {
	t.Helper()
	q := w.request(op, 0)
	address, query, _ := strings.Cut(q.Path, "?")
	var kept []string
	for _, other := range strings.Split(query, "&") {
		if name, _, _ := strings.Cut(other, "="); other != "" && strings.TrimSuffix(name, "[]") != p.Name {
			kept = append(kept, other)
		}
	}
	q.Token, q.Path = token, address+"?"+strings.Join(append(kept, pair), "&")
	r := send(t, e, op, q)
	switch r.Code {
	case http.StatusOK:
	case http.StatusBadRequest:
		params, _ := r.At(t, "error.params").(map[string]any)
		for name := range params {
			related := name == p.Name || name == "query" && strings.Contains(pair, "%")
			switch op.ID {
			case "listFees": // one of the two is required
				related = related || name == "payment_plan_id" || name == "treatment_id"
			case "listAvailability": // the window as a whole
				related = related || name == "finish_time"
			case "listRotaPractitionerDiaries":
				related = related || name == "before"
			}
			if !related {
				t.Errorf("%s: %.80s is blamed on %s: %v", op, pair, name, params[name])
			}
		}
	default:
		t.Errorf("%s: %.80s: status %d: %.300s", op, pair, r.Code, r.Raw)
	}
}

// TestMalformedParametersAreRefused, and never ignored, for each kind.
func TestMalformedParametersAreRefused(t *testing.T) {
	malformed := map[codec.Kind][]string{
		codec.Integer: {"", "abc", "1.5", "1e3", "1x", "--1"},
		codec.ID:      {"", "abc", "-1", "1.5", "1x", "0198f2a4-c1d0-7b3e-9a51-3f6f0c9d2e10"},
		codec.UUID:    {"", "abc", "1", "0198f2a4-c1d0-7b3e-9a51", "0198f2a4c1d07b3e9a513f6f0c9d2e10"},
		codec.Date:    {"", "abc", "2026-02-30", "2026-7-1", "01/07/2026", "2026-07-01T00:00:00Z"},
		codec.Day:     {"", "abc", "2026-02-30", "2026-7-1", "01/07/2026"},
		codec.Time:    {"", "abc", "2026-02-30", "2026-7-1", "01/07/2026", "2026-07-01T25:00:00Z", "1751358600"},
		codec.Boolean: {"", "abc", "yes", "2", "null", "truee"},
		codec.Enum:    {"", "abc", "ID", "id,id"},
	}
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		for _, op := range operations() {
			for _, p := range op.Params {
				for _, value := range malformed[p.Kind] {
					if p.Array && (value == "" && p.MaxItems == 0 || strings.Contains(value, ",")) {
						continue // the operation reports it as missing, or several values
					}
					q := w.request(op, 0)
					separator := "?"
					if strings.Contains(q.Path, "?") {
						separator = "&"
					}
					q.Token, q.Path = token, q.Path+separator+p.Name+"="+url.QueryEscape(value)
					send(t, e, op, q).Error(t, http.StatusBadRequest, "invalid_parameter", p.Name)
				}
			}
		}
	})
}

// TestPageLimits checks the limits of page and per_page on every list.
func TestPageLimits(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		for _, op := range operations() {
			if !op.lists() {
				continue
			}
			base := w.request(op, 0).Path
			separator := "?"
			if strings.Contains(base, "?") {
				separator = "&"
			}
			most, usual, key := "100", "25", op.table()
			if op.ID == "listAvailability" {
				most, usual, key = "20", "20", "availability"
			}
			ask := func(query string) *harness.Response {
				return send(t, e, op, harness.Request{Method: http.MethodGet, Path: base + separator + query, Token: token})
			}
			if got := ask("").Status(t, http.StatusOK).Text(t, "meta.per_page"); got != usual {
				t.Errorf("%s: per_page is %s, want %s", op, got, usual)
			}
			for _, large := range []string{"101", "1000000", "9223372036854775807", "99999999999999999999"} {
				if got := ask("per_page="+large).Status(t, http.StatusOK).Text(t, "meta.per_page"); got != most {
					t.Errorf("%s: per_page=%s gives %s, want %s", op, large, got, most)
				}
				r := ask("page="+large).Status(t, http.StatusOK)
				if len(r.List(t, key)) != 0 {
					t.Errorf("%s: page %s is not empty", op, large)
				}
				if op.ID != "listAvailability" && r.Text(t, "meta.total") != ask("").Text(t, "meta.total") {
					t.Errorf("%s: page %s has another total", op, large)
				}
			}
			for _, small := range []string{"0", "-1", "-9223372036854775808", "-99999999999999999999"} {
				ask("page="+small).Error(t, http.StatusBadRequest, "invalid_parameter", "page")
				ask("per_page="+small).Error(t, http.StatusBadRequest, "invalid_parameter", "per_page")
			}
		}
	})
}

// TestEveryListOrderIsTotal: every order of every list is total. The pages together hold
// every row once, in both directions.
func TestEveryListOrderIsTotal(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		for _, op := range operations() {
			for _, p := range op.Params {
				if p.Name != "sort_by" {
					continue
				}
				base := w.request(op, 0).Path
				separator := "?"
				if strings.Contains(base, "?") {
					separator = "&"
				}
				for _, key := range p.Values {
					up := pagedIDs(t, e, op, token, base+separator+"sort_by="+key)
					down := pagedIDs(t, e, op, token, base+separator+"sort_by="+key+"&sort_direction=desc")
					if len(up) != len(down) {
						t.Errorf("%s by %s: %d rows up, %d down", op, key, len(up), len(down))
						continue
					}
					seen := map[string]bool{}
					for i := range up {
						if up[i] != down[len(down)-1-i] {
							t.Errorf("%s by %s: down is not the reverse of up at %d", op, key, i)
							break
						}
						if seen[up[i]] {
							t.Errorf("%s by %s: %s is there twice", op, key, up[i])
						}
						seen[up[i]] = true
					}
				}
			}
		}
	})
}

// pagedIDs reads the ids of at most six small pages, and of the rest in one page.
func pagedIDs(t *testing.T, e *harness.Env, op operation, token, path string) (ids []string) {
	t.Helper()
	for page := 1; ; page++ {
		q := harness.Request{Method: http.MethodGet, Path: path + "&per_page=50&page=" + itoa(int64(page)), Token: token}
		r := send(t, e, op, q).Status(t, http.StatusOK)
		ids = append(ids, r.Column(t, op.table(), "id")...)
		if len(r.List(t, op.table())) < 50 {
			return ids
		}
	}
}

// TestManyPractitioners requests as many as fit into a URL.
func TestManyPractitioners(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, token, op := loadWorld(t, e, "demo"), e.Token(t, ""), find(t, "listAvailability")
		base, _, _ := strings.Cut(w.request(op, 0).Path, "practitioner_ids")
		one := send(t, e, op, harness.Request{Method: http.MethodGet, Path: base + "practitioner_ids=" + w.ids["practitioners"][0], Token: token}).Status(t, http.StatusOK)
		again := base + "practitioner_ids=" + strings.Repeat(w.ids["practitioners"][0]+",", 40_000) + w.ids["practitioners"][0]
		checkSame(t, "one practitioner many times", one, send(t, e, op, harness.Request{Method: http.MethodGet, Path: again, Token: token}))

		var many []string
		for id := range int64(20_000) {
			many = append(many, itoa(id))
		}
		q := harness.Request{Method: http.MethodGet, Path: base + "practitioner_ids=" + strings.Join(many, ","), Token: token}
		send(t, e, op, q).Error(t, http.StatusBadRequest, "invalid_parameter", "practitioner_ids")
	})
}

// TestManyParameters sends more parameters than any operation has.
func TestManyParameters(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token, op := e.Token(t, ""), find(t, "listPatients")
		q := harness.Request{Method: http.MethodGet, Path: "/v1/patients?", Token: token}
		for i := range int64(5000) {
			q.Path += "p" + itoa(i) + "&"
		}
		send(t, e, op, q).Status(t, http.StatusOK)
		q.Header = map[string]string{"Prefer": "handling=strict"}
		send(t, e, op, q).Error(t, http.StatusBadRequest, "invalid_parameter")
	})
}

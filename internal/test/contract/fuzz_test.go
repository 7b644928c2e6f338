package contract

import (
	"net/http"
	"strings"
	"testing"

	"chairside/internal/test/harness"
)

// fuzzBody sends any text as the body of an operation. send checks that the response is
// documented and not a 5xx. Limit minimisation, because a database makes coverage vary:
//
//	go test ./internal/test/contract -run NONE -fuzz FuzzCreateAppointment -fuzzminimizetime 5x
func fuzzBody(f *testing.F, id string, seeds ...string) {
	e := harness.Start(f, harness.SQLite(f))
	w, token, op := loadWorld(f, e, "demo"), e.Token(f, ""), find(f, id)
	for _, field := range op.Body.Fields[:3] {
		f.Add(with(f, w, op, field.Name, `null`))
		f.Add(with(f, w, op, field.Name, `"\ud800"`))
	}
	for _, s := range append(seeds, ``, `{}`, `{"`+op.Body.Key+`": {}}`, `{"`+op.Body.Key+`": null}`, `[1e999]`) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		q := w.request(op, 0)
		q.Token, q.Body = token, body
		r := send(t, e, op, q)
		if r.Code != op.Success && r.Code != http.StatusBadRequest && r.Code != http.StatusConflict && r.Code != http.StatusUnprocessableEntity && r.Code != http.StatusRequestEntityTooLarge {
			t.Errorf("status %d: %s", r.Code, r.Raw)
		}
	})
}

func FuzzCreateAppointment(f *testing.F) {
	fuzzBody(f, "createAppointment", `{"appointment": {"start_time": "2026-03-29T01:30:00", "finish_time": "2026-03-29T02:30:00", "practitioner_id": "1", "reason": "Exam", "metadata": {"a": 1e2}}}`)
}

func FuzzUpdateAppointment(f *testing.F) {
	fuzzBody(f, "updateAppointment", `{"appointment": {"state": "Cancelled", "force_changes": "true"}}`, `{"appointment": {"finish_time": "9998-12-31T23:59:59.999+14:00"}}`)
}

func FuzzCreatePatient(f *testing.F) {
	fuzzBody(f, "createPatient", `{"patient": {"custom_fields": [{"field_id": "0198f2a4-c1d0-7b3e-9a51-3f6f0c9d2e10", "value": {"a": []}}]}}`)
}

func FuzzUpdatePatient(f *testing.F) {
	fuzzBody(f, "updatePatient", `{"patient": {"mobile_phone": "+44 (0) 7700 900987 ext. 1", "mobile_phone_country": "gb"}}`, `{"patient": {"marketing": true, "gender": "female"}}`)
}

func FuzzUpdateFee(f *testing.F) {
	fuzzBody(f, "updateFee", `{"fee": {"price_one": 12.5, "price_two": "92233720368547758.07", "duration_one": "30"}}`)
}

// fuzzQuery sends any text as the query of an operation.
func fuzzQuery(f *testing.F, id string, seeds ...string) {
	e := harness.Start(f, harness.SQLite(f))
	w, token, op := loadWorld(f, e, "demo"), e.Token(f, ""), find(f, id)
	_, query, _ := strings.Cut(w.request(op, 0).Path, "?")
	for _, s := range append(seeds, query, "page=2&per_page=3", "page=%00", "sort_by=id&sort_direction=desc", "%zz", "access_token=x", "a[]=1&a[0]=2&&=;") {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, query string) {
		q := w.request(op, 0)
		address, _, _ := strings.Cut(q.Path, "?")
		q.Token, q.Path = token, address+"?"+printable(query)
		if r := send(t, e, op, q); r.Code != http.StatusOK && r.Code != http.StatusBadRequest {
			t.Errorf("status %d: %s", r.Code, r.Raw)
		}
	})
}

// printable escapes what the client library refuses to put on the wire.
func printable(query string) string {
	var b strings.Builder
	for i := range len(query) {
		switch c := query[i]; {
		case c <= ' ' || c >= 0x7f || c == '#':
			const digits = "0123456789abcdef"
			b.WriteString("%" + string(digits[c>>4]) + string(digits[c&15]))
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func FuzzListAppointments(f *testing.F) {
	fuzzQuery(f, "listAppointments", "on=2026-07-01&cancelled=1", "after=2026-07-01T09:30:00 01:00&state=In+surgery", "updated_since=2026-07-01&practitioner_id=99999999999999999999")
}

func FuzzListAvailability(f *testing.F) {
	fuzzQuery(f, "listAvailability", "start_time=2026-07-02&finish_time=2027-07-02&practitioner_ids=1,2&duration=1", "practitioner_ids[]=1&practitioner_ids[1]=,2")
}

func FuzzListPatients(f *testing.F) {
	fuzzQuery(f, "listPatients", "query=o'brien", "query=%25_%5C", "query=+44%207700%20900", "query=a+b+c+d+e+f&active=0")
}

func FuzzListAccounts(f *testing.F) {
	fuzzQuery(f, "listAccounts", "state=debit&as_at=2026-01-01&sort_by=current_balance", "as_at=9998-12-31")
}

func FuzzListFees(f *testing.F) {
	fuzzQuery(f, "listFees", "treatment_id=1&payment_plan_id=1", "treatment_id=")
}

// FuzzPath sends any text as a path.
func FuzzPath(f *testing.F) {
	e := harness.Start(f, harness.SQLite(f))
	token := e.Token(f, "")
	for _, s := range []string{"patients/1", "patients/%31", "accounts/%00", "/patients", "../patients", "fees/0198f2a4-c1d0-7b3e-9a51-3f6f0c9d2e10", "users/current", "v1/user", "%2e%2e/metrics"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, path string) {
		path = strings.ReplaceAll(printable(path), "?", "%3F")
		for i := 0; i < len(path); i++ { // the client library refuses broken escapes
			if path[i] == '%' && (i+2 >= len(path) || !hexadecimal(path[i+1]) || !hexadecimal(path[i+2])) {
				path = path[:i] + "%25" + path[i+1:]
			}
		}
		if r := e.Do(t, harness.Request{Method: http.MethodGet, Path: "/v1/" + path, Token: token}); r.Code >= 500 {
			t.Errorf("/v1/%s: status %d: %s", path, r.Code, r.Raw)
		}
	})
}

func hexadecimal(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

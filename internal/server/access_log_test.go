package server

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestRequestIsLogged(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a := b.get("/v1/patients/471108154711?secret=Archer&access_token="+b.token, "Authorization:", "X-Request-Id: r-1")
	a.refused(t, 404, "not_found")
	log := strings.TrimSpace(b.log.String())
	var line map[string]any
	if err := json.Unmarshal([]byte(log), &line); err != nil {
		t.Fatalf("%v in %s", err, log)
	}
	for key, want := range map[string]any{
		"msg": "request", "request_id": "r-1", "operation": "getPatient", "method": "GET", "route": "/patients/{id}",
		"status": 404.0, "bytes": float64(len(a.body)),
	} {
		if line[key] != want {
			t.Errorf("%s is %v, want %v", key, line[key], want)
		}
	}
	for _, secret := range []string{"Archer", b.token, "471108154711"} {
		if strings.Contains(log, secret) {
			t.Errorf("%q is in the log", secret)
		}
	}
}

func TestReadPatientDataIsLogged(t *testing.T) {
	t.Parallel()
	b := setup(t)
	created := b.do("POST", "/patients", `{"patient":{"title":"Mrs","first_name":"Zoe","last_name":"Quill","date_of_birth":"1980-02-03","gender":"female",
		"ethnicity":"A","address_line_1":"1 High Street","postcode":"S1 1AA","payment_plan_id":`+itoa(b.opened.PrivatePlan)+`}}`).ok(t, 201)
	if created.Header.Get("ETag") == "" {
		t.Error("the response to a create has no tag")
	}
	b.get("/sites").ok(t, 200)
	b.get("/patients", "X-Request-Id: r-2").ok(t, 200)
	var lines []string
	for line := range strings.Lines(b.log.String()) {
		if strings.Contains(line, `"msg":"patient data read"`) && strings.Contains(line, "r-2") {
			lines = append(lines, line)
		}
		if strings.Contains(line, "patient data read") && strings.Contains(line, "listSites") {
			t.Errorf("reading sites is logged as patient data: %s", line)
		}
		for _, secret := range []string{"Zoe", "Quill", "1980-02-03", b.token} {
			if strings.Contains(line, secret) {
				t.Errorf("%q is in the log: %s", secret, line)
			}
		}
	}
	if len(lines) != 1 {
		t.Fatalf("%d lines for one request: %v", len(lines), lines)
	}
	var line struct {
		PracticeID string `json:"practice_id"`
		UserID     int64  `json:"user_id"`
		TokenID    string `json:"token_id"`
		Operation  string
		Records    map[string][]string
	}
	if err := json.Unmarshal([]byte(lines[0]), &line); err != nil {
		t.Fatal(err)
	}
	if line.PracticeID != b.opened.Practice.String() || line.UserID != b.opened.User || line.TokenID == "" || line.Operation != "listPatients" || len(line.Records["patients"]) != 1 {
		t.Errorf("got %+v", line)
	}
}

// TestResponsesHaveOneWayOut: past Write, a byte could leave before the log has its read.
func TestResponsesHaveOneWayOut(t *testing.T) {
	t.Parallel()
	var w http.ResponseWriter = &responseWriter{}
	switch w.(type) {
	case interface{ Unwrap() http.ResponseWriter }, http.Hijacker, io.ReaderFrom, io.StringWriter:
		t.Error("a response can be written without its Write")
	}
}

func TestMetricsCountRequests(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.get("/v1/patients/1")
	b.get("/v1/patients/2")
	b.get("/nothing/at/all")
	b.do("BREW", "/healthz", "")
	page := b.get("/metrics", "User-Agent:", "Authorization:").ok(t, 200).body
	for _, want := range []string{
		`chairside_requests_total{operation="getPatient",status="404"} 2`,
		`chairside_requests_total{operation="none",status="404"} 1`,
		`chairside_request_duration_seconds_count{operation="getPatient"} 2`,
		`chairside_requests_in_flight 1`,
		`go_sql_open_connections{db_name="chairside"}`,
		`go_goroutines`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%s is missing", want)
		}
	}
	if strings.Contains(page, "BREW") || strings.Contains(page, "nothing/at/all") {
		t.Error("a label contains text from a client")
	}
}

package main

import (
	"database/sql"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"chairside/internal/test/testdb"
)

// sourceServer starts a server with two small practices. It returns its address, the token that it
// prints, and the URL of its database.
func sourceServer(t *testing.T) (address, token, database string) {
	t.Helper()
	database = testdb.Practice.SQLite(t)
	address, token, stop := demo(t, t.TempDir(), "--database-url", database)
	t.Cleanup(func() { _ = stop() })
	return address, token, database
}

// faults is a proxy before a server. It counts requests, and fails some.
type faults struct {
	http.Handler
	fail func(n int, w http.ResponseWriter) bool // reports whether it has responded to the nth request

	mu     sync.Mutex
	n      int
	served map[string]int // responses of the server, by address
}

func newFaults(t *testing.T, to string, fail func(n int, w http.ResponseWriter) bool) (f *faults, address string) {
	t.Helper()
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	f = &faults{Handler: httputil.NewSingleHostReverseProxy(target), fail: fail, served: map[string]int{}}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	return f, server.URL
}

func (f *faults) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.n++
	n, fail := f.n, f.fail
	f.mu.Unlock()
	if fail(n, w) {
		return
	}
	f.Handler.ServeHTTP(w, r)
	f.mu.Lock()
	f.served[r.URL.RequestURI()]++
	f.mu.Unlock()
}

// importCall runs "chairside import --from-api".
func importCall(t *testing.T, from, token string, arguments ...string) (*exec.Cmd, *strings.Builder) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "chairside", append([]string{"import", "--from-api", from}, arguments...)...)
	command.Env = append(os.Environ(), "CHAIRSIDE_TOKEN="+token)
	out := &strings.Builder{}
	command.Stdout, command.Stderr = out, out
	return command, out
}

// TestImportFromAPI downloads a practice through a server that asks to wait, fails, breaks off, and
// sees its client killed. The second call continues, and imports what the server has.
func TestImportFromAPI(t *testing.T) {
	t.Parallel()
	address, token, sourceURL := sourceServer(t)
	source, err := sql.Open("sqlite", strings.TrimPrefix(sourceURL, "sqlite:"))
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	for driver := range targets {
		t.Run(driver, func(t *testing.T) {
			database, db := openTarget(t, driver)
			dir := filepath.Join(t.TempDir(), "download")
			const killedAt = 25
			killed := make(chan struct{})
			proxy, from := newFaults(t, address, func(n int, w http.ResponseWriter) bool {
				switch n {
				case 3:
					w.Header().Set("Retry-After", "1")
					w.WriteHeader(http.StatusTooManyRequests)
				case 5:
					w.WriteHeader(http.StatusBadGateway)
				case 7:
					w.Header().Set("Content-Length", "100000")
					_, _ = w.Write([]byte(`{"patients": [`))
				case killedAt:
					killed <- struct{}{}
					<-killed
				default:
					return false
				}
				return true
			})
			command, out := importCall(t, from, token, "--database-url", database, dir)
			if err := command.Start(); err != nil {
				t.Fatal(err)
			}
			<-killed
			if err := command.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = command.Wait() // it was killed
			close(killed)
			if !strings.Contains(out.String(), "the server asks to wait 1s") {
				t.Errorf("no pause: %s", out)
			}
			command, out = importCall(t, from, token, "--database-url", database, dir)
			if err := command.Run(); err != nil || !strings.Contains(out.String(), "continuing an interrupted download") {
				t.Fatalf("%v: %s%s", err, out, contents(dir+"/rejects/[pu]*.csv"))
			}
			proxy.mu.Lock() // the last handler may not have returned yet
			for address, n := range proxy.served {
				if n > 1 {
					t.Errorf("%s was downloaded %d times", address, n)
				}
			}
			proxy.mu.Unlock()
			compareWithSource(t, source, db)
			if info, err := os.Stat(filepath.Join(dir, "patients.csv")); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%v: %v", info, err)
			}
			proxy.mu.Lock()
			proxy.fail = func(_ int, w http.ResponseWriter) bool { // nothing is read again
				w.WriteHeader(http.StatusTeapot)
				return true
			}
			proxy.mu.Unlock()
			command, out = importCall(t, from, token, "--database-url", database, dir)
			if err := command.Run(); err != nil || !strings.Contains(out.String(), "has a complete download") {
				t.Errorf("%v: %s", err, out)
			}
			compareWithSource(t, source, db)
			var events int
			if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM audit_events WHERE action = 'import' AND record_id = 'download'").Scan(&events); err != nil || events != 2 {
				t.Errorf("%d events, want 2: %v", events, err)
			}
		})
	}
}

// compareWithSource compares the imported records with those of the demo practice.
func compareWithSource(t *testing.T, source, target *sql.DB) {
	t.Helper()
	for _, what := range []string{
		"count(*), sum(CASE WHEN active THEN 1 ELSE 0 END), count(nhs_number), count(email_address) FROM patients",
		"count(*), sum(duration), count(cancelled_at), count(room_id) FROM appointments",
		"count(*), sum(amount), sum(amount_outstanding), count(paid_on) FROM invoices",
		"count(*), sum(amount), sum(amount_unexplained), count(method) FROM payments",
		"count(*), sum(opening_balance), sum(current_balance), sum(planned_private_treatment_value) FROM accounts",
		"count(*), sum(total_price), count(practitioner_id), count(treatment_plan_item_id) FROM invoice_items",
		"count(*), sum(amount), 0, 0 FROM payment_explanations",
		"count(*), sum(price), count(invoice_id), count(completed_at) FROM treatment_plan_items",
		"count(*), count(end_date), 0, 0 FROM treatment_plans",
		"count(*), sum(price_one), sum(duration_one), 0 FROM fees",
		"count(*), 0, 0, 0 FROM practitioners",
		"count(*), 0, 0, 0 FROM custom_field_answers",
		"count(*), count(contacted_at), 0, 0 FROM recalls",
		"count(*), 0, 0, 0 FROM notes",
		"count(*), count(removed_at), 0, 0 FROM waiting_lists",
		"count(*), 0, 0, 0 FROM patient_referrals",
		"count(*), count(submitted_date), 0, 0 FROM nhs_claims",
		"count(*), 0, 0, 0 FROM treatments",
		"count(*), 0, 0, 0 FROM payment_plans",
		"count(*), 0, 0, 0 FROM appointment_reasons",
		"count(*), count(DISTINCT last_name), count(DISTINCT date_of_birth), count(DISTINCT postcode) FROM patients",
	} {
		var want, got [4]sql.NullInt64
		joined := ""
		read := func(db *sql.DB, slug string, into *[4]sql.NullInt64) {
			query := "SELECT " + what + " AS t" + joined + " WHERE t.practice_id = (SELECT id FROM practices WHERE slug = '" + slug + "')"
			if err := db.QueryRowContext(t.Context(), query).Scan(&into[0], &into[1], &into[2], &into[3]); err != nil {
				t.Fatalf("%s: %v", query, err)
			}
		}
		read(source, "demo", &want)
		table := what[strings.LastIndex(what, " ")+1:]
		if table != "payment_plans" && table != "appointment_reasons" { // in these two, all rows are imported ones
			joined = " JOIN imported_records AS i ON i.resource = '" + table + "' AND i.record_id = CAST(t.id AS text)"
		}
		read(target, "bright", &got)
		if got != want {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
}

// TestImportFromAPIIsRefused: a token that the server refuses, or that lacks scopes, is explained,
// and the token never goes to another host.
func TestImportFromAPIIsRefused(t *testing.T) {
	t.Parallel()
	address, token, source := sourceServer(t)
	narrow := newToken(t, source, "patient:read appointment")
	database, _ := openTarget(t, "sqlite")
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("a request for %s: %v", r.URL, r.Header) }))
	defer elsewhere.Close()
	_, redirecting := newFaults(t, address, func(_ int, w http.ResponseWriter) bool {
		w.Header().Set("Location", elsewhere.URL+"/v1/patients")
		w.WriteHeader(http.StatusTemporaryRedirect)
		return true
	})
	_, page := newFaults(t, address, func(_ int, w http.ResponseWriter) bool {
		_, _ = w.Write([]byte("<html>Welcome</html>"))
		return true
	})
	_, slow := newFaults(t, address, func(_ int, w http.ResponseWriter) bool {
		w.Header().Set("Retry-After", "86400")
		w.WriteHeader(http.StatusTooManyRequests)
		return true
	})
	for name, x := range map[string]struct {
		from, token string
		status      int
		want        string
	}{
		"unknown token": {address, "cs_pat_unknown", 1, "the server does not accept the token"},
		"few scopes":    {address, narrow, 1, "the token also needs the scopes financials:read practice:read treatments:read user:read"},
		"redirect":      {redirecting, token, 1, "the server redirects to " + elsewhere.URL},
		"another page":  {page, token, 1, "is the address that of an API like Chairside's?"},
		"long wait":     {slow, token, 1, "the server asks to wait 24h0m0s"},
		"no token":      {address, "", 2, "--token-file: is required"},
		"not private":   {"http://dental.example.com", token, 2, "--from-api: must be an https URL"},
	} {
		dir := filepath.Join(t.TempDir(), "download")
		command, out := importCall(t, x.from, x.token, "--database-url", database, dir)
		if err := command.Run(); err == nil || command.ProcessState.ExitCode() != x.status || !strings.Contains(out.String(), x.want) || strings.Contains(out.String(), token) {
			t.Errorf("%s: %v: %s", name, err, out)
		}
		again, out := importCall(t, x.from, x.token, "--database-url", database, dir)
		if err := again.Run(); err == nil || !strings.Contains(out.String(), x.want) {
			t.Errorf("%s, again: %v: %s", name, err, out)
		}
	}
}

// TestImportFromAPIWithoutLists: a list that the server does not have is named once, and is no finding.
func TestImportFromAPIWithoutLists(t *testing.T) {
	t.Parallel()
	address, token, _ := sourceServer(t)
	target, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/waiting_lists") {
			http.NotFound(w, r)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	defer server.Close()
	database, _ := openTarget(t, "sqlite")
	dir := filepath.Join(t.TempDir(), "download")
	command, out := importCall(t, server.URL, token, "--database-url", database, dir)
	err = command.Run()
	if findings := contents(dir + "/rejects/findings.csv"); err != nil || !strings.Contains(out.String(), "the server has no waiting_lists\n") || findings == "" || strings.Contains(findings, "has no rows") {
		t.Errorf("%v: %s%s", err, out, findings)
	}
}

// TestNextPage: a server without cursors may give fewer records a page than were asked for, and say how many
// there are, or not.
func TestNextPage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name              string
		records, pages    int
		total, rows, page int64
		want              int
	}{
		{"pages are counted", 50, 3, 150, 50, 1, 2},
		{"the last of them", 50, 3, 150, 150, 3, 0},
		{"a small page of many records", 50, 0, 2100, 50, 1, 2},
		{"all have come", 50, 0, 100, 100, 2, 0},
		{"a full page, and nothing said", downloadPage, 0, 0, downloadPage, 1, 2},
		{"a last page, and nothing said", 7, 0, 0, downloadPage + 7, 2, 0},
		{"an empty page", 0, 0, 2100, 2000, 21, 0},
	} {
		p := apiPage{records: make([]apiRecord, c.records)}
		p.meta.Total, p.meta.TotalPages = c.total, c.pages
		if _, page := p.next(listProgress{Page: int(c.page), Rows: c.rows}); page != c.want {
			t.Errorf("%s: page %d, want %d", c.name, page, c.want)
		}
	}
}

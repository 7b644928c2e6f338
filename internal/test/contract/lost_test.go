package contract

import (
	"net/http"
	"sync"
	"syscall"
	"testing"
	"time"

	"chairside/internal/test/harness"
	"chairside/internal/test/localpg/pgproxy"
)

// cutStride is the number of bytes between two cuts of a booking.
const cutStride = 37

const (
	answerLimit   = 30 * time.Second // for each request
	recoveryLimit = 20 * time.Second // until requests succeed; 5 s on an idle machine
)

// eachConnection runs a test with each kind of connection to PostgreSQL, through a proxy.
func eachConnection(t *testing.T, test func(t *testing.T, e *harness.Env, proxy *pgproxy.Proxy, token string)) {
	t.Helper()
	for name, address := range map[string]func(t *testing.T) string{
		"cached": func(t *testing.T) string { return harness.Postgres(t) },
		"pooled": func(t *testing.T) string { return harness.Postgres(t) + "&statement_cache=off" },
		"tls":    func(t *testing.T) string { return pgproxy.TLS(t, harness.Postgres(t)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, proxy, token := behindProxy(t, address(t))
			test(t, e, proxy, token)
		})
	}
}

// behindProxy starts a server whose connections to PostgreSQL pass a proxy, and returns a
// token.
func behindProxy(t *testing.T, address string) (e *harness.Env, proxy *pgproxy.Proxy, token string) {
	t.Helper()
	proxy, address = pgproxy.New(t, address)
	e = harness.Start(t, address)
	token = e.Token(t, "")
	e.WaitReady(t)
	return e, proxy, token
}

// sendMany sends n requests at once; each response is 200, or 503 with Retry-After.
func sendMany(t *testing.T, e *harness.Env, n int, path, token string) (statuses map[int]int) {
	t.Helper()
	var mu sync.Mutex
	var all sync.WaitGroup
	statuses = map[int]int{}
	for range n {
		all.Go(func() {
			began := time.Now()
			r := e.Get(t, path, token)
			if took := time.Since(began); took > answerLimit {
				t.Errorf("answered after %v", took)
			}
			if r.Code != http.StatusOK {
				r.Error(t, http.StatusServiceUnavailable, "unavailable")
				if r.Header.Get("Retry-After") == "" {
					t.Error("no Retry-After")
				}
			}
			mu.Lock()
			defer mu.Unlock()
			statuses[r.Code]++
		})
	}
	all.Wait()
	return statuses
}

// waitForRecovery waits until requests succeed.
func waitForRecovery(t *testing.T, e *harness.Env, token string) {
	t.Helper()
	for deadline := time.Now().Add(recoveryLimit); sendMany(t, e, 20, "/v1/patients?per_page=2", token)[http.StatusOK] < 20; {
		if time.Now().After(deadline) {
			t.Fatal("requests are not answered well again")
		}
	}
	e.Get(t, "/readyz", "").Status(t, http.StatusOK)
}

// TestSilentConnections: the open connections drop all data, new ones work.
func TestSilentConnections(t *testing.T) {
	t.Parallel()
	eachConnection(t, func(t *testing.T, e *harness.Env, proxy *pgproxy.Proxy, token string) {
		sendMany(t, e, 40, "/v1/patients?per_page=2", token)
		proxy.Swallow()
		e.Get(t, "/readyz", "").Status(t, http.StatusOK)
		waitForRecovery(t, e, token)
	})
}

// TestResetConnections are replaced before a request uses them.
func TestResetConnections(t *testing.T) {
	t.Parallel()
	eachConnection(t, func(t *testing.T, e *harness.Env, proxy *pgproxy.Proxy, token string) {
		sendMany(t, e, 40, "/v1/patients?per_page=2", token)
		proxy.Reset()
		waitForRecovery(t, e, token)
	})
}

// TestProxyWithoutPrimary: the proxy closes new connections at once.
func TestProxyWithoutPrimary(t *testing.T) {
	t.Parallel()
	eachConnection(t, func(t *testing.T, e *harness.Env, proxy *pgproxy.Proxy, token string) {
		proxy.Close(true)
		proxy.Reset()
		if got := sendMany(t, e, 40, "/v1/patients?per_page=2", token); got[http.StatusServiceUnavailable] != 40 {
			t.Errorf("without a primary: %v", got)
		}
		e.Get(t, "/readyz", "").Status(t, http.StatusServiceUnavailable)
		if p := e.Browser(t).Get("/oauth/authorize?client_id=x"); p.Code == http.StatusInternalServerError {
			t.Errorf("a page was answered with %d", p.Code)
		}
		proxy.Close(false)
		waitForRecovery(t, e, token)
	})
}

// TestStoppedBackends: the backends of the open connections are stopped (SIGSTOP).
func TestStoppedBackends(t *testing.T) {
	t.Parallel()
	address := harness.Postgres(t)
	e := harness.Start(t, address)
	token := e.Token(t, "")
	sendMany(t, e, 40, "/v1/patients?per_page=2", token)
	var processes []int
	rows, err := e.DB.SQL.QueryContext(t.Context(), "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'")
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var pid int
		if err := rows.Scan(&pid); err != nil {
			t.Fatal(err)
		}
		processes = append(processes, pid)
	}
	if err := rows.Close(); err != nil {
		t.Fatal(err)
	}
	signal := func(s syscall.Signal) {
		for _, pid := range processes {
			if err := syscall.Kill(pid, s); err != nil && s == syscall.SIGSTOP {
				t.Fatal(err)
			}
		}
	}
	defer signal(syscall.SIGCONT) // before the database is dropped
	signal(syscall.SIGSTOP)
	waitForRecovery(t, e, token)
}

// TestBookingSurvivesACutConnection cuts the connection after more and more bytes of a
// booking. A confirmed booking exists once, with its audit entry; an unconfirmed one once
// or not at all.
func TestBookingSurvivesACutConnection(t *testing.T) {
	t.Parallel()
	eachConnection(t, func(t *testing.T, e *harness.Env, proxy *pgproxy.Proxy, token string) {
		w := loadWorld(t, e, "demo")
		count := func(table string) (n int) {
			t.Helper()
			if err := e.DB.SQL.QueryRowContext(t.Context(), "SELECT count(*) FROM "+table).Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		// A booking whose connection was cut may still be committed afterwards.
		settle := func() {
			t.Helper()
			for deadline := time.Now().Add(recoveryLimit); count("pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'") > 0; {
				if time.Now().After(deadline) {
					t.Fatal("the database is still working")
				}
			}
		}
		day := 0
		for _, d := range []pgproxy.Direction{pgproxy.ToServer, pgproxy.FromServer} {
			for n, whole := 0, 0; whole < 3; n += cutStride {
				day++
				start := time.Date(2027, 1, 1, 9, 0, 0, 0, time.UTC).AddDate(0, 0, day)
				q := w.request(find(t, "createAppointment"), 0)
				q.Token = token
				appointment := q.Body.(map[string]any)["appointment"].(map[string]any)
				appointment["start_time"], appointment["finish_time"] = start.Format(time.RFC3339), start.Add(time.Hour).Format(time.RFC3339)
				appointments, changes := count("appointments"), count("audit_events")
				proxy.Cut(d, n)
				r := e.Do(t, q)
				proxy.Reset()
				settle()
				added := count("appointments") - appointments
				if recorded := count("audit_events") - changes; recorded != added {
					t.Errorf("cut after %d bytes, direction %d: %d appointments, %d changes", n, d, added, recorded)
				}
				switch {
				case r.Code == http.StatusCreated && added == 1:
					whole++
				case r.Code == http.StatusServiceUnavailable && r.Header.Get("Retry-After") != "" && (added == 0 || added == 1):
					whole = 0
				default:
					t.Fatalf("cut after %d bytes, direction %d: answered %d, %d appointments were added: %s", n, d, r.Code, added, r.Raw)
				}
			}
		}
	})
}

package contract

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"chairside/internal/server"
	"chairside/internal/test/harness"
	"chairside/internal/test/localpg/pgtest"
	"chairside/internal/test/testdb"
	"chairside/internal/web"
)

// TestBurstThroughPooler has 20 clients book and read at once through PgBouncer in transaction
// mode. Every request succeeds and no time is booked twice.
func TestBurstThroughPooler(t *testing.T) {
	t.Parallel()
	e := harness.Start(t, pgtest.Pooled(t, testdb.Practice.Postgres(t)), harness.Patient)
	if !e.DB.Pooled() {
		t.Fatal("no pooler was found")
	}
	token := e.Token(t, "")
	const clients, times = 20, 10
	var booked, refused atomic.Int64
	var all sync.WaitGroup
	for client := range clients {
		all.Go(func() {
			for n := range times {
				n = (n + client) % times
				start := harness.Now.AddDate(4, 0, 0).Add(time.Duration(n) * 15 * time.Minute)
				r := e.Post(t, "/v1/appointments", token, fmt.Sprintf(`{"appointment": {"start_time": %q, "finish_time": %q, "practitioner_id": %d, "reason": "Exam"}}`,
					start.Format(time.RFC3339), start.Add(30*time.Minute).Format(time.RFC3339), 1+n%2))
				switch r.Code {
				case http.StatusCreated:
					booked.Add(1)
				case http.StatusConflict:
					refused.Add(1)
				default:
					t.Errorf("%d %s", r.Code, r.Raw)
				}
				for _, path := range []string{"/v1/appointments?per_page=3", "/v1/patients?query=a", "/v1/practitioners", "/v1/accounts"} {
					e.Get(t, path, token).Status(t, http.StatusOK)
				}
			}
		})
	}
	all.Wait()
	if booked.Load() == 0 || booked.Load()+refused.Load() != clients*times {
		t.Errorf("%d booked, %d refused", booked.Load(), refused.Load())
	}
	var overlaps int
	if err := e.Owner().QueryRowContext(t.Context(), `SELECT count(*) FROM appointments a JOIN appointments b
		ON a.practitioner_id = b.practitioner_id AND a.id < b.id AND a.start_time < b.finish_time AND b.start_time < a.finish_time
		WHERE a.start_time >= $1 AND b.start_time >= $1`, harness.Now.AddDate(4, 0, 0)).Scan(&overlaps); err != nil {
		t.Fatal(err)
	}
	if overlaps > 0 {
		t.Errorf("%d overlaps", overlaps)
	}
}

// TestDoctorNamesDroppedLimits checks the time limits of connections: PgBouncer drops them.
func TestDoctorNamesDroppedLimits(t *testing.T) {
	t.Parallel()
	direct := testdb.Practice.Postgres(t)
	for address, want := range map[string][]string{
		direct:                   nil,
		pgtest.Pooled(t, direct): {"idle_in_transaction_session_timeout", "lock_timeout", "statement_timeout"},
	} {
		e := harness.Start(t, address)
		var found []string
		for _, c := range (&server.Installation{DB: e.DB}).Diagnose(t.Context(), 0) {
			if c.Name == "Time limits" && c.State == web.Failed && strings.Contains(c.Mend, "ALTER ROLE") {
				name, _, _ := strings.Cut(strings.TrimPrefix(c.Text, "connections have no "), ":")
				found = append(found, name)
			}
		}
		if !slices.Equal(found, want) {
			t.Errorf("%v are missing, want %v", found, want)
		}
	}
}

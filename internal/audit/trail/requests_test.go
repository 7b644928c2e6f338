package trail_test

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"

	"chairside/internal/audit/trail"
	"chairside/internal/clock"
	"chairside/internal/principal"
	"chairside/internal/store/storetest"
	"chairside/internal/test/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// TestRequestLogIsBounded: a practice keeps its newest entries, and none for longer than a week.
// Entries of other practices stay.
func TestRequestLogIsBounded(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		demo, second := principal.Must(e.As(t, "demo")).PracticeID, principal.Must(e.As(t, "second")).PracticeID
		q := trail.NewRequests(e.DB, slog.Default())
		add := func(practice uuid.UUID, route string, at time.Time) {
			q.Add(trail.Request{Practice: practice, Token: uuid.New(), User: 1, At: at, ID: "x", Method: "GET", Route: route, Status: 200, Duration: 1})
		}
		add(second, "/old", harness.Now.Add(-trail.RequestsKept-time.Hour))
		add(second, "/new", harness.Now)
		for batch := range 3 {
			for n := range 4000 {
				add(demo, fmt.Sprintf("/%d", batch*4000+n), harness.Now)
			}
			if err := q.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		count := func(condition string) int {
			return storetest.Int(t, e.DB, "SELECT count(*) FROM logged_requests WHERE "+condition)
		}
		if n := count("user_id = 1 AND route NOT IN ('/old', '/new')"); n < trail.RequestsPerPractice || n > trail.RequestsPerPractice+500 {
			t.Errorf("%d entries are kept", n)
		}
		if count("route = '/11999'") != 1 || count("route = '/0'") != 0 || count("route = '/old'") != 1 {
			t.Error("the newest entries are not kept")
		}
		if err := q.Expire(clock.With(t.Context(), harness.Now)); err != nil {
			t.Fatal(err)
		}
		if count("route = '/old'") != 0 || count("route = '/new'") != 1 {
			t.Error("entries do not expire after a week")
		}
	})
}

// TestRequestLogGivesUpEntries when more wait than it may hold.
func TestRequestLogGivesUpEntries(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		q := trail.NewRequests(e.DB, slog.New(slog.DiscardHandler))
		practice := principal.Must(e.As(t, "demo")).PracticeID
		for n := range 6000 {
			q.Add(trail.Request{Practice: practice, Token: uuid.New(), User: 1, At: harness.Now, ID: "x", Method: "GET", Route: fmt.Sprint(n), Status: 200})
		}
		if err := q.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := storetest.Int(t, e.DB, "SELECT count(*) FROM logged_requests"); n != 5000 {
			t.Errorf("%d entries were written", n)
		}
	})
}

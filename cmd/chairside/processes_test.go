package main

import (
	"database/sql"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/lib/pq" // the test counts overlaps with its own connection
	_ "modernc.org/sqlite"

	"chairside/internal/test/localpg/pgtest"
)

// TestProcessesNeverDoubleBook has many clients book the same times of the same
// practitioners through two processes: each time is booked once.
func TestProcessesNeverDoubleBook(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		path := t.TempDir() + "/race.db"
		raceProcesses(t, "sqlite:"+path, "sqlite", path)
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		url := pgtest.New(t)
		raceProcesses(t, url, "postgres", url)
	})
}

// overlaps counts the pairs of this test's appointments that overlap and have the same
// practitioner.
const overlaps = `SELECT count(*) FROM appointments a JOIN appointments b
	ON a.practitioner_id = b.practitioner_id AND a.id < b.id AND a.start_time < b.finish_time AND b.start_time < a.finish_time
	WHERE a.notes = 'race' AND b.notes = 'race'`

// raceProcesses starts two demo servers on one database and books through both.
func raceProcesses(t *testing.T, url, driver, source string) {
	const clients, times = 12, 12
	first, _, stopFirst := demo(t, t.TempDir(), "--database-url", url)
	second, token, stopSecond := demo(t, t.TempDir(), "--database-url", url) // its token replaces the first one's
	var booked, refused atomic.Int64
	var group sync.WaitGroup
	for client := range clients {
		group.Go(func() {
			base := []string{first, second}[client%2]
			for slot := range times {
				// Each client starts with another slot; neighbouring slots overlap by half.
				slot = (slot + client) % times
				start := time.Date(2031, 3, 4, 9, 0, 0, 0, time.UTC).Add(time.Duration(slot) * 15 * time.Minute)
				body := fmt.Sprintf(`{"appointment": {"start_time": %q, "finish_time": %q, "practitioner_id": %d, "reason": "Exam", "notes": "race"}}`,
					start.Format(time.RFC3339), start.Add(30*time.Minute).Format(time.RFC3339), 1+slot%2)
				switch status := book(t, base, token, body); status {
				case http.StatusCreated:
					booked.Add(1)
				case http.StatusConflict:
					refused.Add(1)
				default:
					t.Errorf("status %d", status)
				}
			}
		})
	}
	group.Wait()
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var found int
	if err := db.QueryRowContext(t.Context(), overlaps).Scan(&found); err != nil {
		t.Fatal(err)
	}
	if found != 0 || booked.Load() == 0 || booked.Load()+refused.Load() != clients*times {
		t.Errorf("%d overlaps, %d booked, %d refused", found, booked.Load(), refused.Load())
	}
	for _, stop := range []func() error{stopFirst, stopSecond} {
		if err := stop(); err != nil {
			t.Error(err)
		}
	}
}

// book posts an appointment and returns the status, or 0 if no response came.
func book(t *testing.T, base, token, body string) int {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/v1/appointments", strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return 0
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Error(err)
		return 0
	}
	defer res.Body.Close()
	return res.StatusCode
}

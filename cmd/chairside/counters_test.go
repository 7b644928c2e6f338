package main

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"chairside/internal/test/localpg/pgtest"
)

// TestCountersSurviveAKilledProcess kills a process while it books and compacts
// counters: the totals stay correct. "counters repair" then corrects totals that were
// changed by hand.
func TestCountersSurviveAKilledProcess(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		path := t.TempDir() + "/killed.db"
		killWhileBooking(t, "sqlite:"+path, "sqlite", path)
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		url := pgtest.New(t)
		killWhileBooking(t, url, "postgres", url)
	})
}

// killWhileBooking starts the demo, has clients book appointments, kills the process,
// and checks the counters.
func killWhileBooking(t *testing.T, url, driver, source string) {
	const clients, perClient, beforeKill = 6, 400, 30
	base, token, command, _ := demoProcess(t, t.TempDir(), "--database-url", url)
	booked, kill := make(chan struct{}, clients*perClient), sync.Once{}
	var group sync.WaitGroup
	for client := range clients {
		group.Go(func() {
			for i := range perClient {
				start := time.Date(2031, 3, 4, 9, 0, 0, 0, time.UTC).Add(time.Duration(i*clients+client) * 15 * time.Minute)
				if !tryToBook(t.Context(), base, token, start) {
					return // the process is dead
				}
				booked <- struct{}{}
				if len(booked) >= beforeKill {
					kill.Do(func() { _ = command.Process.Kill() })
				}
			}
		})
	}
	group.Wait()
	_ = command.Wait() // it was killed
	if n := len(booked); n < beforeKill || n == clients*perClient {
		t.Fatalf("%d were booked before the process was killed", n)
	}
	checkRepair(t, url, driver, source)
}

// checkRepair checks that the totals are correct, corrupts some, and repairs them.
func checkRepair(t *testing.T, url, driver, source string) {
	t.Helper()
	counters := func(want string, args ...string) {
		t.Helper()
		output, err := exec.CommandContext(t.Context(), "chairside", append([]string{"counters"}, append(args, "--database-url", url)...)...).CombinedOutput()
		if failed := err != nil; failed != strings.Contains(want, "wrong") || !strings.Contains(string(output), want) {
			t.Errorf("%v: %v\n%s", args, err, output)
		}
	}
	counters("all totals are correct", "check")

	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, corrupt := range []string{
		"DELETE FROM counters WHERE counter = 'appointments.all'",
		"INSERT INTO counters (counter, practice_id, key, n) SELECT 'appointments.all', id, 0, 1234567 FROM practices",
	} {
		if _, err := db.ExecContext(t.Context(), corrupt); err != nil {
			t.Fatal(err)
		}
	}
	counters("some totals are wrong", "check")
	output, _ := exec.CommandContext(t.Context(), "chairside", "counters", "check", "--format=json", "--database-url", url).Output() // it fails
	if !strings.Contains(string(output), `"counter":"appointments.all"`) || !strings.Contains(string(output), `"stored":12`) {
		t.Errorf("as JSON: %s", output)
	}
	counters("appointments.all  ", "repair")
	counters("nothing to do", "repair")
	counters("all totals are correct", "check")

	// The next process shows the correct total.
	base, token, stop := demo(t, t.TempDir(), "--database-url", url)
	var want int
	if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM appointments WHERE practice_id = (SELECT id FROM practices WHERE slug = 'demo')").Scan(&want); err != nil {
		t.Fatal(err)
	}
	if status, body := get(t, base+"/v1/appointments?cancelled=true&per_page=1", token); status != http.StatusOK || !strings.Contains(body, fmt.Sprintf(`"total":%d,`, want)) {
		t.Errorf("%d rows: %d %s", want, status, body)
	}
	for deadline := time.Now().Add(30 * time.Second); driver == "postgres"; time.Sleep(50 * time.Millisecond) {
		var waiting int
		if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM counter_changes").Scan(&waiting); err != nil {
			t.Fatal(err)
		}
		if waiting == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d changes are not compacted", waiting)
		}
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// tryToBook reports whether the appointment was created.
func tryToBook(ctx context.Context, base, token string, start time.Time) bool {
	body := fmt.Sprintf(`{"appointment": {"start_time": %q, "finish_time": %q, "practitioner_id": 1, "reason": "Exam"}}`,
		start.Format(time.RFC3339), start.Add(15*time.Minute).Format(time.RFC3339))
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/v1/appointments", strings.NewReader(body))
	if err != nil {
		return false
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return false
	}
	res.Body.Close()
	return res.StatusCode == http.StatusCreated
}

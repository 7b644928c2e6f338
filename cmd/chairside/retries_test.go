package main

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"chairside/internal/seed"
	"chairside/internal/test/localpg/pgtest"
)

// TestKilledServersNeverRepeatAWrite kills a server several times while clients book, and
// starts it again. Clients send each booking with a key until it is confirmed. Each key has
// one appointment.
func TestKilledServersNeverRepeatAWrite(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		path := t.TempDir() + "/killed.db"
		killWhileRetrying(t, "sqlite:"+path, "sqlite", path)
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		url := pgtest.New(t)
		killWhileRetrying(t, url, "postgres", url)
	})
}

func killWhileRetrying(t *testing.T, url, driver, source string) {
	const clients, kills, beforeKill = 8, 4, 40
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var base atomic.Value // of the running server
	address, _, command, _ := demoProcess(t, t.TempDir(), "--database-url", url)
	base.Store(address)
	token := newToken(t, url, "appointment")
	var confirmed, replayed, lost atomic.Int64
	ended := make(chan struct{})
	var group sync.WaitGroup
	for client := range clients {
		group.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-ended:
					return
				default:
				}
				key := fmt.Sprintf("client-%d-%d", client, n)
				status, again := 0, false
				for status != http.StatusCreated {
					if ctx.Err() != nil {
						t.Errorf("%s is not confirmed: %d", key, status)
						return
					}
					if status, again = bookWithKey(ctx, base.Load().(string), token, key); status == 0 {
						lost.Add(1)
						time.Sleep(10 * time.Millisecond)
					}
				}
				confirmed.Add(1)
				if again {
					replayed.Add(1)
				}
			}
		})
	}
	for kill := range kills {
		for want := confirmed.Load() + beforeKill; confirmed.Load() < want && ctx.Err() == nil; time.Sleep(time.Millisecond) {
		}
		if err := command.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = command.Wait() // it was killed
		if address, _, command, _ = demoProcess(t, t.TempDir(), "--database-url", url); address == "" {
			t.Fatalf("no server after kill %d", kill)
		}
		base.Store(address)
	}
	close(ended)
	group.Wait()
	t.Logf("%d bookings confirmed, %d of them replayed; %d responses lost in %d kills", confirmed.Load(), replayed.Load(), lost.Load(), kills)

	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var booked int64
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM appointments WHERE notes LIKE 'client-%'").Scan(&booked); err != nil {
		t.Fatal(err)
	}
	if booked != confirmed.Load() || booked < kills*beforeKill {
		t.Errorf("%d appointments, %d confirmed", booked, confirmed.Load())
	}
	if output, err := exec.CommandContext(ctx, "chairside", "counters", "check", "--database-url", url).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
}

// newToken creates a token of the demo's administrator. The demo's own ends with its process.
func newToken(t *testing.T, url, scopes string) string {
	t.Helper()
	made, err := exec.CommandContext(t.Context(), "chairside", "token", "create", "--database-url", url,
		"--user", seed.DemoAdmin, "--name", "test", "--scopes", scopes).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(made))
}

// TestOneKeyOverThreeProcesses: of 1,000 parallel bookings with one key over three processes, one
// is stored, and all others are replays of it or told to try again.
func TestOneKeyOverThreeProcesses(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		path := t.TempDir() + "/key.db"
		bookInParallel(t, "sqlite:"+path, "sqlite", path)
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		url := pgtest.New(t)
		bookInParallel(t, url, "postgres", url)
	})
}

func bookInParallel(t *testing.T, url, driver, source string) {
	var servers []string
	for range 3 {
		address, _, _, _ := demoProcess(t, t.TempDir(), "--database-url", url, "--rate-limit", "0")
		servers = append(servers, address)
	}
	token := newToken(t, url, "appointment")
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	var mu sync.Mutex
	seen := map[string]int{}
	start := make(chan struct{})
	var group sync.WaitGroup
	for client := range 1000 {
		group.Go(func() {
			<-start
			status, replayed := bookWithKey(ctx, servers[client%len(servers)], token, "client-thousand")
			mu.Lock()
			defer mu.Unlock()
			seen[fmt.Sprint(status, " ", replayed)]++
		})
	}
	close(start)
	group.Wait()
	t.Logf("answers: %v", seen)
	if seen["201 false"] > 1 { // 0 if the machine was too slow for that answer
		t.Errorf("%d bookings", seen["201 false"])
	}
	for what := range seen {
		switch what {
		case "201 false", "201 true", "409 false", "503 false", "0 false": // stored, replayed, in progress, too busy, no connection
		default:
			t.Errorf("unexpected answers: %v", seen)
		}
	}
	for _, server := range servers { // nothing is in progress any more
		if status, replayed := bookWithKey(ctx, server, token, "client-thousand"); status != http.StatusCreated || !replayed {
			t.Errorf("afterwards: %d, replayed: %v", status, replayed)
		}
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var booked int
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM appointments WHERE notes = 'client-thousand'").Scan(&booked); err != nil || booked != 1 {
		t.Errorf("%d appointments, %v", booked, err)
	}
}

// bookWithKey books once; the status is 0 without a response. Overlaps are forced, so that a
// repeated booking would be stored.
func bookWithKey(ctx context.Context, base, token, key string) (status int, replayed bool) {
	body := fmt.Sprintf(`{"appointment": {"start_time": "2031-03-04T09:00:00Z", "finish_time": "2031-03-04T09:15:00Z", "practitioner_id": 1, "reason": "Exam", "notes": %q, "force_changes": true}}`, key)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/v1/appointments", strings.NewReader(body))
	if err != nil {
		return 0, false
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Idempotency-Key", key)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, false
	}
	res.Body.Close()
	return res.StatusCode, res.Header.Get("Idempotency-Replayed") == "true"
}

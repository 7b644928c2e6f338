package contract

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"chairside/internal/store"
	"chairside/internal/test/harness"
	"chairside/internal/test/localpg/pgproxy"
)

// administer opens a database of a server until the test ends.
func administer(t *testing.T, url string) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), url+"&pool_size=2")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// fillLog makes the write-ahead log longer by some megabytes, without changing anything.
func fillLog(t *testing.T, db *store.DB, megabytes int) {
	t.Helper()
	if _, err := db.SQL.ExecContext(t.Context(), "SELECT pg_logical_emit_message(false, 'test', repeat('x', 1 << 20)) FROM generate_series(1, $1)", megabytes); err != nil {
		t.Fatal(err)
	}
}

// awaitReplay waits until a replica has replayed everything that its primary has written.
func awaitReplay(t *testing.T, primary, replica *store.DB) {
	t.Helper()
	var end string
	if err := primary.SQL.QueryRowContext(t.Context(), "SELECT CAST(pg_current_wal_flush_lsn() AS text)").Scan(&end); err != nil {
		t.Fatal(err)
	}
	for done, until := false, time.Now().Add(30*time.Second); !done; time.Sleep(10 * time.Millisecond) {
		if err := replica.SQL.QueryRowContext(t.Context(), "SELECT pg_last_wal_replay_lsn() >= CAST($1 AS pg_lsn)", end).Scan(&done); err != nil {
			t.Fatal(err)
		}
		if time.Now().After(until) {
			t.Fatal("the replica is behind")
		}
	}
}

// TestReplicaOfALostTimelineIsLeftOut: the primary is lost, and a replica takes its place that lacks the last
// writes. The other replica has them. Its places in the log are beyond those of the new primary, so they would
// prove that it has what clients write now.
func TestReplicaOfALostTimelineIsLeftOut(t *testing.T) {
	t.Parallel()
	var proxy *pgproxy.Proxy
	r := startReplicatedBehind(t, 2, 1, func(primary string, replicas []string) (string, []string) {
		proxy, primary = pgproxy.New(t, primary)
		return primary, replicas
	})
	e, token := r.servers[0], r.servers[0].Token(t, "")
	write(t, e, r.patient(0), token, 1).Status(t, http.StatusOK)
	r.waitForReads(t, e, token)

	r.admin[0].Close()
	r.replicas[0].Kill() // it misses the next write
	lost := write(t, e, r.patient(0), token, 2).Status(t, http.StatusOK).Header.Get(positionHeader)
	old := administer(t, r.primary.URL("practice"))
	fillLog(t, old, 4)
	awaitReplay(t, old, r.admin[1])
	old.Close()
	r.primary.Kill()
	if err := r.replicas[0].Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	address := r.replicas[0].URL("practice")
	promoted := administer(t, address)
	if _, err := promoted.SQL.ExecContext(t.Context(), "SELECT pg_promote()"); err != nil {
		t.Fatal(err)
	}
	proxy.Target(t, address)
	proxy.Reset()

	for until := time.Now().Add(30 * time.Second); ; {
		response := write(t, e, r.patient(0), token, 3)
		if response.Code == http.StatusOK {
			break
		}
		response.Error(t, http.StatusServiceUnavailable, "unavailable")
		if time.Now().After(until) {
			t.Fatal("the server does not find the new primary")
		}
	}
	fillLog(t, promoted, 8)
	for until := time.Now().Add(3 * time.Second); time.Now().Before(until); {
		for _, position := range []string{"", lost} {
			response := e.Do(t, harness.Request{Method: http.MethodGet, Path: r.patient(0), Token: token, Header: map[string]string{positionHeader: position}}).Status(t, http.StatusOK)
			if n := number(t, response); n != 3 {
				t.Fatalf("read %d after writing 3", n)
			}
			if now := response.Header.Get(positionHeader); !strings.HasPrefix(now, "2:") {
				t.Fatalf("the position is %s after a failover", now)
			}
		}
	}
	states := e.DB.ReplicaStates()
	if !states[0].Primary || !strings.Contains(states[1].Reason, "it follows timeline 1, and the primary is on 2") {
		t.Errorf("%+v", states)
	}
}

// TestReplicaURLOfSeveralServers: a URL that leads to different servers is no replica, because the position of
// one of them proves nothing about another.
func TestReplicaURLOfSeveralServers(t *testing.T) {
	t.Parallel()
	r := startReplicatedBehind(t, 2, 1, func(primary string, replicas []string) (string, []string) {
		proxy, address := pgproxy.New(t, replicas[0])
		proxy.Target(t, replicas...)
		return primary, []string{address}
	})
	e, token := r.servers[0], r.servers[0].Token(t, "")
	for until := time.Now().Add(time.Minute); !strings.Contains(e.DB.ReplicaStates()[0].Reason, "different servers"); {
		var reading sync.WaitGroup
		for range 8 { // over as many connections
			reading.Go(func() { e.Get(t, "/v1/patients?per_page=40", token).Status(t, http.StatusOK) })
		}
		reading.Wait()
		if time.Now().After(until) {
			t.Fatalf("the servers behind one URL are used: %+v", e.DB.ReplicaStates())
		}
	}
}

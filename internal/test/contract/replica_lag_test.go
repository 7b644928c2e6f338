package contract

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"chairside/internal/store"
)

// TestClientsStayOnTheirReplica: a client may come back to its replica although others have written since and
// the replica has not replayed that.
func TestClientsStayOnTheirReplica(t *testing.T) {
	t.Parallel()
	r := startReplicated(t, 1, 1)
	e, reader, writer := r.servers[0], r.servers[0].Token(t, ""), r.servers[0].Token(t, "")
	for n := range 3 { // in case the replica is left out in between, because the machine is slow
		r.waitForReads(t, e, reader)
		r.run(t, 0, "SELECT pg_wal_replay_pause()")
		write(t, e, r.patient(0), writer, n).Status(t, http.StatusOK)
		primary, began := e.DB.PrimaryReads(), time.Now()
		for range 5 {
			e.Get(t, r.patient(1), reader).Status(t, http.StatusOK)
		}
		primary = e.DB.PrimaryReads() - primary
		r.run(t, 0, "SELECT pg_wal_replay_resume()")
		if primary == 0 {
			return
		}
		t.Logf("%d of 5 reads ran on the primary, in %s", primary, time.Since(began))
	}
	t.Error("the client does not stay on its replica")
}

// TestReplicaFarBehindIsNamed: the log, the metrics and a program that starts only now name a replica that has
// stopped replaying.
func TestReplicaFarBehindIsNamed(t *testing.T) {
	t.Parallel()
	r := startReplicated(t, 2, 1)
	e, token := r.servers[0], r.servers[0].Token(t, "")
	r.waitForReads(t, e, token)
	name := e.DB.ReplicaStates()[0].Name
	const behind = "it is more than 2s behind"
	r.run(t, 0, "SELECT pg_wal_replay_pause()")
	for n, until := 1, time.Now().Add(30*time.Second); e.DB.ReplicaStates()[0].Reason != behind; n++ {
		write(t, e, r.patient(0), token, n).Status(t, http.StatusOK)
		if time.Sleep(100 * time.Millisecond); time.Now().After(until) {
			t.Fatalf("not left out: %+v", e.DB.ReplicaStates())
		}
	}
	for until := time.Now().Add(20 * time.Second); !strings.Contains(e.Log.String(), `"a replica is left out","replica":"`+name+`","reason":"`+behind+`"`); {
		if time.Sleep(100 * time.Millisecond); time.Now().After(until) {
			t.Fatal("the log does not name it")
		}
	}
	metrics := string(e.Get(t, "/metrics", "").Raw)
	for _, want := range []string{`chairside_replica_up{replica="` + name + `"} 0`, `chairside_replica_behind_seconds{replica="` + name + `"} `} {
		if !strings.Contains(metrics, want) {
			t.Errorf("the metrics lack %s", want)
		}
	}

	db, err := store.Open(t.Context(), r.primary.URL("practice"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.UseReplicas([]string{r.replicas[0].URL("practice"), r.replicas[1].URL("practice")}, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	db.AwaitReplicas(ctx)
	if states := db.ReplicaStates(); states[0].Reason != behind || states[1].Reason != "" {
		t.Errorf("a program that starts now: %+v", states)
	}

	r.run(t, 0, "SELECT pg_wal_replay_resume()")
	for until := time.Now().Add(30 * time.Second); e.DB.ReplicaStates()[0].Reason != ""; {
		if time.Sleep(100 * time.Millisecond); time.Now().After(until) {
			t.Fatalf("not back: %+v", e.DB.ReplicaStates())
		}
	}
}

package store_test

import (
	"log/slog"
	"strings"
	"testing"

	"chairside/internal/store"
	"chairside/internal/store/storetest"
)

// TestUseReplicasRefuses what cannot be replicas. A message does not repeat the URL's password.
func TestUseReplicasRefuses(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		db := storetest.Open(t, url)
		for _, urls := range [][]string{{"sqlite:secret.db"}, {"postgres://user:secret@host/db?pool_size=none"}, {"postgres://user:secret@host/db", "postgres://user:secret@host/db"}} {
			err := db.UseReplicas(urls, slog.New(slog.DiscardHandler))
			if err == nil || strings.Contains(err.Error(), "secret") {
				t.Errorf("%v: %v", urls, err)
			}
			if embedded := !storetest.Postgres(db); embedded && !strings.Contains(err.Error(), "embedded database") {
				t.Error(err)
			}
		}
		if db.HasReplicas() || len(db.ReplicaStates()) > 0 {
			t.Error("the database has replicas")
		}
	})
}

// TestPositions: a text that is not a position stands for one that no replica reaches.
func TestPositions(t *testing.T) {
	for _, text := range []string{"1:0/0", "2:16/B374D848", "2147483647:FFFFFFFF/FFFFFFFE"} {
		if got := store.ParsePosition(text).String(); got != text {
			t.Errorf("%s: %s", text, got)
		}
	}
	for _, text := range []string{"", "/", "x/1", "1/x", "-1/1", "100000000/0", "1/100000000", "16", "1/2/3", "16/B374D848", "0:0/1", "-1:0/1", "2147483648:0/1", "1:0/-1", ":0/1", "1:1:0/1"} {
		if got := store.ParsePosition(text).String(); got != "0:FFFFFFFF/FFFFFFFF" {
			t.Errorf("%s: %s", text, got)
		}
	}
}

// TestPositionAtTheStartOfAFile: where a file of the log has only its header, the position is the file's start,
// as a replica that has everything says.
func TestPositionAtTheStartOfAFile(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		db := storetest.Open(t, url)
		if !storetest.Postgres(db) {
			return
		}
		var position, timeline int64
		for range 20 { // others write, too
			if _, err := db.SQL.ExecContext(t.Context(), "SELECT pg_logical_emit_message(false, 'test', ''), pg_switch_wal()"); err != nil {
				t.Fatal(err)
			}
			if err := db.SQL.QueryRowContext(t.Context(), "SELECT "+store.PrimaryPosition).Scan(&position, &timeline); err != nil {
				t.Fatal(err)
			}
			if position%(1<<20) == 0 { // the smallest file
				return
			}
		}
		t.Errorf("the position is %x", position)
	})
}

// TestOtherServersAreLeftOut: a server that accepts writes, or that does not answer, is no replica.
func TestOtherServersAreLeftOut(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		db := storetest.Open(t, url)
		if !storetest.Postgres(db) {
			return
		}
		if err := db.UseReplicas([]string{url, "postgres://user@127.0.0.1:1/db"}, slog.New(slog.DiscardHandler)); err != nil {
			t.Fatal(err)
		}
		db.AwaitReplicas(t.Context())
		states := db.ReplicaStates()
		if len(states) != 2 || states[0].Reason != "it is the primary now" || !states[0].Primary || states[1].Reason == "" || states[1].Primary {
			t.Errorf("%+v", states)
		}
	})
}

package main

import (
	"database/sql"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"chairside/internal/store"
	"chairside/internal/test/localpg"
)

// TestServerOnAReplicaOnlyReads: it says so once, is ready and serves reads. When the replica is promoted, it
// writes what had to wait.
func TestServerOnAReplicaOnlyReads(t *testing.T) {
	t.Parallel()
	primary := newSeededPrimary(t)
	token := newToken(t, primary.URL("replicated"), "patient")
	standby := newStandby(t, primary)
	db := openTest(t, "postgres", standby.URL("replicated"))

	s := startLogged(t, standby.URL("replicated"))
	ready := func(when string) {
		t.Helper()
		if status, body := get(t, s.base+"/readyz", ""); status != http.StatusOK {
			t.Errorf("/readyz %s: %d: %s", when, status, body)
		}
	}
	ready("on the replica")
	writes := standby.URL("replicated") + "&target_session_attrs=primary"
	if db, err := store.Open(t.Context(), writes); err == nil {
		db.Close()
		t.Error("a URL that asks for a primary opens a replica")
	}
	const requests = 150 // so many that the limit would be shared
	for range requests {
		if status, body := get(t, s.base+"/v1/patients?per_page=1", token); status != http.StatusOK {
			t.Fatalf("%d: %s", status, body)
		}
	}
	time.Sleep(3 * time.Second) // the most frequent jobs run every second, others at once
	if lines := s.problems(t); len(lines) != 1 || !strings.Contains(lines[0], "read-only replica") {
		t.Fatalf("the log has %d lines, want one about the replica:\n%s", len(lines), strings.Join(lines, "\n"))
	}

	checkCursorsAhead(t, startLogged(t, primary.URL("replicated")), s, openTest(t, "postgres", primary.URL("replicated")), db, token)

	if _, err := db.ExecContext(t.Context(), "SELECT pg_promote()"); err != nil {
		t.Fatal(err)
	}
	reads := 0
	for deadline := time.Now().Add(time.Minute); reads == 0 && time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM audit_events WHERE action = 'read'").Scan(&reads); err != nil {
			t.Fatal(err)
		}
	}
	ready("after the promotion")
	if text := s.text(t); reads == 0 || !strings.Contains(text, "no replica any more") {
		t.Errorf("after the promotion: %d entries of reads\n%s", reads, text)
	}
}

// newPrimary starts a server with an empty database, which newStandby can follow, or skips the test.
func newPrimary(t *testing.T, database string) *localpg.Server {
	t.Helper()
	primary, err := localpg.Start(t.Context(), localpg.Replicated...)
	if errors.Is(err, localpg.ErrNotInstalled) {
		t.Skip(err) // CI fails in TestMain
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stopServer(t, primary) })
	if err := primary.CreateDatabase(t.Context(), database); err != nil {
		t.Fatal(err)
	}
	return primary
}

// newSeededPrimary is newPrimary with demo data in the database "replicated".
func newSeededPrimary(t *testing.T) *localpg.Server {
	t.Helper()
	primary := newPrimary(t, "replicated")
	for _, command := range [][]string{{"migrate", "up"}, {"database", "roles"}, {"seed", "--patients=20", "--years=1"}} {
		command = append(command, "--database-url", primary.URL("replicated"))
		if out, err := exec.CommandContext(t.Context(), "chairside", command...).CombinedOutput(); err != nil {
			t.Fatalf("chairside %s: %v\n%s", command[0], err, out)
		}
	}
	return primary
}

// newStandby starts a replica of a server.
func newStandby(t *testing.T, primary *localpg.Server) *localpg.Server {
	t.Helper()
	standby, err := primary.Standby(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stopServer(t, standby) })
	return standby
}

// TestCommandsOnAReplica: commands that write name the primary as the remedy, and others work.
func TestCommandsOnAReplica(t *testing.T) {
	t.Parallel()
	standby := newStandby(t, newSeededPrimary(t))
	const refusal = `chairside: the database is a read-only replica, or its recovery has not ended: use the URL of the primary, or promote a restored database with "SELECT pg_promote()"` + "\n"
	for _, test := range []struct {
		command string
		refused bool
	}{
		{"migrate up", true},
		{"migrate verify", true}, // it creates tables to compare, and rolls back
		{"database roles", true},
		{"user disable --force admin@demo.chairside.test", true},
		{"token create --user=admin@demo.chairside.test --name=x --scopes=patient", true},
		{"report income --practice=demo --output=" + t.TempDir() + "/income", true}, // it is audited
		{"export --unsealed " + t.TempDir() + "/export", true},
		{"extract --unsealed --practice=demo " + t.TempDir() + "/extract", true},
		{"user list", false},
		{"migrate status", false},
		{"counters check", false},
	} {
		command := exec.CommandContext(t.Context(), "chairside", append(strings.Fields(test.command), "--database-url", standby.URL("replicated"))...)
		var problem strings.Builder
		command.Stderr = &problem
		if err := command.Run(); (err != nil) != test.refused || test.refused && problem.String() != refusal {
			t.Errorf("%s: %v: %s", test.command, err, problem.String())
		}
	}
}

// TestRestoreCheckOnAReplica: all checks that only read run. After the promotion the copy is whole.
func TestRestoreCheckOnAReplica(t *testing.T) {
	t.Parallel()
	standby := newStandby(t, newSeededPrimary(t))
	address := standby.URL("replicated")
	check := func() (results map[string]string, schema, problem string, err error) {
		t.Helper()
		command := exec.CommandContext(t.Context(), "chairside", "restore-check", address, "--format=json")
		var stderr strings.Builder
		command.Stderr = &stderr
		out, err := command.Output()
		results = map[string]string{}
		for line := range strings.Lines(string(out)) {
			var f struct {
				Check, Result, Found string
				ToDo                 string `json:"to_do"`
			}
			if err := json.Unmarshal([]byte(line), &f); err != nil {
				t.Fatalf("%v: %s", err, line)
			}
			if results[f.Check] = f.Result; f.Check == "schema" {
				schema = f.Found + ": " + f.ToDo
			}
		}
		return results, schema, stderr.String(), err
	}
	want := map[string]string{"file": "ok", "migrations": "ok", "schema": "not checked", "foreign keys": "ok", "totals": "ok", "audit log": "ok", "sealed values": "ok", "rows": "ok"}
	results, schema, problem, err := check()
	if err == nil || !maps.Equal(results, want) || problem != "chairside: no check failed, but 1 check could not be run\n" {
		t.Errorf("%v: %v: %s", err, results, problem)
	}
	if schema != `it creates tables to compare, and the database is a read-only replica, or its recovery has not ended: promote the restored database with "SELECT pg_promote()", or check the primary` {
		t.Error(schema)
	}
	if _, err := openTest(t, "postgres", address).ExecContext(t.Context(), "SELECT pg_promote()"); err != nil {
		t.Fatal(err)
	}
	want["schema"] = "ok"
	if results, _, problem, err := check(); err != nil || !maps.Equal(results, want) {
		t.Errorf("after the promotion: %v: %v: %s", err, results, problem)
	}
}

// checkCursorsAhead fails the test unless a server on a standby accepts a cursor that the standby has not reached, and goes
// on from there.
func checkCursorsAhead(t *testing.T, primary, standby *logged, writer, replica *sql.DB, token string) {
	t.Helper()
	changes := func(s *logged, cursor string) (found int, next string) {
		t.Helper()
		status, body := get(t, s.base+"/v1/changes?resources=patients&cursor="+cursor, token)
		var page struct {
			Changes []json.RawMessage
			Meta    struct{ Cursor string }
		}
		if err := json.Unmarshal([]byte(body), &page); status != http.StatusOK || err != nil {
			t.Fatalf("%d: %s", status, body)
		}
		return len(page.Changes), page.Meta.Cursor
	}
	run := func(on *sql.DB, statement string) {
		t.Helper()
		if _, err := on.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	const write = "UPDATE patients SET occupation = 'Baker ' || random() WHERE id = (SELECT min(id) FROM patients WHERE practice_id = (SELECT id FROM practices WHERE slug = 'demo'))"
	run(replica, "SELECT pg_wal_replay_pause()")
	for state, deadline := "", time.Now().Add(time.Minute); state != "paused"; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the standby did not pause")
		}
		if err := replica.QueryRowContext(t.Context(), "SELECT pg_get_wal_replay_pause_state()").Scan(&state); err != nil {
			t.Fatal(err)
		}
	}
	run(writer, write)
	_, seen := changes(primary, "")
	run(writer, write)
	if found, next := changes(standby, seen); found != 0 || next != seen {
		t.Errorf("behind the cursor the standby has %d changes, and the cursor %s, want %s", found, next, seen)
	}
	run(replica, "SELECT pg_wal_replay_resume()")
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		found, next := changes(standby, seen)
		if found == 1 && next != seen {
			return
		}
		if found > 1 || time.Now().After(deadline) {
			t.Fatalf("%d changes behind the cursor, want 1", found)
		}
	}
}

// logged is a server and its log.
type logged struct{ base, file string }

// startLogged starts a server with a limit that it would share with others.
func startLogged(t *testing.T, database string) *logged {
	t.Helper()
	s := &logged{file: filepath.Join(t.TempDir(), "log")}
	log, err := os.Create(s.file)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close() // the process has its own
	command := exec.CommandContext(t.Context(), "chairside", "serve", "--addr=127.0.0.1:0", "--database-url", database, "--rate-limit", "1000")
	command.Dir, command.Stderr = t.TempDir(), log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = command.Wait() }) // the end of the test's context kills it
	for deadline := time.Now().Add(time.Minute); s.base == ""; time.Sleep(50 * time.Millisecond) {
		for line := range strings.Lines(s.text(t)) {
			var started struct{ Address string }
			if json.Unmarshal([]byte(line), &started) == nil && started.Address != "" {
				s.base = "http://" + started.Address
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("the server did not start:\n%s", s.text(t))
		}
	}
	return s
}

func (s *logged) text(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(s.file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// problems returns the lines of the log that are warnings or errors.
func (s *logged) problems(t *testing.T) (lines []string) {
	t.Helper()
	for line := range strings.Lines(s.text(t)) {
		var x struct{ Level string }
		if json.Unmarshal([]byte(line), &x) != nil || x.Level != "INFO" {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}
